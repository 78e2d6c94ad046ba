//! Commands from bytes: arrays of bulk strings, and inline lines.
//!
//! First on a request's path. The bytes stay where they were read: a command is a list of [`Span`]s
//! into them. What must stay true:
//!
//! * The commands do not depend on how the bytes were split on their way.
//! * A command that arrives in pieces is parsed once: [`Parser`] remembers the arguments seen so
//!   far.
//! * Memory grows with the bytes that came, never with the lengths they announce.
//!
//! Errors are Valkey's, and final: the connection is to be closed after the error is sent.

mod error;
mod head;
mod inline;
mod short;

pub use error::ProtocolError;
pub use head::Head;

/// A multibulk or bulk header that is longer than this without its end is refused.
const HEADER_BYTES_MAX: usize = 64 * 1024;

/// What a client may ask for before it has authenticated, so that it cannot fill the memory.
const UNAUTHENTICATED_ARGUMENTS_MAX: u32 = 10;
const UNAUTHENTICATED_BULK_BYTES_MAX: u64 = 16 * 1024;

/// Where an argument lies in the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Bytes.
    pub len: u32,
}

impl Span {
    /// The argument's bytes.
    #[inline]
    pub fn of(self, input: &[u8]) -> &[u8] {
        &input[self.start as usize..][..self.len as usize]
    }
}

/// The largest command that a client may send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one argument: `proto-max-bulk-len`.
    pub bulk_bytes_max: u64,
    /// Arguments of one command.
    pub multibulk_max: u32,
    /// Bytes of an inline command, without its end of line.
    pub inline_bytes_max: usize,
    /// Until then a command has at most 10 arguments, of at most 16 KiB.
    pub authenticated: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bulk_bytes_max: 512 * 1024 * 1024,
            multibulk_max: i32::MAX.cast_unsigned(),
            inline_bytes_max: 64 * 1024,
            authenticated: true,
        }
    }
}

/// What the input begins with.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// A command. Its arguments, at least one, were appended to the spans.
    Command {
        /// Bytes of the command.
        consumed: usize,
    },
    /// A command on a line of its own, with its quotes undone.
    Inline {
        /// Bytes of the line.
        consumed: usize,
        /// At least one.
        words: Vec<Vec<u8>>,
    },
    /// A blank line, `*0` or `*-1`: no command and no reply.
    Empty {
        /// Bytes to skip.
        consumed: usize,
    },
    /// No whole command yet. The next input must begin with the same bytes.
    Incomplete {
        /// Bytes that the input must have at least before parsing goes on: more than now. A wish of
        /// the peer's: memory is to be reserved for it only up to a bound.
        wanted: usize,
    },
}

/// The state of one connection between inputs. An idle connection holds a null pointer.
#[derive(Debug, Default)]
pub struct Parser {
    partial: Option<Box<Partial>>,
}

const _: () = assert!(size_of::<Parser>() <= 16);

/// A command that is not yet whole.
#[derive(Debug, Default)]
struct Partial {
    /// Arguments seen.
    spans: Vec<Span>,
    /// Arguments missing; 0 while the command's own header is missing.
    missing: u32,
    /// Offset of the header or line that is to be read next.
    at: usize,
    /// No end of line lies before this offset. at <= searched
    searched: usize,
}

impl Parser {
    /// A parser at the start of a command.
    pub const fn new() -> Self {
        Self { partial: None }
    }

    /// Bytes of memory held for a command that is not yet whole.
    pub fn bytes(&self) -> usize {
        self.partial.as_ref().map_or(0, |partial| {
            size_of::<Partial>() + partial.spans.capacity() * size_of::<Span>()
        })
    }

    /// Reads one command. `input` begins with the first byte that was not yet consumed; the spans
    /// are relative to it.
    #[inline]
    pub fn next(
        &mut self,
        input: &[u8],
        limits: &Limits,
        spans: &mut Vec<Span>,
    ) -> Result<Step, ProtocolError> {
        if self.partial.is_some() {
            return self.resume(input, limits, spans);
        }
        if let Some(consumed) = short::command(input, limits, spans) {
            return Ok(Step::Command { consumed });
        }
        self.begin(input, limits, spans)
    }

    /// Reads a command in any form from its first byte.
    #[inline(never)]
    fn begin(
        &mut self,
        input: &[u8],
        limits: &Limits,
        spans: &mut Vec<Span>,
    ) -> Result<Step, ProtocolError> {
        let mut cursor = Cursor { input, at: 0, searched: 0 };
        let before = spans.len();
        match input {
            [] => Ok(Step::Incomplete { wanted: 1 }),
            [b'*', ..] => {
                let mut missing = 0;
                let progress = cursor.command(&mut missing, limits, spans)?;
                if let Progress::Wanted(wanted) = progress {
                    self.put_aside(&cursor, missing, spans.drain(before..).collect());
                    return Ok(Step::Incomplete { wanted });
                }
                Ok(progress.step(cursor.at))
            }
            _ => self.inline(cursor, limits),
        }
    }

    #[cold]
    fn put_aside(&mut self, cursor: &Cursor<'_>, missing: u32, spans: Vec<Span>) {
        let Cursor { at, searched, .. } = *cursor;
        self.partial = Some(Box::new(Partial { spans, missing, at, searched }));
    }

    #[cold]
    fn resume(
        &mut self,
        input: &[u8],
        limits: &Limits,
        spans: &mut Vec<Span>,
    ) -> Result<Step, ProtocolError> {
        let Some(mut partial) = self.partial.take() else { return self.next(input, limits, spans) };
        debug_assert!(partial.at <= input.len(), "the input begins with the same bytes");
        let mut cursor = Cursor { input, at: partial.at, searched: partial.searched };
        if input.first() != Some(&b'*') {
            return self.inline(cursor, limits);
        }
        let progress = cursor.command(&mut partial.missing, limits, &mut partial.spans)?;
        if let Progress::Wanted(wanted) = progress {
            (partial.at, partial.searched) = (cursor.at, cursor.searched);
            self.partial = Some(partial);
            return Ok(Step::Incomplete { wanted });
        }
        spans.append(&mut partial.spans);
        Ok(progress.step(cursor.at))
    }

    #[cold]
    fn inline(&mut self, mut cursor: Cursor<'_>, limits: &Limits) -> Result<Step, ProtocolError> {
        let step = inline::next(cursor.input, &mut cursor.searched, limits.inline_bytes_max)?;
        if matches!(step, Step::Incomplete { .. }) {
            self.put_aside(&cursor, 0, Vec::new());
        }
        Ok(step)
    }
}

/// How far [`Cursor::command`] came.
enum Progress {
    Command,
    Empty,
    Wanted(usize),
}

impl Progress {
    #[inline]
    fn step(self, consumed: usize) -> Step {
        match self {
            Self::Command => Step::Command { consumed },
            Self::Empty => Step::Empty { consumed },
            Self::Wanted(wanted) => Step::Incomplete { wanted },
        }
    }
}

/// A place in the input, always at the start of a header.
struct Cursor<'a> {
    input: &'a [u8],
    at: usize,
    searched: usize,
}

impl<'a> Cursor<'a> {
    /// Reads on in a command; `missing` is 0 at its start.
    fn command(
        &mut self,
        missing: &mut u32,
        limits: &Limits,
        spans: &mut Vec<Span>,
    ) -> Result<Progress, ProtocolError> {
        if *missing == 0 {
            let Some(count) = self.multibulk_header()? else {
                return Ok(Progress::Wanted(self.input.len() + 1));
            };
            if count <= 0 {
                return Ok(Progress::Empty);
            }
            *missing = multibulk_count(count, limits)?;
        }
        while *missing > 0 {
            let Some((len, header_len)) = self.bulk_header()? else {
                return Ok(Progress::Wanted(self.input.len() + 1));
            };
            let start = self.at + header_len;
            let span = bulk_span(start, len, limits)?;
            let end = start + len;
            match self.input.get(end..end + 2) {
                Some(b"\r\n") => {}
                Some(_) => return Err(ProtocolError::InvalidCrlf),
                None => return Ok(Progress::Wanted(end + 2)),
            }
            spans.push(span);
            self.at = end + 2;
            *missing -= 1;
        }
        self.searched = self.at;
        Ok(Progress::Command)
    }

    /// Reads `*N` in any legal form and steps over it.
    fn multibulk_header(&mut self) -> Result<Option<i64>, ProtocolError> {
        let Some((digits, len)) = self.header_line(ProtocolError::TooBigMultibulkCount)? else {
            return Ok(None);
        };
        let count = caudal_text::integer::parse_i64(digits);
        self.at += len;
        count.map(Some).ok_or(ProtocolError::InvalidMultibulkLength)
    }

    /// Reads `$N` in any legal form: the length, and the header's own.
    fn bulk_header(&mut self) -> Result<Option<(usize, usize)>, ProtocolError> {
        let first = self.input.get(self.at).copied();
        let Some((digits, len)) = self.header_line(ProtocolError::TooBigBulkCount)? else {
            return Ok(None);
        };
        match first {
            Some(b'$') => {}
            Some(other) => return Err(ProtocolError::ExpectedDollar(other)),
            None => return Ok(None),
        }
        let bytes =
            caudal_text::integer::parse_u64(digits).and_then(|len| usize::try_from(len).ok());
        bytes.map(|bytes| Some((bytes, len))).ok_or(ProtocolError::InvalidBulkLength)
    }

    /// What stands between the header's first byte and its CRLF, and the length of all three.
    fn header_line(
        &mut self,
        too_big: ProtocolError,
    ) -> Result<Option<(&'a [u8], usize)>, ProtocolError> {
        let input = self.input;
        let window = &input[self.at..input.len().min(self.at + HEADER_BYTES_MAX + 1)];
        let searched = self.searched.saturating_sub(self.at).min(window.len());
        let Some(found) = memchr::memchr(b'\r', &window[searched..]) else {
            self.searched = self.at + window.len();
            return if window.len() > HEADER_BYTES_MAX { Err(too_big) } else { Ok(None) };
        };
        let end = searched + found;
        self.searched = self.at + end;
        match input.get(self.at + end + 1) {
            None => Ok(None),
            Some(b'\n') => Ok(Some((window.get(1..end).unwrap_or_default(), end + 2))),
            // A wrong first byte is told before a wrong end.
            Some(_) => match (too_big, window[0]) {
                (ProtocolError::TooBigBulkCount, first) if first != b'$' => {
                    Err(ProtocolError::ExpectedDollar(first))
                }
                _ => Err(ProtocolError::InvalidCrlf),
            },
        }
    }
}

/// Checks a count above zero.
fn multibulk_count(count: i64, limits: &Limits) -> Result<u32, ProtocolError> {
    let legal = u32::try_from(count).ok().filter(|&count| count <= limits.multibulk_max);
    let count = legal.ok_or(ProtocolError::InvalidMultibulkLength)?;
    if count > UNAUTHENTICATED_ARGUMENTS_MAX && !limits.authenticated {
        return Err(ProtocolError::UnauthenticatedMultibulkLength);
    }
    Ok(count)
}

/// Checks an argument's length. Beyond 4 GiB of input a span could not name its place.
fn bulk_span(start: usize, len: usize, limits: &Limits) -> Result<Span, ProtocolError> {
    let bytes = len as u64;
    if bytes > limits.bulk_bytes_max {
        return Err(ProtocolError::InvalidBulkLength);
    }
    if bytes > UNAUTHENTICATED_BULK_BYTES_MAX && !limits.authenticated {
        return Err(ProtocolError::UnauthenticatedBulkLength);
    }
    match (u32::try_from(start), u32::try_from(len)) {
        (Ok(start), Ok(len)) if start.checked_add(len).is_some() => Ok(Span { start, len }),
        _ => Err(ProtocolError::InvalidBulkLength),
    }
}

#[cfg(test)]
mod tests;
