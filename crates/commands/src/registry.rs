//! The list of all commands on data.

use crate::{Args, Context, Outcome, Spec};

/// A command: its facts and its code.
#[derive(Clone, Copy)]
pub struct Command {
    /// The facts.
    pub spec: Spec,
    /// Runs it; its keys are locked.
    pub apply: fn(&mut Context<'_, '_>, Args<'_>) -> Outcome,
    /// For COPY and MOVE: the other database that its keys are locked in.
    pub other_database: Option<fn(Args<'_>) -> Option<u8>>,
}

impl Command {
    /// A command on the selected database.
    pub const fn new(spec: Spec, apply: fn(&mut Context<'_, '_>, Args<'_>) -> Outcome) -> Command {
        Command { spec, apply, other_database: None }
    }

    /// The same command, with its keys locked in the database too that `named` finds in its words.
    pub const fn and_in(self, named: fn(Args<'_>) -> Option<u8>) -> Command {
        Command { other_database: Some(named), ..self }
    }
}

/// Every command, family by family.
pub fn all() -> impl Iterator<Item = &'static Command> {
    [
        crate::bitmap::COMMANDS,
        crate::generic::COMMANDS,
        crate::hash::COMMANDS,
        crate::list::COMMANDS,
        crate::set::COMMANDS,
        crate::sorted_set::COMMANDS,
        crate::string::COMMANDS,
    ]
    .into_iter()
    .flatten()
}
