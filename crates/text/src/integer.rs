//! Integers as commands spell them.
//!
//! [`parse_i64`] accepts exactly what [`Decimal`] prints and nothing else: a string value that
//! parses may be stored as an integer, because printing it gives the same bytes back.

use std::ops::Deref;

/// Digits of the longest `u64`, 18446744073709551615.
const DIGITS_MAX: usize = 20;

/// Reads a signed integer in canonical form: no `+`, no leading zero, no `-0`, no space.
#[inline]
pub fn parse_i64(text: &[u8]) -> Option<i64> {
    match text {
        [b'-', digits @ ..] => {
            let magnitude = parse_u64(digits)?;
            if magnitude == 0 { None } else { 0i64.checked_sub_unsigned(magnitude) }
        }
        digits => i64::try_from(parse_u64(digits)?).ok(),
    }
}

/// Reads an unsigned integer in canonical form: digits only, no leading zero.
#[inline]
pub fn parse_u64(text: &[u8]) -> Option<u64> {
    match text {
        [b'0'] => Some(0),
        [b'1'..=b'9', ..] => parse_digits(text),
        _ => None,
    }
}

/// Reads the cursor of SCAN and its family, which is laxer than every other number: white space and
/// a sign may stand before it, and zeros.
pub fn parse_cursor(text: &[u8]) -> Option<u64> {
    let start = text.iter().position(|&byte| !is_space(byte))?;
    match &text[start..] {
        [b'-', digits @ ..] => parse_zeros_and_digits(digits).filter(|&cursor| cursor == 0),
        [b'+', digits @ ..] | digits => parse_zeros_and_digits(digits),
    }
}

/// Appends a number in decimal.
#[inline]
pub fn append_i64(number: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// A number's decimal digits, on the stack.
#[derive(Clone, Copy)]
pub struct Decimal {
    bytes: [u8; DIGITS_MAX],
    /// 1 <= len <= DIGITS_MAX
    len: u8,
}

impl Decimal {
    /// Spells a signed number.
    #[inline]
    pub fn new(number: i64) -> Self {
        Self::copy(itoa::Buffer::new().format(number))
    }

    /// Spells an unsigned number.
    #[inline]
    pub fn unsigned(number: u64) -> Self {
        Self::copy(itoa::Buffer::new().format(number))
    }

    /// The digits, with the sign before them.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "a 64-bit number has 20 characters at most")]
    fn copy(text: &str) -> Self {
        let mut bytes = [0; DIGITS_MAX];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        Self { bytes, len: text.len() as u8 }
    }
}

impl Deref for Decimal {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl std::fmt::Debug for Decimal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&String::from_utf8_lossy(self))
    }
}

fn parse_zeros_and_digits(text: &[u8]) -> Option<u64> {
    let zeros = text.iter().take_while(|&&byte| byte == b'0').count();
    if zeros == text.len() {
        return (zeros > 0).then_some(0);
    }
    parse_digits(&text[zeros..])
}

#[inline]
fn parse_digits(text: &[u8]) -> Option<u64> {
    if text.len() > DIGITS_MAX {
        return None;
    }
    // Below 20 digits nothing can overflow, so that only the last digit is checked.
    let (last, first) = text.split_last()?;
    let mut number = 0u64;
    for &byte in first {
        number = number * 10 + digit(byte)?;
    }
    number.checked_mul(10)?.checked_add(digit(*last)?)
}

#[inline]
fn digit(byte: u8) -> Option<u64> {
    byte.is_ascii_digit().then(|| u64::from(byte - b'0'))
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_the_canonical_form_is_an_integer() {
        assert_eq!(parse_i64(b"0"), Some(0));
        assert_eq!(parse_i64(b"-1"), Some(-1));
        assert_eq!(parse_i64(b"9223372036854775807"), Some(i64::MAX));
        assert_eq!(parse_i64(b"-9223372036854775808"), Some(i64::MIN));
        for text in [
            "",
            "-",
            "+1",
            "01",
            "-0",
            "-01",
            "00",
            " 1",
            "1 ",
            "1.0",
            "0x1",
            "--1",
            "1a",
            "9223372036854775808",
            "-9223372036854775809",
            "99999999999999999999",
            "100000000000000000000",
            "18446744073709551616",
            "-18446744073709551615",
        ] {
            assert_eq!(parse_i64(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn the_unsigned_range_ends_at_64_bits() {
        assert_eq!(parse_u64(b"18446744073709551615"), Some(u64::MAX));
        for text in ["18446744073709551616", "99999999999999999999", "-1", "+1", "00", ""] {
            assert_eq!(parse_u64(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn a_cursor_may_have_spaces_signs_and_zeros() {
        for (text, cursor) in [("0", 0), ("00", 0), ("+1", 1), (" 1", 1), ("\t\r01", 1), ("-0", 0)]
        {
            assert_eq!(parse_cursor(text.as_bytes()), Some(cursor), "{text:?}");
        }
        assert_eq!(parse_cursor(b"018446744073709551615"), Some(u64::MAX));
        for text in ["", " ", "+", "-", "-1", "1 ", "0x10", "1a", "18446744073709551616", "+-1"] {
            assert_eq!(parse_cursor(text.as_bytes()), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read(number: i64, unsigned: u64) {
            prop_assert_eq!(parse_i64(&Decimal::new(number)), Some(number));
            prop_assert_eq!(parse_u64(&Decimal::unsigned(unsigned)), Some(unsigned));
        }

        #[test]
        fn what_is_read_is_printed_the_same(text in "[-+ 0-9]{0,21}") {
            if let Some(number) = parse_i64(text.as_bytes()) {
                let printed = Decimal::new(number);
                prop_assert_eq!(printed.as_bytes(), text.as_bytes());
            }
        }
    }
}
