//! Answers in the words of the client's protocol.
//!
//! The commands' side of a request's path: each method appends one frame, or the header of one, to
//! the connection's [`Output`]. A command says what it means once (a map, a double, nothing) and
//! the writer spells it in RESP2 or RESP3. What must stay true: every call leaves whole frames or a
//! header whose announced elements the caller then writes.

use crate::output::{BLOB_BYTES_MIN, Output, Place};
use caudal_text::float;
use std::sync::Arc;

/// What a connection agreed on by HELLO.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Protocol {
    /// Status, error, integer, bulk string, array.
    #[default]
    Resp2,
    /// Also map, set, push, double, boolean, null, big number, verbatim text.
    Resp3,
}

/// Writes replies.
#[derive(Debug)]
pub struct Reply<'a> {
    output: &'a mut Output,
    protocol: Protocol,
}

/// An aggregate whose length is not known yet. Close each, the last opened first, before anything
/// is sent.
#[derive(Debug)]
#[must_use = "an aggregate without its header spoils the connection"]
pub struct Mark(Place);

impl<'a> Reply<'a> {
    /// A writer at the end of an output.
    #[inline]
    pub fn new(output: &'a mut Output, protocol: Protocol) -> Self {
        Self { output, protocol }
    }

    /// The client's protocol.
    #[inline]
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Writes in another protocol from here on: HELLO answers in the one it has just agreed on.
    pub fn set_protocol(&mut self, protocol: Protocol) {
        self.protocol = protocol;
    }

    /// The same writer for a callee.
    #[inline]
    pub fn reborrow(&mut self) -> Reply<'_> {
        Reply { output: self.output, protocol: self.protocol }
    }

    /// Where the replies go.
    #[inline]
    pub fn output(&mut self) -> &mut Output {
        self.output
    }

    /// Appends frames that are already spelled.
    #[inline]
    pub fn raw(&mut self, frames: &[u8]) {
        self.output.tail().extend_from_slice(frames);
    }

    /// `+OK`
    #[inline]
    pub fn ok(&mut self) {
        self.raw(b"+OK\r\n");
    }

    /// A short text without line ends, such as `PONG`.
    #[inline]
    pub fn status(&mut self, text: &str) {
        self.line(b'+', text.as_bytes());
    }

    /// An error, its code first: `ERR syntax error`.
    pub fn error(&mut self, text: &str) {
        self.line(b'-', text.as_bytes());
    }

    /// An error that quotes what a client sent.
    pub fn error_bytes(&mut self, text: &[u8]) {
        self.line(b'-', text);
    }

    /// An integer.
    #[inline]
    pub fn integer(&mut self, number: i64) {
        match u32::try_from(number) {
            Ok(number) => self.header(b':', number as usize),
            Err(_) => self.long_integer(number),
        }
    }

    /// A string.
    #[inline]
    pub fn bulk(&mut self, bytes: &[u8]) {
        let tail = self.output.tail();
        tail.reserve(bytes.len() + HEADER_BYTES);
        push_header(tail, b'$', bytes.len());
        tail.extend_from_slice(bytes);
        tail.extend_from_slice(b"\r\n");
    }

    /// An integer as a string.
    #[inline]
    pub fn bulk_integer(&mut self, number: i64) {
        let mut buffer = itoa::Buffer::new();
        self.bulk(buffer.format(number).as_bytes());
    }

    /// A string that stays shared while it is sent, if it is long.
    pub fn bulk_blob(&mut self, blob: &Arc<Vec<u8>>) {
        if blob.len() < BLOB_BYTES_MIN {
            return self.bulk(blob);
        }
        self.header(b'$', blob.len());
        self.output.push_blob(Arc::clone(blob), 0..blob.len());
        self.raw(b"\r\n");
    }

    /// No value.
    #[inline]
    pub fn null(&mut self) {
        self.raw(match self.protocol {
            Protocol::Resp2 => b"$-1\r\n",
            Protocol::Resp3 => b"_\r\n",
        });
    }

    /// No array.
    #[inline]
    pub fn null_array(&mut self) {
        self.raw(match self.protocol {
            Protocol::Resp2 => b"*-1\r\n",
            Protocol::Resp3 => b"_\r\n",
        });
    }

    /// The header of an array; `len` frames follow.
    #[inline]
    pub fn array(&mut self, len: usize) {
        self.header(b'*', len);
    }

    /// The header of a map; `len` pairs of frames follow. In RESP2 a flat array.
    #[inline]
    pub fn map(&mut self, len: usize) {
        match self.protocol {
            Protocol::Resp2 => self.header(b'*', 2 * len),
            Protocol::Resp3 => self.header(b'%', len),
        }
    }

    /// The header of a set; `len` frames follow. In RESP2 an array.
    #[inline]
    pub fn set(&mut self, len: usize) {
        self.header(self.kind(b'~'), len);
    }

    /// The header of an out-of-band message; `len` frames follow. In RESP2 an array.
    #[inline]
    pub fn push(&mut self, len: usize) {
        self.header(self.kind(b'>'), len);
    }

    /// The header of a reply's attributes: `len` pairs of frames and then the reply follow. RESP2
    /// has none: then nothing is written, and `false` tells to leave out the pairs.
    #[must_use = "without a header the pairs may not be written"]
    pub fn attribute(&mut self, len: usize) -> bool {
        let written = self.protocol == Protocol::Resp3;
        if written {
            self.header(b'|', len);
        }
        written
    }

    /// A double; in RESP2 as a string.
    pub fn double(&mut self, number: f64) {
        match self.protocol {
            Protocol::Resp2 => self.bulk_double(number),
            Protocol::Resp3 => {
                let tail = self.output.tail();
                tail.push(b',');
                float::format_f64(number, tail);
                tail.extend_from_slice(b"\r\n");
            }
        }
    }

    /// A double as a string.
    pub fn bulk_double(&mut self, number: f64) {
        // Most texts have one digit of length. A second one moves the text by a byte.
        let tail = self.output.tail();
        tail.reserve(float::FORMATTED_BYTES_MAX + HEADER_BYTES);
        let start = tail.len();
        tail.extend_from_slice(b"$0\r\n");
        let text = tail.len();
        float::format_f64(number, tail);
        let len = tail.len() - text;
        debug_assert!(len <= float::FORMATTED_BYTES_MAX);
        if len >= 10 {
            tail.insert(start + 1, digit(len / 10));
            tail[start + 2] = digit(len);
        } else {
            tail[start + 1] = digit(len);
        }
        tail.extend_from_slice(b"\r\n");
    }

    /// A double that is spelled already; in RESP2 as a string.
    pub fn double_text(&mut self, text: &[u8]) {
        match self.protocol {
            Protocol::Resp2 => self.bulk(text),
            Protocol::Resp3 => self.line(b',', text),
        }
    }

    /// `#t` or `#f`; in RESP2 1 or 0.
    pub fn boolean(&mut self, value: bool) {
        self.raw(match (self.protocol, value) {
            (Protocol::Resp2, true) => b":1\r\n",
            (Protocol::Resp2, false) => b":0\r\n",
            (Protocol::Resp3, true) => b"#t\r\n",
            (Protocol::Resp3, false) => b"#f\r\n",
        });
    }

    /// Digits of any number; in RESP2 as a string.
    pub fn big_number(&mut self, digits: &[u8]) {
        match self.protocol {
            Protocol::Resp2 => self.bulk(digits),
            Protocol::Resp3 => self.line(b'(', digits),
        }
    }

    /// A text for people, of a format such as `txt` or `mkd`; in RESP2 a plain string.
    pub fn verbatim(&mut self, format: &[u8; 3], text: &[u8]) {
        if self.protocol == Protocol::Resp2 {
            return self.bulk(text);
        }
        self.header(b'=', text.len() + format.len() + 1);
        let tail = self.output.tail();
        tail.extend_from_slice(format);
        tail.push(b':');
        tail.extend_from_slice(text);
        tail.extend_from_slice(b"\r\n");
    }

    /// Opens an array, a map or a set; its elements follow, then the call that closes it.
    pub fn deferred_array(&mut self) -> Mark {
        Mark(self.output.place())
    }

    /// Gives an open aggregate its header: an array of `len` frames.
    pub fn close_array(&mut self, mark: Mark, len: usize) {
        self.insert_header(mark, b'*', len);
    }

    /// Gives an open aggregate its header: a map of `len` pairs of frames.
    pub fn close_map(&mut self, mark: Mark, len: usize) {
        match self.protocol {
            Protocol::Resp2 => self.insert_header(mark, b'*', 2 * len),
            Protocol::Resp3 => self.insert_header(mark, b'%', len),
        }
    }

    /// Gives an open aggregate its header: a set of `len` frames.
    pub fn close_set(&mut self, mark: Mark, len: usize) {
        self.insert_header(mark, self.kind(b'~'), len);
    }

    /// Gives an open aggregate its header: a message of `len` frames.
    pub fn close_push(&mut self, mark: Mark, len: usize) {
        self.insert_header(mark, self.kind(b'>'), len);
    }

    /// An array where RESP2 knows no better.
    #[inline]
    fn kind(&self, resp3: u8) -> u8 {
        match self.protocol {
            Protocol::Resp2 => b'*',
            Protocol::Resp3 => resp3,
        }
    }

    #[inline]
    fn header(&mut self, kind: u8, len: usize) {
        push_header(self.output.tail(), kind, len);
    }

    fn insert_header(&mut self, mark: Mark, kind: u8, len: usize) {
        let mut header = Vec::with_capacity(HEADER_BYTES);
        push_header(&mut header, kind, len);
        self.output.insert(mark.0, &header);
    }

    #[cold]
    fn long_integer(&mut self, number: i64) {
        let tail = self.output.tail();
        tail.push(b':');
        caudal_text::integer::append_i64(number, tail);
        tail.extend_from_slice(b"\r\n");
    }

    /// A frame that ends with its line, so that ends of line in the text become blanks.
    fn line(&mut self, kind: u8, text: &[u8]) {
        let tail = self.output.tail();
        tail.reserve(text.len() + 3);
        tail.push(kind);
        let start = tail.len();
        tail.extend_from_slice(text);
        for byte in &mut tail[start..] {
            if matches!(byte, b'\r' | b'\n') {
                *byte = b' ';
            }
        }
        tail.extend_from_slice(b"\r\n");
    }
}

/// Room for the longest header and the end of a string.
const HEADER_BYTES: usize = 32;

/// `$16\r\n` and its kind.
#[inline]
fn push_header(tail: &mut Vec<u8>, kind: u8, len: usize) {
    match HEADERS.get(len) {
        Some(header) => {
            // Eight bytes at once; those behind the header's own are cut off again.
            let end = tail.len() + header.len;
            tail.extend_from_slice(&(header.bytes | u64::from(kind)).to_le_bytes());
            tail.truncate(end);
        }
        None => {
            tail.push(kind);
            tail.extend_from_slice(itoa::Buffer::new().format(len).as_bytes());
            tail.extend_from_slice(b"\r\n");
        }
    }
}

/// A header without its kind, as a little-endian word.
#[derive(Clone, Copy)]
struct Header {
    bytes: u64,
    len: usize,
}

/// The headers of small numbers.
static HEADERS: [Header; 256] = {
    let mut headers = [Header { bytes: 0, len: 0 }; 256];
    let mut number = 0;
    while number < headers.len() {
        headers[number] = header_of(number as u64);
        number += 1;
    }
    headers
};

/// Spells a number below 1,000.
const fn header_of(number: u64) -> Header {
    /// `\r\n`
    const END: u64 = 0x0a0d;
    const ZERO: u64 = b'0' as u64;
    let digits = [number / 100, number / 10 % 10, number % 10];
    let mut at = if number < 10 {
        2
    } else if number < 100 {
        1
    } else {
        0
    };
    let (mut bytes, mut len) = (0, 1);
    while at < digits.len() {
        bytes |= (digits[at] + ZERO) << (8 * len);
        at += 1;
        len += 1;
    }
    Header { bytes: bytes | END << (8 * len), len: len + 2 }
}

/// The last digit of a number.
#[inline]
#[allow(clippy::cast_possible_truncation, reason = "below ten")]
fn digit(number: usize) -> u8 {
    b'0' + (number % 10) as u8
}

#[cfg(test)]
mod tests;
