//! One integer of 1 to 64 bits anywhere in a string, and its arithmetic: BITFIELD.

use crate::Error;

/// How many bits an integer has, and whether the first is its sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    is_signed: bool,
    /// 1..=64, 63 at most without a sign
    bits: u32,
}

/// What becomes of a result that the field cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overflow {
    /// Its low bits are kept.
    Wrap,
    /// The nearest number that fits is kept.
    Saturate,
    /// Nothing is changed.
    Fail,
}

impl Shape {
    /// Reads `i16`, `u8`.
    pub(super) fn parse(word: &[u8]) -> Result<Shape, Error> {
        const BAD: Error = Error::text(
            "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported \
             but i64 is.",
        );
        let (is_signed, digits) = match word {
            [b'i', digits @ ..] => (true, digits),
            [b'u', digits @ ..] => (false, digits),
            _ => return Err(BAD),
        };
        let bits_max = if is_signed { 64 } else { 63 };
        let bits = caudal_text::integer::parse_i64(digits).and_then(|it| u32::try_from(it).ok());
        let bits = bits.filter(|bits| (1..=bits_max).contains(bits)).ok_or(BAD)?;
        Ok(Shape { is_signed, bits })
    }

    pub(super) fn bits(self) -> u32 {
        self.bits
    }

    /// The integer at bit `offset` of a string behind which all is zero.
    pub(super) fn read(self, text: &[u8], offset: u64) -> i64 {
        let first = usize::try_from(offset / 8).unwrap_or(usize::MAX);
        let mut window = [0; WINDOW];
        if let Some(tail) = text.get(first..) {
            let length = tail.len().min(WINDOW);
            window[..length].copy_from_slice(&tail[..length]);
        }
        let bits = u128::from_be_bytes(window) << (offset % 8) >> (u128::BITS - self.bits);
        self.truncate(bits as i128)
    }

    /// Puts an integer at bit `offset` of a string that reaches that far.
    pub(super) fn write(self, text: &mut [u8], offset: u64, value: i64) {
        let first = usize::try_from(offset / 8).expect("the string reaches that far");
        let bits_before = (offset % 8) as u32;
        let last = (bits_before + self.bits).div_ceil(8) as usize;
        let part = &mut text[first..first + last];
        let mut window = [0; WINDOW];
        window[..last].copy_from_slice(part);
        let shift = u128::BITS - self.bits - bits_before;
        let mask = (u128::MAX >> (u128::BITS - self.bits)) << shift;
        let bits = u128::from_be_bytes(window) & !mask | (value as u128) << shift & mask;
        part.copy_from_slice(&bits.to_be_bytes()[..last]);
    }

    /// What SET stores for `value`; none if it does not fit and that is a failure.
    pub(super) fn fit(self, value: i64, overflow: Overflow) -> Option<i64> {
        // A negative number for a field without a sign is a very large one.
        let value = if self.is_signed { i128::from(value) } else { i128::from(value as u64) };
        self.settle(value, overflow)
    }

    /// The sum that INCRBY stores; none if it does not fit and that is a failure.
    pub(super) fn add(self, value: i64, more: i64, overflow: Overflow) -> Option<i64> {
        self.settle(i128::from(value) + i128::from(more), overflow)
    }

    fn settle(self, value: i128, overflow: Overflow) -> Option<i64> {
        let (least, most) = match self.is_signed {
            true => (-1 << (self.bits - 1), (1 << (self.bits - 1)) - 1),
            false => (0, (1 << self.bits) - 1),
        };
        if (least..=most).contains(&value) {
            return Some(self.truncate(value));
        }
        match overflow {
            Overflow::Wrap => Some(self.truncate(value)),
            Overflow::Saturate => Some(self.truncate(value.clamp(least, most))),
            Overflow::Fail => None,
        }
    }

    /// The number that the lowest bits of `value` are.
    #[allow(clippy::cast_possible_truncation, reason = "64 bits are left at most")]
    fn truncate(self, value: i128) -> i64 {
        let shift = i128::BITS - self.bits;
        let high = value << shift;
        match self.is_signed {
            true => (high >> shift) as i64,
            false => (high as u128 >> shift) as i64,
        }
    }
}

/// Bytes that hold any field with the bits before it in its first byte.
const WINDOW: usize = 16;

#[cfg(test)]
mod tests {
    use super::{Overflow, Shape};

    fn shape(word: &str) -> Shape {
        Shape::parse(word.as_bytes()).unwrap()
    }

    #[test]
    fn types_are_what_redis_takes() {
        for word in ["i1", "i64", "u1", "u63"] {
            assert!(Shape::parse(word.as_bytes()).is_ok(), "{word}");
        }
        for word in ["", "i", "u0", "u64", "i65", "i08", "I8", "x8", "i-1", "i8 "] {
            assert!(Shape::parse(word.as_bytes()).is_err(), "{word}");
        }
    }

    #[test]
    fn what_is_written_is_read_and_nothing_else_changes() {
        for sign in ["i", "u"] {
            for bits in 1..=63 {
                let shape = shape(&format!("{sign}{bits}"));
                for offset in 0..16 {
                    for value in [0, 1, -1, 0x5a5a_5a5a_5a5a_5a5a] {
                        let value = shape.fit(value, Overflow::Wrap).unwrap();
                        for background in [0, 0xff] {
                            let mut text = [background; 12];
                            let before = text;
                            shape.write(&mut text, offset, value);
                            assert_eq!(shape.read(&text, offset), value);
                            for at in 0..96 {
                                let outside = at < offset || at >= offset + bits;
                                let bit =
                                    |text: &[u8; 12]| text[(at / 8) as usize] >> (7 - at % 8) & 1;
                                assert!(!outside || bit(&text) == bit(&before));
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn reading_beyond_the_end_gives_zeros() {
        assert_eq!(shape("u16").read(&[0xab], 0), 0xab00);
        assert_eq!(shape("i64").read(&[0xff], 4), -1 << 60);
        assert_eq!(shape("u8").read(&[], 1 << 32), 0);
        assert_eq!(shape("u63").read(&[0xff; 9], 7), i64::MAX);
    }

    #[test]
    fn overflow_wraps_saturates_or_fails() {
        let (byte, signed, widest) = (shape("u8"), shape("i8"), shape("i64"));
        assert_eq!(byte.add(250, 10, Overflow::Wrap), Some(4));
        assert_eq!(byte.add(250, 10, Overflow::Saturate), Some(255));
        assert_eq!(byte.add(250, 10, Overflow::Fail), None);
        assert_eq!(byte.add(1, -2, Overflow::Wrap), Some(255));
        assert_eq!(byte.add(1, -2, Overflow::Saturate), Some(0));
        assert_eq!(byte.fit(-1, Overflow::Saturate), Some(255));
        assert_eq!(signed.fit(-200, Overflow::Saturate), Some(-128));
        assert_eq!(signed.fit(128, Overflow::Wrap), Some(-128));
        assert_eq!(widest.add(i64::MAX, 1, Overflow::Wrap), Some(i64::MIN));
        assert_eq!(widest.add(i64::MAX, 1, Overflow::Saturate), Some(i64::MAX));
        assert_eq!(widest.add(i64::MIN, -1, Overflow::Fail), None);
    }
}
