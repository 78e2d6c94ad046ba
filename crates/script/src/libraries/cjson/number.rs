//! Numbers of JSON: as C's `%.14g` writes them, and as its `strtod` reads them.

/// Appends a finite number with at most `precision` digits, as `%.*g` does.
pub(super) fn format(number: f64, precision: usize, out: &mut Vec<u8>) {
    let precision = precision.max(1);
    let scientific = format!("{number:.*e}", precision - 1);
    let (digits, exponent) = scientific.split_once('e').expect("`e` asks for an exponent");
    let exponent: i32 = exponent.parse().expect("an exponent is a number");
    let is_plain = exponent >= -4 && usize::try_from(exponent).is_ok_and(|at| at < precision)
        || (-4..0).contains(&exponent);
    if is_plain {
        let decimals = i32::try_from(precision).expect("at most 14") - 1 - exponent;
        let decimals = usize::try_from(decimals).expect("the exponent is below the precision");
        out.extend_from_slice(trim(&format!("{number:.decimals$}")).as_bytes());
    } else {
        out.extend_from_slice(trim(digits).as_bytes());
        let sign = if exponent < 0 { '-' } else { '+' };
        out.extend_from_slice(format!("e{sign}{:02}", exponent.abs()).as_bytes());
    }
}

/// Without zeros at the end of a fraction.
fn trim(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// The number at the start of `text`, and its bytes. None: there is none.
pub(super) fn parse(text: &[u8]) -> Option<(f64, usize)> {
    let sign = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let is_negative = text.first() == Some(&b'-');
    let rest = &text[sign..];
    let signed = |number: f64| if is_negative { -number } else { number };
    let is = |word: &[u8]| rest.get(..word.len()).is_some_and(|at| at.eq_ignore_ascii_case(word));
    if is(b"infinity") {
        return Some((signed(f64::INFINITY), sign + 8));
    }
    if is(b"inf") {
        return Some((signed(f64::INFINITY), sign + 3));
    }
    if is(b"nan") {
        return Some((signed(f64::NAN), sign + 3));
    }
    if is(b"0x")
        && let Some((number, length)) = hexadecimal(&rest[2..])
    {
        return Some((signed(number), sign + 2 + length));
    }
    let length = decimal(rest)?;
    let number = std::str::from_utf8(&rest[..length]).ok()?.parse().ok()?;
    Some((signed(number), sign + length))
}

/// Bytes of the decimal number at the start.
fn decimal(text: &[u8]) -> Option<usize> {
    let whole = digits(text);
    let mut end = whole;
    if text.get(end) == Some(&b'.') {
        let fraction = digits(&text[end + 1..]);
        if whole + fraction == 0 {
            return None;
        }
        end += 1 + fraction;
    } else if whole == 0 {
        return None;
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        let exponent = text.get(end + 1 + sign..).map_or(0, digits);
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    Some(end)
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// The hexadecimal number behind `0x`, and its bytes.
fn hexadecimal(text: &[u8]) -> Option<(f64, usize)> {
    let (mut number, mut exponent, mut at, mut seen) = (0.0_f64, 0_i32, 0, 0);
    let mut in_fraction = false;
    while let Some(&byte) = text.get(at) {
        if byte == b'.' && !in_fraction {
            in_fraction = true;
        } else if let Some(digit) = char::from(byte).to_digit(16) {
            number = number * 16.0 + f64::from(digit);
            exponent = exponent.saturating_sub(if in_fraction { 4 } else { 0 });
            seen += 1;
        } else {
            break;
        }
        at += 1;
    }
    if seen == 0 {
        return None;
    }
    if matches!(text.get(at), Some(b'p' | b'P')) {
        let sign = usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        let length = text.get(at + 1 + sign..).map_or(0, digits);
        if length > 0 {
            let written = std::str::from_utf8(&text[at + 1..at + 1 + sign + length]).ok()?;
            let limit = if written.starts_with('-') { -100_000 } else { 100_000 };
            exponent = exponent.saturating_add(written.parse::<i32>().unwrap_or(limit));
            at += 1 + sign + length;
        }
    }
    // Two steps: a power of two below the least double is zero by itself.
    let half = exponent / 2;
    Some((number * 2.0_f64.powi(half) * 2.0_f64.powi(exponent - half), at))
}
