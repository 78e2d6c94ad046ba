//! Libraries of functions: what `redis.register_function` is given while one is loaded.

use crate::api::string;
use crate::raise::Raise;
use mlua::{Function, Lua, MultiValue, Result, Table, Value};

/// What a script or a function promises, and what it may do beside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// It changes nothing.
    pub no_writes: bool,
    /// It runs while memory is over its limit.
    pub allow_oom: bool,
    /// It runs on a replica that has lost its primary.
    pub allow_stale: bool,
    /// It does not run in a cluster.
    pub no_cluster: bool,
    /// Its keys may be of several slots of a cluster.
    pub allow_cross_slot_keys: bool,
}

impl Flags {
    /// Names and values, in the order that FUNCTION LIST has them.
    pub fn named(self) -> [(&'static str, bool); 5] {
        [
            ("no-writes", self.no_writes),
            ("allow-oom", self.allow_oom),
            ("allow-stale", self.allow_stale),
            ("no-cluster", self.no_cluster),
            ("allow-cross-slot-keys", self.allow_cross_slot_keys),
        ]
    }

    /// Sets a flag by its name. False: there is none of that name.
    pub fn set(&mut self, name: &[u8]) -> bool {
        let flag = match name {
            b"no-writes" => &mut self.no_writes,
            b"allow-oom" => &mut self.allow_oom,
            b"allow-stale" => &mut self.allow_stale,
            b"no-cluster" => &mut self.no_cluster,
            b"allow-cross-slot-keys" => &mut self.allow_cross_slot_keys,
            _ => return false,
        };
        *flag = true;
        true
    }
}

/// A function as it was registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registered {
    /// Its name, as it was given: any bytes.
    pub name: Vec<u8>,
    /// What it is for.
    pub description: Option<Vec<u8>>,
    /// What it promises.
    pub flags: Flags,
}

/// A function and its code.
pub(crate) type Entry = (Registered, Function);

/// `redis.register_function(name, callback)` or `{function_name = ..., callback = ..., ...}`.
pub(crate) fn parse(lua: &Lua, args: &MultiValue) -> Result<Entry> {
    match (args.len(), args.front(), args.get(1)) {
        (1, Some(Value::Table(table)), _) => named(lua, table),
        (1, ..) => fail(
            "calling server.register_function with a single argument is only applicable to Lua \
             table (representing named arguments).",
        ),
        (2, Some(name), Some(callback)) => {
            let Some(name) = text(lua, name)? else {
                return fail("first argument to server.register_function must be a string");
            };
            let Value::Function(callback) = callback else {
                return fail("second argument to server.register_function must be a function");
            };
            let registered = Registered { name, description: None, flags: Flags::default() };
            Ok((registered, callback.clone()))
        }
        _ => fail("wrong number of arguments to server.register_function"),
    }
}

/// What it says when no library is loaded: a function may have kept it.
pub(crate) fn refuse() -> Result<()> {
    fail("server.register_function can only be called on FUNCTION LOAD command")
}

fn named(lua: &Lua, table: &Table) -> Result<Entry> {
    let (mut name, mut callback, mut description) = (None, None, None);
    let mut flags = Flags::default();
    for pair in table.pairs::<Value, Value>() {
        let (key, value) = pair?;
        let Some(key) = text(lua, &key)? else {
            return fail("named argument key given to server.register_function is not a string");
        };
        match key.as_slice() {
            b"function_name" => {
                name = text(lua, &value)?;
                if name.is_none() {
                    return must_be("function_name", "a string");
                }
            }
            b"description" => {
                description = text(lua, &value)?;
                if description.is_none() {
                    return must_be("description", "a string");
                }
            }
            b"callback" => match value {
                Value::Function(function) => callback = Some(function),
                _ => return must_be("callback", "a function"),
            },
            b"flags" => {
                let Value::Table(names) = value else {
                    return fail(
                        "flags argument to server.register_function must be a table representing \
                         function flags",
                    );
                };
                set_flags(lua, &mut flags, &names)?;
            }
            _ => return fail("unknown argument given to server.register_function"),
        }
    }
    let Some(name) = name else {
        return fail("server.register_function must get a function name argument");
    };
    let Some(callback) = callback else {
        return fail("server.register_function must get a callback argument");
    };
    Ok((Registered { name, description, flags }, callback))
}

fn set_flags(lua: &Lua, flags: &mut Flags, names: &Table) -> Result<()> {
    for index in 1.. {
        let value: Value = names.raw_get(index)?;
        if value.is_nil() {
            break;
        }
        if !text(lua, &value)?.is_some_and(|name| flags.set(&name)) {
            return fail("unknown flag given");
        }
    }
    Ok(())
}

fn text(lua: &Lua, value: &Value) -> Result<Option<Vec<u8>>> {
    Ok(string(lua, value)?.map(|text| text.as_bytes().to_vec()))
}

fn must_be<T>(argument: &str, what: &str) -> Result<T> {
    fail(&format!("{argument} argument given to server.register_function must be {what}"))
}

fn fail<T>(text: &str) -> Result<T> {
    Err(Raise::Table(format!("ERR {text}").into_bytes()).into())
}
