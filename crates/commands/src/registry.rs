//! The list of all commands on data.

use crate::{Args, Context, Outcome, Spec};
use std::ops::Range;

/// A command: its facts and its code.
#[derive(Clone, Copy)]
pub struct Command {
    /// The facts.
    pub spec: Spec,
    /// Runs it; its keys are locked.
    pub apply: fn(&mut Context<'_, '_>, Args<'_>) -> Outcome,
    /// For COPY and MOVE: the other database that its keys are locked in.
    pub other_database: Option<fn(Args<'_>) -> Option<u8>>,
    /// For XREAD, XREADGROUP and MIGRATE: what only their options tell.
    pub reads: Option<Reads>,
}

/// A command that finds its keys by itself: they stand behind its options.
#[derive(Clone, Copy)]
pub struct Reads {
    /// The arguments that are keys; none if the options make no sense.
    pub keys: fn(Args<'_>) -> Range<usize>,
    /// Whether it writes, or may queue at its keys, so that their slots are locked exclusive.
    pub exclusive: fn(Args<'_>) -> bool,
}

impl Command {
    /// A command on the selected database.
    pub const fn new(spec: Spec, apply: fn(&mut Context<'_, '_>, Args<'_>) -> Outcome) -> Command {
        Command { spec, apply, other_database: None, reads: None }
    }

    /// The same command, with its keys locked in the database too that `named` finds in its words.
    pub const fn and_in(self, named: fn(Args<'_>) -> Option<u8>) -> Command {
        Command { other_database: Some(named), ..self }
    }

    /// The same command, with its keys found behind its options.
    pub(crate) const fn reading(self, reads: Reads) -> Command {
        Command { reads: Some(reads), ..self }
    }
}

/// Every command, family by family.
pub fn all() -> impl Iterator<Item = &'static Command> {
    [
        crate::bitmap::COMMANDS,
        crate::generic::COMMANDS,
        crate::geo::COMMANDS,
        crate::hash::COMMANDS,
        crate::hyperloglog::COMMANDS,
        crate::list::COMMANDS,
        crate::set::COMMANDS,
        crate::sorted_set::COMMANDS,
        crate::stream::COMMANDS,
        crate::string::COMMANDS,
    ]
    .into_iter()
    .flatten()
}
