//! FLUSHALL, FLUSHDB, SWAPDB: whole databases at once, with every other worker stopped.
//!
//! Flushing only detaches the tables; they are freed a few a turn. What must stay true: nobody sees
//! half of it.

use crate::engine::Engine;
use crate::execute::Progress;
use crate::session::{ALL_SHARDS_SUCCEED, Outcome, Session, SessionCommand};
use crate::stats;
use crate::worker::Worker;
use caudal_commands::{Args, Error, Group, Spec};
use caudal_keyspace::{Held, Ready, Wanted};
use caudal_table::Mode;
use caudal_text::integer;
use std::sync::atomic::Ordering::Relaxed;

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary)
        .group(Group::Server)
        .arity(-1)
        .write()
        .categories(&["keyspace", "dangerous"])
        .at_gate()
}

const FLUSHALL: Spec = spec("FLUSHALL", "Removes all keys of all databases.")
    .syntax("[flush-type<ASYNC@4.0.0|SYNC@6.2.0>]")
    .complexity("O(N) where N is the total number of keys in all databases")
    .tips(ALL_SHARDS_SUCCEED);
const FLUSHDB: Spec = spec("FLUSHDB", "Removes all keys of the selected database.")
    .syntax("[flush-type<ASYNC@4.0.0|SYNC@6.2.0>]")
    .complexity("O(N) where N is the number of keys in the selected database")
    .tips(ALL_SHARDS_SUCCEED);
const SWAPDB: Spec = spec("SWAPDB", "Exchanges the contents of two databases.")
    .syntax("index1:int index2:int")
    .since("4.0.0")
    .arity(3)
    .fast()
    .complexity(
        "O(N) where N is the count of clients watching or blocking on keys from both databases.",
    );

/// The family.
pub(super) const COMMANDS: &[SessionCommand] = &[
    SessionCommand::new(FLUSHALL, flush_all),
    SessionCommand::new(FLUSHDB, flush_database),
    SessionCommand::new(SWAPDB, swap),
];

/// ASYNC and SYNC make no difference to whoever waits for the reply: freeing is always done later.
fn parse_flush(args: Args<'_>) -> Result<(), Error> {
    match args.len() {
        1 => Ok(()),
        2 if args.is(1, "ASYNC") || args.is(1, "SYNC") => Ok(()),
        _ => Err(Error::SYNTAX),
    }
}

fn flush_all(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    parse_flush(args)?;
    let databases = session.engine.keyspace.databases();
    let all = (0..databases).map(|at| u8::try_from(at).expect("at most 256 databases"));
    Ok(flush(session, all, b"FLUSHALL"))
}

fn flush_database(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    parse_flush(args)?;
    let database = session.connection.database;
    Ok(flush(session, std::iter::once(database), b"FLUSHDB"))
}

fn flush(
    session: &mut Session<'_, '_>,
    databases: impl Iterator<Item = u8> + Clone,
    effect: &'static [u8],
) -> Progress {
    let Session { engine, worker, connection, .. } = session;
    let engine = *engine;
    let in_transaction = worker.is_alone;
    worker.alone(engine, connection, |worker, connection| {
        let shared = &engine.workers[worker.id];
        for database in databases.clone() {
            let tables = engine.keyspace.flush(database, &shared.counters, &worker.effects.news);
            let removed = tables.iter().map(|table| table.len() as u64).sum();
            stats::add(&shared.stats.changes, removed);
            worker.garbage.extend(tables);
        }
        worker.effects.push(connection.database, std::iter::once(effect));
        Worker::tell_flushed(engine);
        connection.reply().ok();
        if engine.sum(|at| &at.stats.blocked) > 0 {
            worker.find_ready(engine, &databases.collect::<Vec<u8>>());
            if !in_transaction {
                worker.serve_alone(engine, &mut Held::none());
            }
        }
    })
}

fn swap(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let Session { engine, worker, connection, .. } = session;
    let engine = *engine;
    let (first, second) = parse_swap(args, engine.keyspace.databases())?;
    let in_transaction = worker.is_alone;
    Ok(worker.alone(engine, connection, |worker, connection| {
        let shared = &engine.workers[worker.id];
        if engine.clients.list().iter().any(|info| info.watched.load(Relaxed) > 0) {
            let (now, counters) = (worker.now.unix_ms, &shared.counters);
            let out = (&mut worker.effects, &mut worker.lost);
            engine.keyspace.expire_before_swap((first, second), now, counters, out);
        }
        let totals = [first, second].map(|database| engine.totals(database));
        engine.keyspace.swap((first, second), &shared.counters, totals, &worker.effects.news);
        stats::add(&shared.stats.changes, 1);
        let words = [b"SWAPDB".as_slice(), args.at(1), args.at(2)];
        worker.effects.push(connection.database, words.into_iter());
        connection.reply().ok();
        if first != second {
            worker.find_ready(engine, &[first, second]);
        }
        if !in_transaction {
            worker.serve_alone(engine, &mut Held::none());
        }
    }))
}

fn parse_swap(args: Args<'_>, databases: usize) -> Result<(u8, u8), Error> {
    let number = |at: usize, text: &'static str| {
        integer::parse_i64(args.at(at))
            .filter(|number| i32::try_from(*number).is_ok())
            .ok_or(Error::text(text))
    };
    let first = number(1, "ERR invalid first DB index")?;
    let second = number(2, "ERR invalid second DB index")?;
    let database = |number| {
        u8::try_from(number)
            .ok()
            .filter(|database| usize::from(*database) < databases)
            .ok_or(Error::DATABASE_RANGE)
    };
    Ok((database(first)?, database(second)?))
}

impl Worker {
    /// Notes the keys that somebody waits for in these databases and that are there now, or that
    /// had to stay there. At the gate.
    fn find_ready(&mut self, engine: &Engine, databases: &[u8]) {
        for info in engine.clients.list() {
            let Some(waiter) = info.text().waiter.clone() else { continue };
            if waiter.is_claimed() || !databases.contains(&waiter.database) {
                continue;
            }
            for (place, key) in &waiter.keys {
                let wanted = Wanted { place: *place, mode: Mode::Shared };
                let held = Held::one(&engine.keyspace, wanted).unwrap_or_default();
                let is_there = engine.keyspace.kind(&held, *place, key) == Some(waiter.kind);
                if is_there || waiter.minds_loss {
                    let key = key.clone();
                    self.ready_keys.push(Ready { place: *place, key, kind: waiter.kind });
                }
            }
        }
    }
}
