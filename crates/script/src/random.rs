//! `math.random` and `math.randomseed`, with the sequence of Valkey's: the linear congruential
//! generator of `drand48`, so that a script that seeds it gets the numbers that it gets there.

use crate::api::number;
use crate::raise::{argument, argument_type};
use mlua::{Lua, MultiValue, Result, Table};
use std::cell::Cell;
use std::rc::Rc;

/// Numbers are made of the 31 high bits.
const MAX: u32 = 0x7fff_ffff;
const MULTIPLIER: u64 = 0x5_deec_e66d;
const INCREMENT: u64 = 0xb;
const BITS: u64 = (1 << 48) - 1;
/// The low bits that a seed does not set.
const SEED_LOW: u64 = 0x330e;

/// Adds `random` and `randomseed` to a table.
pub(crate) fn add(lua: &Lua, table: &Table, seed: u64) -> Result<()> {
    let state = Rc::new(Cell::new(seed & BITS));
    let shared = Rc::clone(&state);
    let random = lua.create_function(move |lua, args: MultiValue| random(lua, &shared, &args))?;
    table.raw_set("random", random)?;
    let randomseed = lua.create_function(move |lua, args: MultiValue| {
        let seed = args.front().and_then(|value| number(lua, value));
        let expected = || argument_type(lua, (1, args.front()), "randomseed", "number");
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as in C")]
        let seed = seed.ok_or_else(expected)? as i64 as u32;
        state.set((u64::from(seed) << 16) | SEED_LOW);
        Ok(())
    })?;
    table.raw_set("randomseed", randomseed)
}

fn next(state: &Cell<u64>) -> u32 {
    let next = state.get().wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT) & BITS;
    state.set(next);
    u32::try_from(next >> 17).expect("48 bits less 17")
}

fn random(lua: &Lua, state: &Cell<u64>, args: &MultiValue) -> Result<f64> {
    let unit = f64::from(next(state) % MAX) / f64::from(MAX);
    let bound = |index: usize| {
        let value = args.get(index).and_then(|value| number(lua, value)).map(f64::trunc);
        value.ok_or_else(|| argument_type(lua, (index + 1, args.get(index)), "random", "number"))
    };
    let (low, high, last) = match args.len() {
        0 => return Ok(unit),
        1 => (1.0, bound(0)?, 1),
        2 => (bound(0)?, bound(1)?, 2),
        _ => return Err(crate::raise::text(lua, "wrong number of arguments")),
    };
    if low > high {
        return Err(argument(lua, last, "random", "interval is empty"));
    }
    Ok((unit * (high - low + 1.0)).floor() + low)
}
