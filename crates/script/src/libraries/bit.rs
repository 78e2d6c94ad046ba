//! `bit`: operations on the 32 low bits of numbers, as LuaBitOp has them. Results are signed.

use super::given::Given;
use mlua::{Lua, MultiValue, Result, Table};

type Operation = fn(&Given<'_>) -> Result<u32>;

/// The library.
pub(super) fn table(lua: &Lua) -> Result<Table> {
    let operations: [(&'static str, Operation); 11] = [
        ("tobit", |given| bits(given, 1)),
        ("bnot", |given| Ok(!bits(given, 1)?)),
        ("band", |given| fold(given, |a, b| a & b)),
        ("bor", |given| fold(given, |a, b| a | b)),
        ("bxor", |given| fold(given, |a, b| a ^ b)),
        ("lshift", |given| Ok(bits(given, 1)? << (bits(given, 2)? & 31))),
        ("rshift", |given| Ok(bits(given, 1)? >> (bits(given, 2)? & 31))),
        ("arshift", |given| Ok((bits(given, 1)?.cast_signed() >> (bits(given, 2)? & 31)) as u32)),
        ("rol", |given| Ok(bits(given, 1)?.rotate_left(bits(given, 2)? & 31))),
        ("ror", |given| Ok(bits(given, 1)?.rotate_right(bits(given, 2)? & 31))),
        ("bswap", |given| Ok(bits(given, 1)?.swap_bytes())),
    ];
    let table = lua.create_table()?;
    for (function, operation) in operations {
        let apply = move |lua: &Lua, args: MultiValue| {
            let bits = operation(&Given { lua, args: &args, function })?;
            Ok(f64::from(bits.cast_signed()))
        };
        table.raw_set(function, lua.create_function(apply)?)?;
    }
    table.raw_set("tohex", lua.create_function(to_hex)?)?;
    Ok(table)
}

/// The 32 low bits of a number, rounded to the nearest integer.
fn bits(given: &Given<'_>, index: usize) -> Result<u32> {
    /// Added to a number below 2^51, it moves the integer into the low bits of the double.
    const MAGIC: f64 = 6_755_399_441_055_744.0;
    let moved = given.number(index)? + MAGIC;
    Ok((moved.to_bits() & 0xffff_ffff) as u32)
}

fn fold(given: &Given<'_>, combine: fn(u32, u32) -> u32) -> Result<u32> {
    let first = bits(given, 1)?;
    (2..=given.args.len()).try_fold(first, |total, index| Ok(combine(total, bits(given, index)?)))
}

fn to_hex(lua: &Lua, args: MultiValue) -> Result<mlua::String> {
    const DIGITS: usize = 8;
    let given = Given { lua, args: &args, function: "tohex" };
    let number = bits(&given, 1)?;
    let wanted = match args.len() {
        1 => 8,
        _ => bits(&given, 2)?.cast_signed(),
    };
    let count = (wanted.unsigned_abs() as usize).min(DIGITS);
    let digits = if wanted < 0 { format!("{number:08X}") } else { format!("{number:08x}") };
    lua.create_string(&digits[DIGITS - count..])
}
