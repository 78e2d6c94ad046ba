//! Commands on strings.

mod get;
mod incr;
mod set;

use crate::Command;

/// The family, in the order of the reference.
pub(crate) const COMMANDS: &[Command] = &[
    Command::new(incr::DECR, incr::decr),
    Command::new(incr::DECRBY, incr::decr_by),
    Command::new(get::SPEC, get::apply),
    Command::new(incr::INCR, incr::incr),
    Command::new(incr::INCRBY, incr::incr_by),
    Command::new(set::SPEC, set::apply),
];
