//! The common case: a whole command whose headers have few digits.
//!
//! A header is read as one word of eight bytes instead of byte by byte. What must stay true: what
//! is accepted here the general way reads alike, and of everything else nothing is appended.

use super::{Limits, Span};

/// `$12345\r\n` fills a word.
const DIGITS_MAX: u32 = 5;

/// The longest argument whose header fits.
pub(super) const BULK_BYTES_MAX: u64 = 99_999;

/// Reads a command that `input` begins with, appends its arguments and gives its bytes. `None`: it
/// is not whole, or not of the common kind, or wrong.
#[inline(always)]
pub(super) fn command(input: &[u8], limits: &Limits, spans: &mut Vec<Span>) -> Option<usize> {
    let before = spans.len();
    let (count, at) = header(input, 0, b'*')?;
    let is_allowed = limits.authenticated
        && limits.bulk_bytes_max >= BULK_BYTES_MAX
        && count <= limits.multibulk_max;
    if count == 0 || !is_allowed {
        return None;
    }
    let end = arguments(input, at, count as usize, spans);
    if end.is_none() {
        spans.truncate(before);
    }
    end
}

/// Reads `count` arguments from offset `at` on, appends them and gives the offset behind them.
#[inline(always)]
pub(super) fn arguments(
    input: &[u8],
    mut at: usize,
    count: usize,
    spans: &mut Vec<Span>,
) -> Option<usize> {
    for _ in 0..count {
        let (span, next) = bulk(input, at)?;
        spans.push(span);
        at = next;
    }
    Some(at)
}

/// The argument at offset `at`, and the offset behind its end of line.
#[inline(always)]
fn bulk(input: &[u8], at: usize) -> Option<(Span, usize)> {
    let (len, header_len) = header(input, at, b'$')?;
    let start = at + header_len;
    let end = start + len as usize;
    let is_ended = input.get(end..)?.first_chunk::<2>()? == b"\r\n";
    is_ended.then_some((Span { start: u32::try_from(start).ok()?, len }, end + 2))
}

/// The number in the header at offset `at`, and the header's bytes.
#[inline(always)]
fn header(input: &[u8], at: usize, kind: u8) -> Option<(u32, usize)> {
    let word = u64::from_le_bytes(*input.get(at..)?.first_chunk::<8>()?);
    let kind = u64::from(kind);
    // `$1\r\n` and `$12\r\n` are most headers.
    if word & 0xffff_00ff == END << 16 | kind {
        return (digit(word, 1) <= 9).then_some((digit(word, 1), 4));
    }
    if word & 0xff_ff00_00ff == END << 24 | kind {
        let (tens, ones) = (digit(word, 1), digit(word, 2));
        let is_legal = (1..=9).contains(&tens) && ones <= 9;
        return is_legal.then_some((tens * 10 + ones, 5));
    }
    (word & 0xff == kind).then(|| long_header(word)).flatten()
}

/// `\r\n` in a word.
const END: u64 = 0x0a0d;

/// The value of the byte at `index` of a word as a digit; above nine if it is none.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "a byte of the word is meant")]
fn digit(word: u64, index: u32) -> u32 {
    u32::from(((word >> (8 * index)) as u8).wrapping_sub(b'0'))
}

/// A header of three to five digits.
#[inline]
fn long_header(word: u64) -> Option<(u32, usize)> {
    let ends_after = |digits: u32| word >> (8 * (digits + 1)) & 0xffff == END;
    let digits = (3..=DIGITS_MAX).find(|&digits| ends_after(digits))?;
    let mut number = 0;
    for index in 1..=digits {
        // A number of several digits does not begin with a zero.
        if digit(word, index) > 9 || (index == 2 && number == 0) {
            return None;
        }
        number = number * 10 + digit(word, index);
    }
    Some((number, digits as usize + 3))
}
