//! Doubles as commands spell them: scores, increments, coordinates.
//!
//! What [`format_f64`] prints, [`parse_f64`] reads back to the same double. [`Extended`] is for the
//! two commands that add in a wider format.

mod extended;

pub use extended::Extended;

/// Room for anything that [`format_f64`] appends.
pub const FORMATTED_BYTES_MAX: usize = 32;

/// Reads a double. Decimal only; `inf` and `infinity` in any case with an optional sign; neither
/// NaN nor a number too large, or so small that it would become zero.
pub fn parse_f64(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?;
    let number: f64 = text.parse().ok()?;
    let legal = if number == 0.0 {
        !has_digits_of_value(text.as_bytes())
    } else if number.is_infinite() {
        names_infinity(text.as_bytes())
    } else {
        !number.is_nan()
    };
    legal.then_some(number)
}

/// Appends the shortest text that reads back as `number`, in the form of Valkey 9: `3`, `0.1`,
/// `1e-7`, `123456789012345680` (whole numbers up to 2^62 exactly), `1e+20`, `inf`, `-inf`, `nan`.
///
/// For about one double in 600 (those not whole, or above 2^62) Valkey's digits are not the
/// shortest or not the nearest: 2.3922812859999998e+4 for 23922.81286. Both texts read as the same
/// double.
pub fn format_f64(number: f64, out: &mut Vec<u8>) {
    if let Some(integer) = as_integer(number) {
        return crate::integer::append_i64(integer, out);
    }
    if number.is_nan() {
        return out.extend_from_slice(b"nan");
    }
    if number.is_sign_negative() {
        out.push(b'-');
    }
    if number.is_infinite() {
        return out.extend_from_slice(b"inf");
    }
    if number == 0.0 {
        return out.push(b'0');
    }
    Digits::shortest(number.abs()).write(out);
}

/// Whole numbers up to 2^62 are printed exactly: 1000000000, not 1e+9.
#[inline]
fn as_integer(number: f64) -> Option<i64> {
    const EXACT_MAX: f64 = 4_611_686_018_427_387_904.0;
    if number.abs() > EXACT_MAX || (number == 0.0 && number.is_sign_negative()) {
        return None;
    }
    #[allow(clippy::cast_possible_truncation, reason = "checked by the comparison that follows")]
    let integer = number as i64;
    #[allow(clippy::cast_precision_loss, reason = "a whole double below 2^63 is exact both ways")]
    let exact = integer as f64 == number;
    exact.then_some(integer)
}

/// A positive number as decimal digits: `digits * 10^exponent`.
struct Digits {
    digits: [u8; Digits::MAX],
    /// 1 <= len <= MAX, without trailing zeros
    len: usize,
    exponent: i32,
}

impl Digits {
    /// A double is told from its neighbours by 17 digits.
    const MAX: usize = 17;

    /// `number` is finite and above zero.
    fn shortest(number: f64) -> Self {
        let mut buffer = zmij::Buffer::new();
        let text = buffer.format_finite(number).as_bytes();
        let mut this = Self { digits: [0; Self::MAX], len: 0, exponent: 0 };
        let mut in_fraction = false;
        // Zeros are put off until a digit follows, so that trailing ones become exponent.
        let mut zeros = 0;
        for (index, &byte) in text.iter().enumerate() {
            match byte {
                b'.' => in_fraction = true,
                b'0' => {
                    zeros += i32::from(this.len > 0);
                    this.exponent -= i32::from(in_fraction);
                }
                b'1'..=b'9' => {
                    for _ in 0..zeros {
                        this.push(b'0');
                    }
                    zeros = 0;
                    this.push(byte);
                    this.exponent -= i32::from(in_fraction);
                }
                _ => {
                    this.exponent += parse_exponent(&text[index + 1..]);
                    break;
                }
            }
        }
        this.exponent += zeros;
        this
    }

    fn push(&mut self, digit: u8) {
        self.digits[self.len] = digit;
        self.len += 1;
    }

    /// Plain where that is short, scientific elsewhere.
    fn write(&self, out: &mut Vec<u8>) {
        let digits = &self.digits[..self.len];
        let len = i32::try_from(self.len).expect("at most 17 digits");
        let scientific = self.exponent + len - 1;
        if self.exponent >= 0 && scientific < len + 7 {
            out.extend_from_slice(digits);
            out.extend(std::iter::repeat_n(b'0', self.exponent.unsigned_abs() as usize));
        } else if self.exponent < 0 && (self.exponent > -7 || scientific.abs() < 4) {
            let fraction = self.exponent.unsigned_abs() as usize;
            if let Some(whole) = self.len.checked_sub(fraction).filter(|&whole| whole > 0) {
                out.extend_from_slice(&digits[..whole]);
                out.push(b'.');
                out.extend_from_slice(&digits[whole..]);
            } else {
                out.extend_from_slice(b"0.");
                out.extend(std::iter::repeat_n(b'0', fraction - self.len));
                out.extend_from_slice(digits);
            }
        } else {
            out.push(digits[0]);
            if digits.len() > 1 {
                out.push(b'.');
                out.extend_from_slice(&digits[1..]);
            }
            out.extend_from_slice(if scientific < 0 { b"e-" } else { b"e+" });
            crate::integer::append_i64(i64::from(scientific.abs()), out);
        }
    }
}

/// `-7`, `+20`, `20`: what stands behind the `e` of the shortest digits.
fn parse_exponent(text: &[u8]) -> i32 {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    let size = digits.iter().fold(0, |size, &digit| size * 10 + i32::from(digit - b'0'));
    if negative { -size } else { size }
}

/// A digit other than zero stands before the exponent.
fn has_digits_of_value(text: &[u8]) -> bool {
    let mantissa = text.iter().take_while(|byte| !matches!(byte, b'e' | b'E' | b'p' | b'P'));
    mantissa.into_iter().any(|byte| matches!(byte, b'1'..=b'9'))
}

fn names_infinity(text: &[u8]) -> bool {
    let name = match text {
        [b'+' | b'-', name @ ..] | name => name,
    };
    name.eq_ignore_ascii_case(b"inf") || name.eq_ignore_ascii_case(b"infinity")
}

#[cfg(test)]
mod tests;
