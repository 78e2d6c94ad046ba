//! MULTI, EXEC, DISCARD, WATCH, UNWATCH.
//!
//! EXEC locks the slots of all queued commands and of all watched keys at once, so that others see
//! all of it or nothing. What must stay true: nothing has run, or all of it is undone, when EXEC is
//! set aside.

use crate::acl::{Reason, Scene};
use crate::atomic::{Atomic, Claim, Plan, Stop, needs_gate};
use crate::books::Ran;
use crate::catalog::{Catalog, Entry, Handler};
use crate::connection::Connection;
use crate::engine::Engine;
use crate::execute::{Progress, WantedSet, want_keys, written_keys};
use crate::session::{Session, SessionCommand};
use crate::worker::Worker;
use caudal_commands::{Args, Error, Flags, Group, KeyFlags, OwnedArgs, Spec};
use caudal_keyspace::{Held, Place, PlacedKey, Wanted, Watch, WatchedKey};
use caudal_table::Mode;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Before the reason why a queued command is not allowed any more.
const RULES_CHANGED: &str = "NOPERM ACLs rules changed between the moment the transaction was \
    accumulated and the EXEC call. This command is no longer allowed for the following reason: ";

/// Commands between MULTI and EXEC.
#[derive(Default)]
pub(crate) struct Queue {
    commands: Vec<(&'static Entry, OwnedArgs)>,
    /// Bytes of their words; at most `client-query-buffer-limit`.
    bytes: usize,
    /// Whether one was refused: EXEC aborts.
    pub(crate) is_broken: bool,
}

impl Queue {
    /// The queued commands.
    pub(crate) fn commands(&self) -> impl Iterator<Item = (&'static Entry, Args<'_>)> {
        self.commands.iter().map(|(entry, args)| (*entry, args.view()))
    }

    /// Whether any queued command may grow memory.
    pub(crate) fn may_grow(&self) -> bool {
        self.commands.iter().any(|(entry, _)| entry.spec.flags.has(Flags::DENYOOM))
    }

    /// Whether any queued command may touch keys that its words do not name.
    pub(crate) fn reaches(&self) -> bool {
        self.commands.iter().any(|(entry, _)| entry.spec.reaches)
    }

    /// What the commands are known to need.
    fn claim(&self) -> Claim {
        let mut commands = self.commands.iter().map(|(entry, _)| *entry);
        if commands.clone().any(needs_gate) {
            Claim::Gate
        } else if !self.reaches() {
            Claim::Keys
        } else if commands.all(can_be_undone) {
            Claim::Token
        } else {
            Claim::Gate
        }
    }

    /// Calls `f` with each command and the database that it will run on: first `database`, then
    /// what SELECTs say.
    fn each(
        &self,
        engine: &Engine,
        mut database: u8,
        mut f: impl FnMut(&'static Entry, Args<'_>, u8),
    ) {
        for (entry, args) in &self.commands {
            let args = args.view();
            if entry.spec.name == "SELECT"
                && let Some(selected) = selected(engine, args)
            {
                database = selected;
            }
            f(entry, args, database);
        }
    }

    /// Number of commands.
    pub(crate) fn len(&self) -> usize {
        self.commands.len()
    }
}

/// What a connection watches.
#[derive(Default)]
pub(crate) struct Watching {
    watch: Arc<Watch>,
    keys: Vec<WatchedKey>,
}

impl Watching {
    /// Whether a watched key changed.
    pub(crate) fn is_dirty(&self) -> bool {
        self.watch.is_dirty()
    }
}

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary).group(Group::Transactions).no_script().loading_stale().fast()
}

const MULTI: Spec = spec("MULTI", "Starts a transaction.")
    .flag(Flags::CONTROLS_MULTI)
    .since("1.2.0")
    .flag(Flags::ALLOW_BUSY)
    .flag(Flags::NO_MULTI);
const EXEC: Spec = Spec::new("EXEC", "Runs the queued commands as one.")
    .flag(Flags::CONTROLS_MULTI)
    .complexity("Depends on commands in the transaction")
    .since("1.2.0")
    .group(Group::Transactions)
    .no_script()
    .loading_stale()
    .flag(Flags::SKIP_SLOWLOG);
const DISCARD: Spec = spec("DISCARD", "Forgets the queued commands.")
    .flag(Flags::CONTROLS_MULTI)
    .complexity("O(N), when N is the number of queued commands")
    .since("2.0.0")
    .flag(Flags::ALLOW_BUSY);
const WATCH: Spec = spec("WATCH", "Lets the next EXEC run only if these keys stay unchanged.")
    .flag(Flags::CONTROLS_MULTI)
    .syntax("key...")
    .since("2.2.0")
    .arity(-2)
    .flag(Flags::ALLOW_BUSY)
    .flag(Flags::NO_MULTI)
    .complexity("O(1) for every key.")
    .key_range(1, -1, 1, KeyFlags::RO);
const UNWATCH: Spec =
    spec("UNWATCH", "Forgets the watched keys.").since("2.2.0").flag(Flags::ALLOW_BUSY);

/// The family.
pub(crate) const COMMANDS: &[SessionCommand] = &[
    SessionCommand::new(DISCARD, discard),
    SessionCommand::new(EXEC, exec),
    SessionCommand::new(MULTI, multi),
    SessionCommand::new(UNWATCH, unwatch),
    SessionCommand::new(WATCH, watch),
];

fn multi(session: &mut Session<'_, '_>, _: Args<'_>) -> Result<Progress, Error> {
    session.connection.queue = Some(Box::default());
    session.connection.info.queued.store(1, Relaxed);
    session.reply_ok()
}

fn discard(session: &mut Session<'_, '_>, _: Args<'_>) -> Result<Progress, Error> {
    if session.connection.queue.is_none() {
        return Err(Error::text("ERR DISCARD without MULTI"));
    }
    session.worker.end_transaction(session.connection);
    session.reply_ok()
}

fn unwatch(session: &mut Session<'_, '_>, _: Args<'_>) -> Result<Progress, Error> {
    // Inside EXEC their slots are locked.
    session.worker.forget_watches_later(session.connection);
    session.reply_ok()
}

fn watch(session: &mut Session<'_, '_>, args: Args<'_>) -> Result<Progress, Error> {
    let Session { engine, worker, connection, .. } = session;
    let database = connection.database;
    let mut wanted = WantedSet::new();
    for key in args.from(1) {
        let place = Place { database, slot: engine.keyspace.hash(key).slot().0 };
        wanted.push(Wanted { place, mode: Mode::Exclusive });
    }
    let mut held = Held::none();
    if let Some(progress) = worker.lock_all(engine, &mut held, connection, wanted, None) {
        return Ok(progress);
    }
    let mut watching = connection.watching.take().unwrap_or_default();
    for key in args.from(1) {
        let place = Place { database, slot: engine.keyspace.hash(key).slot().0 };
        if watching.keys.iter().any(|at| at.place == place && *at.key == *key) {
            continue;
        }
        let watched = WatchedKey { place, key: key.into() };
        let counters = &engine.workers[worker.id].counters;
        let now = worker.now.unix_ms;
        let out = (&mut worker.effects, &mut worker.lost);
        engine.keyspace.reclaim(&mut held, &watched, now, counters, out);
        engine.keyspace.watch(&mut held, &watching.watch, &watched);
        watching.keys.push(watched);
    }
    let count = u32::try_from(watching.keys.len()).unwrap_or(u32::MAX);
    connection.info.watched.store(count, Relaxed);
    connection.watching = Some(watching);
    connection.parked_times = 0;
    session.reply_ok()
}

fn exec(session: &mut Session<'_, '_>, _: Args<'_>) -> Result<Progress, Error> {
    let Session { engine, worker, connection, held } = session;
    let Some(queue) = connection.queue.take() else {
        return Err(Error::text("ERR EXEC without MULTI"));
    };
    if queue.is_broken {
        worker.end_transaction(connection);
        let text = "EXECABORT Transaction discarded because of previous errors.";
        return Err(Error::text(text));
    }
    let (engine, database) = (*engine, connection.database);
    let written = || written(engine, database, &queue);
    let plan = Plan {
        wanted: wanted(engine, connection, &queue),
        written: Some(&written),
        claim: queue.claim(),
        reaches: queue.reaches(),
    };
    worker.in_transaction = true;
    let ran = worker.atomically(engine, held, connection, &plan, &mut |run| run_queue(run, &queue));
    worker.in_transaction = false;
    let messages = std::mem::take(&mut worker.after_exec);
    if let Err(progress) = ran {
        if progress == Progress::RunsAgain {
            connection.queue = Some(queue);
        }
        return Ok(progress);
    }
    worker.end_transaction(connection);
    let Connection { output, unmuted, .. } = connection;
    unmuted.as_deref_mut().unwrap_or(output).append(messages);
    Ok(Progress::Done)
}

/// Runs the queued commands, unless a watched key changed.
fn run_queue(run: &mut Atomic<'_, '_>, queue: &Queue) {
    let (engine, now) = (run.engine, run.worker.now.unix_ms);
    let stale = run.connection.watching.as_ref().is_some_and(|watching| {
        watching.is_dirty()
            || watching.keys.iter().any(|key| engine.keyspace.expired_since(run.held, key, now))
    });
    if stale {
        return run.connection.reply().null_array();
    }
    run.connection.reply().array(queue.len());
    let mut clock = (engine.environment.nanos)();
    for (entry, args) in &queue.commands {
        let (args, unsent) = (args.view(), run.connection.output.bytes());
        let called = may_run(run, entry, args).map_err(Stop::Error);
        let error = match called.and_then(|()| run.call(entry, args)) {
            Ok(()) => None,
            Err(Stop::Error(error)) => Some(error),
            Err(Stop::Again) => return,
        };
        let (progress, failed) = (Progress::Done, error.is_some());
        if let Some(error) = error {
            engine.workers[run.worker.id].stats.count_error(&error.0);
            run.connection.reply().error_bytes(&error.0);
        }
        let ran = Ran { entry, args, progress, failed, unsent };
        run.worker.account(run.connection, ran, &mut clock);
    }
}

/// Whether the user may still run a queued command: its rules may have changed since.
fn may_run(run: &mut Atomic<'_, '_>, entry: &'static Entry, args: Args<'_>) -> Result<(), Error> {
    let checked = run.worker.check_access(run.connection, (entry, args), Scene::Transaction);
    checked.map_err(|denial| {
        let reason = match denial.reason {
            Reason::Command => "no permission to execute the command or subcommand",
            Reason::Key => "no permission to touch the specified keys",
            Reason::Channel => "no permission to access one of the channels used as arguments",
            Reason::Database | Reason::Password | Reason::Certificate => "no permission",
        };
        Error::new(format!("{RULES_CHANGED}{reason}"))
    })
}

/// Whether a command can be undone when the transaction has to begin again. The session's commands
/// may do what cannot, but for those that only answer, and for messages, which are held until the
/// transaction ends.
fn can_be_undone(entry: &Entry) -> bool {
    matches!(entry.handler, Handler::Data(_))
        || entry.spec.reaches
        || entry.spec.flags.has(Flags::REPEATABLE)
}

/// The slots of a transaction: of its commands' keys, in the databases that its SELECTs lead to,
/// and of what it watches.
fn wanted(engine: &Engine, connection: &Connection, queue: &Queue) -> WantedSet {
    let mut wanted = WantedSet::new();
    let tracks = |(entry, _): &(&Entry, _)| entry.spec.flags.has(Flags::TRACKS);
    let marks = connection.may_mark() || queue.commands.iter().any(tracks);
    queue.each(engine, connection.database, |entry, args, database| {
        want_keys(engine, entry, args, (database, marks), &mut wanted);
    });
    if let Some(watching) = &connection.watching {
        let shared = |key: &WatchedKey| Wanted { place: key.place, mode: Mode::Shared };
        wanted.extend(watching.keys.iter().map(shared));
    }
    wanted
}

/// The keys that a transaction may write.
fn written(engine: &Engine, database: u8, queue: &Queue) -> Vec<PlacedKey> {
    let mut written = Vec::new();
    queue.each(engine, database, |entry, args, database| {
        if Catalog::is_write(entry) {
            written.extend(written_keys(engine, entry, args, database));
        }
    });
    written
}

/// The database that a SELECT names, if it is one.
pub(crate) fn selected(engine: &Engine, args: Args<'_>) -> Option<u8> {
    args.get(1)?;
    args.database(1, engine.keyspace.databases()).ok()
}

impl Worker {
    /// Queues a command of a transaction.
    pub(crate) fn queue(
        &mut self,
        connection: &mut Connection,
        entry: &'static Entry,
        args: Args<'_>,
    ) {
        let queue = connection.queue.as_mut().expect("the caller looked");
        let args = args.to_owned();
        queue.bytes += args.memory();
        if queue.bytes > self.tuning.config.clients.query_buffer_bytes_max {
            queue.is_broken = true;
            let text = "ERR Transaction is larger than client-query-buffer-limit";
            self.shared().stats.count_error(text.as_bytes());
            return connection.reply().error(text);
        }
        queue.commands.push((entry, args));
        let count = u32::try_from(queue.len() + 1).unwrap_or(u32::MAX);
        connection.info.queued.store(count, Relaxed);
        connection.reply().status("QUEUED");
    }

    /// Leaves MULTI and forgets the watches.
    pub(crate) fn end_transaction(&mut self, connection: &mut Connection) {
        connection.queue = None;
        connection.info.queued.store(0, Relaxed);
        self.forget_watches(connection);
    }

    /// Forgets what a connection watches. Inside a turn, with no lock held but perhaps the gate.
    pub(crate) fn forget_watches(&mut self, connection: &mut Connection) {
        self.forget_watches_later(connection);
        self.retry_leaving();
    }

    /// Forgets what a connection watches, with the next turn.
    pub(crate) fn forget_watches_later(&mut self, connection: &mut Connection) {
        let Some(watching) = connection.watching.take() else { return };
        connection.info.watched.store(0, Relaxed);
        let mut places: Vec<Place> = watching.keys.iter().map(|key| key.place).collect();
        places.sort_unstable();
        places.dedup();
        let watch = |place| (Arc::clone(&watching.watch), place);
        self.unwatching.extend(places.into_iter().map(watch));
    }
}
