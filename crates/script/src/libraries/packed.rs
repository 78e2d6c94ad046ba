//! `struct`: values as the bytes of a C structure, and back.
//!
//! A format is a row of letters: integers (`b h i l T`, upper case for those without a sign, `i`
//! with a size), `f d`, strings (`s` up to a zero, `cN` of N bytes), `x` for a byte of padding, and
//! `< > !` for what holds from there on. Sizes are those of a 64-bit machine.

use super::given::Given;
use mlua::{Lua, MultiValue, Result, Table, Value};

/// Longest integer, in bytes. Of one that is longer than eight the rest is zero.
const INTEGER_BYTES_MAX: usize = 32;
/// What `!` without a number aligns to.
const ALIGNMENT_MAX: usize = 8;
/// Values that a format may give: what Lua's stack holds.
const VALUES_MAX: usize = 7900;

/// The library.
pub(super) fn table(lua: &Lua) -> Result<Table> {
    let table = lua.create_table()?;
    table.raw_set("pack", lua.create_function(pack)?)?;
    table.raw_set("unpack", lua.create_function(unpack)?)?;
    table.raw_set("size", lua.create_function(size)?)?;
    Ok(table)
}

/// A letter of a format, with its size and the padding before it.
struct Item {
    option: u8,
    size: usize,
    /// Bytes of padding that its alignment asks for, given the place before it.
    padding: usize,
}

/// Walks over a format.
struct Format<'f> {
    bytes: &'f [u8],
    at: usize,
    is_big: bool,
    alignment: usize,
}

impl<'f> Format<'f> {
    /// A zero ends it, as it ends a string of C.
    fn new(format: &'f [u8]) -> Format<'f> {
        let end = format.iter().position(|byte| *byte == 0).unwrap_or(format.len());
        Format { bytes: &format[..end], at: 0, is_big: false, alignment: 1 }
    }

    /// The next letter, at `place` of the structure.
    fn next(&mut self, given: &Given<'_>, place: usize) -> Result<Option<Item>> {
        let Some(&option) = self.bytes.get(self.at) else { return Ok(None) };
        self.at += 1;
        let size = match option {
            b'b' | b'B' | b'x' => 1,
            b'h' | b'H' => 2,
            b'f' => 4,
            b'l' | b'L' | b'T' | b'd' => 8,
            b'c' => self.number(given, 1)?,
            b'i' | b'I' => {
                let size = self.number(given, 4)?;
                if size > INTEGER_BYTES_MAX {
                    return Err(given.fail(format!(
                        "integral size {size} is larger than limit of {INTEGER_BYTES_MAX}"
                    )));
                }
                size
            }
            _ => 0,
        };
        let padding = if size == 0 || option == b'c' {
            0
        } else {
            let to = size.min(self.alignment);
            to.wrapping_sub(place & to.wrapping_sub(1)) & to.wrapping_sub(1)
        };
        Ok(Some(Item { option, size, padding }))
    }

    /// Follows a letter that is no value.
    fn control(&mut self, given: &Given<'_>, option: u8) -> Result<()> {
        match option {
            b' ' => {}
            b'>' => self.is_big = true,
            b'<' => self.is_big = false,
            b'!' => {
                let alignment = self.number(given, ALIGNMENT_MAX)?;
                if !alignment.is_power_of_two() {
                    let text = format!("alignment {alignment} is not a power of 2");
                    return Err(given.fail(text));
                }
                self.alignment = alignment;
            }
            _ => {
                let option = char::from(option);
                return Err(given.wrong(1, &format!("invalid format option '{option}'")));
            }
        }
        Ok(())
    }

    /// A number in the format; `default` if there is none.
    fn number(&mut self, given: &Given<'_>, default: usize) -> Result<usize> {
        let digits = self.bytes[self.at..].iter().take_while(|byte| byte.is_ascii_digit());
        let digits: Vec<u8> = digits.copied().collect();
        if digits.is_empty() {
            return Ok(default);
        }
        self.at += digits.len();
        let number = std::str::from_utf8(&digits).ok().and_then(|text| text.parse::<i32>().ok());
        let number = number.and_then(|number| usize::try_from(number).ok());
        number.ok_or_else(|| given.fail("integral size overflow"))
    }
}

fn pack(lua: &Lua, args: MultiValue) -> Result<mlua::String> {
    // The C function marks the end of its arguments with a nil.
    let mut args = args;
    let is_empty = args.is_empty();
    if !is_empty {
        args.push_back(Value::Nil);
    }
    let given = Given { lua, args: &args, function: "pack" };
    let format = given.string(1)?;
    let format = format.as_bytes();
    let mut format = Format::new(&format);
    let mut bytes: Vec<u8> = Vec::new();
    let mut arg = 2;
    while let Some(Item { option, size, padding }) = format.next(&given, bytes.len())? {
        bytes.resize(bytes.len() + padding, 0);
        match option {
            b'b' | b'B' | b'h' | b'H' | b'l' | b'L' | b'T' | b'i' | b'I' => {
                push_integer(&mut bytes, given.number(arg)?, size, format.is_big);
                arg += 1;
            }
            b'x' => bytes.push(0),
            b'f' => {
                #[allow(clippy::cast_possible_truncation, reason = "that is what `f` means")]
                let number = given.number(arg)? as f32;
                let ordered =
                    if format.is_big { number.to_be_bytes() } else { number.to_le_bytes() };
                bytes.extend_from_slice(&ordered);
                arg += 1;
            }
            b'd' => {
                let number = given.number(arg)?;
                let ordered =
                    if format.is_big { number.to_be_bytes() } else { number.to_le_bytes() };
                bytes.extend_from_slice(&ordered);
                arg += 1;
            }
            b'c' | b's' => {
                let text = given.string(arg)?;
                let text = text.as_bytes();
                arg += 1;
                let size = if size == 0 { text.len() } else { size };
                let Some(text) = text.get(..size) else {
                    return Err(given.wrong(arg, "string too short"));
                };
                bytes.extend_from_slice(text);
                if option == b's' {
                    bytes.push(0);
                }
            }
            _ => format.control(&given, option)?,
        }
    }
    lua.create_string(bytes)
}

/// Appends the low bytes of a number.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as the processor does")]
fn push_integer(bytes: &mut Vec<u8>, number: f64, size: usize, is_big: bool) {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    let value = if number < 0.0 {
        if number >= -LIMIT { number as i64 as u64 } else { 1 << 63 }
    } else if number.is_nan() {
        1 << 63
    } else if number < 2.0 * LIMIT {
        number as u64
    } else {
        0
    };
    let mut ordered = [0; INTEGER_BYTES_MAX];
    ordered[..8].copy_from_slice(&value.to_le_bytes());
    let ordered = &mut ordered[..size];
    if is_big {
        ordered.reverse();
    }
    bytes.extend_from_slice(ordered);
}

fn unpack(lua: &Lua, args: MultiValue) -> Result<MultiValue> {
    let given = Given { lua, args: &args, function: "unpack" };
    let format = given.string(1)?;
    let format = format.as_bytes();
    let data = given.string(2)?;
    let data = data.as_bytes();
    let from = if given.is_none(3) { 1 } else { given.integer(3)? };
    if from == 0 {
        return Err(given.wrong(3, "offset must be 1 or greater"));
    }
    let too_short = || given.wrong(2, "data string too short");
    let mut place = usize::try_from(from - 1).map_err(|_| too_short())?;
    let mut format = Format::new(&format);
    let mut values: Vec<Value> = Vec::new();
    while let Some(Item { option, mut size, padding }) = format.next(&given, place)? {
        place = place.saturating_add(padding);
        let rest = data.get(place..).ok_or_else(too_short)?;
        let bytes = rest.get(..size).ok_or_else(too_short)?;
        if values.len() == VALUES_MAX {
            return Err(given.fail("stack overflow (too many results)"));
        }
        match option {
            b'b' | b'B' | b'h' | b'H' | b'l' | b'L' | b'T' | b'i' | b'I' => {
                let number = integer(bytes, option.is_ascii_lowercase(), format.is_big);
                values.push(Value::Number(number));
            }
            b'x' => {}
            b'f' | b'd' => values.push(Value::Number(float(bytes, format.is_big))),
            b'c' => {
                if size == 0 {
                    let before = values.pop();
                    let before = before.and_then(|value| crate::api::number(given.lua, &value));
                    let before =
                        before.ok_or_else(|| given.fail("format 'c0' needs a previous size"))?;
                    #[allow(
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        reason = "what is out of range is too long"
                    )]
                    let length = if before < 0.0 { usize::MAX } else { before as usize };
                    size = length;
                }
                let text = rest.get(..size).ok_or_else(too_short)?;
                values.push(Value::String(lua.create_string(text)?));
            }
            b's' => {
                let end = rest.iter().position(|byte| *byte == 0);
                let end = end.ok_or_else(|| given.fail("unfinished string in data"))?;
                values.push(Value::String(lua.create_string(&rest[..end])?));
                size = end + 1;
            }
            _ => format.control(&given, option)?,
        }
        place += size;
    }
    #[allow(clippy::cast_precision_loss, reason = "a string's length")]
    values.push(Value::Number((place + 1) as f64));
    Ok(MultiValue::from_vec(values))
}

/// The float or double that bytes stand for.
fn float(bytes: &[u8], is_big: bool) -> f64 {
    match (<[u8; 4]>::try_from(bytes), <[u8; 8]>::try_from(bytes)) {
        (Ok(bytes), _) if is_big => f64::from(f32::from_be_bytes(bytes)),
        (Ok(bytes), _) => f64::from(f32::from_le_bytes(bytes)),
        (_, Ok(bytes)) if is_big => f64::from_be_bytes(bytes),
        (_, Ok(bytes)) => f64::from_le_bytes(bytes),
        _ => unreachable!("an `f` has four bytes, a `d` eight"),
    }
}

/// The number that bytes stand for. Of more than eight the others are dropped, and the sign is
/// looked for where C's shift finds it.
#[allow(clippy::cast_precision_loss, reason = "Lua has no other numbers")]
fn integer(bytes: &[u8], is_signed: bool, is_big: bool) -> f64 {
    let push = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
    let value = if is_big { bytes.iter().fold(0, push) } else { bytes.iter().rev().fold(0, push) };
    if !is_signed {
        return value as f64;
    }
    let shift = u32::try_from((bytes.len() * 8).wrapping_sub(1) & 63).expect("below 64");
    let mask = u64::MAX << shift;
    let value = if value & mask == 0 { value } else { value | mask };
    value.cast_signed() as f64
}

fn size(lua: &Lua, args: MultiValue) -> Result<f64> {
    let given = Given { lua, args: &args, function: "size" };
    let format = given.string(1)?;
    let format = format.as_bytes();
    let mut format = Format::new(&format);
    let mut place = 0_usize;
    while let Some(Item { option, size, padding }) = format.next(&given, place)? {
        match option {
            b's' => return Err(given.wrong(1, "option 's' has no fixed size")),
            b'c' if size == 0 => return Err(given.wrong(1, "option 'c0' has no fixed size")),
            _ if option.is_ascii_alphanumeric() => {}
            _ => format.control(&given, option)?,
        }
        place = place.saturating_add(padding).saturating_add(size);
    }
    #[allow(clippy::cast_precision_loss, reason = "Lua has no other numbers")]
    Ok(place as f64)
}
