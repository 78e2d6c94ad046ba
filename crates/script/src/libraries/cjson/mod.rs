//! `cjson`: Lua values as JSON, and back, with lua-cjson's settings and errors.
//!
//! An empty table is an object; `null` is `cjson.null`. Each instance that `new` makes has settings
//! of its own; those of the library itself hold for all scripts of a machine.

mod decode;
mod encode;
mod number;

use super::given::Given;
use mlua::{Lua, MultiValue, Result, Table, Value};
use std::cell::RefCell;
use std::rc::Rc;

/// Nested deeper than this nothing is read or written, whatever the settings say: it is done by
/// recursion, on a thread's stack.
const DEPTH_MAX: i64 = 1000;

/// What is done with numbers that JSON has no words for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InvalidNumbers {
    Refused,
    /// As C spells them.
    Written,
    Null,
}

/// An instance's settings.
#[derive(Clone, Debug)]
struct Settings {
    /// Whether a sparse array becomes an object; if not, it is an error.
    converts_sparse: bool,
    /// An array is sparse if its last index is more than this many times its elements; 0: never.
    sparse_ratio: i64,
    /// An array whose last index is no larger is not sparse.
    sparse_safe: i64,
    encode_depth_max: i64,
    decode_depth_max: i64,
    /// Digits of a number, 1 to 14.
    precision: i64,
    /// Without effect: there is no buffer to keep.
    keeps_buffer: bool,
    encode_invalid: InvalidNumbers,
    decodes_invalid: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            converts_sparse: false,
            sparse_ratio: 2,
            sparse_safe: 10,
            encode_depth_max: 1000,
            decode_depth_max: 1000,
            precision: 14,
            keeps_buffer: true,
            encode_invalid: InvalidNumbers::Refused,
            decodes_invalid: true,
        }
    }
}

/// The library.
pub(super) fn table(lua: &Lua) -> Result<Table> {
    let table = lua.create_table()?;
    let settings = Rc::new(RefCell::new(Settings::default()));
    let shared = Rc::clone(&settings);
    let encode = move |lua: &Lua, args: MultiValue| encode::encode(lua, &args, &shared.borrow());
    table.raw_set("encode", lua.create_function(encode)?)?;
    let shared = Rc::clone(&settings);
    let decode = move |lua: &Lua, args: MultiValue| decode::decode(lua, &args, &shared.borrow());
    table.raw_set("decode", lua.create_function(decode)?)?;
    table.raw_set("new", lua.create_function(|lua, _: MultiValue| self::table(lua))?)?;
    for (function, apply) in SETTERS {
        let shared = Rc::clone(&settings);
        let set = move |lua: &Lua, args: MultiValue| {
            apply(&Given { lua, args: &args, function }, &mut shared.borrow_mut())
        };
        table.raw_set(*function, lua.create_function(set)?)?;
    }
    table.raw_set("null", Value::NULL)?;
    table.raw_set("_NAME", lua.create_string("cjson")?)?;
    table.raw_set("_VERSION", lua.create_string("2.1.0")?)?;
    Ok(table)
}

type Setter = fn(&Given<'_>, &mut Settings) -> Result<MultiValue>;

const SETTERS: &[(&str, Setter)] = &[
    ("encode_sparse_array", |given, settings| {
        at_most(given, 3)?;
        let converts = boolean(given, 1, &mut settings.converts_sparse)?;
        let ratio = integer(given, 2, &mut settings.sparse_ratio, 0..=i64::from(i32::MAX))?;
        let safe = integer(given, 3, &mut settings.sparse_safe, 0..=i64::from(i32::MAX))?;
        Ok([converts, ratio, safe].into_iter().collect())
    }),
    ("encode_max_depth", |given, settings| {
        let limits = 1..=i64::from(i32::MAX);
        one(given, |given| integer(given, 1, &mut settings.encode_depth_max, limits))
    }),
    ("decode_max_depth", |given, settings| {
        let limits = 1..=i64::from(i32::MAX);
        one(given, |given| integer(given, 1, &mut settings.decode_depth_max, limits))
    }),
    ("encode_number_precision", |given, settings| {
        one(given, |given| integer(given, 1, &mut settings.precision, 1..=14))
    }),
    ("encode_keep_buffer", |given, settings| {
        one(given, |given| boolean(given, 1, &mut settings.keeps_buffer))
    }),
    ("encode_invalid_numbers", |given, settings| {
        one(given, |given| {
            let set = &mut settings.encode_invalid;
            if !given.is_none(1) {
                *set = match word(given, 1)?.as_slice() {
                    b"off" => InvalidNumbers::Refused,
                    b"on" => InvalidNumbers::Written,
                    b"null" => InvalidNumbers::Null,
                    other => return Err(invalid_option(given, 1, other)),
                };
            }
            Ok(match set {
                InvalidNumbers::Refused => Value::Boolean(false),
                InvalidNumbers::Written => Value::Boolean(true),
                InvalidNumbers::Null => Value::String(given.lua.create_string("null")?),
            })
        })
    }),
    ("decode_invalid_numbers", |given, settings| {
        one(given, |given| boolean(given, 1, &mut settings.decodes_invalid))
    }),
];

fn one(given: &Given<'_>, set: impl FnOnce(&Given<'_>) -> Result<Value>) -> Result<MultiValue> {
    at_most(given, 1)?;
    Ok([set(given)?].into_iter().collect())
}

fn at_most(given: &Given<'_>, count: usize) -> Result<()> {
    if given.args.len() > count {
        return Err(given.wrong(count + 1, "found too many arguments"));
    }
    Ok(())
}

/// Sets a number if it is given; what it is now.
fn integer(
    given: &Given<'_>,
    index: usize,
    setting: &mut i64,
    limits: std::ops::RangeInclusive<i64>,
) -> Result<Value> {
    if !given.is_none(index) {
        let value = given.integer(index)?;
        if !limits.contains(&value) {
            let (low, high) = limits.into_inner();
            let text = format!("expected integer between {low} and {high}");
            return Err(given.wrong(index, &text));
        }
        *setting = value;
    }
    Ok(Value::Integer(*setting))
}

/// Sets a switch if it is given; what it is now.
fn boolean(given: &Given<'_>, index: usize, setting: &mut bool) -> Result<Value> {
    if !given.is_none(index) {
        *setting = match word(given, index)?.as_slice() {
            b"on" => true,
            b"off" => false,
            other => return Err(invalid_option(given, index, other)),
        };
    }
    Ok(Value::Boolean(*setting))
}

/// A switch's position: a boolean is `on` or `off`.
fn word(given: &Given<'_>, index: usize) -> Result<Vec<u8>> {
    match given.at(index) {
        Some(Value::Boolean(true)) => Ok(b"on".to_vec()),
        Some(Value::Boolean(false)) => Ok(b"off".to_vec()),
        _ => given.string(index).map(|text| text.as_bytes().to_vec()),
    }
}

fn invalid_option(given: &Given<'_>, index: usize, word: &[u8]) -> mlua::Error {
    given.wrong(index, &format!("invalid option '{}'", String::from_utf8_lossy(word)))
}
