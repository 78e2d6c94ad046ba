//! The libraries that Valkey gives to scripts beside Lua's own.

mod bit;
mod cjson;
mod cmsgpack;
mod given;
mod packed;

use mlua::{Lua, Result, Table};

/// All of them, by name.
pub(crate) fn all(lua: &Lua) -> Result<Table> {
    let all = lua.create_table()?;
    all.raw_set("bit", bit::table(lua)?)?;
    all.raw_set("cjson", cjson::table(lua)?)?;
    all.raw_set("cmsgpack", cmsgpack::table(lua)?)?;
    all.raw_set("struct", packed::table(lua)?)?;
    Ok(all)
}
