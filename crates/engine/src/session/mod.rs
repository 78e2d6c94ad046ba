//! Commands on the session or the server: they see the connection and the worker, and lock what
//! they need themselves.
//!
//! The end of `dispatch` for all that is not data. What must stay true: a command that looks at
//! whole databases or at all workers has its spec at the gate, so that it runs alone inside EXEC
//! too.

mod acl;
mod art;
mod basic;
mod client;
mod cluster;
mod command;
mod config;
mod debug;
mod flush;
mod help;
mod hot_keys;
mod info;
mod latency;
mod logs;
mod memory;
mod modules;
mod monitor;
mod pubsub;
mod replication;
mod scripts;
mod server;
mod sign_on;

pub(crate) use client::line as client_line;

use crate::connection::Connection;
use crate::engine::Engine;
use crate::execute::Progress;
use crate::transaction;
use crate::worker::Worker;
use caudal_commands::{Args, Command, Error, Flags, Group, Spec};
use caudal_keyspace::Held;
use caudal_wire::Reply;

pub(crate) use monitor::Caller;

/// What a session command may touch. It is called with no slot locked, but inside EXEC.
pub(crate) struct Session<'s, 'k> {
    pub(crate) engine: &'k Engine,
    pub(crate) worker: &'s mut Worker,
    pub(crate) connection: &'s mut Connection,
    /// Locked slots: none but inside a run.
    pub(crate) held: &'s mut Held<'k>,
}

impl Session<'_, '_> {
    /// The reply writer.
    pub(crate) fn reply(&mut self) -> Reply<'_> {
        self.connection.reply()
    }

    /// Replies `+OK`.
    pub(crate) fn reply_ok(&mut self) -> Outcome {
        self.reply().ok();
        DONE
    }

    /// Replies with a count.
    pub(crate) fn reply_count(&mut self, count: usize) -> Outcome {
        self.reply().integer(i64::try_from(count).unwrap_or(i64::MAX));
        DONE
    }

    /// Replies with a text for people.
    pub(crate) fn reply_text(&mut self, text: &str) -> Outcome {
        self.reply().verbatim(b"txt", text.as_bytes());
        DONE
    }
}

/// How a session command ends.
pub(crate) type Outcome = Result<Progress, Error>;

/// A session command that has replied.
pub(crate) const DONE: Outcome = Ok(Progress::Done);

/// A session command's code.
pub(crate) type Apply = fn(&mut Session<'_, '_>, Args<'_>) -> Outcome;

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
    [
        acl::COMMANDS,
        art::COMMANDS,
        basic::COMMANDS,
        client::COMMANDS,
        cluster::COMMANDS,
        command::COMMANDS,
        config::COMMANDS,
        debug::COMMANDS,
        flush::COMMANDS,
        help::COMMANDS,
        hot_keys::COMMANDS,
        info::COMMANDS,
        latency::COMMANDS,
        logs::COMMANDS,
        memory::COMMANDS,
        monitor::COMMANDS,
        modules::COMMANDS,
        pubsub::COMMANDS,
        replication::COMMANDS,
        server::COMMANDS,
        sign_on::COMMANDS,
        transaction::COMMANDS,
    ]
    .into_iter()
    .flatten()
    .chain(scripts::commands())
}

/// Commands on keys that belong to a family of this module.
pub(crate) fn data() -> impl Iterator<Item = &'static Command> {
    memory::DATA.iter()
}

/// The facts that most commands on the connection share.
const fn on_connection(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary).group(Group::Connection).no_script().loading_stale()
}

/// The facts that most commands on the server share.
const fn on_server(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary).group(Group::Server).admin().no_script().loading_stale()
}

/// Sends a request to every node of a cluster and wants success from all.
const ALL_NODES_SUCCEED: &[&str] = &["request_policy:all_nodes", "response_policy:all_succeeded"];
/// As above, from every shard.
const ALL_SHARDS_SUCCEED: &[&str] = &["request_policy:all_shards", "response_policy:all_succeeded"];

/// Marks a command that is answered before its client has given a password.
const OPEN_TO_ALL: Flags = Flags::NO_AUTH;
