//! Blocking commands: waiting for keys, being served, timing out.

use crate::catalog::Handler;
use crate::connection::{Connection, State, Waiting};
use crate::engine::Engine;
use crate::execute::{Call, Scene};
use crate::mail::Mail;
use crate::stats;
use crate::worker::Worker;
use caudal_commands::{Flow, KeyFlags, OwnedArgs, Wait};
use caudal_keyspace::{Held, Place, Ready, Waiter, Wanted};
use caudal_table::Mode;
use caudal_wire::{Output, Protocol, Reply};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Ready keys served after one command: each serving can make another key ready.
const SERVINGS_MAX: usize = 1 << 20;

/// What a timer does.
#[derive(Debug)]
enum Timer {
    /// Ends a connection's wait in a blocking command.
    EndWait { connection: u64 },
    /// Lets a paused connection go on.
    Resume { connection: u64 },
    /// Looks after the gate.
    Gate,
}

/// A timer that was set: when it is due (microseconds of the monotonic clock), and its number.
pub(crate) type TimerId = (u64, u64);

/// A worker's timers. One that is no longer needed is taken back, so there are never more than connections and gates.
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
    /// Sets a connection aside until one of its command's keys is ready. The keys' slots are locked.
    pub(crate) fn start_waiting<'k>(
        &mut self,
        engine: &'k Engine,
        held: &mut Held<'k>,
        connection: &mut Connection,
        call: Call<'_>,
        wait: Wait,
    ) {
        let database = connection.database;
        let (mut keys, mut places) = (Vec::new(), Vec::new());
        call.entry.each_key(call.args, |at, flags| {
            let key = call.args.at(at);
            let place = Place { database, slot: engine.keyspace.hash(key).slot().0 };
            places.push(place);
            // BLMOVE's target is locked to serve it, and not waited for.
            let is_target = flags.has(KeyFlags::INSERT);
            if !is_target && !keys.iter().any(|(_, at): &(Place, Box<[u8]>)| **at == *key) {
                keys.push((place, key.into()));
            }
        });
        places.sort_unstable();
        places.dedup();
        let waiter = Arc::new(Waiter::new(
            (u16::try_from(self.id).expect("few workers"), connection.info.id),
            (call.entry.id, database, connection.protocol == Protocol::Resp3),
            wait.kind,
            places,
            keys,
            call.args.from(0).map(Box::from).collect(),
        ));
        engine.keyspace.wait(held, &waiter);
        connection.info.text().waiter = Some(Arc::clone(&waiter));
        let id = connection.info.id;
        let timer = wait.timeout_ms.map(|ms| {
            let at_us = self.now.monotonic_us.saturating_add(ms.saturating_mul(1000));
            self.timers.set(at_us, Timer::EndWait { connection: id })
        });
        connection.state = State::Waiting(Waiting { waiter, on_timeout: wait.on_timeout, timer });
        stats::add(&self.shared().stats.blocked, 1);
    }

    /// Serves the waiters of the keys that the commands under `held` made ready, before it is released.
    pub(crate) fn serve_waiters<'k>(&mut self, engine: &'k Engine, held: &mut Held<'k>) {
        let mut served = 0;
        while served < SERVINGS_MAX && served < self.ready_keys.len() {
            let ready = self.ready_keys[served].clone();
            served += 1;
            for waiter in engine.keyspace.waiting(held, ready.place, &ready.key) {
                if waiter.kind == ready.kind && waiter.claim() {
                    self.serve(engine, held, &waiter);
                }
                if !self.is_still(engine, held, &ready) {
                    break;
                }
            }
        }
        self.ready_keys.clear();
    }

    /// Whether a ready key still holds what it was ready with.
    fn is_still(&self, engine: &Engine, held: &Held<'_>, ready: &Ready) -> bool {
        engine.keyspace.kind(held, ready.place, &ready.key) == Some(ready.kind)
    }

    /// Runs a waiter's command in its stead.
    fn serve<'k>(&mut self, engine: &'k Engine, held: &mut Held<'k>, waiter: &Arc<Waiter>) {
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
            reply: Reply::new(&mut output, protocol),
        };
        match self.apply(engine, held, scene, call) {
            Ok(Flow::Done) => {}
            Ok(Flow::Wait(_) | Flow::Busy(_)) => return waiter.unclaim(),
            Err(error) => {
                self.shared().stats.count_error(&error.0);
                Reply::new(&mut output, protocol).error(&error.0);
            }
        }
        waiter.places.iter().for_each(|place| engine.keyspace.leave(held, waiter, *place));
        let mail = Mail::Served { connection: waiter.connection, reply: output };
        if usize::from(waiter.worker) == self.id {
            self.own_mail.push_back(mail);
        } else {
            engine.workers[usize::from(waiter.worker)].mailbox.send(mail);
        }
    }

    /// A connection's waiter was served.
    pub(crate) fn on_served(&mut self, id: u64, reply: Output) {
        self.end_wait(id, |connection| connection.output.append(reply));
    }

    /// CLIENT UNBLOCK claimed a connection's waiter.
    pub(crate) fn on_unblocked(&mut self, id: u64, with_error: bool) {
        const TEXT: &str = "UNBLOCKED client unblocked via CLIENT UNBLOCK";
        self.leave_queues(id);
        if with_error && self.token(id).is_some() {
            self.shared().stats.count_error(TEXT);
        }
        self.end_wait(id, |connection| {
            if with_error {
                connection.reply().error(TEXT);
            } else {
                reply_timeout(connection);
            }
        });
    }

    /// Runs the timers that are due.
    pub(crate) fn fire_timers(&mut self) {
        while let Some(timer) = self.timers.pop_due(self.now.monotonic_us) {
            match timer {
                Timer::EndWait { connection } => self.on_timeout(connection),
                Timer::Resume { connection } => self.resume(connection),
                Timer::Gate => self.on_gate_timer(),
            }
        }
    }

    fn on_timeout(&mut self, id: u64) {
        let Some(token) = self.token(id) else { return };
        let connection = self.connections[token].as_ref().expect("it is known by id");
        let State::Waiting(waiting) = &connection.state else { return };
        if !waiting.waiter.claim() {
            return;
        }
        self.leave_queues(id);
        self.end_wait(id, reply_timeout);
    }

    /// Replies to a connection's blocking command and lets it go on.
    fn end_wait(&mut self, id: u64, reply: impl FnOnce(&mut Connection)) {
        let Some(token) = self.token(id) else { return };
        let connection = self.connections[token].as_mut().expect("it is known by id");
        reply(connection);
        let state = std::mem::replace(&mut connection.state, State::Running);
        connection.info.text().waiter = None;
        self.forget_wait(state);
        self.mark_outgoing(token);
        self.mark_ready(token);
    }

    /// A wait is over, however it ended: its timer and its count go.
    pub(crate) fn forget_wait(&mut self, state: State) {
        let State::Waiting(waiting) = state else { return };
        if let Some(timer) = waiting.timer {
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

    /// Takes a claimed waiter out of its queues; slots that are busy are tried again next turn.
    pub(crate) fn stop_waiting(&mut self, waiter: &Arc<Waiter>) {
        let engine = Arc::clone(&self.engine);
        for &place in &waiter.places {
            match Held::one(&engine.keyspace, Wanted { place, mode: Mode::Exclusive }) {
                Ok(mut held) => engine.keyspace.leave(&mut held, waiter, place),
                Err(_) => self.leaving.push((Arc::clone(waiter), place)),
            }
        }
    }

    /// Tries again what `stop_waiting` and `forget_watches` could not do.
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

fn reply_timeout(connection: &mut Connection) {
    if let State::Waiting(waiting) = &connection.state {
        let on_timeout = waiting.on_timeout;
        on_timeout.reply(&mut connection.reply());
    }
}
