//! Replies as Lua values: RESP bytes of the store's own making, turned into what a script sees.
//!
//! | reply | value |
//! |---|---|
//! | integer | number |
//! | string | string |
//! | status, error | `{ok = ...}`, `{err = ...}` |
//! | array | table from 1 |
//! | null of RESP2 | false |
//! | null of RESP3 | nil |
//! | map, set | `{map = {...}}`, `{set = {member = true}}` |
//! | double, big number | `{double = ...}`, `{big_number = ...}` |
//! | verbatim text | `{verbatim_string = {string = ..., format = ...}}` |

use caudal_text::{float, integer};
use caudal_wire::Output;
use mlua::{Lua, Result, Table, Value};
use std::io::IoSlice;

/// Slices that a reply is looked for in: the first one holds it unless it is long.
const SLICES: usize = 2;

/// The value of the one reply in `output`, which is emptied.
pub(crate) fn value(lua: &Lua, output: &mut Output) -> Result<Value> {
    let result = {
        let mut slices = [IoSlice::new(&[]); SLICES];
        match output.slices(&mut slices) {
            0 | 1 => Reader { lua, bytes: &slices[0], at: 0 }.value(),
            _ => Reader { lua, bytes: &whole(output), at: 0 }.value(),
        }
    };
    output.clear();
    result
}

/// The text of the reply in `output` if it is an error; then it is emptied.
pub(crate) fn error_text(output: &mut Output) -> Option<Vec<u8>> {
    let text = {
        let mut slices = [IoSlice::new(&[]); SLICES];
        output.slices(&mut slices);
        let line = slices[0].strip_prefix(b"-")?;
        line.strip_suffix(b"\r\n").unwrap_or(line).to_vec()
    };
    output.clear();
    Some(text)
}

/// All of an output in one piece: replies with long strings come in several.
fn whole(output: &mut Output) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(output.bytes());
    while !output.is_empty() {
        let mut slices = [IoSlice::new(&[]); SLICES];
        let taken: usize = {
            let count = output.slices(&mut slices);
            slices[..count].iter().for_each(|slice| bytes.extend_from_slice(slice));
            slices[..count].iter().map(|slice| slice.len()).sum()
        };
        output.advance(taken);
    }
    bytes
}

/// Walks over a reply. The store wrote it, so it is well formed and nests a few levels.
struct Reader<'a> {
    lua: &'a Lua,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn value(&mut self) -> Result<Value> {
        let kind = self.bytes[self.at];
        let line = self.line();
        match kind {
            b':' => Ok(number(line)),
            b'$' => self.string(line),
            b'*' | b'>' => self.array(line),
            b'+' => self.tagged("ok", line),
            b'-' => self.tagged("err", line),
            b'!' => {
                let text = self.text(length(line));
                self.tagged("err", text)
            }
            b'_' => Ok(Value::Nil),
            b'#' => Ok(Value::Boolean(line == b"t")),
            b',' => self.wrap("double", Value::Number(float::parse_f64(line).unwrap_or(f64::NAN))),
            b'(' => self.tagged("big_number", line),
            b'=' => self.verbatim(line),
            b'%' => self.map(line),
            b'~' => self.set(line),
            b'|' => {
                // Attributes are not for scripts: what they belong to follows.
                for _ in 0..2 * length(line) {
                    self.value()?;
                }
                self.value()
            }
            _ => unreachable!("the store's replies are well formed"),
        }
    }

    /// The rest of the line behind the kind.
    fn line(&mut self) -> &'a [u8] {
        let bytes = self.bytes;
        let start = self.at + 1;
        let rest = &bytes[start..];
        let len = rest.iter().position(|byte| *byte == b'\r').expect("a reply's line ends");
        self.at = start + len + 2;
        &rest[..len]
    }

    fn text(&mut self, len: usize) -> &'a [u8] {
        let bytes = self.bytes;
        let text = &bytes[self.at..self.at + len];
        self.at += len + 2;
        text
    }

    fn string(&mut self, line: &[u8]) -> Result<Value> {
        if line == b"-1" {
            return Ok(Value::Boolean(false));
        }
        let text = self.text(length(line));
        Ok(Value::String(self.lua.create_string(text)?))
    }

    fn array(&mut self, line: &[u8]) -> Result<Value> {
        if line == b"-1" {
            return Ok(Value::Boolean(false));
        }
        let len = length(line);
        let table = self.lua.create_table_with_capacity(len, 0)?;
        for index in 1..=len {
            let value = self.value()?;
            table.raw_set(index, value)?;
        }
        Ok(Value::Table(table))
    }

    fn map(&mut self, line: &[u8]) -> Result<Value> {
        let len = length(line);
        let pairs = self.lua.create_table_with_capacity(0, len)?;
        for _ in 0..len {
            let key = self.value()?;
            let value = self.value()?;
            set_unless_nil(&pairs, key, value)?;
        }
        self.wrap("map", Value::Table(pairs))
    }

    fn set(&mut self, line: &[u8]) -> Result<Value> {
        let len = length(line);
        let members = self.lua.create_table_with_capacity(0, len)?;
        for _ in 0..len {
            let member = self.value()?;
            set_unless_nil(&members, member, Value::Boolean(true))?;
        }
        self.wrap("set", Value::Table(members))
    }

    fn verbatim(&mut self, line: &[u8]) -> Result<Value> {
        let text = self.text(length(line));
        let (format, text) = text.split_at(3);
        let inner = self.lua.create_table_with_capacity(0, 2)?;
        inner.raw_set("format", self.lua.create_string(format)?)?;
        inner.raw_set("string", self.lua.create_string(&text[1..])?)?;
        self.wrap("verbatim_string", Value::Table(inner))
    }

    fn tagged(&self, name: &str, text: &[u8]) -> Result<Value> {
        self.wrap(name, Value::String(self.lua.create_string(text)?))
    }

    fn wrap(&self, name: &str, value: Value) -> Result<Value> {
        let table = self.lua.create_table_with_capacity(0, 1)?;
        table.raw_set(name, value)?;
        Ok(Value::Table(table))
    }
}

/// Lua has no key for a null, nor for what is not a number.
fn set_unless_nil(table: &Table, key: Value, value: Value) -> Result<()> {
    match key {
        Value::Nil => Ok(()),
        key => table.raw_set(key, value),
    }
}

#[allow(clippy::cast_precision_loss, reason = "Lua's numbers are doubles, as everybody knows")]
fn number(line: &[u8]) -> Value {
    Value::Number(integer::parse_i64(line).map_or(f64::NAN, |number| number as f64))
}

fn length(line: &[u8]) -> usize {
    let len = integer::parse_u64(line).and_then(|len| usize::try_from(len).ok());
    len.expect("the store's lengths are numbers")
}
