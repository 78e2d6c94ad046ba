//! Runs a command on data: locks its slots, applies it, and does what follows from it before
//! unlocking.

use crate::atomic::Claim;
use crate::catalog::{Catalog, Entry};
use crate::connection::{Connection, State};
use crate::engine::Engine;
use crate::stats::{self, Stats};
use crate::worker::Worker;
use caudal_commands::{Args, Context, Error, Flow, Outcome};
use caudal_keyspace::{
    Busy, Held, Keys, Keyspace, Parked, Place, PlacedKey, Tracker, Usage, Wanted,
};
use caudal_table::{KeyHash, Mode};
use caudal_wire::Reply;
use smallvec::SmallVec;
use std::sync::Arc;

/// A command found its slots busy this often: it takes the gate instead.
const PARKED_TIMES_MAX: u8 = 8;
/// Rounds of widening a lock set by what serving waiters needs. Two suffice unless somebody begins
/// to wait meanwhile.
const WIDENINGS_MAX: usize = 8;

/// What became of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// It ran, and replied.
    Done,
    /// It waits for a key; its bytes are used up.
    Waits,
    /// It did not run, and its bytes stay: the connection is set aside until it can.
    RunsAgain,
}

/// A command on data with its words.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) entry: &'static Entry,
    pub(crate) apply: fn(&mut Context<'_, '_>, Args<'_>) -> Outcome,
    pub(crate) args: Args<'a>,
    pub(crate) first_key: Option<(usize, KeyHash)>,
}

/// Gives the keys that are going to be written; asked only if somebody waits in their slots.
pub(crate) type Written<'w> = &'w dyn Fn() -> Vec<PlacedKey>;

/// Slots to be locked, sorted, each once.
pub(crate) type WantedSet = SmallVec<[Wanted; 4]>;

/// Where a command's keys live and replies go.
pub(crate) struct Scene<'o> {
    pub(crate) database: u8,
    pub(crate) no_touch: bool,
    pub(crate) may_wait: bool,
    pub(crate) may_read_all: bool,
    /// Who is marked on the keys that are read.
    pub(crate) tracker: Option<Arc<Tracker>>,
    /// The connection.
    pub(crate) author: u64,
    pub(crate) reply: Reply<'o>,
}

impl Worker {
    /// Runs a command of a connection.
    #[inline(always)]
    pub(crate) fn execute<'k>(
        &mut self,
        engine: &'k Engine,
        held: &mut Held<'k>,
        connection: &mut Connection,
        call: Call<'_>,
    ) -> Result<Progress, Error> {
        if connection.claim == Claim::Keys {
            return self.execute_locked(engine, held, connection, call);
        }
        self.execute_claiming(engine, held, connection, call)
    }

    /// Runs a command that was set aside until it has more than its keys.
    #[cold]
    fn execute_claiming<'k>(
        &mut self,
        engine: &'k Engine,
        held: &mut Held<'k>,
        connection: &mut Connection,
        call: Call<'_>,
    ) -> Result<Progress, Error> {
        if connection.claim == Claim::Gate {
            return self.execute_alone(engine, held, connection, call);
        }
        held.release();
        if let Some(progress) = self.take_token(engine, connection) {
            return Ok(connection.keep_claim(progress));
        }
        connection.claim = Claim::Keys;
        held.set_patient(true);
        let outcome = self.execute_locked(engine, held, connection, call);
        held.set_patient(false);
        if matches!(outcome, Ok(Progress::RunsAgain)) {
            connection.claim = connection.claim.max(Claim::Token);
        }
        outcome
    }

    /// Runs a command whose lock set starved, with every other worker stopped.
    #[cold]
    fn execute_alone<'k>(
        &mut self,
        engine: &'k Engine,
        held: &mut Held<'k>,
        connection: &mut Connection,
        call: Call<'_>,
    ) -> Result<Progress, Error> {
        held.release();
        if let Some(progress) = self.enter_gate(engine, connection) {
            return Ok(progress);
        }
        connection.claim = Claim::Keys;
        let outcome = self.execute_locked(engine, held, connection, call);
        held.release();
        engine.open_gate(self.id);
        outcome
    }

    #[inline(always)]
    fn execute_locked<'k>(
        &mut self,
        engine: &'k Engine,
        held: &mut Held<'k>,
        connection: &mut Connection,
        call: Call<'_>,
    ) -> Result<Progress, Error> {
        if let Some(progress) = self.lock(engine, held, connection, &call) {
            return Ok(progress);
        }
        let scene = Scene {
            database: connection.database,
            no_touch: connection.no_touch,
            may_wait: true,
            may_read_all: !call.entry.spec.reaches
                || self.reads_all_keys(connection, (call.entry, call.args)),
            tracker: connection.marks(),
            author: connection.info.id,
            reply: connection.reply(),
        };
        match self.apply(engine, held, scene, call)? {
            Flow::Done => {
                if !self.ready_keys.is_empty() {
                    self.serve_waiters(engine, held);
                }
                connection.parked_times = 0;
                Ok(Progress::Done)
            }
            Flow::Wait(wait) => {
                self.start_waiting(engine, held, connection, call, wait);
                Ok(Progress::Waits)
            }
            Flow::Busy(busy) => self.on_busy(engine, held, connection, call, busy),
        }
    }

    /// A command that has changed nothing met a busy slot.
    #[cold]
    fn on_busy<'k>(
        &mut self,
        engine: &'k Engine,
        held: &mut Held<'k>,
        connection: &mut Connection,
        call: Call<'_>,
        busy: Busy,
    ) -> Result<Progress, Error> {
        let may_wait = call.entry.spec.reaches && !held.is_patient();
        held.release();
        if !may_wait {
            return Ok(self.set_aside(engine, connection, busy));
        }
        connection.claim = Claim::Token;
        self.execute_claiming(engine, held, connection, call)
    }

    /// Runs a command whose slots are locked. Its effects are noted; keys that it made ready wait
    /// in `ready_keys`.
    #[inline(always)]
    pub(crate) fn apply<'k>(
        &mut self,
        engine: &'k Engine,
        held: &mut Held<'k>,
        scene: Scene<'_>,
        call: Call<'_>,
    ) -> Outcome {
        self.effects.news.set_author(scene.author);
        if self.effects.wanted() {
            self.stale.begin();
        }
        let mut context = Context {
            keys: Keys {
                held,
                keyspace: &engine.keyspace,
                database: scene.database,
                now: self.now.unix_ms,
                limits: &self.tuning.limits,
                counters: &engine.workers[self.id].counters,
                effects: &mut self.effects,
                ready: &mut self.ready_keys,
                stale: &self.stale,
                changes: 0,
                explained: false,
                usage: Usage::new(
                    !scene.no_touch,
                    self.now.unix_ms,
                    self.tuning.frequency.as_ref(),
                ),
            },
            reply: scene.reply,
            random: &mut self.random,
            settings: &self.tuning.settings,
            may_wait: scene.may_wait,
            in_script: self.in_script,
            may_read_all: scene.may_read_all,
            first_key: call.first_key,
        };
        let outcome = (call.apply)(&mut context, call.args);
        settle(&mut context.keys, &engine.workers[self.id].stats, call.args);
        if let Some(tracker) = &scene.tracker
            && let Ok(Flow::Done) = outcome
        {
            self.mark_reads(engine, held, scene.database, call, tracker);
        }
        outcome
    }

    /// Makes `held` cover the command's slots. `Some`: it could not, and the connection is set
    /// aside.
    #[inline(always)]
    fn lock<'k>(
        &mut self,
        engine: &'k Engine,
        held: &mut Held<'k>,
        connection: &mut Connection,
        call: &Call<'_>,
    ) -> Option<Progress> {
        if let Some((argument, mode)) = call.entry.single_key
            && let Some((first, hash)) = call.first_key
            && first == argument
            && call.entry.other_database.is_none()
        {
            let place = Place { database: connection.database, slot: hash.slot().0 };
            let mode = if connection.may_mark() { Mode::Exclusive } else { mode };
            let wanted = Wanted { place, mode };
            match lock_slot(&engine.keyspace, held, wanted) {
                Ok(true) => return None,
                Ok(false) => {}
                Err(busy) => return Some(self.set_aside(engine, connection, busy)),
            }
        }
        self.lock_keys(engine, held, connection, call)
    }

    /// Locks what a command with several keys, or with waiters, needs.
    #[inline(never)]
    fn lock_keys<'k>(
        &mut self,
        engine: &'k Engine,
        held: &mut Held<'k>,
        connection: &mut Connection,
        call: &Call<'_>,
    ) -> Option<Progress> {
        let (entry, args, database) = (call.entry, call.args, connection.database);
        let mut wanted = WantedSet::new();
        want_keys(engine, entry, args, (database, connection.may_mark()), &mut wanted);
        let written = || written_keys(engine, entry, args, database);
        let is_write = Catalog::is_write(entry);
        self.lock_all(engine, held, connection, wanted, is_write.then_some(&written))
    }

    /// Makes `held` cover `wanted`, and whatever serving the waiters of the written keys may touch.
    /// `Some`: it could not, and the connection is set aside.
    pub(crate) fn lock_all<'k>(
        &mut self,
        engine: &'k Engine,
        held: &mut Held<'k>,
        connection: &mut Connection,
        wanted: WantedSet,
        written: Option<Written<'_>>,
    ) -> Option<Progress> {
        match cover(engine, held, wanted, written) {
            Ok(()) => None,
            Err(busy) => Some(self.set_aside(engine, connection, busy)),
        }
    }

    /// Sets a connection aside until a busy slot is unlocked.
    #[cold]
    pub(crate) fn set_aside(
        &mut self,
        engine: &Engine,
        connection: &mut Connection,
        busy: Busy,
    ) -> Progress {
        if self.refuses_to_wait(connection) {
            return Progress::Done;
        }
        stats::add(&self.shared().stats.parked, 1);
        connection.parked_times = connection.parked_times.saturating_add(1);
        let worker = u16::try_from(self.id).expect("few workers");
        let parked = Parked { worker, connection: connection.info.id };
        if connection.parked_times > PARKED_TIMES_MAX {
            connection.parked_times = 0;
            return self.wait_for_gate(connection);
        }
        if engine.keyspace.park(busy, parked) {
            connection.state = State::Parked;
        } else {
            // It was unlocked meanwhile: the command is tried again with the next batch.
            self.own_mail.push_back(crate::mail::Mail::Unparked { connection: connection.info.id });
            connection.state = State::Parked;
        }
        Progress::RunsAgain
    }
}

/// Makes `held` cover a command's only slot. False: somebody waits there for what is written, and
/// serving them may need more.
///
/// # Errors
/// It is busy.
#[inline(always)]
pub(crate) fn lock_slot<'k>(
    keyspace: &'k Keyspace,
    held: &mut Held<'k>,
    wanted: Wanted,
) -> Result<bool, Busy> {
    if !held.covers(&wanted) {
        held.lock_one(keyspace, wanted)?;
    }
    Ok(wanted.mode == Mode::Shared || !keyspace.has_waiters(held))
}

/// Counts the changes of a command that has run, and notes its effect if it did not do so itself.
/// The next command begins with none.
#[inline(always)]
pub(crate) fn settle(keys: &mut Keys<'_, '_>, stats: &Stats, args: Args<'_>) {
    if keys.changes > 0 {
        if !keys.explained && keys.effects.wanted() {
            keys.explain_misses();
            keys.effects.push(keys.database, args.from(0));
        }
        stats::add(&stats.changes, keys.changes);
    }
    (keys.changes, keys.explained) = (0, false);
}

/// Makes `held` cover `wanted`, and whatever serving the waiters of the written keys may touch.
///
/// # Errors
/// A slot is busy; nothing is locked then.
pub(crate) fn cover<'k>(
    engine: &'k Engine,
    held: &mut Held<'k>,
    mut wanted: WantedSet,
    written: Option<Written<'_>>,
) -> Result<(), Busy> {
    if wanted.is_empty() {
        // A command that walks the keyspace locks slot after slot itself.
        held.release();
        return Ok(());
    }
    normalise(&mut wanted);
    let mut busy = Busy(wanted[0].place);
    for _ in 0..WIDENINGS_MAX {
        if held.is_empty() || !wanted.iter().all(|want| held.covers(want)) {
            held.lock_all(&engine.keyspace, &wanted)?;
        }
        let Some(written) = written.filter(|_| engine.keyspace.has_waiters(held)) else {
            return Ok(());
        };
        match engine.keyspace.serving(held, written()) {
            Ok(missing) if missing.is_empty() => return Ok(()),
            Ok(missing) => {
                busy = Busy(missing[0]);
                let exclusive = |place| Wanted { place, mode: Mode::Exclusive };
                wanted.extend(missing.into_iter().map(exclusive));
                normalise(&mut wanted);
            }
            Err(at) => {
                busy = at;
                held.release();
                // Spins until it is free, while nothing is locked.
                drop(Held::one(&engine.keyspace, Wanted { place: at.0, mode: Mode::Shared }));
            }
        }
    }
    held.release();
    Err(busy)
}

/// The keys that a command may write.
pub(crate) fn written_keys(
    engine: &Engine,
    entry: &Entry,
    args: Args<'_>,
    database: u8,
) -> Vec<PlacedKey> {
    let (other, mode) = (other_database(engine, entry, args, database), entry.modes(args));
    let mut written = Vec::new();
    entry.each_key(args, |at, flags| {
        let (key, slot) = (args.at(at), engine.keyspace.hash(args.at(at)).slot().0);
        if mode(flags) == Mode::Exclusive {
            written.push((Place { database, slot }, key.into()));
        }
        if let Some(database) = other {
            written.push((Place { database, slot }, key.into()));
        }
    });
    written
}

/// Adds the slots of a command's keys in a database. `marks`: keys that are only read may be marked
/// too, for a connection that tracks.
pub(crate) fn want_keys(
    engine: &Engine,
    entry: &Entry,
    args: Args<'_>,
    (database, marks): (u8, bool),
    wanted: &mut WantedSet,
) {
    let (other, mode) = (other_database(engine, entry, args, database), entry.modes(args));
    entry.each_key(args, |at, flags| {
        let slot = engine.keyspace.hash(args.at(at)).slot().0;
        let mode = if marks { Mode::Exclusive } else { mode(flags) };
        wanted.push(Wanted { place: Place { database, slot }, mode });
        if let Some(database) = other {
            wanted.push(Wanted { place: Place { database, slot }, mode: Mode::Exclusive });
        }
    });
}

/// The second database of COPY and MOVE.
fn other_database(engine: &Engine, entry: &Entry, args: Args<'_>, database: u8) -> Option<u8> {
    let other = entry.other_database.and_then(|of| of(args));
    other.filter(|other| *other != database && usize::from(*other) < engine.keyspace.databases())
}

/// Sorts, and merges what names one slot twice, exclusive before shared.
pub(crate) fn normalise(wanted: &mut WantedSet) {
    wanted.sort_unstable_by_key(|want| (want.place, want.mode == Mode::Shared));
    wanted.dedup_by_key(|want| want.place);
}
