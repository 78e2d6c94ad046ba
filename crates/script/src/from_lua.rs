//! Lua values as replies: what a script returns, written for its client.
//!
//! The other way of `to_lua`, but a number loses its fraction, a table without one of the known
//! fields is an array up to its first nil, and what has no place in a reply is null.

use caudal_wire::{Protocol, Reply};
use mlua::{Result, Table, Value};

/// Tables inside tables. Valkey's own limit is where its Lua stack ends, at some two thousand.
const DEPTH_MAX: usize = 1000;
/// Bytes of a reply: a table that holds itself twice would have no end.
const REPLY_BYTES_MAX: usize = 512 << 20;

/// What stands in place of what is nested too deep.
const TOO_DEEP: &str = "ERR reached lua stack limit";
const TOO_LONG: &str = "ERR reply exceeds maximum allowed size";

/// Writes what a script returned. `spoken` is what the script itself speaks: a boolean in RESP3 is
/// one for the client too.
pub(crate) fn reply(reply: &mut Reply<'_>, value: &Value, spoken: Protocol) -> Result<()> {
    let limit = reply.output().bytes() + REPLY_BYTES_MAX;
    Writer { reply: reply.reborrow(), spoken, depth: 0, limit }.value(value)
}

struct Writer<'a> {
    reply: Reply<'a>,
    spoken: Protocol,
    depth: usize,
    /// Bytes of output beyond which nothing is added.
    limit: usize,
}

impl Writer<'_> {
    fn value(&mut self, value: &Value) -> Result<()> {
        match value {
            Value::String(text) => self.reply.bulk(&text.as_bytes()),
            Value::Integer(number) => self.reply.integer(*number),
            Value::Number(number) => self.reply.integer(truncated(*number)),
            Value::Boolean(value) if self.spoken == Protocol::Resp3 => self.reply.boolean(*value),
            Value::Boolean(true) => self.reply.integer(1),
            Value::Table(table) => {
                if self.depth == DEPTH_MAX {
                    self.reply.error(TOO_DEEP);
                } else if self.reply.output().bytes() > self.limit {
                    self.reply.error(TOO_LONG);
                } else {
                    self.depth += 1;
                    self.table(table)?;
                    self.depth -= 1;
                }
            }
            _ => self.reply.null(),
        }
        Ok(())
    }

    fn table(&mut self, table: &Table) -> Result<()> {
        if let Value::String(text) = table.raw_get("err")? {
            self.reply.error_bytes(&text.as_bytes());
        } else if let Value::String(text) = table.raw_get("ok")? {
            let text = text.as_bytes();
            self.reply.status(&String::from_utf8_lossy(&text));
        } else if let Some(number) = table.raw_get::<Value>("double")?.as_number_only() {
            self.reply.double(number);
        } else if let Value::Table(pairs) = table.raw_get("map")? {
            self.map(&pairs)?;
        } else if let Value::Table(members) = table.raw_get("set")? {
            self.set(&members)?;
        } else if let Value::String(digits) = table.raw_get("big_number")? {
            let digits: Vec<u8> = digits.as_bytes().iter().map(|byte| in_line(*byte)).collect();
            self.reply.big_number(&digits);
        } else if let Some((format, text)) = verbatim(table)? {
            self.reply.verbatim(&format, &text);
        } else {
            self.array(table)?;
        }
        Ok(())
    }

    fn array(&mut self, table: &Table) -> Result<()> {
        let mark = self.reply.deferred_array();
        let mut len = 0;
        loop {
            let element: Value = table.raw_get(len + 1)?;
            if element.is_nil() || self.reply.output().bytes() > self.limit {
                break;
            }
            self.value(&element)?;
            len += 1;
        }
        self.reply.close_array(mark, len);
        Ok(())
    }

    fn map(&mut self, pairs: &Table) -> Result<()> {
        let mark = self.reply.deferred_array();
        let mut len = 0;
        pairs.for_each(|key: Value, value: Value| {
            self.value(&key)?;
            self.value(&value)?;
            len += 1;
            Ok(())
        })?;
        self.reply.close_map(mark, len);
        Ok(())
    }

    fn set(&mut self, members: &Table) -> Result<()> {
        let mark = self.reply.deferred_array();
        let mut len = 0;
        members.for_each(|member: Value, _: Value| {
            self.value(&member)?;
            len += 1;
            Ok(())
        })?;
        self.reply.close_set(mark, len);
        Ok(())
    }
}

/// The parts of a verbatim text, if the table is one.
fn verbatim(table: &Table) -> Result<Option<([u8; 3], Vec<u8>)>> {
    let Value::Table(inner) = table.raw_get("verbatim_string")? else { return Ok(None) };
    let (format, text): (Value, Value) = (inner.raw_get("format")?, inner.raw_get("string")?);
    let (Value::String(format), Value::String(text)) = (format, text) else { return Ok(None) };
    let mut letters = [b' '; 3];
    for (letter, byte) in letters.iter_mut().zip(format.as_bytes().iter()) {
        *letter = *byte;
    }
    Ok(Some((letters, text.as_bytes().to_vec())))
}

/// Only what is a number to Lua, not a string that reads like one.
trait NumberOnly {
    fn as_number_only(&self) -> Option<f64>;
}

impl NumberOnly for Value {
    #[allow(clippy::cast_precision_loss, reason = "it was a double before it was an integer")]
    fn as_number_only(&self) -> Option<f64> {
        match self {
            Value::Integer(number) => Some(*number as f64),
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }
}

/// A byte that does not end the line it stands in.
fn in_line(byte: u8) -> u8 {
    if matches!(byte, b'\r' | b'\n') { b' ' } else { byte }
}

/// A number without its fraction. What no 64 bits hold is the least integer, as the processor that
/// Valkey's authors had makes it.
fn truncated(number: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    #[allow(clippy::cast_possible_truncation, reason = "it is in range")]
    if (-LIMIT..LIMIT).contains(&number) { number as i64 } else { i64::MIN }
}
