//! The `redis` table, but for what needs no more than Lua.

use crate::functions;
use crate::host::{HOST, LogLevel};
use crate::raise::{MACHINE, Raise};
use crate::to_lua;
use caudal_commands::OwnedArgs;
use caudal_text::float;
use caudal_wire::{Output, Protocol};
use mlua::{Lua, MultiValue, Result, Table, Value};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::Stop;

/// Bytes of a command's words: what a client's query buffer may hold.
const COMMAND_BYTES_MAX: usize = 1 << 30;

/// The version that scripts see: the one whose behaviour this is.
const VERSION: (&str, u32) = ("9.1.2", 0x0009_0102);
/// The version of Redis that Valkey says it is compatible with.
const REDIS_VERSION: (&str, u32) = ("7.2.4", 0x0007_0204);

/// What the machine's functions share while a script runs.
pub(crate) struct Run {
    /// What the script speaks with the store: RESP2, unless `setresp` says otherwise.
    pub(crate) protocol: Cell<Protocol>,
    /// Why the script must end, once it must.
    pub(crate) stop: Cell<Option<Stop>>,
    /// Where that was, as an error says it.
    pub(crate) stopped_at: RefCell<Vec<u8>>,
    /// Bytes that the machine may hold.
    pub(crate) memory_limit: Cell<usize>,
    /// Functions registered so far, while a library is loaded; none at any other time.
    pub(crate) registered: RefCell<Option<Vec<functions::Entry>>>,
    words: RefCell<OwnedArgs>,
    reply: RefCell<Output>,
}

impl Default for Run {
    fn default() -> Run {
        Run {
            protocol: Cell::new(Protocol::Resp2),
            stop: Cell::new(None),
            stopped_at: RefCell::default(),
            memory_limit: Cell::new(0),
            registered: RefCell::default(),
            words: RefCell::default(),
            reply: RefCell::default(),
        }
    }
}

impl Run {
    /// Has the script end at the line that runs.
    pub(crate) fn stop(&self, lua: &Lua, stop: Stop) {
        /// The running function's caller, or the function that the hook interrupted.
        const LEVELS: std::ops::Range<usize> = 0..4;
        self.stop.set(Some(stop));
        let at = LEVELS.into_iter().find_map(|level| {
            let frame = |frame: &mlua::Debug<'_>| {
                let source = frame.source();
                let name = source.source.filter(|name| source.what != "C" && name != MACHINE)?;
                Some(format!(" script: on {name}:{}.", frame.current_line().unwrap_or(0)))
            };
            lua.inspect_stack(level, frame).flatten()
        });
        *self.stopped_at.borrow_mut() = at.unwrap_or_default().into_bytes();
    }

    /// Works on values of the store's size: the machine's limit is looked at when Lua goes on. A
    /// machine without a limit needs no protected call for each value.
    pub(crate) fn unlimited<R>(&self, lua: &Lua, work: impl FnOnce() -> Result<R>) -> Result<R> {
        lua.set_memory_limit(0)?;
        let result = work();
        lua.set_memory_limit(self.memory_limit.get())?;
        result
    }
}

/// The functions and constants of the table.
pub(crate) fn table(lua: &Lua, run: &Rc<Run>) -> Result<Table> {
    let api = lua.create_table()?;
    constants(lua, &api)?;
    let shared = Rc::clone(run);
    let call = lua.create_function(move |lua, args: MultiValue| {
        shared.unlimited(lua, || match command(lua, &shared, args)? {
            Reply::Value(value) => Ok(value),
            Reply::Error(text) => Err(Raise::Command(text).into()),
        })
    })?;
    api.raw_set("call", call)?;
    let shared = Rc::clone(run);
    let call = lua.create_function(move |lua, args: MultiValue| {
        shared.unlimited(lua, || match command(lua, &shared, args)? {
            Reply::Value(value) => Ok(value),
            Reply::Error(text) => {
                let table = lua.create_table()?;
                table.raw_set("err", lua.create_string(&text)?)?;
                table.raw_set("ignore_error_stats_update", true)?;
                Ok(Value::Table(table))
            }
        })
    })?;
    api.raw_set("pcall", call)?;
    let shared = Rc::clone(run);
    let set_protocol = move |lua: &Lua, args: MultiValue| set_protocol(lua, &shared, &args);
    api.raw_set("setresp", lua.create_function(set_protocol)?)?;
    let shared = Rc::clone(run);
    let check = move |lua: &Lua, args: MultiValue| check(lua, &shared, args);
    api.raw_set("acl_check_cmd", lua.create_function(check)?)?;
    api.raw_set("sha1hex", lua.create_function(sha1hex)?)?;
    api.raw_set("log", lua.create_function(log)?)?;
    api.raw_set("set_repl", lua.create_function(set_repl)?)?;
    api.raw_set("status_reply", lua.create_function(status_reply)?)?;
    api.raw_set("error_reply", lua.create_function(error_reply)?)?;
    let shared = Rc::clone(run);
    let register = move |lua: &Lua, args: MultiValue| {
        if shared.registered.borrow().is_none() {
            return functions::refuse();
        }
        let entry = functions::parse(lua, &args)?;
        shared.registered.borrow_mut().get_or_insert_default().push(entry);
        Ok(())
    };
    api.raw_set("register_function", lua.create_function(register)?)?;
    api.raw_set("replicate_commands", lua.create_function(|_, _: MultiValue| Ok(true))?)?;
    // There is no debugger: as where none is attached.
    api.raw_set("breakpoint", lua.create_function(|_, _: MultiValue| Ok(false))?)?;
    api.raw_set("debug", lua.create_function(|_, _: MultiValue| Ok(()))?)?;
    Ok(api)
}

fn constants(lua: &Lua, api: &Table) -> Result<()> {
    let numbers = [
        ("LOG_DEBUG", 0),
        ("LOG_VERBOSE", 1),
        ("LOG_NOTICE", 2),
        ("LOG_WARNING", 3),
        ("REPL_NONE", 0),
        ("REPL_AOF", 1),
        ("REPL_SLAVE", 2),
        ("REPL_REPLICA", 2),
        ("REPL_ALL", 3),
        ("REDIS_VERSION_NUM", REDIS_VERSION.1),
        ("VALKEY_VERSION_NUM", VERSION.1),
    ];
    for (name, number) in numbers {
        api.raw_set(name, number)?;
    }
    for (name, text) in [
        ("REDIS_VERSION", REDIS_VERSION.0),
        ("VALKEY_VERSION", VERSION.0),
        ("SERVER_NAME", "valkey"),
    ] {
        api.raw_set(name, lua.create_string(text)?)?;
    }
    Ok(())
}

enum Reply {
    Value(Value),
    Error(Vec<u8>),
}

/// Runs a command of the script.
fn command(lua: &Lua, run: &Run, args: MultiValue) -> Result<Reply> {
    let mut words = run.words.borrow_mut();
    if let Err(text) = collect(&mut words, &args) {
        return Ok(Reply::Error(text.as_bytes().to_vec()));
    }
    let mut reply = run.reply.borrow_mut();
    let protocol = run.protocol.get();
    if let Err(stop) = HOST.with(|host| host.call(words.view(), protocol, &mut reply)) {
        run.stop(lua, stop);
        reply.clear();
        return Err(Raise::Stop.into());
    }
    match to_lua::error_text(&mut reply) {
        Some(text) => Ok(Reply::Error(text)),
        None => to_lua::value(lua, &mut reply).map(Reply::Value),
    }
}

/// Gathers a command's words.
fn collect(words: &mut OwnedArgs, args: &MultiValue) -> std::result::Result<(), &'static str> {
    words.clear();
    if args.is_empty() {
        return Err("ERR Please specify at least one argument for this call");
    }
    let mut bytes = 0;
    for arg in args {
        match arg {
            Value::String(text) => {
                bytes += text.as_bytes().len();
                if bytes > COMMAND_BYTES_MAX {
                    return Err("ERR Command arguments are too long");
                }
                words.push(&text.as_bytes());
            }
            Value::Integer(number) => push_number(words, *number as f64),
            Value::Number(number) => push_number(words, *number),
            _ => return Err("ERR Command arguments must be strings or integers"),
        }
    }
    Ok(())
}

/// A number as a command's word: an integer if it is one, else the shortest text that reads back
/// the same.
#[allow(clippy::cast_possible_truncation, reason = "it is an integer in range")]
fn push_number(words: &mut OwnedArgs, number: f64) {
    /// Valkey takes doubles beyond 62 bits for no integers.
    const INTEGER_MAX: f64 = (1_u64 << 62) as f64;
    if number.fract() == 0.0 && number.abs() <= INTEGER_MAX {
        return words.push(itoa::Buffer::new().format(number as i64).as_bytes());
    }
    if number.is_nan() && number.is_sign_negative() {
        // 0/0, as C spells it.
        return words.push(b"-nan");
    }
    let mut text = Vec::with_capacity(float::FORMATTED_BYTES_MAX);
    float::format_f64(number, &mut text);
    words.push(&text);
}

fn table_error(text: &str) -> mlua::Error {
    Raise::Table(text.as_bytes().to_vec()).into()
}

fn set_protocol(lua: &Lua, run: &Run, args: &MultiValue) -> Result<()> {
    if args.len() != 1 {
        return Err(table_error("ERR server.setresp() requires one argument."));
    }
    match number(lua, &args[0]) {
        Some(2.0) => run.protocol.set(Protocol::Resp2),
        Some(3.0) => run.protocol.set(Protocol::Resp3),
        _ => return Err(table_error("ERR RESP version must be 2 or 3.")),
    }
    Ok(())
}

fn check(_: &Lua, run: &Run, args: MultiValue) -> Result<bool> {
    let mut words = run.words.borrow_mut();
    collect(&mut words, &args).map_err(table_error)?;
    let allowed = HOST.with(|host| host.may_call(words.view()));
    allowed.map_err(|_| table_error("ERR Invalid command passed to server.acl_check_cmd()"))
}

fn sha1hex(lua: &Lua, args: MultiValue) -> Result<mlua::String> {
    if args.len() != 1 {
        return Err(table_error("ERR wrong number of arguments"));
    }
    let text = string(lua, &args[0])?;
    let text = text.as_ref().map(mlua::String::as_bytes);
    let digest = sha1_smol::Sha1::from(text.as_deref().unwrap_or_default()).digest();
    lua.create_string(digest.to_string())
}

fn log(lua: &Lua, args: MultiValue) -> Result<()> {
    if args.len() < 2 {
        return Err(table_error("ERR server.log() requires two arguments or more."));
    }
    let Some(level) = number(lua, &args[0]) else {
        return Err(table_error("ERR First argument must be a number (log level)."));
    };
    let level = match level.trunc() {
        0.0 => LogLevel::Debug,
        1.0 => LogLevel::Verbose,
        2.0 => LogLevel::Notice,
        3.0 => LogLevel::Warning,
        _ => return Err(table_error("ERR Invalid log level.")),
    };
    let mut text = Vec::new();
    for (index, arg) in args.iter().skip(1).enumerate() {
        if let Some(word) = string(lua, arg)? {
            if index > 0 {
                text.push(b' ');
            }
            text.extend_from_slice(&word.as_bytes());
        }
    }
    HOST.with(|host| host.log(level, &text));
    Ok(())
}

/// Effects always go everywhere: what is left out would make the copies differ.
fn set_repl(lua: &Lua, args: MultiValue) -> Result<()> {
    if args.len() != 1 {
        return Err(table_error("ERR server.set_repl() requires one argument."));
    }
    match number(lua, &args[0]) {
        Some(0.0 | 1.0 | 2.0 | 3.0) => Ok(()),
        _ => Err(table_error(
            "ERR Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.",
        )),
    }
}

fn status_reply(lua: &Lua, args: MultiValue) -> Result<Table> {
    let table = lua.create_table()?;
    match (args.len(), args.front()) {
        (1, Some(Value::String(text))) => table.raw_set("ok", text)?,
        _ => table.raw_set("err", "ERR wrong number or type of arguments")?,
    }
    Ok(table)
}

fn error_reply(lua: &Lua, args: MultiValue) -> Result<Table> {
    let table = lua.create_table()?;
    match (args.len(), args.front()) {
        (1, Some(Value::String(text))) => {
            let text = text.as_bytes();
            let text = text.strip_prefix(b"-").unwrap_or(&text);
            // One word is no code and its sentence.
            let code: &[u8] = if text.contains(&b' ') { b"" } else { b"ERR " };
            table.raw_set("err", lua.create_string([code, text].concat())?)?;
        }
        _ => table.raw_set("err", "ERR wrong number or type of arguments")?,
    }
    Ok(table)
}

/// A number, or a string that Lua reads as one.
pub(crate) fn number(lua: &Lua, value: &Value) -> Option<f64> {
    // It fails only for want of memory.
    lua.coerce_number(value.clone()).ok().flatten()
}

/// A string, or a number as Lua spells it.
pub(crate) fn string(lua: &Lua, value: &Value) -> Result<Option<mlua::String>> {
    match value {
        Value::String(text) => Ok(Some(text.clone())),
        Value::Integer(_) | Value::Number(_) => lua.coerce_string(value.clone()),
        _ => Ok(None),
    }
}
