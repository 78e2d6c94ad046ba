//! One connection as the engine sees it: input not yet executed, output not yet sent, and the
//! session's state.

use crate::acl::{User, Users};
use crate::atomic::Claim;
use crate::blocking::TimerId;
use crate::clients::ClientInfo;
use crate::execute::Progress;
use crate::pubsub::Subscriptions;
use crate::tracking::Tracking;
use crate::transaction::{Queue, Watching};
use crate::worker::Token;
use caudal_keyspace::Waiter;
use caudal_wire::{Output, Parser, Protocol, Reply};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// A connection with this many bytes of replies unsent executes no further command until they are
/// sent.
pub(crate) const OUTPUT_HIGH_BYTES: usize = 1 << 20;
/// A connection that cannot execute is read on up to this many bytes: it may send all before it
/// reads.
pub(crate) const INPUT_HIGH_BYTES: usize = 64 << 20;

/// Who is at the other end.
#[derive(Clone, Debug, Default)]
pub struct Peer {
    /// `address:port` of the client, or the socket's path and `:0`.
    pub address: String,
    /// `address:port` of this end.
    pub local_address: String,
    /// The socket's number, for CLIENT LIST.
    pub fd: i32,
    /// Whether it came over a UNIX socket.
    pub unix: bool,
    /// Whether it came from this machine, for protected mode.
    pub loopback: bool,
}

/// When a connection is to be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Close {
    /// Not at all.
    No,
    /// When its replies are sent.
    AfterFlush,
    /// At once.
    Now,
}

/// What a connection wants from its socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// Whether to receive more.
    pub wants_read: bool,
    /// Whether to close it.
    pub close: Close,
}

/// Why a connection does not execute its next command.
#[derive(Debug)]
pub(crate) enum State {
    /// It does.
    Running,
    /// A blocking command waits for a key.
    Waiting(Waiting),
    /// A command waits for a busy slot.
    Parked,
    /// A command waits for the gate.
    AtGate,
    /// A command waits for the token.
    AtToken,
    /// CLIENT PAUSE holds it.
    Paused,
    /// Its next command makes messages, and some worker is flooded with them.
    Flooding,
}

/// A connection's wait in a blocking command.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) waiter: Arc<Waiter>,
    /// What ends it, unless it waits for ever.
    pub(crate) timer: Option<TimerId>,
    /// When its command is tried again although nothing happened.
    pub(crate) again: Option<TimerId>,
    /// Whether CLIENT REPLY takes the reply away.
    pub(crate) is_muted: bool,
    /// What its command took until it began to wait.
    pub(crate) spent_ns: u64,
}

/// CLIENT REPLY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplyMode {
    On,
    Off,
    /// SKIP was said: the next command's reply is left out.
    SkipNext,
}

/// A connection.
pub(crate) struct Connection {
    pub(crate) info: Arc<ClientInfo>,
    /// Its place among its worker's connections.
    pub(crate) token: Token,
    pub(crate) output: Output,
    /// While CLIENT REPLY takes a command's replies away and `output` is what it takes: where
    /// messages go.
    pub(crate) unmuted: Option<Box<Output>>,
    /// Received bytes; those before `input_start` are executed.
    pub(crate) input: Vec<u8>,
    /// <= input.len()
    pub(crate) input_start: usize,
    pub(crate) parser: Parser,
    pub(crate) protocol: Protocol,
    pub(crate) database: u8,
    /// Whether it has signed on, or had no need to.
    pub(crate) authenticated: bool,
    pub(crate) user: Arc<User>,
    /// The version of the users that `user` is of.
    pub(crate) user_version: u64,
    /// The version of the users in which it was found to be allowed everything; 0: in none.
    pub(crate) unrestricted_in: u64,
    pub(crate) reply_mode: ReplyMode,
    /// Whether the running command was CLIENT REPLY.
    pub(crate) said_reply_mode: bool,
    pub(crate) no_touch: bool,
    pub(crate) state: State,
    pub(crate) close: Close,
    /// Unix milliseconds since which its unsent replies have been above the soft limit.
    pub(crate) over_soft_limit_ms: Option<u64>,
    /// Whether the peer has sent all it will: what it sent still runs.
    pub(crate) has_ended: bool,
    /// Whether it stands in the worker's queue of connections with something to execute.
    pub(crate) is_ready: bool,
    /// Whether it stands in the worker's list of connections to send for.
    pub(crate) is_outgoing: bool,
    /// Whether post may come for it.
    pub(crate) listens: bool,
    /// The worker's post up to this number has been given to it.
    pub(crate) heard: u64,
    /// What it subscribes to, if to anything.
    pub(crate) subscriptions: Option<Box<Subscriptions>>,
    /// How its reads are tracked, if they are.
    pub(crate) tracking: Option<Box<Tracking>>,
    /// Whether it gets the commands of all.
    pub(crate) is_monitor: bool,
    /// How often its next command found its slots busy.
    pub(crate) parked_times: u8,
    /// What its next command must have to run: it was set aside before.
    pub(crate) claim: Claim,
    /// MULTI's queue.
    pub(crate) queue: Option<Box<Queue>>,
    /// WATCH's marks.
    pub(crate) watching: Option<Box<Watching>>,
}

impl Connection {
    /// A connection that has said nothing yet.
    pub(crate) fn new(info: ClientInfo, token: Token, users: &Users) -> Connection {
        Connection {
            info: Arc::new(info),
            token,
            output: Output::default(),
            unmuted: None,
            input: Vec::new(),
            input_start: 0,
            parser: Parser::default(),
            protocol: Protocol::Resp2,
            database: 0,
            authenticated: users.are_open,
            user: Arc::clone(users.default()),
            user_version: users.version,
            unrestricted_in: 0,
            reply_mode: ReplyMode::On,
            said_reply_mode: false,
            no_touch: false,
            state: State::Running,
            close: Close::No,
            over_soft_limit_ms: None,
            has_ended: false,
            is_ready: false,
            is_outgoing: false,
            listens: false,
            heard: 0,
            subscriptions: None,
            tracking: None,
            is_monitor: false,
            parked_times: 0,
            claim: Claim::Keys,
            queue: None,
            watching: None,
        }
    }

    /// Writes replies in the connection's protocol.
    #[inline]
    pub(crate) fn reply(&mut self) -> Reply<'_> {
        Reply::new(&mut self.output, self.protocol)
    }

    /// A command that has been answered needs nothing any more.
    pub(crate) fn keep_claim(&mut self, progress: Progress) -> Progress {
        if progress == Progress::Done {
            self.claim = Claim::Keys;
        }
        progress
    }

    /// Bytes received and not executed.
    pub(crate) fn input_bytes(&self) -> usize {
        self.input.len() - self.input_start
    }

    /// Whether its next command may run now.
    pub(crate) fn can_execute(&self) -> bool {
        matches!(self.state, State::Running)
            && self.close == Close::No
            && self.output.bytes() < OUTPUT_HIGH_BYTES
    }

    /// What it wants from its socket.
    pub(crate) fn status(&self) -> Status {
        let may_fill = self.can_execute() || self.input_bytes() < INPUT_HIGH_BYTES;
        let wants_read = may_fill && self.close == Close::No && !self.has_ended;
        Status { wants_read, close: self.close_wanted() }
    }

    fn close_wanted(&self) -> Close {
        if self.close != Close::No || !self.has_ended {
            return self.close;
        }
        match self.state {
            // Half a command, or none, is left.
            State::Running if !self.is_ready => Close::AfterFlush,
            State::Waiting(..) => Close::Now,
            _ => Close::No,
        }
    }

    /// Selects a database, for this session and its public face.
    pub(crate) fn select(&mut self, database: u8) {
        self.database = database;
        self.info.database.store(database, Relaxed);
    }

    /// Sets the protocol, for this session and its public face.
    pub(crate) fn speak(&mut self, protocol: Protocol) {
        self.protocol = protocol;
        self.info.protocol.store(if protocol == Protocol::Resp3 { 3 } else { 2 }, Relaxed);
    }
}
