//! Commands on the session or the server: they see the connection and the worker, and lock what they need themselves.

mod basic;

use crate::connection::Connection;
use crate::engine::Engine;
use crate::execute::Progress;
use crate::transaction;
use crate::worker::Worker;
use caudal_commands::{Args, Error, Spec};
use caudal_wire::Reply;

/// What a session command may touch. It is called with no slot locked, but inside EXEC.
pub(crate) struct Session<'s, 'k> {
    pub(crate) engine: &'k Engine,
    pub(crate) worker: &'s mut Worker,
    pub(crate) connection: &'s mut Connection,
}

impl Session<'_, '_> {
    /// The reply writer.
    pub(crate) fn reply(&mut self) -> Reply<'_> {
        self.connection.reply()
    }

    /// Replies `+OK`.
    pub(crate) fn reply_ok(&mut self) -> Result<Progress, Error> {
        self.reply().ok();
        Ok(Progress::Done)
    }
}

/// A session command's code.
pub(crate) type Apply = fn(&mut Session<'_, '_>, Args<'_>) -> Result<Progress, Error>;

/// A session command: its facts and its code.
#[derive(Clone, Copy)]
pub(crate) struct SessionCommand {
    pub(crate) spec: Spec,
    pub(crate) apply: Apply,
}

impl SessionCommand {
    /// Puts them together.
    pub(crate) const fn new(spec: Spec, apply: Apply) -> SessionCommand {
        SessionCommand { spec, apply }
    }
}

/// Every session command, family by family.
pub(crate) fn all() -> impl Iterator<Item = &'static SessionCommand> {
    [basic::COMMANDS, transaction::COMMANDS].into_iter().flatten()
}
