//! The number format of INCRBYFLOAT and HINCRBYFLOAT: 64 bits of mantissa, as in an x87 register.
//!
//! Redis adds in C's `long double` and prints 17 decimals without their trailing zeros, so that
//! 10.5 + 0.1 is 10.6 and not 10.59999999999999964. The same bits come out here on every machine:
//! texts are rounded to the nearest mantissa (half to even), sums too, and the printed text is
//! rounded once from the exact binary value.
//!
//! Numbers of usual size stay in 128-bit integers; `num-bigint` is for the others, up to 5,119
//! digits.

use num_bigint::BigUint;

/// A text this long is no number: Redis reads it into a buffer of 5 KiB.
const TEXT_BYTES_MAX: usize = 5 * 1024 - 1;

/// Exponent of the last bit of the smallest number, 2^-16445.
const EXPONENT_MIN: i32 = -16_445;

/// Exponent of the last bit of the largest numbers, below 2^16384.
const EXPONENT_MAX: i32 = 16_320;

/// Decimals that are printed.
const DECIMALS: u32 = 17;

/// A number of 64 bits of mantissa and 15 of exponent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extended(Number);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    Nan,
    Infinite {
        negative: bool,
    },
    /// `mantissa * 2^exponent`. The top bit is set, or the exponent is EXPONENT_MIN.
    Finite {
        negative: bool,
        mantissa: u64,
        exponent: i32,
    },
}

impl Extended {
    /// Nothing.
    pub const ZERO: Self =
        Self(Number::Finite { negative: false, mantissa: 0, exponent: EXPONENT_MIN });

    /// Reads a number as C's `strtold` does: decimal, hexadecimal (`0x1.8p3`) or infinity, without
    /// blanks. `None` also for NaN and for what is too large, or so small that it would become
    /// zero.
    pub fn parse(text: &[u8]) -> Option<Self> {
        if text.len() > TEXT_BYTES_MAX {
            return None;
        }
        let (negative, text) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] | rest => (false, rest),
        };
        if text.eq_ignore_ascii_case(b"inf") || text.eq_ignore_ascii_case(b"infinity") {
            return Some(Self(Number::Infinite { negative }));
        }
        let (parts, magnitude) = match text {
            [b'0', b'x' | b'X', rest @ ..] => {
                let parts = Parts::parse(rest, 16)?;
                (parts, parts.hexadecimal())
            }
            _ => {
                let parts = Parts::parse(text, 10)?;
                (parts, parts.decimal())
            }
        };
        let Number::Finite { mantissa, exponent, .. } = magnitude? else { return None };
        if mantissa == 0 && !parts.is_zero() {
            return None;
        }
        Some(Self(Number::Finite { negative, mantissa, exponent }))
    }

    /// The sum, rounded half to even.
    #[must_use]
    #[allow(
        clippy::should_implement_trait,
        reason = "one operation does not make an arithmetic type"
    )]
    pub fn add(self, other: Self) -> Self {
        match (self.0, other.0) {
            (Number::Nan, _) | (_, Number::Nan) => Self(Number::Nan),
            (Number::Infinite { negative: left }, Number::Infinite { negative: right }) => {
                if left == right { self } else { Self(Number::Nan) }
            }
            (Number::Infinite { .. }, _) | (_, Number::Finite { mantissa: 0, .. }) => self,
            (_, Number::Infinite { .. }) | (Number::Finite { mantissa: 0, .. }, _) => other,
            (
                Number::Finite { negative: left, mantissa: m, exponent: e },
                Number::Finite { negative: right, mantissa: n, exponent: f },
            ) if e >= f => Self(add_ordered((left, m, e), (right, n, f))),
            _ => other.add(self),
        }
    }

    /// The same distance from zero on the other side.
    #[must_use]
    pub fn negated(self) -> Self {
        Self(match self.0 {
            Number::Nan => Number::Nan,
            Number::Infinite { negative } => Number::Infinite { negative: !negative },
            Number::Finite { negative, mantissa, exponent } => {
                Number::Finite { negative: !negative, mantissa, exponent }
            }
        })
    }

    /// Whether it is less than another; false for NaN.
    pub fn is_below(self, other: Self) -> bool {
        match self.add(other.negated()).0 {
            Number::Nan => false,
            Number::Infinite { negative } => negative,
            // The difference of two numbers is zero only if they are equal.
            Number::Finite { negative, mantissa, .. } => negative && mantissa > 0,
        }
    }

    /// Neither an infinity nor NaN.
    pub fn is_finite(self) -> bool {
        matches!(self.0, Number::Finite { .. })
    }

    /// Appends the number with at most 17 decimals and never an exponent; zero has no sign.
    pub fn format(self, out: &mut Vec<u8>) {
        let (negative, mantissa, exponent) = match self.0 {
            Number::Nan => return out.extend_from_slice(b"nan"),
            Number::Infinite { negative: true } => return out.extend_from_slice(b"-inf"),
            Number::Infinite { negative: false } => return out.extend_from_slice(b"inf"),
            Number::Finite { negative, mantissa, exponent } => (negative, mantissa, exponent),
        };
        if negative {
            out.push(b'-');
        }
        if exponent > 0 {
            return write_integer(mantissa, exponent.unsigned_abs(), out);
        }
        const SCALE: u128 = 10u128.pow(DECIMALS);
        let scaled = halve(u128::from(mantissa) * SCALE, exponent.unsigned_abs(), false);
        if scaled == 0 {
            out.truncate(out.len() - usize::from(negative));
            return out.push(b'0');
        }
        let mut buffer = itoa::Buffer::new();
        out.extend_from_slice(buffer.format(scaled / SCALE).as_bytes());
        let fraction = scaled % SCALE;
        if fraction > 0 {
            let text = format!("{fraction:017}");
            out.push(b'.');
            out.extend_from_slice(text.trim_end_matches('0').as_bytes());
        }
    }
}

/// Adds two finite numbers, neither zero, the exponent of the first at least that of the second.
fn add_ordered(large: (bool, u64, i32), small: (bool, u64, i32)) -> Number {
    /// Bits below the larger mantissa: two bits above remain for the carry.
    const GUARD: i32 = 62;
    let distance = small.2.abs_diff(large.2);
    let exponent = large.2 - GUARD;
    let left = u128::from(large.1) << GUARD;
    let whole = u128::from(small.1) << GUARD;
    let right = whole.checked_shr(distance).unwrap_or(0);
    let lost = right.checked_shl(distance).unwrap_or(0) != whole;
    if large.0 == small.0 {
        return round(large.0, left + right, exponent, lost);
    }
    if left >= right {
        // What was lost of the smaller one takes a little more away.
        let rest = left - right - u128::from(lost);
        let negative = large.0 && (rest != 0 || lost);
        return round(negative, rest, exponent, lost);
    }
    // Only numbers below the normal range: same exponent, nothing lost.
    round(small.0, right - left, exponent, lost)
}

/// Rounds `significand * 2^exponent`, plus a bit less than one unit if `more`, to 64 bits.
/// With `more`, the significand has at least 66 bits.
fn round(negative: bool, significand: u128, exponent: i32, more: bool) -> Number {
    if significand == 0 {
        return Number::Finite { negative, mantissa: 0, exponent: EXPONENT_MIN };
    }
    let bits = (u128::BITS - significand.leading_zeros()).cast_signed();
    let mut target = (exponent + bits - 64).max(EXPONENT_MIN);
    let shift = target - exponent;
    let mut mantissa = if shift >= 0 {
        halve(significand, shift.unsigned_abs(), more)
    } else {
        significand << shift.unsigned_abs()
    };
    if mantissa > u128::from(u64::MAX) {
        mantissa >>= 1;
        target += 1;
    }
    if target > EXPONENT_MAX {
        return Number::Infinite { negative };
    }
    let mantissa = u64::try_from(mantissa).expect("64 bits are left");
    Number::Finite { negative, mantissa, exponent: target }
}

/// Divides by 2^times, half to even; `more` says that the dividend is really a bit larger.
fn halve(dividend: u128, times: u32, more: bool) -> u128 {
    if times == 0 {
        return dividend;
    }
    if times > u128::BITS {
        return 0;
    }
    let quotient = dividend.checked_shr(times).unwrap_or(0);
    let rest = dividend << (u128::BITS - times);
    let half = 1u128 << (u128::BITS - 1);
    let up = rest > half || (rest == half && (more || quotient & 1 == 1));
    quotient + u128::from(up)
}

/// A number's text: digits with an optional point, and the exponent behind them.
#[derive(Clone, Copy)]
struct Parts<'a> {
    /// Digits, with at most one point.
    mantissa: &'a [u8],
    decimals: usize,
    exponent: i64,
}

impl<'a> Parts<'a> {
    fn parse(text: &'a [u8], radix: u32) -> Option<Self> {
        let letter = if radix == 10 { b'e' } else { b'p' };
        let is_part = |&byte: &u8| byte == b'.' || char::from(byte).is_digit(radix);
        let end = text.iter().position(|byte| !is_part(byte)).unwrap_or(text.len());
        let (mantissa, rest) = text.split_at(end);
        let point = mantissa.iter().position(|&byte| byte == b'.');
        let decimals = point.map_or(0, |point| mantissa.len() - point - 1);
        let digits = mantissa.len() - usize::from(point.is_some());
        if digits == 0 || mantissa.iter().filter(|&&byte| byte == b'.').count() > 1 {
            return None;
        }
        let exponent = match rest {
            [] => 0,
            [first, exponent @ ..] if first.eq_ignore_ascii_case(&letter) => {
                parse_exponent(exponent)?
            }
            _ => return None,
        };
        Some(Self { mantissa, decimals, exponent })
    }

    fn is_zero(&self) -> bool {
        self.mantissa.iter().all(|byte| matches!(byte, b'0' | b'.'))
    }

    /// `None` if it is too large or too small by far.
    fn decimal(self) -> Option<Number> {
        if self.is_zero() {
            return Some(round(false, 0, 0, false));
        }
        let exponent = self.exponent - i64::try_from(self.decimals).ok()?;
        if let Some(number) = self.short_decimal(exponent) {
            return Some(number);
        }
        // 10^4933 is infinite and 10^-4951 is zero; digits shift that by their count.
        const EXPONENT_FAR: i64 = 4_960 + TEXT_BYTES_MAX as i64;
        if exponent.abs() > EXPONENT_FAR {
            return None;
        }
        let mut above = self.integer(10)?;
        let mut below = BigUint::from(1u32);
        let power = BigUint::from(10u32).pow(u32::try_from(exponent.abs()).ok()?);
        if exponent < 0 {
            below = power
        } else {
            above *= power
        }
        divide(above, below, 0)
    }

    /// The usual case, not zero: the digits fit in 64 bits and so does the power of ten.
    fn short_decimal(self, exponent: i64) -> Option<Number> {
        const SCALE_MAX: u64 = 18;
        if exponent.unsigned_abs() > SCALE_MAX {
            return None;
        }
        let mut digits = 0u64;
        for byte in self.mantissa.iter().filter(|&&byte| byte != b'.') {
            digits = digits.checked_mul(10)?.checked_add(u64::from(byte - b'0'))?;
        }
        let power = 10u128.pow(u32::try_from(exponent.unsigned_abs()).ok()?);
        if exponent >= 0 {
            return Some(round(false, u128::from(digits) * power, 0, false));
        }
        // Top bit 127 divided by less than 2^60: at least 66 bits are left.
        let shift = u128::from(digits).leading_zeros();
        let above = u128::from(digits) << shift;
        Some(round(false, above / power, -shift.cast_signed(), above % power != 0))
    }

    /// `None` if it is too large or too small by far.
    fn hexadecimal(self) -> Option<Number> {
        if self.is_zero() {
            return Some(round(false, 0, 0, false));
        }
        let exponent = self.exponent - 4 * i64::try_from(self.decimals).ok()?;
        const EXPONENT_FAR: i64 = 17_000 + 4 * TEXT_BYTES_MAX as i64;
        if exponent.abs() > EXPONENT_FAR {
            return None;
        }
        divide(self.integer(16)?, BigUint::from(1u32), i32::try_from(exponent).ok()?)
    }

    fn integer(self, radix: u32) -> Option<BigUint> {
        let digits: Vec<u8> = self.mantissa.iter().copied().filter(|&byte| byte != b'.').collect();
        BigUint::parse_bytes(&digits, radix)
    }
}

/// `above / below * 2^exponent`, rounded.
fn divide(mut above: BigUint, mut below: BigUint, exponent: i32) -> Option<Number> {
    /// Bits of the quotient, give or take one: enough to round 64, and below 128.
    const QUOTIENT_BITS: i64 = 100;
    let wanted = QUOTIENT_BITS + i64::try_from(below.bits()).ok()?;
    let shift = wanted - i64::try_from(above.bits()).ok()?;
    if shift >= 0 {
        above <<= shift
    } else {
        below <<= -shift
    }
    let quotient = &above / &below;
    let more = &quotient * &below != above;
    let quotient = u128::try_from(quotient).ok()?;
    Some(round(false, quotient, exponent - i32::try_from(shift).ok()?, more))
}

/// Digits with an optional sign. Far beyond the range it stands still instead of overflowing.
fn parse_exponent(text: &[u8]) -> Option<i64> {
    const FAR: i64 = 1_000_000_000;
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let size = digits.iter().fold(0, |size, &byte| FAR.min(size * 10 + i64::from(byte - b'0')));
    Some(if negative { -size } else { size })
}

/// `mantissa * 2^shift` in decimal.
fn write_integer(mantissa: u64, shift: u32, out: &mut Vec<u8>) {
    if shift <= 64 {
        let mut buffer = itoa::Buffer::new();
        return out.extend_from_slice(buffer.format(u128::from(mantissa) << shift).as_bytes());
    }
    let integer = BigUint::from(mantissa) << shift;
    out.extend_from_slice(integer.to_string().as_bytes());
}

#[cfg(test)]
mod tests;
