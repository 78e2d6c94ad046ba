//! One worker's Lua machine: compiles what it has not met, runs it, and writes what it returns.

use crate::api::Run;
use crate::from_lua;
use crate::functions::Registered;
use crate::host::{HOST, Host, Stop};
use crate::sandbox::{self, Sandbox};
use caudal_wire::{Output, Protocol, Reply};
use mlua::{ChunkMode, Function, Lua, Result, Table, Value};
use std::collections::HashSet;
use std::rc::Rc;

/// Bytes that one machine's values may hold: a string as long as any value, and its copy.
pub const MEMORY_BYTES_MAX: usize = 1 << 30;
/// Compiled scripts that a machine keeps: twice what the store's cache holds of those that nobody
/// loaded on purpose. Beyond it all are forgotten and compiled again as they are met.
const COMPILED_MAX: usize = 1024;

/// The chunk's name of a script, as positions spell it.
const SCRIPT: &str = "@user_script";
/// As above, of a library of functions.
const FUNCTION: &str = "@user_function";

/// How a script ended, if not by returning.
#[derive(Debug)]
pub enum Ended {
    /// With an error, to be replied.
    Error {
        /// Its text.
        text: Vec<u8>,
        /// Whether it is a command's, which was counted when the command failed.
        is_counted: bool,
    },
    /// It was told to; where that was, as an error says it.
    Stopped(Stop, Vec<u8>),
}

impl Ended {
    /// An error that nobody has counted.
    pub fn error(text: Vec<u8>) -> Ended {
        Ended::Error { text, is_counted: false }
    }
}

/// An error that a script returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReturnedError {
    /// Its text.
    pub text: Vec<u8>,
    /// Whether it is a command's, which was counted when the command failed.
    pub is_counted: bool,
}

/// What a script returned, before it is written.
#[derive(Debug)]
pub struct Returned {
    value: Value,
    /// What the script spoke in the end.
    spoken: Protocol,
}

/// A script's text, and a number that no other text has in this process.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The number.
    pub id: u64,
    /// The text that is compiled, its first line made blank if it is a shebang.
    pub text: &'a [u8],
}

/// A Lua machine.
pub struct Vm {
    lua: Lua,
    run: Rc<Run>,
    sandbox: Sandbox,
    /// Compiled scripts by number. A table of the machine's, as are the libraries: each value in
    /// our own hands takes one of some thousand places.
    compiled: Table,
    compiled_len: usize,
    /// Loaded libraries by number: tables of functions by name.
    libraries: Table,
    loaded: HashSet<u64>,
    /// The name of every chunk stays in use: the compiler of this Lua keeps no hold of it.
    _names: [mlua::String; 2],
    /// Replies with tables in them, before they are known to be whole.
    scratch: Output,
}

impl Vm {
    /// A machine that has run nothing. `seed` begins its random numbers.
    ///
    /// # Panics
    /// If there is no memory for it.
    pub fn new(seed: u64) -> Vm {
        let run = Rc::new(Run::default());
        run.memory_limit.set(MEMORY_BYTES_MAX);
        let made = sandbox::machine(&run, seed);
        let (lua, sandbox) = made.expect("the prelude is a part of this program");
        let names = [SCRIPT, FUNCTION].map(|text| lua.create_string(text).expect("a short string"));
        let table = || lua.create_table().expect("a new machine has memory");
        let (compiled, libraries) = (table(), table());
        Vm {
            lua,
            run,
            sandbox,
            compiled,
            compiled_len: 0,
            libraries,
            loaded: HashSet::new(),
            _names: names,
            scratch: Output::default(),
        }
    }

    /// Lets the machine hold less than [`MEMORY_BYTES_MAX`].
    pub fn limit_memory(&mut self, bytes: usize) {
        self.run.memory_limit.set(bytes.min(MEMORY_BYTES_MAX));
    }

    /// Bytes that the machine holds.
    pub fn memory_bytes(&self) -> usize {
        self.lua.used_memory()
    }

    /// Forgets all compiled scripts.
    pub fn forget_scripts(&mut self) {
        // Removing what is there needs no memory.
        let _ = self.compiled.clear();
        self.compiled_len = 0;
    }

    /// Compiles a script, to know whether it can be.
    ///
    /// # Errors
    /// The text of the error to reply.
    pub fn compile(&mut self, source: Source<'_>) -> std::result::Result<(), Vec<u8>> {
        self.script(source).map(drop)
    }

    /// Runs a script.
    ///
    /// # Errors
    /// It failed, or was told to stop.
    pub fn run<'w>(
        &mut self,
        source: Source<'_>,
        keys: impl ExactSizeIterator<Item = &'w [u8]>,
        args: impl ExactSizeIterator<Item = &'w [u8]>,
        host: &mut dyn Host,
    ) -> std::result::Result<Returned, Ended> {
        let chunk = self.script(source).map_err(Ended::error)?;
        let globals = &self.sandbox.globals;
        let set = |keys: Result<Table>, args: Result<Table>| {
            globals.raw_set("KEYS", keys?)?;
            globals.raw_set("ARGV", args?)
        };
        set(list(&self.lua, keys), list(&self.lua, args)).map_err(internal)?;
        self.enter(host, || self.sandbox.run_script.call(&chunk))
    }

    /// Loads a library: runs its code, which registers its functions.
    ///
    /// # Errors
    /// The text of the error to reply.
    pub fn load(
        &mut self,
        source: Source<'_>,
        host: &mut dyn Host,
    ) -> std::result::Result<Vec<Registered>, Vec<u8>> {
        let chunk = self.chunk(source.text, FUNCTION, &self.sandbox.functions);
        let chunk =
            chunk.map_err(|text| [b"ERR Error compiling function: ", &text[..]].concat())?;
        self.run.registered.replace(Some(Vec::new()));
        let outcome = self.enter(host, || self.sandbox.load_library.call(&chunk));
        let registered = self.run.registered.take().unwrap_or_default();
        if let Err(ended) = outcome {
            let text = match ended {
                Ended::Error { text, .. } => without_position(text),
                Ended::Stopped(Stop::TimedOut, _) => b"ERR FUNCTION LOAD timeout".to_vec(),
                Ended::Stopped(..) => b"ERR Script killed by user".to_vec(),
            };
            return Err([b"ERR Error registering functions: ", &text[..]].concat());
        }
        let keep = || {
            let functions = self.lua.create_table()?;
            for (function, code) in &registered {
                functions.raw_set(self.lua.create_string(&function.name)?, code)?;
            }
            self.libraries.raw_set(source.id, functions)
        };
        if let Err(Ended::Error { text, .. }) = keep().map_err(internal) {
            return Err(text);
        }
        self.loaded.insert(source.id);
        Ok(registered.into_iter().map(|(function, _)| function).collect())
    }

    /// Whether a library is loaded.
    pub fn has_library(&self, id: u64) -> bool {
        self.loaded.contains(&id)
    }

    /// Forgets the libraries that are not among these.
    pub fn keep_libraries(&mut self, is_kept: impl Fn(u64) -> bool) {
        let libraries = &self.libraries;
        self.loaded.retain(|id| {
            // Removing what is there needs no memory.
            is_kept(*id) || libraries.raw_set(*id, Value::Nil).is_err()
        });
    }

    /// Calls a function of a loaded library.
    ///
    /// # Errors
    /// It failed, or was told to stop.
    ///
    /// # Panics
    /// If there is no such function.
    pub fn call<'w>(
        &mut self,
        (library, function): (u64, &[u8]),
        keys: impl ExactSizeIterator<Item = &'w [u8]>,
        args: impl ExactSizeIterator<Item = &'w [u8]>,
        host: &mut dyn Host,
    ) -> std::result::Result<Returned, Ended> {
        let library: Table = self.libraries.raw_get(library).map_err(internal)?;
        let name = self.lua.create_string(function).map_err(internal)?;
        let function: Function = library.raw_get(name).map_err(internal)?;
        let keys = list(&self.lua, keys).map_err(internal)?;
        let args = list(&self.lua, args).map_err(internal)?;
        self.enter(host, || self.sandbox.run_function.call((&function, &keys, &args)))
    }

    /// Has `call` run under `host`.
    fn enter(
        &self,
        host: &mut dyn Host,
        call: impl FnOnce() -> Result<(bool, Value)>,
    ) -> std::result::Result<Returned, Ended> {
        self.run.protocol.set(Protocol::Resp2);
        self.run.stop.set(None);
        let limited = self.lua.set_memory_limit(self.run.memory_limit.get());
        let outcome = limited.and_then(|_| HOST.set(host, call));
        self.lua.set_memory_limit(0).map_err(internal)?;
        if let Some(stop) = self.run.stop.get() {
            return Err(Ended::Stopped(stop, self.run.stopped_at.take()));
        }
        match outcome {
            Ok((true, value)) => Ok(Returned { value, spoken: self.run.protocol.get() }),
            Ok((false, raised)) => Err(raised_error(&raised)),
            Err(error) => Err(internal(error)),
        }
    }

    /// Writes what a script returned; the error, if it is one.
    ///
    /// # Errors
    /// The machine has no memory left; nothing is written.
    pub fn reply(
        &mut self,
        returned: &Returned,
        reply: &mut Reply<'_>,
    ) -> std::result::Result<Option<ReturnedError>, Ended> {
        let Value::Table(table) = &returned.value else {
            from_lua::reply(reply, &returned.value, returned.spoken).map_err(internal)?;
            return Ok(None);
        };
        // A table may fail half-way, and what is in the connection's output stays there.
        let mut scratch = Reply::new(&mut self.scratch, reply.protocol());
        let outcome = from_lua::reply(&mut scratch, &returned.value, returned.spoken);
        if let Err(error) = outcome {
            self.scratch.clear();
            return Err(internal(error));
        }
        reply.output().append(std::mem::take(&mut self.scratch));
        let field = |name: &str| table.raw_get::<Value>(name).unwrap_or(Value::Nil);
        let is_counted = !field("ignore_error_stats_update").is_nil();
        Ok(field("err").as_string().map(|text| {
            let text = text.as_bytes().to_vec();
            ReturnedError { text, is_counted }
        }))
    }

    /// The compiled form of a script.
    fn script(&mut self, source: Source<'_>) -> std::result::Result<Function, Vec<u8>> {
        if let Ok(Value::Function(chunk)) = self.compiled.raw_get(source.id) {
            return Ok(chunk);
        }
        let chunk = self
            .chunk(source.text, SCRIPT, &self.sandbox.scripts)
            .map_err(|text| [b"ERR Error compiling script (new function): ", &text[..]].concat())?;
        if self.compiled_len >= COMPILED_MAX {
            self.forget_scripts();
        }
        // One that is not kept is compiled again.
        self.compiled_len += usize::from(self.compiled.raw_set(source.id, &chunk).is_ok());
        Ok(chunk)
    }

    fn chunk(
        &self,
        text: &[u8],
        name: &str,
        globals: &Table,
    ) -> std::result::Result<Function, Vec<u8>> {
        let chunk = self.lua.load(text).set_name(name).set_mode(ChunkMode::Text);
        chunk.set_environment(globals.clone()).into_function().map_err(|error| match error {
            mlua::Error::SyntaxError { message, .. } => message.into_bytes(),
            error => error.to_string().into_bytes(),
        })
    }
}

fn list<'w>(lua: &Lua, words: impl ExactSizeIterator<Item = &'w [u8]>) -> Result<Table> {
    let table = lua.create_table_with_capacity(words.len(), 0)?;
    for (index, word) in (1..).zip(words) {
        table.raw_set(index, lua.create_string(word)?)?;
    }
    Ok(table)
}

/// The machine's own failure, as an error reply: it has no memory left, mostly.
fn internal(error: mlua::Error) -> Ended {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    Ended::error(format!("ERR {line}").into_bytes())
}

/// The error reply of what a script raised.
fn raised_error(raised: &Value) -> Ended {
    let Value::Table(table) = raised else {
        let text = raised.as_string().map(|text| text.as_bytes().to_vec());
        return Ended::error([b"ERR ", &text.unwrap_or_default()[..]].concat());
    };
    let field = |name: &str| table.raw_get::<Value>(name).unwrap_or(Value::Nil);
    let mut text = match field("err") {
        Value::String(text) => text.as_bytes().to_vec(),
        Value::Integer(number) => number.to_string().into_bytes(),
        _ => b"ERR unknown error".to_vec(),
    };
    if let (Value::String(source), Value::Integer(line)) = (field("source"), field("line")) {
        text.extend_from_slice(POSITION);
        text.extend_from_slice(&source.as_bytes());
        text.extend_from_slice(format!(":{line}.").as_bytes());
    }
    Ended::Error { text, is_counted: !field("ignore_error_stats_update").is_nil() }
}

/// What stands between an error and where it was raised.
const POSITION: &[u8] = b" script: on ";

fn without_position(mut text: Vec<u8>) -> Vec<u8> {
    let at = text.windows(POSITION.len()).rposition(|window| window == POSITION);
    text.truncate(at.unwrap_or(text.len()));
    text
}
