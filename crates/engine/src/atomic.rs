//! Runs of commands that see and leave the store as one, on keys that need not be known before.
//!
//! EXEC and scripts are such runs. A run locks the slots that it knows of, and adds others while it
//! goes on; if one is busy, or if it turns out to need the whole store, its changes, effects and
//! replies are undone, and it runs again with a stronger [`Claim`]. What must stay true: who has no
//! claim never waits for a slot with others in hand; nothing of a run that is undone has left the
//! worker.

#[cfg(test)]
mod tests;

use crate::batch::look_up;
use crate::catalog::{Entry, Handler};
use crate::connection::{Connection, State};
use crate::engine::Engine;
use crate::execute::{Call, Progress, Scene, WantedSet, Written, cover, normalise, want_keys};
use crate::session::Session;
use crate::worker::Worker;
use caudal_commands::{Args, Error, Flow};
use caudal_keyspace::{Begun, Busy, Held, PlacedKey, Wanted};
use caudal_table::Mode;
use caudal_wire::Output;
use std::sync::atomic::Ordering::Relaxed;

/// Rounds of looking at what serving waiters needs: two suffice unless somebody begins to wait
/// meanwhile.
const WIDENINGS_MAX: usize = 8;

/// What a command or a run of commands has before it starts, beside its keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Claim {
    /// Nothing: slots are tried.
    #[default]
    Keys,
    /// The token: slots are waited for, a bounded while.
    Token,
    /// The gate: nobody else runs.
    Gate,
}

/// What is known of a run.
pub(crate) struct Plan<'p> {
    /// The slots that it starts with.
    pub(crate) wanted: WantedSet,
    /// The keys among them that it may write.
    pub(crate) written: Option<Written<'p>>,
    /// What it is known to need.
    pub(crate) claim: Claim,
    /// Whether it may need more than it starts with.
    pub(crate) reaches: bool,
}

/// Why a run cannot go on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Trouble {
    /// A slot is busy.
    Busy(Busy),
    /// A command needs the whole store.
    Gate,
}

/// Why a command of a run has not replied.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Its error is the reply.
    Error(Error),
    /// The run is to end at once: it is undone, and begins again.
    Again,
}

/// What a run may use. Nothing that it does outside of this can be undone.
pub(crate) struct Atomic<'a, 'k> {
    pub(crate) engine: &'k Engine,
    pub(crate) worker: &'a mut Worker,
    pub(crate) connection: &'a mut Connection,
    pub(crate) held: &'a mut Held<'k>,
}

impl Atomic<'_, '_> {
    /// Runs a command in the connection's database. Its reply goes to the connection's output, an
    /// error's does not.
    pub(crate) fn call(&mut self, entry: &'static Entry, args: Args<'_>) -> Result<(), Stop> {
        if self.worker.trouble.is_some() {
            return Err(Stop::Again);
        }
        if self.worker.is_alone {
            self.held.release();
        } else if needs_gate(entry) {
            return Err(self.stop(Trouble::Gate));
        }
        match entry.handler {
            Handler::Data(apply) => {
                self.lock(entry, args).map_err(|busy| self.stop(Trouble::Busy(busy)))?;
                let Atomic { engine, worker, connection, held } = self;
                let (_, first_key) =
                    look_up(engine, engine.keyspace.ahead(connection.database), args);
                let scene = Scene {
                    database: connection.database,
                    no_touch: connection.no_touch,
                    may_wait: false,
                    may_read_all: !entry.spec.reaches
                        || worker.reads_all_keys(connection, (entry, args)),
                    tracker: connection.marks(),
                    author: connection.info.id,
                    reply: connection.reply(),
                };
                let call = Call { entry, apply, args, first_key };
                match worker.apply(engine, held, scene, call).map_err(Stop::Error)? {
                    Flow::Done => Ok(()),
                    Flow::Busy(busy) => Err(self.stop(Trouble::Busy(busy))),
                    Flow::Wait(_) => unreachable!("nothing waits inside a run"),
                }
            }
            Handler::Session(apply) => {
                let Atomic { engine, worker, connection, held } = self;
                let mut session = Session { engine, worker, connection, held };
                match apply(&mut session, args).map_err(Stop::Error)? {
                    Progress::Done => Ok(()),
                    Progress::RunsAgain if self.worker.trouble.is_some() => Err(Stop::Again),
                    Progress::RunsAgain | Progress::Waits => {
                        unreachable!("a run has what its commands need, or it ends")
                    }
                }
            }
            Handler::Container => Err(Stop::Error(Error::SYNTAX)),
        }
    }

    /// Locks what a command needs and the run does not have yet.
    fn lock(&mut self, entry: &Entry, args: Args<'_>) -> Result<(), Busy> {
        let Atomic { engine, worker, connection, held } = self;
        if !worker.is_alone && !held.has_undo() {
            // All keys were known.
            return Ok(());
        }
        let mut wanted = WantedSet::new();
        let asked = (connection.database, connection.may_mark());
        want_keys(engine, entry, args, asked, &mut wanted);
        if worker.is_alone {
            return cover(engine, held, wanted, None);
        }
        normalise(&mut wanted);
        wanted.into_iter().try_for_each(|want| held.reach(&engine.keyspace, want))
    }

    fn stop(&mut self, trouble: Trouble) -> Stop {
        assert!(!self.worker.is_alone, "nobody is in the way at the gate: {trouble:?}");
        self.worker.trouble = Some(trouble);
        Stop::Again
    }
}

/// Whether a command inside a run needs every other worker stopped: it works on more than its keys.
pub(crate) fn needs_gate(entry: &Entry) -> bool {
    let walks = matches!(entry.handler, Handler::Data(_)) && entry.spec.keys().is_empty();
    entry.spec.gate || walks
}

/// What was before a run, for the case that it is undone.
struct Before {
    /// Replies unsent, if this run's may be undone.
    output: Option<Output>,
    effects: Begun,
    database: u8,
    changes: u64,
    statistics: [u64; 4],
}

impl Worker {
    /// Runs `body` as one, perhaps several times, of which all but the last are undone. `body` ends
    /// at once when a command says [`Stop::Again`], and touches nothing that a second run would not
    /// find as it was. Part of another run, it is that one that is undone.
    ///
    /// # Errors
    /// It could not run, and the connection is set aside until it can.
    pub(crate) fn atomically<'k, R>(
        &mut self,
        engine: &'k Engine,
        held: &mut Held<'k>,
        connection: &mut Connection,
        plan: &Plan<'_>,
        body: &mut dyn FnMut(&mut Atomic<'_, 'k>) -> R,
    ) -> Result<R, Progress> {
        if self.is_alone || held.has_undo() {
            let result = body(&mut Atomic { engine, worker: self, connection, held });
            return if self.trouble.is_some() { Err(Progress::RunsAgain) } else { Ok(result) };
        }
        let mut claim = plan.claim.max(std::mem::take(&mut connection.claim));
        loop {
            if let Some(progress) = self.prepare(engine, held, connection, plan, claim) {
                return Err(connection.keep_claim(progress));
            }
            match self.attempt(engine, held, connection, (plan, claim), body) {
                Ok(result) => return Ok(result),
                Err(Trouble::Gate) => claim = Claim::Gate,
                Err(Trouble::Busy(_)) if claim == Claim::Keys => claim = Claim::Token,
                Err(Trouble::Busy(busy)) => {
                    connection.claim = claim;
                    let progress = self.set_aside(engine, connection, busy);
                    return Err(connection.keep_claim(progress));
                }
            }
        }
    }

    /// Gets what a run starts with. `Some`: it could not, and the connection is set aside.
    fn prepare<'k>(
        &mut self,
        engine: &'k Engine,
        held: &mut Held<'k>,
        connection: &mut Connection,
        plan: &Plan<'_>,
        claim: Claim,
    ) -> Option<Progress> {
        let mut wanted = plan.wanted.clone();
        let locked = match claim {
            Claim::Keys => cover(engine, held, wanted, plan.written),
            Claim::Token => {
                held.release();
                if let Some(progress) = self.take_token(engine, connection) {
                    connection.claim = claim;
                    return Some(progress);
                }
                held.set_patient(true);
                normalise(&mut wanted);
                wanted.into_iter().try_for_each(|want| held.reach(&engine.keyspace, want))
            }
            Claim::Gate => {
                held.release();
                if let Some(progress) = self.enter_gate(engine, connection) {
                    connection.claim = claim;
                    return Some(progress);
                }
                self.is_alone = true;
                let locked = cover(engine, held, wanted, None);
                assert!(locked.is_ok(), "nobody holds a slot while the gate is complete");
                locked
            }
        };
        let busy = locked.err()?;
        held.release();
        held.set_patient(false);
        connection.claim = claim;
        Some(self.set_aside(engine, connection, busy))
    }

    /// Runs `body` once, and keeps or undoes what it did. Nothing is locked afterwards.
    fn attempt<'k, R>(
        &mut self,
        engine: &'k Engine,
        held: &mut Held<'k>,
        connection: &mut Connection,
        (plan, claim): (&Plan<'_>, Claim),
        body: &mut dyn FnMut(&mut Atomic<'_, 'k>) -> R,
    ) -> Result<R, Trouble> {
        let shared = &engine.workers[self.id];
        if claim == Claim::Token || (plan.reaches && claim == Claim::Keys) {
            held.keep_undo();
        }
        let before = Before {
            output: held.has_undo().then(|| std::mem::take(&mut connection.output)),
            effects: self.effects.begin(),
            database: connection.database,
            changes: shared.stats.changes.load(Relaxed),
            statistics: shared.counters.statistics(),
        };
        self.effects.news.begin();
        let result = body(&mut Atomic { engine, worker: self, connection, held });
        let trouble = self.trouble.take().or_else(|| self.reach_for_waiters(engine, held).err());
        if trouble.is_none() {
            held.commit(&self.effects.news);
            self.effects.commit(before.effects);
            if self.is_alone {
                self.serve_alone(engine, held);
            } else {
                self.serve_waiters(engine, held);
            }
            self.effects.news.end();
            self.settle_monitor_lines(true);
            if let Some(unsent) = before.output {
                let replies = std::mem::replace(&mut connection.output, unsent);
                connection.output.append(replies);
            }
            connection.parked_times = 0;
        } else {
            assert!(held.has_undo(), "what cannot be undone is not in trouble");
            held.roll_back(&engine.keyspace, &shared.counters);
            self.effects.withdraw(before.effects);
            self.effects.news.forget();
            self.settle_monitor_lines(false);
            self.ready_keys.clear();
            connection.output = before.output.expect("it was set aside for this case");
            connection.select(before.database);
            shared.stats.changes.store(before.changes, Relaxed);
            shared.counters.restore(before.statistics);
        }
        held.release();
        held.set_patient(false);
        if std::mem::take(&mut self.is_alone) {
            engine.open_gate(self.id);
        }
        trouble.map_or(Ok(result), Err)
    }

    /// Adds the slots that serving the waiters of the keys made ready will touch.
    fn reach_for_waiters<'k>(
        &mut self,
        engine: &'k Engine,
        held: &mut Held<'k>,
    ) -> Result<(), Trouble> {
        if self.ready_keys.is_empty() || !held.has_undo() {
            // Who has no undo has these slots, or everything.
            return Ok(());
        }
        let ready = || self.ready_keys.iter().map(|ready| (ready.place, ready.key.clone()));
        for _ in 0..WIDENINGS_MAX {
            let written: Vec<PlacedKey> = ready().collect();
            let missing = engine.keyspace.serving(held, written).map_err(Trouble::Busy)?;
            if missing.is_empty() {
                return Ok(());
            }
            for place in missing {
                let wanted = Wanted { place, mode: Mode::Exclusive };
                held.reach(&engine.keyspace, wanted).map_err(Trouble::Busy)?;
            }
        }
        Err(Trouble::Gate)
    }
}

/// The token: [`Token`](caudal_keyspace::Token) says what it is for.
impl Worker {
    /// Takes the token until the end of the batch. `Some`: another worker has it, and the
    /// connection is set aside.
    pub(crate) fn take_token(
        &mut self,
        engine: &Engine,
        connection: &mut Connection,
    ) -> Option<Progress> {
        self.has_token = self.has_token || engine.token.take(self.number());
        if self.has_token {
            return None;
        }
        if self.refuses_to_wait(connection) {
            return Some(Progress::Done);
        }
        connection.state = State::AtToken;
        self.at_token.push_back(connection.info.id);
        Some(Progress::RunsAgain)
    }

    /// This worker was handed the token.
    pub(crate) fn on_token(&mut self) {
        self.has_token = self.has_token || self.engine.token.take(self.number());
        if !self.has_token {
            return;
        }
        // The token goes with the batch that comes now, so they come first.
        while let Some(id) = self.at_token.pop_back() {
            if let Some(token) = self.token(id) {
                self.mark_ready_first(token);
            }
            self.resume(id);
        }
    }

    /// Gives the token back: the worker that waits longest has it now.
    #[cold]
    pub(crate) fn give_token_back(&mut self) {
        self.has_token = false;
        if let Some(next) = self.engine.token.give_back(self.number()) {
            self.engine.workers[usize::from(next)].mailbox.send(crate::mail::Mail::Token);
        }
    }

    pub(crate) fn number(&self) -> u16 {
        u16::try_from(self.id).expect("few workers")
    }
}
