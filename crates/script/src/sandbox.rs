//! A fresh machine: Lua 5.1 without what reaches outside, and the tables that scripts see.
//!
//! `prelude.lua` builds the two sets of globals, one for scripts and one for functions, out of what
//! is made here. What must stay true: no compiled code is loaded, and nothing of the machine's own
//! (the `debug` library, environments, files) is reachable from a script.

use crate::api::{self, Run};
use crate::host::HOST;
use crate::libraries;
use crate::raise::{self, MACHINE, Raise};
use crate::random;
use mlua::{ChunkMode, Function, HookTriggers, Lua, LuaOptions, Result, StdLib, Table, VmState};
use std::rc::Rc;

/// Instructions between two looks at the clock and at whether the script is to be killed: some
/// hundred microseconds.
const POLL_INSTRUCTIONS: u32 = 20_000;

/// A machine's entry points.
pub(crate) struct Sandbox {
    /// The real table of scripts' globals: KEYS and ARGV are set here.
    pub(crate) globals: Table,
    /// Scripts' globals as they see them.
    pub(crate) scripts: Table,
    /// Functions' globals as they see them.
    pub(crate) functions: Table,
    /// `(chunk) -> ok, value`
    pub(crate) run_script: Function,
    /// `(function, keys, args) -> ok, value`
    pub(crate) run_function: Function,
    /// `(chunk) -> ok, value`, with what a library may use while it is loaded.
    pub(crate) load_library: Function,
}

/// Makes a machine. `seed` begins its random numbers.
pub(crate) fn machine(run: &Rc<Run>, seed: u64) -> Result<(Lua, Sandbox)> {
    let libraries = StdLib::TABLE | StdLib::STRING | StdLib::MATH | StdLib::OS;
    let lua = Lua::new_with(libraries, LuaOptions::new())?;
    let host = lua.create_table()?;
    host.raw_set("api", api::table(&lua, run)?)?;
    host.raw_set("libraries", libraries::all(&lua)?)?;
    let shared = Rc::clone(run);
    let stopped = lua.create_function(move |_, ()| Ok(shared.stop.get().is_some()))?;
    host.raw_set("stopped", stopped)?;
    host.raw_set("where", lua.create_function(raise::position)?)?;
    host.raw_set("unwrap", lua.create_function(raise::unwrap)?)?;
    random::add(&lua, &host, seed)?;
    let prelude = lua.load(include_str!("prelude.lua")).set_name(MACHINE);
    let (globals, scripts, functions, run_script, run_function, load_library) =
        prelude.set_mode(ChunkMode::Text).call(host)?;
    let shared = Rc::clone(run);
    let hook = move |lua: &Lua, _: &mlua::Debug<'_>| {
        if shared.stop.get().is_none()
            && HOST.is_set()
            && let Some(stop) = HOST.with(|host| host.poll())
        {
            shared.stop(lua, stop);
        }
        match shared.stop.get() {
            None => Ok(VmState::Continue),
            Some(_) => Err(Raise::Stop.into()),
        }
    };
    lua.set_global_hook(HookTriggers::new().every_nth_instruction(POLL_INSTRUCTIONS), hook)?;
    let sandbox = Sandbox { globals, scripts, functions, run_script, run_function, load_library };
    Ok((lua, sandbox))
}
