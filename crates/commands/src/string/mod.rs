//! Commands on strings.

mod append;
mod comparison;
mod delex;
mod delifeq;
mod digest;
pub(crate) mod edit;
mod get;
mod getdel;
mod getex;
mod getrange;
mod getset;
mod incr;
mod incrbyfloat;
mod increx;
mod lcs;
mod lifetime;
mod mget;
mod mset;
mod msetex;
mod set;
mod setex;
mod setnx;
mod setrange;
mod strlen;
pub(crate) mod text;

pub(crate) use lifetime::{Expiry, Lifetime, LifetimeChange};
pub(crate) use text::to_store;

use crate::Command;

/// The family, in the order of the reference.
pub(crate) const COMMANDS: &[Command] = &[
    Command::new(append::SPEC, append::apply),
    Command::new(incr::DECR, incr::decr),
    Command::new(incr::DECRBY, incr::decr_by),
    Command::new(delex::SPEC, delex::apply),
    Command::new(delifeq::SPEC, delifeq::apply),
    Command::new(digest::SPEC, digest::apply),
    Command::new(get::SPEC, get::apply),
    Command::new(getdel::SPEC, getdel::apply),
    Command::new(getex::SPEC, getex::apply),
    Command::new(getrange::GETRANGE, getrange::apply),
    Command::new(getset::SPEC, getset::apply),
    Command::new(incr::INCR, incr::incr),
    Command::new(incr::INCRBY, incr::incr_by),
    Command::new(incrbyfloat::SPEC, incrbyfloat::apply),
    Command::new(increx::SPEC, increx::apply),
    Command::new(lcs::SPEC, lcs::apply),
    Command::new(mget::SPEC, mget::apply),
    Command::new(mset::MSET, mset::mset),
    Command::new(msetex::SPEC, msetex::apply),
    Command::new(mset::MSETNX, mset::mset_nx),
    Command::new(setex::PSETEX, setex::pset_ex),
    Command::new(set::SPEC, set::apply),
    Command::new(setex::SETEX, setex::set_ex),
    Command::new(setnx::SPEC, setnx::apply),
    Command::new(setrange::SPEC, setrange::apply),
    Command::new(strlen::SPEC, strlen::apply),
    Command::new(getrange::SUBSTR, getrange::apply),
];
