//! The head of a command: its bytes up to the end of its name.
//!
//! The commands of a pipeline often begin alike: one comparison then tells the number of arguments
//! and the name. What must stay true: what is accepted here [`Parser`](super::Parser) reads alike,
//! and of everything else nothing is appended.

use super::short::{BULK_BYTES_MAX, arguments};
use super::{Limits, Span};

/// The longest head that is remembered: `*3\r\n$6\r\nLRANGE\r\n`.
const HEAD_BYTES_MAX: usize = 16;

/// How a command began. Memory of one run of the parser.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    bytes: u128,
    /// Which bits of a command's first 16 bytes belong to its head.
    mask: u128,
    len: usize,
    name: Span,
    /// Arguments behind the name.
    arguments: usize,
}

impl Head {
    /// The head of the command that `input` begins with and that was read into `spans`. None: it is
    /// too long, or the limits are not the usual ones.
    #[inline]
    pub fn of(input: &[u8], limits: &Limits, spans: &[Span]) -> Option<Head> {
        let (name, rest) = spans.split_first()?;
        let len = name.start as usize + name.len as usize + 2;
        let word = u128::from_le_bytes(*input.first_chunk()?);
        if len > HEAD_BYTES_MAX || !limits.authenticated || limits.bulk_bytes_max < BULK_BYTES_MAX {
            return None;
        }
        let mask = u128::MAX >> (8 * (HEAD_BYTES_MAX - len));
        Some(Head { bytes: word & mask, mask, len, name: *name, arguments: rest.len() })
    }

    /// Reads a command with this head, appends its arguments and gives its bytes. None: it begins
    /// in another way, or is not whole, or not of the common kind, or wrong.
    #[inline(always)]
    pub fn command(&self, input: &[u8], spans: &mut Vec<Span>) -> Option<usize> {
        let word = u128::from_le_bytes(*input.first_chunk()?);
        if word & self.mask != self.bytes {
            return None;
        }
        let before = spans.len();
        spans.push(self.name);
        let end = arguments(input, self.len, self.arguments, spans);
        if end.is_none() {
            spans.truncate(before);
        }
        end
    }
}
