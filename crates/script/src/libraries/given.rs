//! The arguments of a library's function, read as C functions of Lua read theirs, with the same
//! errors.

use crate::raise;
use mlua::{Lua, MultiValue, Result, Value};

/// What a function was given.
pub(super) struct Given<'a> {
    pub(super) lua: &'a Lua,
    pub(super) args: &'a MultiValue,
    /// Its name, for errors.
    pub(super) function: &'static str,
}

impl Given<'_> {
    /// The argument numbered `index`, from 1.
    pub(super) fn at(&self, index: usize) -> Option<&Value> {
        self.args.get(index - 1)
    }

    /// Whether the argument is missing or nil.
    pub(super) fn is_none(&self, index: usize) -> bool {
        self.at(index).is_none_or(Value::is_nil)
    }

    /// A number, or a string that reads like one.
    pub(super) fn number(&self, index: usize) -> Result<f64> {
        let number = self.at(index).and_then(|value| crate::api::number(self.lua, value));
        number.ok_or_else(|| self.expected(index, "number"))
    }

    /// A number without its fraction.
    #[allow(clippy::cast_possible_truncation, reason = "as in C, but that it stays in range")]
    pub(super) fn integer(&self, index: usize) -> Result<i64> {
        self.number(index).map(|number| number as i64)
    }

    /// A string, or a number as Lua spells it.
    pub(super) fn string(&self, index: usize) -> Result<mlua::String> {
        let text = match self.at(index) {
            Some(value) => crate::api::string(self.lua, value)?,
            None => None,
        };
        text.ok_or_else(|| self.expected(index, "string"))
    }

    /// The error of an argument of the wrong type.
    pub(super) fn expected(&self, index: usize, expected: &str) -> mlua::Error {
        raise::argument_type(self.lua, (index, self.at(index)), self.function, expected)
    }

    /// The error of an argument of the right type.
    pub(super) fn wrong(&self, index: usize, what: &str) -> mlua::Error {
        raise::argument(self.lua, index, self.function, what)
    }

    /// Any other error.
    pub(super) fn fail(&self, text: impl AsRef<[u8]>) -> mlua::Error {
        raise::text(self.lua, text)
    }
}
