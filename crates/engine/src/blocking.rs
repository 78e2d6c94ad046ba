//! Blocking commands: waiting for keys, being served, timing out.

use crate::books::Ran;
use crate::catalog::Handler;
use crate::connection::{Connection, State, Waiting};
use crate::engine::Engine;
use crate::execute::{Call, Progress, Scene, cover};
use crate::mail::Mail;
use crate::stats;
use crate::worker::{Token, Worker};
use caudal_commands::{Error, Flow, KeyFlags, OwnedArgs, Wait};
use caudal_keyspace::{Held, Place, PlacedKey, Ready, Waiter, Wanted};
use caudal_table::Mode;
use caudal_wire::{Output, Protocol, Reply};
use std::collections::BTreeMap;
use std::sync::Arc;

/// When to look again at a wait whose time is over but that somebody has claimed.
const CLAIMED_US: u64 = 1000;

/// What a timer does.
#[derive(Debug)]
enum Timer {
    /// Ends a connection's wait in a blocking command.
    EndWait { connection: u64 },
    /// Tries a waiting connection's command again.
    TryAgain { connection: u64 },
    /// Lets a paused connection go on.
    Resume { connection: u64 },
    /// Looks after the gate.
    Gate,
}

/// What came of running a waiter's command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Service {
    /// It has its reply.
    Done,
    /// It has to go on waiting; after so many milliseconds it wants to be tried again.
    Later { again_ms: Option<u64> },
}

/// A timer that was set: when it is due (microseconds of the monotonic clock), and its number.
pub(crate) type TimerId = (u64, u64);

/// A worker's timers. One that is no longer needed is taken back, so there are never more than
/// connections and gates.
#[derive(Default)]
pub(crate) struct Timers {
    due: BTreeMap<TimerId, Timer>,
    numbers: u64,
}

impl Timers {
    /// When the first timer is due.
    pub(crate) fn next_us(&self) -> Option<u64> {
        self.due.first_key_value().map(|((at_us, _), _)| *at_us)
    }

    /// Lets a connection go on at `at_us`.
    pub(crate) fn resume_at(&mut self, at_us: u64, connection: u64) {
        self.set(at_us, Timer::Resume { connection });
    }

    /// Looks after the gate at `at_us`.
    pub(crate) fn gate_at(&mut self, at_us: u64) {
        self.set(at_us, Timer::Gate);
    }

    fn set(&mut self, at_us: u64, timer: Timer) -> TimerId {
        self.numbers += 1;
        self.due.insert((at_us, self.numbers), timer);
        (at_us, self.numbers)
    }

    fn take_back(&mut self, id: TimerId) {
        self.due.remove(&id);
    }

    fn pop_due(&mut self, now_us: u64) -> Option<Timer> {
        if self.next_us()? > now_us {
            return None;
        }
        self.due.pop_first().map(|(_, timer)| timer)
    }
}

impl Worker {
    /// Sets a connection aside until one of its command's keys is ready. The keys' slots are
    /// locked.
    pub(crate) fn start_waiting<'k>(
        &mut self,
        engine: &'k Engine,
        held: &mut Held<'k>,
        connection: &mut Connection,
        call: Call<'_>,
        wait: Wait,
    ) {
        let database = connection.database;
        let (mut keys, mut targets, mut places) = (Vec::new(), Vec::new(), Vec::new());
        call.entry.each_key(call.args, |at, flags| {
            let key = call.args.at(at);
            let place = Place { database, slot: engine.keyspace.hash(key).slot().0 };
            places.push(place);
            // BLMOVE's target is locked to serve it, and not waited for.
            if flags.has(KeyFlags::INSERT) {
                targets.push((place, key.into()));
            } else {
                keys.push((place, key.into()));
            }
        });
        keys.sort_unstable();
        keys.dedup();
        places.sort_unstable();
        places.dedup();
        let waiter = Arc::new(Waiter::new(
            (u16::try_from(self.id).expect("few workers"), connection.info.id),
            (call.entry.id, database, connection.protocol == Protocol::Resp3),
            (wait.kind, wait.minds_loss),
            places,
            (keys, targets),
            wait.words
                .as_ref()
                .map_or(call.args, |words| words.view())
                .from(0)
                .map(Box::from)
                .collect(),
            connection.marks(),
        ));
        engine.keyspace.wait(held, &waiter);
        let mut text = connection.info.text();
        text.waiter = Some(Arc::clone(&waiter));
        text.waits_for_a_time = wait.timeout_ms.is_some();
        drop(text);
        let id = connection.info.id;
        let timer = wait.timeout_ms.map(|ms| {
            let at_us = self.now.monotonic_us.saturating_add(ms.saturating_mul(1000));
            self.timers.set(at_us, Timer::EndWait { connection: id })
        });
        let again = self.set_again(id, wait.again_ms);
        connection.state =
            State::Waiting(Waiting { waiter, timer, again, is_muted: false, spent_ns: 0 });
        stats::add(&self.shared().stats.blocked, 1);
    }

    /// Serves the waiters of the keys that the commands under `held` made ready, before it is
    /// released. Serving may make more keys ready; each waiter is served once, so it ends.
    pub(crate) fn serve_waiters<'k>(&mut self, engine: &'k Engine, held: &mut Held<'k>) {
        let mut next = 0;
        while let Some(Ready { place, key, .. }) = self.ready_keys.get(next).cloned() {
            next += 1;
            let mut passed_over = 0;
            while let Some(waiter) = engine.keyspace.waiter(held, (place, &key), passed_over) {
                let is_there = engine.keyspace.kind(held, place, &key) == Some(waiter.kind);
                if !(is_there || waiter.minds_loss) || !waiter.claim() {
                    passed_over += 1;
                } else if self.serve(engine, held, &waiter) != Service::Done {
                    waiter.unclaim();
                    passed_over += 1;
                }
            }
        }
        self.ready_keys.clear();
    }

    /// Tells the waiters of keys that expired. Where locks are busy the next turn tries again.
    pub(crate) fn serve_lost(&mut self, engine: &Engine) {
        let mut held = Held::none();
        for lost in std::mem::take(&mut self.lost) {
            let wanted = Wanted { place: lost.place, mode: Mode::Exclusive };
            let written = || vec![(lost.place, lost.key.clone())];
            match cover(engine, &mut held, [wanted].into_iter().collect(), Some(&written)) {
                Ok(()) => {
                    self.ready_keys.push(lost);
                    self.serve_waiters(engine, &mut held);
                }
                Err(_) => self.lost.push(lost),
            }
        }
    }

    /// Serves the waiters of the keys that became ready while slots were locked one by one. At the
    /// gate.
    pub(crate) fn serve_alone<'k>(&mut self, engine: &'k Engine, held: &mut Held<'k>) {
        if self.ready_keys.is_empty() {
            return;
        }
        let written: Vec<PlacedKey> =
            self.ready_keys.iter().map(|ready| (ready.place, ready.key.clone())).collect();
        let exclusive = |key: &PlacedKey| Wanted { place: key.0, mode: Mode::Exclusive };
        let wanted = written.iter().map(exclusive).collect();
        let covered = cover(engine, held, wanted, Some(&|| written.clone()));
        assert!(covered.is_ok(), "nobody holds a slot while the gate is complete");
        self.serve_waiters(engine, held);
    }

    /// Runs a claimed waiter's command in its stead.
    fn serve<'k>(
        &mut self,
        engine: &'k Engine,
        held: &mut Held<'k>,
        waiter: &Arc<Waiter>,
    ) -> Service {
        let entry = engine.catalog.entry(waiter.command);
        let Handler::Data(apply) = entry.handler else {
            unreachable!("only commands on data wait for keys")
        };
        let words: Vec<&[u8]> = waiter.words.iter().map(|word| &**word).collect();
        let args = OwnedArgs::of(&words);
        let call = Call { entry, apply, args: args.view(), first_key: None };
        let mut output = Output::default();
        let protocol = if waiter.resp3 { Protocol::Resp3 } else { Protocol::Resp2 };
        let scene = Scene {
            database: waiter.database,
            no_touch: false,
            may_wait: true,
            may_read_all: true,
            tracker: waiter.tracker.clone(),
            author: waiter.connection,
            reply: Reply::new(&mut output, protocol),
        };
        match self.apply(engine, held, scene, call) {
            Ok(Flow::Done) => {}
            Ok(Flow::Wait(Wait { again_ms, .. })) => return Service::Later { again_ms },
            Ok(Flow::Busy(_)) => return Service::Later { again_ms: None },
            Err(error) => {
                let stats = &self.shared().stats;
                stats.count_error(&error.0);
                stats::add(&stats.commands[usize::from(entry.id)].failed, 1);
                Reply::new(&mut output, protocol).error_bytes(&error.0);
            }
        }
        waiter.places.iter().for_each(|place| engine.keyspace.leave(held, waiter, *place));
        self.tell(waiter.worker, Mail::Served { connection: waiter.connection, reply: output });
        Service::Done
    }

    /// A connection's waiter was served.
    pub(crate) fn on_served(&mut self, id: u64, reply: Output) {
        self.end_wait(id, |connection| connection.output.append(reply));
    }

    /// CLIENT UNBLOCK claimed a connection's waiter.
    pub(crate) fn on_unblocked(&mut self, id: u64, with_error: bool) {
        const TEXT: &str = "UNBLOCKED client unblocked via CLIENT UNBLOCK";
        self.leave_queues(id);
        if with_error {
            self.count_unblocked(id, TEXT.as_bytes());
        }
        self.end_wait(id, |connection| {
            if with_error {
                connection.reply().error(TEXT);
            } else {
                connection.reply().null_array();
            }
        });
    }

    /// Ends a wait in a blocking command that is not allowed any more.
    pub(crate) fn refuse_wait(&mut self, id: u64, error: &Error) {
        let connection = self.token(id).and_then(|token| self.connections[token].as_ref());
        let Some(State::Waiting(waiting)) = connection.map(|connection| &connection.state) else {
            return;
        };
        if !waiting.waiter.claim() {
            // It is served at this moment, as if that had been before the change.
            return;
        }
        self.leave_queues(id);
        self.count_unblocked(id, &error.0);
        self.end_wait(id, |connection| connection.reply().error_bytes(&error.0));
    }

    /// Counts a blocking command that ends with an error that is none of its own.
    fn count_unblocked(&self, id: u64, text: &[u8]) {
        let connection = self.token(id).and_then(|token| self.connections[token].as_ref());
        if let Some(State::Waiting(waiting)) = connection.map(|connection| &connection.state) {
            let stats = &self.shared().stats;
            stats.count_error(text);
            stats::add(&stats.commands[usize::from(waiting.waiter.command)].rejected, 1);
        }
    }

    /// Runs the timers that are due.
    pub(crate) fn fire_timers(&mut self) {
        while let Some(timer) = self.timers.pop_due(self.now.monotonic_us) {
            match timer {
                Timer::EndWait { connection } => self.on_timeout(connection),
                Timer::TryAgain { connection } => self.trying_again.push(connection),
                Timer::Resume { connection } => self.resume(connection),
                Timer::Gate => self.on_gate_timer(),
            }
        }
    }

    fn set_again(&mut self, id: u64, again_ms: Option<u64>) -> Option<TimerId> {
        let at_us = self.now.monotonic_us.saturating_add(again_ms?.saturating_mul(1000));
        Some(self.timers.set(at_us, Timer::TryAgain { connection: id }))
    }

    /// Tries the commands again whose time for that has come. Inside a turn, with no lock held.
    pub(crate) fn try_again(&mut self, engine: &Engine) {
        for id in std::mem::take(&mut self.trying_again) {
            let Some(waiter) = self.waiting(id).map(|waiting| Arc::clone(&waiting.waiter)) else {
                continue;
            };
            // Who is claimed has a reply on its way, or is given back.
            let mut again_ms = Some(CLAIMED_US / 1000);
            if waiter.claim() {
                let mut held = Held::none();
                let exclusive = |place: &Place| Wanted { place: *place, mode: Mode::Exclusive };
                let wanted = waiter.places.iter().map(exclusive).collect();
                if cover(engine, &mut held, wanted, None).is_ok() {
                    match self.serve(engine, &mut held, &waiter) {
                        Service::Done => continue,
                        Service::Later { again_ms: later } => again_ms = later,
                    }
                }
                waiter.unclaim();
            }
            let again = self.set_again(id, again_ms);
            if let Some(waiting) = self.waiting(id) {
                waiting.again = again;
            }
        }
    }

    /// A connection's wait, if it waits.
    fn waiting(&mut self, id: u64) -> Option<&mut Waiting> {
        let token = self.token(id)?;
        match &mut self.connections[token].as_mut()?.state {
            State::Waiting(waiting) => Some(waiting),
            _ => None,
        }
    }

    fn on_timeout(&mut self, id: u64) {
        let Some(token) = self.token(id) else { return };
        let connection = self.connections[token].as_mut().expect("it is known by id");
        let State::Waiting(waiting) = &mut connection.state else { return };
        if !waiting.waiter.claim() {
            // Its reply is on its way, or whoever claimed it gives it back.
            let at_us = self.now.monotonic_us + CLAIMED_US;
            waiting.timer = Some(self.timers.set(at_us, Timer::EndWait { connection: id }));
            return;
        }
        self.leave_queues(id);
        self.end_wait(id, |connection| connection.reply().null_array());
    }

    /// Replies to a connection's blocking command and lets it go on.
    fn end_wait(&mut self, id: u64, reply: impl FnOnce(&mut Connection)) {
        let Some(token) = self.token(id) else { return };
        let connection = self.connections[token].as_mut().expect("it is known by id");
        let is_muted = matches!(&connection.state, State::Waiting(waiting) if waiting.is_muted);
        let unmuted = is_muted.then(|| std::mem::take(&mut connection.output));
        let unsent = connection.output.bytes();
        reply(connection);
        let state = std::mem::replace(&mut connection.state, State::Running);
        connection.info.text().waiter = None;
        self.account_wait(token, &state, unsent);
        if let Some(unmuted) = unmuted {
            let connection = self.connections[token].as_mut().expect("it is known by id");
            connection.output = unmuted;
        }
        self.forget_wait(state);
        self.mark_outgoing(token);
        self.mark_ready(token);
    }

    /// Enters the command of a wait that has its reply into the books.
    fn account_wait(&self, token: Token, state: &State, unsent: usize) {
        let State::Waiting(Waiting { waiter, spent_ns, .. }) = state else { return };
        let connection = self.connections[token].as_ref().expect("it is known by id");
        let words: Vec<&[u8]> = waiter.words.iter().map(|word| &**word).collect();
        let args = OwnedArgs::of(&words);
        let entry = self.engine.catalog.entry(waiter.command);
        // Whoever ran the command has counted its failure.
        let (progress, failed, args) = (Progress::Done, false, args.view());
        self.enter_books(connection, Ran { entry, args, progress, failed, unsent }, *spent_ns);
    }

    /// A wait is over, however it ended: its timer and its count go.
    pub(crate) fn forget_wait(&mut self, state: State) {
        let State::Waiting(waiting) = state else { return };
        for timer in [waiting.timer, waiting.again].into_iter().flatten() {
            self.timers.take_back(timer);
        }
        stats::drop_one(&self.shared().stats.blocked);
    }

    fn leave_queues(&mut self, id: u64) {
        let Some(token) = self.token(id) else { return };
        let connection = self.connections[token].as_ref().expect("it is known by id");
        if let State::Waiting(waiting) = &connection.state {
            let waiter = Arc::clone(&waiting.waiter);
            self.stop_waiting(&waiter);
        }
    }

    /// Has a claimed waiter taken out of its queues with the next turn: locks are taken inside
    /// turns only. Until then it is passed over.
    pub(crate) fn stop_waiting(&mut self, waiter: &Arc<Waiter>) {
        let left = |place: &Place| (Arc::clone(waiter), *place);
        self.leaving.extend(waiter.places.iter().map(left));
    }

    /// Takes waiters and watches out of their slots. Slots that are busy are tried again next turn.
    pub(crate) fn retry_leaving(&mut self) {
        if self.leaving.is_empty() && self.unwatching.is_empty() {
            return;
        }
        let engine = Arc::clone(&self.engine);
        self.leaving.retain(|(waiter, place)| {
            let wanted = Wanted { place: *place, mode: Mode::Exclusive };
            let held = Held::one(&engine.keyspace, wanted);
            held.map(|mut held| engine.keyspace.leave(&mut held, waiter, *place)).is_err()
        });
        self.unwatching.retain(|(watch, place)| {
            let wanted = Wanted { place: *place, mode: Mode::Exclusive };
            let held = Held::one(&engine.keyspace, wanted);
            held.map(|mut held| engine.keyspace.unwatch(&mut held, watch, *place)).is_err()
        });
    }
}
