//! Blocking commands: waiting for keys, being served, timing out.

use crate::catalog::Handler;
use crate::connection::{Connection, State};
use crate::engine::Engine;
use crate::execute::{Call, Scene};
use crate::mail::Mail;
use crate::stats;
use crate::worker::Worker;
use caudal_commands::{Flow, KeyFlags, OwnedArgs, Wait};
use caudal_keyspace::{Held, Place, Ready, Waiter, Wanted};
use caudal_table::Mode;
use caudal_wire::{Output, Protocol, Reply};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// Ready keys served after one command: each serving can make another key ready.
const SERVINGS_MAX: usize = 1 << 20;

/// What a timer does.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Timer {
    /// Ends the wait that began with this number.
    EndWait { connection: u64, number: u64 },
    /// Lets a paused connection go on.
    Resume { connection: u64 },
    /// Looks after the gate.
    Gate,
}

/// A worker's timers, in microseconds of the monotonic clock.
#[derive(Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(u64, Timer)>>,
    /// Numbers the waits, so that a timer never ends a later one.
    waits: u64,
}

impl Timers {
    /// When the first timer is due.
    pub(crate) fn next_us(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse((at, _))| *at)
    }

    /// Lets a connection go on at `at_us`.
    pub(crate) fn resume_at(&mut self, at_us: u64, connection: u64) {
        self.heap.push(Reverse((at_us, Timer::Resume { connection })));
    }

    /// Looks after the gate at `at_us`.
    pub(crate) fn gate_at(&mut self, at_us: u64) {
        self.heap.push(Reverse((at_us, Timer::Gate)));
    }

    fn pop_due(&mut self, now_us: u64) -> Option<Timer> {
        if self.next_us()? > now_us {
            return None;
        }
        self.heap.pop().map(|Reverse((_, timer))| timer)
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
        self.timers.waits += 1;
        connection.wait_number = self.timers.waits;
        connection.state = State::Waiting(waiter, wait.on_timeout);
        stats::add(&self.shared().stats.blocked, 1);
        if let Some(ms) = wait.timeout_ms {
            let at_us = self.now.monotonic_us.saturating_add(ms.saturating_mul(1000));
            let (connection, number) = (connection.info.id, connection.wait_number);
            self.timers.heap.push(Reverse((at_us, Timer::EndWait { connection, number })));
        }
    }

    /// Serves the waiters of the keys that the commands under `held` made ready, before it is released.
    pub(crate) fn serve_waiters<'k>(&mut self, engine: &'k Engine, held: &mut Held<'k>) {
        for _ in 0..SERVINGS_MAX {
            if self.ready_keys.is_empty() {
                return;
            }
            let ready = self.ready_keys.remove(0);
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
            Err(error) => Reply::new(&mut output, protocol).error(&error.0),
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
        self.leave_queues(id);
        self.end_wait(id, |connection| {
            if with_error {
                let text = "UNBLOCKED client unblocked via CLIENT UNBLOCK";
                connection.reply().error(text);
            } else {
                reply_timeout(connection);
            }
        });
    }

    /// Runs the timers that are due.
    pub(crate) fn fire_timers(&mut self) {
        while let Some(timer) = self.timers.pop_due(self.now.monotonic_us) {
            match timer {
                Timer::EndWait { connection, number } => self.on_timeout(connection, number),
                Timer::Resume { connection } => self.resume(connection),
                Timer::Gate => self.on_gate_timer(),
            }
        }
    }

    fn on_timeout(&mut self, id: u64, number: u64) {
        let Some(token) = self.token(id) else { return };
        let connection = self.connections[token].as_ref().expect("it is known by id");
        let State::Waiting(waiter, _) = &connection.state else { return };
        if connection.wait_number != number || !waiter.claim() {
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
        connection.state = State::Running;
        connection.info.text().waiter = None;
        stats::drop_one(&self.shared().stats.blocked);
        self.mark_outgoing(token);
        self.mark_ready(token);
    }

    fn leave_queues(&mut self, id: u64) {
        let Some(token) = self.token(id) else { return };
        let connection = self.connections[token].as_ref().expect("it is known by id");
        if let State::Waiting(waiter, _) = &connection.state {
            let waiter = Arc::clone(waiter);
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
    if let State::Waiting(_, on_timeout) = &connection.state {
        let on_timeout = *on_timeout;
        on_timeout.reply(&mut connection.reply());
    }
}
