//! Lua values to JSON.

use super::{DEPTH_MAX, InvalidNumbers, Settings, number};
use crate::raise;
use mlua::{Lua, MultiValue, Result, Table, Value};

/// `cjson.encode(value)`
pub(super) fn encode(lua: &Lua, args: &MultiValue, settings: &Settings) -> Result<mlua::String> {
    if args.len() != 1 {
        return Err(raise::argument(lua, 1, "encode", "expected 1 argument"));
    }
    let mut writer = Writer { lua, settings, out: Vec::new(), depth: 0 };
    writer.value(&args[0])?;
    lua.create_string(&writer.out)
}

struct Writer<'a> {
    lua: &'a Lua,
    settings: &'a Settings,
    out: Vec<u8>,
    depth: i64,
}

impl Writer<'_> {
    #[allow(clippy::cast_precision_loss, reason = "it was a double before it was an integer")]
    fn value(&mut self, value: &Value) -> Result<()> {
        match value {
            Value::String(text) => self.text(&text.as_bytes()),
            Value::Integer(number) => self.number(*number as f64)?,
            Value::Number(number) => self.number(*number)?,
            Value::Boolean(true) => self.out.extend_from_slice(b"true"),
            Value::Boolean(false) => self.out.extend_from_slice(b"false"),
            Value::Table(table) => self.table(table)?,
            Value::Nil => self.out.extend_from_slice(b"null"),
            value if value.is_null() => self.out.extend_from_slice(b"null"),
            value => return Err(self.refuse(raise::type_name(value), "type not supported")),
        }
        Ok(())
    }

    fn refuse(&self, kind: &str, why: &str) -> mlua::Error {
        raise::text(self.lua, format!("Cannot serialise {kind}: {why}"))
    }

    fn number(&mut self, value: f64) -> Result<()> {
        if value.is_finite() {
            let precision = usize::try_from(self.settings.precision).expect("1 to 14");
            number::format(value, precision, &mut self.out);
            return Ok(());
        }
        let text: &[u8] = match self.settings.encode_invalid {
            InvalidNumbers::Refused => {
                return Err(self.refuse("number", "must not be NaN or Inf"));
            }
            InvalidNumbers::Null => b"null",
            InvalidNumbers::Written if value.is_nan() => b"nan",
            InvalidNumbers::Written if value > 0.0 => b"inf",
            InvalidNumbers::Written => b"-inf",
        };
        self.out.extend_from_slice(text);
        Ok(())
    }

    fn text(&mut self, text: &[u8]) {
        self.out.reserve(text.len() + 2);
        self.out.push(b'"');
        let mut rest = text;
        // Most text needs no escape: it is copied in long pieces.
        while let Some(at) = rest.iter().position(|byte| needs_escape(*byte)) {
            self.out.extend_from_slice(&rest[..at]);
            self.escape(rest[at]);
            rest = &rest[at + 1..];
        }
        self.out.extend_from_slice(rest);
        self.out.push(b'"');
    }

    fn escape(&mut self, byte: u8) {
        let short = match byte {
            b'"' | b'\\' | b'/' => byte,
            0x08 => b'b',
            b'\t' => b't',
            b'\n' => b'n',
            0x0c => b'f',
            b'\r' => b'r',
            _ => {
                self.out.extend_from_slice(format!("\\u{byte:04x}").as_bytes());
                return;
            }
        };
        self.out.extend_from_slice(&[b'\\', short]);
    }

    fn table(&mut self, table: &Table) -> Result<()> {
        self.depth += 1;
        if self.depth > self.settings.encode_depth_max.min(DEPTH_MAX) {
            let text = format!("Cannot serialise, excessive nesting ({})", self.depth);
            return Err(raise::text(self.lua, text));
        }
        match self.array_length(table)? {
            Some(length) if length > 0 => self.array(table, length)?,
            _ => self.object(table)?,
        }
        self.depth -= 1;
        Ok(())
    }

    /// The last index, if all keys are indices and the array is not too sparse.
    fn array_length(&self, table: &Table) -> Result<Option<i64>> {
        let (mut last, mut count) = (0, 0_i64);
        for pair in table.pairs::<Value, Value>() {
            match pair?.0 {
                Value::Integer(index) if index >= 1 => {
                    last = index.max(last);
                    count += 1;
                }
                _ => return Ok(None),
            }
        }
        let Settings { sparse_ratio: ratio, sparse_safe: safe, .. } = *self.settings;
        if ratio > 0 && last > count.saturating_mul(ratio) && last > safe {
            if !self.settings.converts_sparse {
                return Err(self.refuse("table", "excessively sparse array"));
            }
            return Ok(None);
        }
        Ok(Some(last))
    }

    fn array(&mut self, table: &Table, length: i64) -> Result<()> {
        self.out.push(b'[');
        for index in 1..=length {
            if index > 1 {
                self.out.push(b',');
            }
            self.check_length()?;
            self.value(&table.raw_get(index)?)?;
        }
        self.out.push(b']');
        Ok(())
    }

    #[allow(clippy::cast_precision_loss, reason = "it was a double before it was an integer")]
    fn object(&mut self, table: &Table) -> Result<()> {
        self.out.push(b'{');
        let mut is_first = true;
        for pair in table.pairs::<Value, Value>() {
            let (key, value) = pair?;
            if !std::mem::take(&mut is_first) {
                self.out.push(b',');
            }
            self.check_length()?;
            match &key {
                Value::String(text) => self.text(&text.as_bytes()),
                Value::Integer(_) | Value::Number(_) => {
                    self.out.push(b'"');
                    let number = match key {
                        Value::Integer(number) => number as f64,
                        Value::Number(number) => number,
                        _ => unreachable!("it is one of the two"),
                    };
                    self.number(number)?;
                    self.out.push(b'"');
                }
                key => {
                    let why = "table key must be a number or string";
                    return Err(self.refuse(raise::type_name(key), why));
                }
            }
            self.out.push(b':');
            self.value(&value)?;
        }
        self.out.push(b'}');
        Ok(())
    }

    /// A table that holds one other many times, which holds another many times, is short to write
    /// in Lua and has no end in JSON.
    fn check_length(&self) -> Result<()> {
        if self.out.len() > crate::MEMORY_BYTES_MAX {
            return Err(raise::text(self.lua, "not enough memory"));
        }
        Ok(())
    }
}

fn needs_escape(byte: u8) -> bool {
    matches!(byte, 0..=0x1f | b'"' | b'\\' | b'/' | 0x7f)
}
