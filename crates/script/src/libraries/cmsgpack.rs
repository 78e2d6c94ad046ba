//! `cmsgpack`: Lua values as MessagePack, and back. (msgpack.org's specification.)
//!
//! A number without a fraction is an integer; another is a float if none of it is lost, else a
//! double. A table whose keys are 1 to n is an array. Binary and extension types are
//! refused.

use super::given::Given;
use crate::raise::{self, Raise};
use mlua::{Lua, MultiValue, Result, Table, Value};

/// Tables inside tables; what is deeper is nil.
const PACKED_DEPTH_MAX: usize = 16;
/// Arrays and maps inside each other that are read: no script writes as many.
const UNPACKED_DEPTH_MAX: usize = 1000;
/// Values that one call gives: what Lua's stack holds.
const VALUES_MAX: usize = 7900;

/// The library.
pub(super) fn table(lua: &Lua) -> Result<Table> {
    let table = lua.create_table()?;
    table.raw_set("pack", lua.create_function(pack)?)?;
    table.raw_set("unpack", lua.create_function(unpack)?)?;
    table.raw_set("unpack_one", lua.create_function(unpack_one)?)?;
    table.raw_set("unpack_limit", lua.create_function(unpack_limit)?)?;
    for (name, text) in [
        ("_NAME", "cmsgpack"),
        ("_VERSION", "lua-cmsgpack 0.4.0"),
        ("_COPYRIGHT", "Copyright (C) 2012, Redis Ltd."),
        ("_DESCRIPTION", "MessagePack C implementation for Lua"),
    ] {
        table.raw_set(name, lua.create_string(text)?)?;
    }
    Ok(table)
}

fn pack(lua: &Lua, args: MultiValue) -> Result<mlua::String> {
    if args.is_empty() {
        return Err(raise::argument(lua, 0, "pack", "MessagePack pack needs input."));
    }
    let mut bytes = Vec::new();
    for arg in &args {
        push(lua, &mut bytes, arg, 0)?;
    }
    lua.create_string(bytes)
}

#[allow(clippy::cast_precision_loss, reason = "it was a double before it was an integer")]
fn push(lua: &Lua, bytes: &mut Vec<u8>, value: &Value, depth: usize) -> Result<()> {
    match value {
        Value::String(text) => push_text(bytes, &text.as_bytes()),
        Value::Boolean(value) => bytes.push(if *value { 0xc3 } else { 0xc2 }),
        Value::Integer(number) => push_integer(bytes, *number),
        Value::Number(number) => push_number(bytes, *number),
        Value::Table(table) if depth < PACKED_DEPTH_MAX => push_table(lua, bytes, table, depth)?,
        _ => bytes.push(0xc0),
    }
    Ok(())
}

fn push_number(bytes: &mut Vec<u8>, number: f64) {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    #[allow(clippy::cast_possible_truncation, reason = "it is an integer in range")]
    if number.fract() == 0.0 && (-LIMIT..LIMIT).contains(&number) {
        return push_integer(bytes, number as i64);
    }
    #[allow(clippy::cast_possible_truncation, reason = "it is compared with what it was")]
    let short = number as f32;
    if f64::from(short) == number {
        bytes.push(0xca);
        bytes.extend_from_slice(&short.to_be_bytes());
    } else {
        bytes.push(0xcb);
        bytes.extend_from_slice(&number.to_be_bytes());
    }
}

fn push_integer(bytes: &mut Vec<u8>, number: i64) {
    let whole = number.to_be_bytes();
    let (kind, size) = match number {
        -32..=0x7f => {
            bytes.push(whole[7]);
            return;
        }
        0x80..=0xff => (0xcc, 1),
        0x100..=0xffff => (0xcd, 2),
        0x1_0000..=0xffff_ffff => (0xce, 4),
        0x1_0000_0000.. => (0xcf, 8),
        -0x80..=-33 => (0xd0, 1),
        -0x8000..=-0x81 => (0xd1, 2),
        -0x8000_0000..=-0x8001 => (0xd2, 4),
        _ => (0xd3, 8),
    };
    bytes.push(kind);
    bytes.extend_from_slice(&whole[8 - size..]);
}

/// A kind with a length: the short form holds lengths up to `short_max`, the others take one, two
/// or four bytes.
fn push_length(
    bytes: &mut Vec<u8>,
    length: usize,
    (short, short_max): (u8, usize),
    kinds: [Option<u8>; 3],
) {
    let [byte, two, four] = kinds;
    if length <= short_max {
        bytes.push(short | u8::try_from(length).expect("a short form's length"));
    } else if let (Some(kind), Ok(length)) = (byte, u8::try_from(length)) {
        bytes.extend_from_slice(&[kind, length]);
    } else if let (Some(kind), Ok(length)) = (two, u16::try_from(length)) {
        bytes.push(kind);
        bytes.extend_from_slice(&length.to_be_bytes());
    } else {
        bytes.push(four.expect("every kind has the longest form"));
        let length = u32::try_from(length).expect("the machine's memory is below 4 GiB");
        bytes.extend_from_slice(&length.to_be_bytes());
    }
}

fn push_text(bytes: &mut Vec<u8>, text: &[u8]) {
    push_length(bytes, text.len(), (0xa0, 31), [Some(0xd9), Some(0xda), Some(0xdb)]);
    bytes.extend_from_slice(text);
}

fn push_table(lua: &Lua, bytes: &mut Vec<u8>, table: &Table, depth: usize) -> Result<()> {
    if bytes.len() > crate::MEMORY_BYTES_MAX {
        // A table may stand in another many times.
        return Err(raise::text(lua, "not enough memory"));
    }
    let Shape { entries, is_array } = Shape::of(table)?;
    if is_array {
        push_length(bytes, entries, (0x90, 15), [None, Some(0xdc), Some(0xdd)]);
        for index in 1..=entries {
            push(lua, bytes, &table.raw_get(index)?, depth + 1)?;
        }
        return Ok(());
    }
    push_length(bytes, entries, (0x80, 15), [None, Some(0xde), Some(0xdf)]);
    for pair in table.pairs::<Value, Value>() {
        let (key, value) = pair?;
        push(lua, bytes, &key, depth + 1)?;
        push(lua, bytes, &value, depth + 1)?;
    }
    Ok(())
}

/// What a table's keys say of it.
struct Shape {
    entries: usize,
    /// Whether the keys are 1 to `entries`.
    is_array: bool,
}

impl Shape {
    fn of(table: &Table) -> Result<Shape> {
        let (mut entries, mut last, mut are_indices) = (0_usize, 0, true);
        for pair in table.pairs::<Value, Value>() {
            entries += 1;
            match pair?.0 {
                Value::Integer(index) if index > 0 => last = index.max(last),
                _ => are_indices = false,
            }
        }
        let is_array = are_indices && usize::try_from(last).is_ok_and(|last| last == entries);
        Ok(Shape { entries, is_array })
    }
}

fn unpack(lua: &Lua, args: MultiValue) -> Result<MultiValue> {
    let given = Given { lua, args: &args, function: "unpack" };
    unpack_some(&given, 0, 0).map(|(values, _)| MultiValue::from_vec(values))
}

fn unpack_one(lua: &Lua, args: MultiValue) -> Result<MultiValue> {
    let given = Given { lua, args: &args, function: "unpack_one" };
    let offset = if given.is_none(2) { 0 } else { given.integer(2)? };
    unpack_from(&given, 1, offset)
}

fn unpack_limit(lua: &Lua, args: MultiValue) -> Result<MultiValue> {
    let given = Given { lua, args: &args, function: "unpack_limit" };
    let limit = given.integer(2)?;
    let offset = if given.is_none(3) { 0 } else { given.integer(3)? };
    unpack_from(&given, limit, offset)
}

/// Some values, behind the offset at which the next one begins; -1: there is none.
fn unpack_from(given: &Given<'_>, limit: i64, offset: i64) -> Result<MultiValue> {
    let (mut values, next) = unpack_some(given, limit, offset)?;
    if limit != 0 || offset != 0 {
        #[allow(clippy::cast_precision_loss, reason = "a string's length")]
        let next = next.map_or(-1.0, |next| next as f64);
        values.insert(0, Value::Number(next));
    }
    Ok(MultiValue::from_vec(values))
}

/// At most `limit` values from `offset` on, all if both are zero; and where the next one begins.
fn unpack_some(given: &Given<'_>, limit: i64, offset: i64) -> Result<(Vec<Value>, Option<usize>)> {
    let text = given.string(1)?;
    let bytes = text.as_bytes();
    let (Ok(start), Ok(count)) = (usize::try_from(offset), usize::try_from(limit)) else {
        return Err(given.fail(format!(
            "Invalid request to unpack with offset of {offset} and limit of {}.",
            bytes.len()
        )));
    };
    if start > bytes.len() {
        return Err(
            given.fail(format!("Start offset {start} greater than input length {}.", bytes.len()))
        );
    }
    let count = if limit == 0 && offset == 0 { usize::MAX } else { count };
    let mut reader = Reader { lua: given.lua, bytes: &bytes, at: start, depth: 0 };
    let mut values = Vec::new();
    while values.len() < count && reader.at < bytes.len() {
        if values.len() == VALUES_MAX {
            return Err(given.fail(
                "stack overflow (too many return values at once; use unpack_one or unpack_limit \
                 instead.)",
            ));
        }
        match reader.value() {
            Ok(value) => values.push(value),
            Err(Bad::Short) => return Err(given.fail("Missing bytes in input.")),
            Err(Bad::Format) => return Err(given.fail("Bad data format in input.")),
            Err(Bad::Key(what)) => {
                return Err(Raise::Text(format!("table index is {what}").into_bytes()).into());
            }
            Err(Bad::Depth) => {
                return Err(given.fail("stack overflow (in function mp_decode_to_lua_array)"));
            }
            Err(Bad::Machine(error)) => return Err(error),
        }
    }
    let next = reader.at;
    Ok((values, (next < bytes.len()).then_some(next)))
}

/// Why bytes are no value.
enum Bad {
    Short,
    Format,
    /// A map's key that no table of Lua has.
    Key(&'static str),
    Depth,
    Machine(mlua::Error),
}

impl From<mlua::Error> for Bad {
    fn from(error: mlua::Error) -> Bad {
        Bad::Machine(error)
    }
}

struct Reader<'a> {
    lua: &'a Lua,
    bytes: &'a [u8],
    at: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    #[allow(clippy::cast_precision_loss, reason = "Lua has no other numbers")]
    fn value(&mut self) -> std::result::Result<Value, Bad> {
        let kind = self.take(1)?[0];
        Ok(match kind {
            0..=0x7f => Value::Number(f64::from(kind)),
            0xe0..=0xff => Value::Number(f64::from(kind.cast_signed())),
            0xc0 => Value::Nil,
            0xc2 => Value::Boolean(false),
            0xc3 => Value::Boolean(true),
            0xca => {
                let bits = u32::try_from(self.unsigned(4)?).expect("four bytes");
                Value::Number(f64::from(f32::from_bits(bits)))
            }
            0xcb => Value::Number(f64::from_bits(self.unsigned(8)?)),
            0xcc..=0xce => Value::Number(self.unsigned(1 << (kind - 0xcc))? as f64),
            // As in Valkey, what passes 63 bits is read as negative.
            0xcf => Value::Number(self.signed(8)? as f64),
            0xd0..=0xd3 => Value::Number(self.signed(1 << (kind - 0xd0))? as f64),
            0xa0..=0xbf => self.text(usize::from(kind & 31))?,
            0xd9..=0xdb => self.long_text(1 << (kind - 0xd9))?,
            0x90..=0x9f => self.array(u64::from(kind & 15))?,
            0xdc | 0xdd => {
                let length = self.unsigned(2 << (kind - 0xdc))?;
                self.array(length)?
            }
            0x80..=0x8f => self.map(u64::from(kind & 15))?,
            0xde | 0xdf => {
                let length = self.unsigned(2 << (kind - 0xde))?;
                self.map(length)?
            }
            _ => return Err(Bad::Format),
        })
    }

    fn take(&mut self, length: usize) -> std::result::Result<&'a [u8], Bad> {
        let bytes = self.bytes.get(self.at..).and_then(|rest| rest.get(..length));
        self.at += length;
        bytes.ok_or(Bad::Short)
    }

    fn unsigned(&mut self, size: usize) -> std::result::Result<u64, Bad> {
        Ok(self.take(size)?.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    fn signed(&mut self, size: usize) -> std::result::Result<i64, Bad> {
        let unused = 64 - 8 * size;
        Ok((self.unsigned(size)? << unused).cast_signed() >> unused)
    }

    fn long_text(&mut self, size: usize) -> std::result::Result<Value, Bad> {
        let length = usize::try_from(self.unsigned(size)?).map_err(|_| Bad::Short)?;
        self.text(length)
    }

    fn text(&mut self, length: usize) -> std::result::Result<Value, Bad> {
        let text = self.take(length)?;
        Ok(Value::String(self.lua.create_string(text)?))
    }

    fn enter(&mut self) -> std::result::Result<Table, Bad> {
        if self.depth == UNPACKED_DEPTH_MAX {
            return Err(Bad::Depth);
        }
        self.depth += 1;
        Ok(self.lua.create_table()?)
    }

    fn array(&mut self, length: u64) -> std::result::Result<Value, Bad> {
        let table = self.enter()?;
        for index in 1..=length {
            let value = self.value()?;
            table.raw_set(index, value)?;
        }
        self.depth -= 1;
        Ok(Value::Table(table))
    }

    fn map(&mut self, length: u64) -> std::result::Result<Value, Bad> {
        let table = self.enter()?;
        for _ in 0..length {
            let key = self.value()?;
            let value = self.value()?;
            match &key {
                Value::Nil => return Err(Bad::Key("nil")),
                Value::Number(number) if number.is_nan() => return Err(Bad::Key("NaN")),
                _ => table.raw_set(key, value)?,
            }
        }
        self.depth -= 1;
        Ok(Value::Table(table))
    }
}
