//! Frames as values: for clients, replication links and tests. The server's own replies never take
//! this form.
//!
//! What must stay true: no input makes it recurse deeper than [`DEPTH_MAX`] or reserve memory for
//! elements that did not come.

use caudal_text::{float, integer};
use std::fmt;

/// Aggregates inside each other. Redis's own replies nest about five deep (COMMAND DOCS: eight).
pub const DEPTH_MAX: usize = 32;

/// A longer line is refused: the server sends none.
pub const LINE_BYTES_MAX: usize = 64 * 1024;

/// Bytes of a string: the largest `proto-max-bulk-len` there is a use for.
pub const BULK_BYTES_MAX: usize = 4 * 1024 * 1024 * 1024;

/// One reply or request.
#[derive(Debug, Clone, PartialEq)]
pub enum Frame {
    /// `+OK`
    Status(Vec<u8>),
    /// `-ERR ...`, its code first; also RESP3's `!`.
    Error(Vec<u8>),
    /// `:1`
    Integer(i64),
    /// `$3`
    Bulk(Vec<u8>),
    /// `$-1`
    NullBulk,
    /// `*-1`
    NullArray,
    /// `_`
    Null,
    /// `*2`
    Array(Vec<Frame>),
    /// `%2`
    Map(Vec<(Frame, Frame)>),
    /// `~2`
    Set(Vec<Frame>),
    /// `>2`
    Push(Vec<Frame>),
    /// `,1.5`
    Double(f64),
    /// `#t`
    Boolean(bool),
    /// `(123...`
    BigNumber(Vec<u8>),
    /// `=7`, `txt:` and the text.
    Verbatim {
        /// Three letters.
        format: [u8; 3],
        /// What stands behind the colon.
        text: Vec<u8>,
    },
    /// `|1`, its pairs, and the frame they belong to.
    Attributed {
        /// The pairs.
        attributes: Vec<(Frame, Frame)>,
        /// The frame itself.
        frame: Box<Frame>,
    },
}

/// Bytes that are no frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameError {
    /// No frame begins with this byte.
    Kind(u8),
    /// A length is no number, or below its least.
    Length,
    /// A scalar does not have its form.
    Scalar,
    /// A string is not followed by CRLF.
    End,
    /// A line is too long.
    Line,
    /// Too many aggregates inside each other.
    Depth,
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind(byte) => write!(f, "no frame begins with '{}'", byte.escape_ascii()),
            Self::Length => f.write_str("illegal length of a frame"),
            Self::Scalar => f.write_str("illegal number or boolean in a frame"),
            Self::End => f.write_str("a string is not ended by CRLF"),
            Self::Line => f.write_str("a line of a frame is too long"),
            Self::Depth => f.write_str("frames are nested too deep"),
        }
    }
}

impl std::error::Error for FrameError {}

/// Reads one frame from the start of `input`: the frame and its bytes, or `None` if it is not
/// whole. A frame that is not whole is read again from its start the next time.
pub fn parse(input: &[u8]) -> Result<Option<(Frame, usize)>, FrameError> {
    let mut reader = Reader { input, at: 0, depth: 0 };
    match reader.frame() {
        Ok(frame) => Ok(Some((frame, reader.at))),
        Err(Stop::NotWhole) => Ok(None),
        Err(Stop::Illegal(error)) => Err(error),
    }
}

/// Why no frame was read.
enum Stop {
    NotWhole,
    Illegal(FrameError),
}

impl From<FrameError> for Stop {
    fn from(error: FrameError) -> Self {
        Self::Illegal(error)
    }
}

struct Reader<'a> {
    input: &'a [u8],
    at: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn frame(&mut self) -> Result<Frame, Stop> {
        let kind = *self.input.get(self.at).ok_or(Stop::NotWhole)?;
        if !b"+-:$*_%~>,#(=|!".contains(&kind) {
            return Err(FrameError::Kind(kind).into());
        }
        self.at += 1;
        let line = self.line()?;
        match kind {
            b'+' => Ok(Frame::Status(line.to_vec())),
            b'-' => Ok(Frame::Error(line.to_vec())),
            b'(' => Ok(Frame::BigNumber(line.to_vec())),
            b'$' if line == b"-1" => Ok(Frame::NullBulk),
            b'$' => Ok(Frame::Bulk(self.string(line)?)),
            b'!' => Ok(Frame::Error(self.string(line)?)),
            b'=' => verbatim(&self.string(line)?),
            b'*' if line == b"-1" => Ok(Frame::NullArray),
            b'*' => self.nested(line, Self::frame).map(Frame::Array),
            b'~' => self.nested(line, Self::frame).map(Frame::Set),
            b'>' => self.nested(line, Self::frame).map(Frame::Push),
            b'%' => self.nested(line, Self::pair).map(Frame::Map),
            b'|' => {
                let attributes = self.nested(line, Self::pair)?;
                let frame = Box::new(self.nested(b"1", Self::frame)?.remove(0));
                Ok(Frame::Attributed { attributes, frame })
            }
            _ => scalar(kind, line).ok_or(Stop::Illegal(FrameError::Scalar)),
        }
    }

    fn pair(&mut self) -> Result<(Frame, Frame), Stop> {
        Ok((self.frame()?, self.frame()?))
    }

    /// Reads as many elements as the line says, one level deeper.
    fn nested<T>(
        &mut self,
        line: &[u8],
        element: impl Fn(&mut Self) -> Result<T, Stop>,
    ) -> Result<Vec<T>, Stop> {
        let len = length(line)?;
        if self.depth == DEPTH_MAX {
            return Err(FrameError::Depth.into());
        }
        self.depth += 1;
        let mut elements = Vec::new();
        for _ in 0..len {
            elements.push(element(self)?);
        }
        self.depth -= 1;
        Ok(elements)
    }

    /// The string behind a line that gave its length.
    fn string(&mut self, line: &[u8]) -> Result<Vec<u8>, Stop> {
        let len = length(line)?;
        if len > BULK_BYTES_MAX {
            return Err(FrameError::Length.into());
        }
        let end = self.at + len;
        match self.input.get(end..end + 2) {
            None => Err(Stop::NotWhole),
            Some(b"\r\n") => {
                let bytes = self.input[self.at..end].to_vec();
                self.at = end + 2;
                Ok(bytes)
            }
            Some(_) => Err(FrameError::End.into()),
        }
    }

    /// The rest of the line, without its end.
    fn line(&mut self) -> Result<&'a [u8], Stop> {
        let input = self.input;
        let window = &input[self.at..input.len().min(self.at + LINE_BYTES_MAX)];
        let Some(end) = memchr::memchr(b'\r', window) else {
            let whole = window.len() == LINE_BYTES_MAX;
            return Err(if whole { FrameError::Line.into() } else { Stop::NotWhole });
        };
        match input.get(self.at + end + 1) {
            None => Err(Stop::NotWhole),
            Some(b'\n') => {
                self.at += end + 2;
                Ok(&window[..end])
            }
            Some(_) => Err(FrameError::End.into()),
        }
    }
}

fn length(line: &[u8]) -> Result<usize, FrameError> {
    let len = integer::parse_u64(line).ok_or(FrameError::Length)?;
    usize::try_from(len).map_err(|_| FrameError::Length)
}

fn scalar(kind: u8, line: &[u8]) -> Option<Frame> {
    match (kind, line) {
        (b':', _) => integer::parse_i64(line).map(Frame::Integer),
        (b',', b"nan" | b"-nan") => Some(Frame::Double(f64::NAN)),
        (b',', _) => float::parse_f64(line).map(Frame::Double),
        (b'#', b"t") => Some(Frame::Boolean(true)),
        (b'#', b"f") => Some(Frame::Boolean(false)),
        (b'_', b"") => Some(Frame::Null),
        _ => None,
    }
}

fn verbatim(string: &[u8]) -> Result<Frame, Stop> {
    match string {
        [a, b, c, b':', text @ ..] => {
            Ok(Frame::Verbatim { format: [*a, *b, *c], text: text.to_vec() })
        }
        _ => Err(FrameError::Scalar.into()),
    }
}

#[cfg(test)]
mod tests;
