//! One thread's part of the engine: its connections and their turns.

use crate::acl::Users;
use crate::aside::Interlude;
use crate::atomic::Trouble;
use crate::batch::Batch;
use crate::blocking::Timers;
use crate::clients::ClientInfo;
use crate::connection::{Close, Connection, Peer, State, Status};
use crate::cycle::Cycle;
use crate::engine::{Engine, Shared};
use crate::mail::Mail;
use crate::pubsub::{Audience, Inbox};
use crate::scripts::Machine;
use crate::stats;
use crate::tuning::{Tuning, refusal};
use caudal_commands::Random;
use caudal_keyspace::{Effects, Place, Ready, Stale, Waiter, Watch};
use caudal_table::Table;
use caudal_wire::Output;
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// A connection's index among its worker's: small, reused.
pub type Token = usize;

/// Commands that one turn executes before the thread looks at its sockets again.
const TURN_COMMANDS_MAX: usize = 1024;
/// Input buffers kept for the next turn's connections.
const BUFFERS_MAX: usize = 64;
/// A buffer that grew beyond this is freed rather than kept.
const BUFFER_KEPT_BYTES_MAX: usize = 64 << 10;
/// Bytes that a connection is offered at a time.
pub(crate) const RECEIVE_BYTES: usize = 16 << 10;

/// The time of a turn, read once at its beginning.
#[derive(Clone, Copy, Debug, Default)]
pub struct Now {
    /// Unix milliseconds.
    pub unix_ms: u64,
    /// Unix time's microseconds within the millisecond, for TIME: 0..1000.
    pub unix_us_rest: u32,
    /// Microseconds on a clock that only goes forward.
    pub monotonic_us: u64,
}

/// What came of a new connection.
#[derive(Debug)]
pub enum Open {
    /// It is the worker's now.
    Accepted(Token),
    /// Send this and close it.
    Refused(Vec<u8>),
}

/// One thread's connections, and all it needs to run their commands.
pub struct Worker {
    pub(crate) engine: Arc<Engine>,
    pub(crate) id: usize,
    pub(crate) now: Now,
    pub(crate) tuning: Tuning,
    /// The users, as of this turn.
    pub(crate) users: Arc<Users>,
    pub(crate) random: Random,
    pub(crate) effects: Effects,
    /// Keys that the running command made ready.
    pub(crate) ready_keys: Vec<Ready>,
    /// Keys that this batch's readers found past their expiry.
    pub(crate) stale: Stale,
    /// Messages of this worker to itself, read at the end of each batch.
    pub(crate) own_mail: VecDeque<Mail>,
    /// Messages for this worker's connections.
    pub(crate) inbox: Inbox,
    /// Who gets them.
    pub(crate) audience: Audience,
    /// Whether EXEC is running.
    pub(crate) in_transaction: bool,
    /// Whether the running command is a script's.
    pub(crate) in_script: bool,
    /// Messages for the connection whose EXEC is running: they follow its reply.
    pub(crate) after_exec: Output,
    /// Lines of MONITOR on commands that may still be undone.
    pub(crate) monitor_lines: RefCell<Vec<Arc<[u8]>>>,
    pub(crate) timers: Timers,
    pub(crate) cycle: Cycle,
    pub(crate) machine: Machine,
    /// Lets the program look at its sockets while a script runs too long.
    pub(crate) interlude: Option<Interlude>,
    /// Whether that is going on: only what may be said to a busy server is done.
    pub(crate) is_busy: bool,
    /// Whether this turn's used memory is above `maxmemory`.
    pub(crate) over_memory: bool,
    /// Whether this turn some commands are refused because the server lacks something: memory, or
    /// replicas.
    pub(crate) is_short: bool,
    pub(crate) connections: Vec<Option<Box<Connection>>>,
    free: Vec<Token>,
    by_id: HashMap<u64, Token>,
    ready: VecDeque<Token>,
    pub(crate) outgoing: Vec<Token>,
    buffers: Vec<Vec<u8>>,
    pub(crate) batch: Batch,
    /// Tables of flushed databases, freed a few a turn.
    pub(crate) garbage: Vec<Table>,
    /// Waiting connections whose command is to be tried again.
    pub(crate) trying_again: Vec<u64>,
    /// Keys that expired although somebody waits for them, who has to be told.
    pub(crate) lost: Vec<Ready>,
    /// Claimed waiters still to be taken out of their queues.
    pub(crate) leaving: Vec<(Arc<Waiter>, Place)>,
    /// Watches still to be taken out of their slots.
    pub(crate) unwatching: Vec<(Arc<Watch>, Place)>,
    /// Whether the running command has the gate: every other worker is stopped.
    pub(crate) is_alone: bool,
    /// Connections whose command waits until no worker is flooded with post.
    pub(crate) flooding: Vec<u64>,
    /// Connections whose command waits for the gate.
    pub(crate) at_gate: VecDeque<u64>,
    /// Whether this worker has the token; it gives it back at the end of the batch.
    pub(crate) has_token: bool,
    /// Connections whose command waits for the token.
    pub(crate) at_token: VecDeque<u64>,
    /// Why the run that goes on must be undone.
    pub(crate) trouble: Option<Trouble>,
}

impl Worker {
    pub(crate) fn new(engine: Arc<Engine>, id: usize) -> Worker {
        let seed = engine.environment.seed ^ (id as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        caudal_table::memory::register_thread();
        let mut worker = Worker {
            tuning: Tuning::of(&engine),
            users: engine.access.users(),
            cycle: Cycle::new(id, engine.environment.workers),
            engine,
            id,
            now: Now::default(),
            random: Random::new(seed),
            effects: Effects::default(),
            ready_keys: Vec::new(),
            stale: Stale::default(),
            own_mail: VecDeque::new(),
            inbox: Inbox::default(),
            audience: Audience::default(),
            in_transaction: false,
            in_script: false,
            after_exec: Output::default(),
            monitor_lines: RefCell::default(),
            timers: Timers::default(),
            machine: Machine::default(),
            interlude: None,
            is_busy: false,
            over_memory: false,
            is_short: false,
            connections: Vec::new(),
            free: Vec::new(),
            by_id: HashMap::new(),
            ready: VecDeque::new(),
            outgoing: Vec::new(),
            buffers: Vec::new(),
            batch: Batch::default(),
            garbage: Vec::new(),
            trying_again: Vec::new(),
            lost: Vec::new(),
            leaving: Vec::new(),
            unwatching: Vec::new(),
            is_alone: false,
            flooding: Vec::new(),
            at_gate: VecDeque::new(),
            has_token: false,
            at_token: VecDeque::new(),
            trouble: None,
        };
        worker.listen_to_news();
        worker
    }

    /// This worker's part that others read.
    pub(crate) fn shared(&self) -> &Shared {
        &self.engine.workers[self.id]
    }

    /// Keeps the effects of writes from now on; [`Worker::take_effects`] gives them.
    pub fn listen_to_effects(&mut self) {
        self.effects.listen();
    }

    /// The effects since they were last taken, as RESP commands.
    pub fn take_effects(&mut self) -> Vec<u8> {
        self.effects.take()
    }

    /// Takes a new connection, or says why not.
    pub fn open(&mut self, peer: Peer, now: Now) -> Open {
        self.now = now;
        let config = self.engine.config();
        self.follow_users();
        stats::add(&self.shared().stats.connections_received, 1);
        let is_open = self.users.default().needs_no_password;
        if let Some(refusal) = refusal(&config, &peer, self.engine.clients.len(), is_open) {
            stats::add(&self.shared().stats.connections_rejected, 1);
            return Open::Refused(format!("-{refusal}\r\n").into_bytes());
        }
        let id = self.engine.clients.next_id();
        let worker = u16::try_from(self.id).expect("few workers");
        let info = ClientInfo::new(id, worker, peer, self.now.unix_ms);
        let token = self.free.pop().unwrap_or_else(|| {
            self.connections.push(None);
            self.connections.len() - 1
        });
        let connection = Connection::new(info, token, &self.users);
        connection.info.text().user = connection.user.name.to_vec();
        self.engine.clients.add(Arc::clone(&connection.info));
        self.connections[token] = Some(Box::new(connection));
        self.by_id.insert(id, token);
        stats::add(&self.shared().stats.connections, 1);
        Open::Accepted(token)
    }

    /// The address of a connection's peer.
    pub fn address(&self, token: Token) -> String {
        let connection = self.connections[token].as_ref();
        connection.map_or_else(String::new, |connection| connection.info.peer.address.clone())
    }

    /// Where to append what was received; there is room for some.
    pub fn input(&mut self, token: Token) -> &mut Vec<u8> {
        let pooled = &mut self.buffers;
        let connection = self.connections[token].as_mut().expect("an open connection");
        let input = &mut connection.input;
        if input.capacity() == 0 {
            *input = pooled.pop().unwrap_or_default();
        }
        if connection.input_start > 0 && connection.input_start * 2 >= input.len() {
            input.drain(..connection.input_start);
            connection.input_start = 0;
        }
        if input.capacity() - input.len() < RECEIVE_BYTES / 2 {
            input.reserve(RECEIVE_BYTES);
        }
        input
    }

    /// Bytes were appended to the input.
    pub fn received(&mut self, token: Token, bytes: usize) {
        let stats = &self.shared().stats;
        stats::add(&stats.bytes_in, bytes as u64);
        stats::add(&stats.reads, 1);
        let unix_ms = self.now.unix_ms;
        let connection = self.connections[token].as_mut().expect("an open connection");
        let info = &connection.info;
        info.heard_ms.store(unix_ms, Relaxed);
        stats::add(&info.bytes_in, bytes as u64);
        if connection.input_bytes() > self.tuning.config.clients.query_buffer_bytes_max {
            stats::add(&self.engine.workers[self.id].stats.query_limit_closed, 1);
            connection.close = Close::Now;
            self.mark_outgoing(token);
            return;
        }
        self.mark_ready(token);
    }

    /// The peer has sent all it will. What it sent is executed and answered, then the connection
    /// wants to be closed.
    pub fn ended(&mut self, token: Token) {
        if let Some(connection) = &mut self.connections[token] {
            connection.has_ended = true;
            self.mark_outgoing(token);
        }
    }

    /// Executes what is ready: fair between the connections, and never long before the sockets are
    /// looked at again.
    pub fn run(&mut self, now: Now) {
        self.turn(now);
        if self.has_token {
            // It was handed on for a command that did not come.
            self.give_token_back();
        }
    }

    fn turn(&mut self, now: Now) {
        self.now = now;
        if self.tuning.version != self.engine.config_version() {
            self.retune();
        }
        self.follow_users();
        self.read_mail();
        self.give_out_post();
        self.fire_timers();
        let leaves = !self.leaving.is_empty()
            || !self.unwatching.is_empty()
            || !self.lost.is_empty()
            || !self.trying_again.is_empty();
        if self.ready.is_empty() && !leaves && !self.cycle.is_due(now.monotonic_us) {
            return;
        }
        let engine = Arc::clone(&self.engine);
        if engine.gate.enter(self.id) {
            self.execute_ready(&engine);
        }
        if let Some(owner) = engine.gate.leave(self.id) {
            engine.workers[owner].mailbox.send(Mail::Gate);
        }
    }

    /// What a turn does unless the gate is closed.
    fn execute_ready(&mut self, engine: &Engine) {
        stats::add(&self.shared().stats.turns, 1);
        self.check_means();
        self.run_cycle(engine);
        self.broadcast_changes();
        let mut left = TURN_COMMANDS_MAX;
        while left > 0 && !self.ready.is_empty() && !engine.gate.is_closed_to(self.id) {
            left = left.saturating_sub(self.run_batch(engine).max(1));
            self.read_own_mail();
            self.give_out_post();
        }
    }

    /// Whether there is work that needs no event to go on.
    pub fn has_ready(&self) -> bool {
        let stopped = self.engine.gate.is_closed_to(self.id);
        let has_post = self.shared().mailbox.is_full() || !self.inbox.is_empty();
        (!self.ready.is_empty() && !stopped) || has_post
    }

    /// The connections that have something to send or changed their state since this was last
    /// called.
    pub fn outgoing(&mut self, tokens: &mut Vec<Token>) {
        tokens.clear();
        std::mem::swap(tokens, &mut self.outgoing);
        let (connections, outgoing) = (&mut self.connections, &mut self.outgoing);
        tokens.retain(|&token| match &mut connections[token] {
            Some(connection) => {
                connection.is_outgoing = false;
                true
            }
            None => {
                // In the middle of a turn it may be at work; else it is closed.
                if self.is_busy {
                    outgoing.push(token);
                }
                false
            }
        });
    }

    /// What a connection has to send. Call [`Worker::sent`] after taking from it.
    pub fn output(&mut self, token: Token) -> &mut Output {
        &mut self.connections[token].as_mut().expect("an open connection").output
    }

    /// Bytes left the output: a connection that was held back by it goes on.
    pub fn sent(&mut self, token: Token, bytes: usize) {
        let stats = &self.shared().stats;
        stats::add(&stats.bytes_out, bytes as u64);
        stats::add(&stats.writes, 1);
        let Some(connection) = &mut self.connections[token] else { return };
        let info = &connection.info;
        stats::add(&info.bytes_out, bytes as u64);
        info.output.store(connection.output.bytes() as u64, Relaxed);
        if connection.can_execute() && connection.input_bytes() > 0 {
            self.mark_ready(token);
        }
    }

    /// What a connection wants from its socket.
    pub fn status(&self, token: Token) -> Status {
        self.connections[token]
            .as_ref()
            .map_or(Status { wants_read: false, close: Close::Now }, |at| at.status())
    }

    /// A connection's socket is closed: forgets it.
    pub fn closed(&mut self, token: Token) {
        let Some(mut connection) = self.connections[token].take() else { return };
        let state = std::mem::replace(&mut connection.state, State::Running);
        if let State::Waiting(waiting) = &state {
            // If somebody serves it at this moment, the reply finds no connection, as when a socket
            // breaks.
            waiting.waiter.claim();
            self.stop_waiting(&waiting.waiter);
        }
        self.forget_wait(state);
        self.forget_watches_later(&mut connection);
        self.unsubscribe_all(&mut connection);
        self.end_tracking(&mut connection);
        self.end_monitoring(&mut connection);
        self.engine.clients.remove(connection.info.id);
        self.by_id.remove(&connection.info.id);
        self.free.push(token);
        stats::drop_one(&self.shared().stats.connections);
    }

    /// When to call [`Worker::run`] even without an event, in microseconds of the monotonic clock.
    pub fn next_timer(&self) -> Option<u64> {
        let cycle = self.cycle.next_us();
        Some(self.timers.next_us().map_or(cycle, |timer| timer.min(cycle)))
    }

    /// Closes connections that do not read their replies. Called about once a second: one that does
    /// nothing at all is met here.
    pub(crate) fn close_unread(&mut self) {
        for token in 0..self.connections.len() {
            let Some(mut connection) = self.connections[token].take() else { continue };
            self.check_output_limit(&mut connection);
            let is_over = connection.close == Close::Now;
            self.connections[token] = Some(connection);
            if is_over {
                self.mark_outgoing(token);
            }
        }
    }

    /// Closes connections that have been silent for `timeout` seconds. Called about once a second.
    pub(crate) fn close_idle(&mut self) {
        let Some(seconds) = self.tuning.config.clients.idle_seconds_max else { return };
        let timeout_ms = u64::from(seconds) * 1000;
        for token in 0..self.connections.len() {
            let Some(connection) = &mut self.connections[token] else { continue };
            let silent = self.now.unix_ms.saturating_sub(connection.info.heard_ms.load(Relaxed));
            if silent > timeout_ms && matches!(connection.state, State::Running) {
                connection.close = Close::Now;
                self.mark_outgoing(token);
            }
        }
    }

    /// Takes the configuration as it stands.
    pub(crate) fn retune(&mut self) {
        self.tuning = Tuning::of(&self.engine);
        self.listen_to_news();
    }

    /// Compares the memory in use with `maxmemory`, and replicas with `min-replicas-to-write`.
    pub(crate) fn check_means(&mut self) {
        let limit = self.tuning.config.memory.bytes_max;
        self.over_memory = limit.is_some_and(|limit| caudal_table::memory::used_bytes() > limit);
        self.is_short = self.over_memory || self.lacks_replicas();
    }
}

/// The queues that a turn works through.
impl Worker {
    /// Puts a connection into the queue of those with something to execute.
    pub(crate) fn mark_ready(&mut self, token: Token) {
        if let Some(connection) = &mut self.connections[token]
            && !connection.is_ready
        {
            connection.is_ready = true;
            self.ready.push_back(token);
        }
    }

    /// Puts a connection before all others that have something to execute. If it is among them it
    /// comes twice, and has nothing left to do the second time.
    pub(crate) fn mark_ready_first(&mut self, token: Token) {
        if let Some(connection) = &mut self.connections[token] {
            connection.is_ready = true;
            self.ready.push_front(token);
        }
    }

    /// The next connection with something to execute.
    pub(crate) fn next_ready(&mut self) -> Option<Token> {
        let token = self.ready.pop_front()?;
        if let Some(connection) = &mut self.connections[token] {
            connection.is_ready = false;
        }
        Some(token)
    }

    /// Puts a connection into the list of those to send for.
    pub(crate) fn mark_outgoing(&mut self, token: Token) {
        if let Some(connection) = &mut self.connections[token]
            && !connection.is_outgoing
        {
            connection.is_outgoing = true;
            self.outgoing.push(token);
        }
    }

    /// The token of a connection of this worker.
    pub(crate) fn token(&self, id: u64) -> Option<Token> {
        self.by_id.get(&id).copied()
    }

    /// Keeps an input buffer for another connection.
    pub(crate) fn give_buffer(&mut self, mut buffer: Vec<u8>) {
        if self.buffers.len() < BUFFERS_MAX && buffer.capacity() <= BUFFER_KEPT_BYTES_MAX {
            buffer.clear();
            self.buffers.push(buffer);
        }
    }

    /// Lets a connection that was set aside go on.
    pub(crate) fn resume(&mut self, id: u64) {
        let Some(token) = self.token(id) else { return };
        let connection = self.connections[token].as_mut().expect("it is known by id");
        if !matches!(connection.state, State::Waiting(..)) {
            connection.state = State::Running;
            connection.info.paused.store(false, Relaxed);
        }
        self.mark_ready(token);
        self.mark_outgoing(token);
    }

    /// Sends a worker, which may be this one, a message.
    pub(crate) fn tell(&mut self, worker: u16, mail: Mail) {
        if usize::from(worker) == self.id {
            self.own_mail.push_back(mail);
        } else {
            self.engine.workers[usize::from(worker)].mailbox.send(mail);
        }
    }

    fn read_own_mail(&mut self) {
        while let Some(mail) = self.own_mail.pop_front() {
            self.on_mail(mail);
        }
    }

    pub(crate) fn read_mail(&mut self) {
        self.read_own_mail();
        for mail in self.shared().mailbox.take() {
            self.on_mail(mail);
        }
    }

    fn on_mail(&mut self, mail: Mail) {
        match mail {
            Mail::Unparked { connection } => self.resume(connection),
            Mail::Served { connection, reply } => self.on_served(connection, reply),
            Mail::Unblocked { connection, with_error } => self.on_unblocked(connection, with_error),
            Mail::Killed { connection } => self.on_killed(connection),
            Mail::Gate => self.on_gate(),
            Mail::Token => self.on_token(),
            Mail::Busy => self.resume_waiting(),
            Mail::ScriptsFlushed => self.machine.forget_scripts(),
            Mail::Unpaused => self.resume_paused(),
            Mail::Users => self.on_users_changed(),
            Mail::Drained => {
                std::mem::take(&mut self.flooding).into_iter().for_each(|id| self.resume(id));
            }
        }
    }

    fn on_killed(&mut self, id: u64) {
        let Some(token) = self.token(id) else { return };
        if let Some(connection) = &mut self.connections[token] {
            connection.close = Close::Now;
            self.mark_outgoing(token);
        }
    }

    /// Lets connections whose command waits for a slot, the token or the gate try again: they are
    /// told BUSY.
    fn resume_waiting(&mut self) {
        let waits = |slot: &Option<Box<Connection>>| {
            let connection = slot.as_ref()?;
            let waits = matches!(connection.state, State::Parked | State::AtGate | State::AtToken);
            waits.then_some(connection.info.id)
        };
        let ids: Vec<u64> = self.connections.iter().filter_map(waits).collect();
        ids.into_iter().for_each(|id| self.resume(id));
    }

    fn resume_paused(&mut self) {
        let paused = |slot: &Option<Box<Connection>>| {
            slot.as_ref().filter(|at| matches!(at.state, State::Paused)).map(|at| at.info.id)
        };
        let ids: Vec<u64> = self.connections.iter().filter_map(paused).collect();
        ids.into_iter().for_each(|id| self.resume(id));
    }
}
