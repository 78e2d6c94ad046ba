//! Errors that our own functions raise in a script.
//!
//! They travel through Lua as one opaque value. The prelude's `pcall`, `xpcall`, `resume` and error
//! handler unwrap them into what a script of Valkey's would see. What must stay true: everything
//! that catches errors goes through [`unwrap`].

use mlua::{Lua, MultiValue, Result, Value};
use std::fmt;

/// The name of the prelude's chunk, as positions spell it.
pub(crate) const MACHINE: &str = "=(machine)";

/// An error on its way to a script.
#[derive(Debug)]
pub(crate) enum Raise {
    /// A text, behind the line that called.
    Text(Vec<u8>),
    /// `{err = ...}`
    Table(Vec<u8>),
    /// A command's error: `{err = ..., ignore_error_stats_update = true}`.
    Command(Vec<u8>),
    /// The script must end.
    Stop,
}

impl fmt::Display for Raise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Raise::Text(text) | Raise::Table(text) | Raise::Command(text) => {
                f.write_str(&String::from_utf8_lossy(text))
            }
            Raise::Stop => f.write_str("script stopped"),
        }
    }
}

impl std::error::Error for Raise {}

impl From<Raise> for mlua::Error {
    fn from(raise: Raise) -> mlua::Error {
        mlua::Error::external(raise)
    }
}

/// An error with a text, behind the position of the script's line that called the running function.
#[cold]
pub(crate) fn text(lua: &Lua, text: impl AsRef<[u8]>) -> mlua::Error {
    let position = lua.inspect_stack(1, |frame| {
        let source = frame.source().short_src.map(|name| name.into_owned());
        Some(format!("{}:{}: ", source?, frame.current_line()?))
    });
    let mut message = position.flatten().unwrap_or_default().into_bytes();
    message.extend_from_slice(text.as_ref());
    Raise::Text(message).into()
}

/// `bad argument #1 to 'encode' (expected 1 argument)`
#[cold]
pub(crate) fn argument(lua: &Lua, index: usize, function: &str, what: &str) -> mlua::Error {
    text(lua, format!("bad argument #{index} to '{function}' ({what})"))
}

/// As [`argument`], for a value of another type than `expected`.
#[cold]
pub(crate) fn argument_type(
    lua: &Lua,
    (index, value): (usize, Option<&Value>),
    function: &str,
    expected: &str,
) -> mlua::Error {
    let got = value.map_or("no value", type_name);
    argument(lua, index, function, &format!("{expected} expected, got {got}"))
}

/// A value's type, as Lua's `type` says it.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Integer(_) => "number",
        Value::Error(_) => "userdata",
        value => value.type_name(),
    }
}

/// What a script may see of an opaque error: a string or a table.
pub(crate) fn unwrap(lua: &Lua, args: MultiValue) -> Result<Value> {
    let Some(Value::Error(error)) = args.front() else {
        return Ok(args.front().cloned().unwrap_or(Value::Nil));
    };
    let raised = error.chain().find_map(|cause| cause.downcast_ref::<Raise>());
    let table = |text: &[u8]| {
        let table = lua.create_table()?;
        table.raw_set("err", lua.create_string(text)?)?;
        Ok::<_, mlua::Error>(table)
    };
    match raised {
        Some(Raise::Text(text)) => Ok(Value::String(lua.create_string(text)?)),
        Some(Raise::Table(text)) => Ok(Value::Table(table(text)?)),
        Some(Raise::Command(text)) => {
            let table = table(text)?;
            table.raw_set("ignore_error_stats_update", true)?;
            Ok(Value::Table(table))
        }
        Some(Raise::Stop) => Ok(Value::String(lua.create_string("script stopped")?)),
        None => {
            // Out of memory, mostly. Its first line says so; the rest is a traceback.
            let text = error.to_string();
            let line = text.lines().next().unwrap_or_default();
            let line = line.strip_prefix("runtime error: ").unwrap_or(line);
            let line = line.strip_prefix("memory error: ").unwrap_or(line);
            Ok(Value::String(lua.create_string(line)?))
        }
    }
}

/// Where an error was raised, for its reply: the chunk, the line, and both as a message begins.
/// Called by the prelude's error handler: levels 0 and 1 are this function and the handler.
pub(crate) fn position(
    lua: &Lua,
    _: (),
) -> Result<(Option<String>, Option<usize>, Option<String>)> {
    /// Frames of C functions and of the prelude that may stand above the script's own.
    const LEVELS: std::ops::Range<usize> = 2..8;
    for level in LEVELS {
        let found = lua.inspect_stack(level, |frame| {
            let source = frame.source();
            let name = source.source.map(|name| name.into_owned()).unwrap_or_default();
            let short = source.short_src.map(|name| name.into_owned()).unwrap_or_default();
            (
                source.what != "Lua" && source.what != "main" || name == MACHINE,
                name,
                short,
                frame.current_line(),
            )
        });
        match found {
            Some((false, name, short, line)) => {
                let line = line.unwrap_or_default();
                return Ok((Some(name), Some(line), Some(format!("{short}:{line}: "))));
            }
            Some(_) => {}
            None => break,
        }
    }
    Ok((None, None, None))
}
