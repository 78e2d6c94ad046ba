//! MEMORY: what a key takes, and what the allocator says.

use crate::engine::Engine;
use crate::session::{DONE, Outcome, Session, SessionCommand, help, info};
use caudal_commands::{Args, Command, Context, Error, Flags, Group, KeyFlags, Spec};
use std::fmt::Write;

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary).of("MEMORY").group(Group::Server).since("4.0.0").arity(2)
}

const SPECIAL: &[&str] =
    &["nondeterministic_output", "request_policy:all_shards", "response_policy:special"];
const SLOW: &str = "Depends on how much memory is allocated, could be slow";

const USAGE: Spec = spec("USAGE", "Returns the bytes that a key and its value take.")
    .syntax("key [SAMPLES count:int]")
    .arity(-3)
    .readonly()
    .complexity("O(N) where N is the number of samples.")
    .key(2, KeyFlags::RO);

/// The family's commands on keys.
pub(super) const DATA: &[Command] = &[Command::new(USAGE, usage)];

/// The rest of the family.
pub(super) const COMMANDS: &[SessionCommand] = &[
    SessionCommand::new(spec("DOCTOR", "Reports on the memory in words.").tips(SPECIAL), doctor),
    help::help("MEMORY", Group::Server, "4.0.0"),
    SessionCommand::new(
        spec("MALLOC-STATS", "Returns the allocator's figures.")
            .flag(Flags::LOADING)
            .complexity(SLOW)
            .tips(SPECIAL),
        malloc_stats,
    ),
    SessionCommand::new(
        spec("PURGE", "Gives unused pages back to the system.")
            .flag(Flags::LOADING)
            .complexity(SLOW)
            .tips(crate::session::ALL_SHARDS_SUCCEED),
        purge,
    ),
    SessionCommand::new(
        spec("STATS", "Returns figures on the memory in use.").tips(SPECIAL),
        stats,
    ),
];

/// SAMPLES is checked and not needed: every collection knows its size.
fn usage(context: &mut Context<'_, '_>, args: Args<'_>) -> caudal_commands::Outcome {
    match args.len() {
        3 => {}
        5 if args.is(3, "SAMPLES") => {
            if args.integer(4)? < 0 {
                return Err(Error::SYNTAX);
            }
        }
        _ => return Err(Error::SYNTAX),
    }
    let key = context.key(args, 2);
    match context.keys.peek(&key).map(|record| record.memory()) {
        Some(bytes) => context.reply_count(bytes),
        None => context.reply_null(),
    }
}

fn purge(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    caudal_table::memory::purge();
    session.reply_ok()
}

fn malloc_stats(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    let figures = caudal_table::memory::statistics();
    let mut text = String::from("jemalloc, in bytes\n");
    for (name, bytes) in [
        ("allocated", figures.allocated),
        ("active", figures.active),
        ("metadata", figures.metadata),
        ("resident", figures.resident),
        ("retained", figures.retained),
    ] {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{name}: {bytes}");
    }
    session.reply_text(&text)
}

fn doctor(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    /// Below this the ratios say nothing.
    const TELLING_BYTES: u64 = 5 << 20;
    /// A ratio from which on something is worth looking at.
    const RATIO_MAX: f64 = 1.4;
    let figures = caudal_table::memory::statistics();
    let used = caudal_table::memory::used_bytes();
    let peak = session.engine.rates.note_memory(used);
    if used < TELLING_BYTES {
        return session.reply_text("There is too little data to say anything about its memory.\n");
    }
    let mut text = String::new();
    let mut report = |what: &str, part: u64, whole: u64| {
        let ratio = part as f64 / whole.max(1) as f64;
        if ratio > RATIO_MAX {
            let _ = writeln!(text, "{what} ({ratio:.2} times what is in use).");
        }
    };
    report("There was a time when much more memory was used than now", peak, used);
    report(
        "The allocator's pages are partly empty: fragmentation is high",
        figures.active,
        figures.allocated,
    );
    report(
        "The allocator keeps pages that it does not use; MEMORY PURGE gives them back",
        figures.resident,
        figures.active,
    );
    if text.is_empty() {
        text.push_str("Nothing about the memory looks unusual.\n");
    }
    session.reply_text(&text)
}

/// Integers, then ratios, then a map for each database that holds keys.
fn stats(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    let engine = session.engine;
    let figures = caudal_table::memory::statistics();
    let used = caudal_table::memory::used_bytes();
    let peak = engine.rates.note_memory(used);
    let resident = (engine.environment.usage)().resident_bytes;
    let clients = info::client_bytes(engine);
    let databases = databases(engine);
    let keys: u64 = databases.iter().map(|at| at.keys).sum();
    let tables: u64 = databases.iter().map(|at| at.table_bytes).sum();
    let overhead = engine.startup_bytes + clients + tables;
    let (data, all_data) =
        (used.saturating_sub(overhead), used.saturating_sub(engine.startup_bytes));
    let integers = [
        ("peak.allocated", peak),
        ("total.allocated", used),
        ("startup.allocated", engine.startup_bytes),
        ("replication.backlog", 0),
        ("replicas.repl.buffer", 0),
        ("clients.slaves", 0),
        ("clients.normal", clients),
        ("cluster.links", 0),
        ("cluster.slot_import", 0),
        ("cluster.slot_export", 0),
        ("aof.buffer", 0),
        ("lua.caches", 0),
        ("functions.caches", 0),
        ("overhead.db.hashtable.lut", tables),
        ("overhead.db.hashtable.rehashing", 0),
        ("overhead.total", overhead),
        ("db.dict.rehashing.count", 0),
        ("keys.count", keys),
        ("keys.bytes-per-key", all_data / keys.max(1)),
        ("dataset.bytes", data),
        ("allocator.allocated", figures.allocated),
        ("allocator.active", figures.active),
        ("allocator.resident", figures.resident),
        ("allocator.muzzy", 0),
        ("allocator-fragmentation.bytes", figures.active.saturating_sub(figures.allocated)),
        ("allocator-rss.bytes", figures.resident.saturating_sub(figures.active)),
        ("rss-overhead.bytes", resident.saturating_sub(figures.resident)),
        ("fragmentation.bytes", resident.saturating_sub(used)),
    ];
    let ratio = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
    let doubles = [
        ("dataset.percentage", 100.0 * ratio(data, all_data)),
        ("peak.percentage", 100.0 * ratio(used, peak)),
        ("allocator-fragmentation.ratio", ratio(figures.active, figures.allocated)),
        ("allocator-rss.ratio", ratio(figures.resident, figures.active)),
        ("rss-overhead.ratio", ratio(resident, figures.resident)),
        ("fragmentation", ratio(resident, used)),
    ];
    let mut reply = session.reply();
    reply.map(integers.len() + doubles.len() + databases.len());
    for (name, value) in integers {
        reply.bulk(name.as_bytes());
        reply.integer(i64::try_from(value).unwrap_or(i64::MAX));
    }
    for (name, value) in doubles {
        reply.bulk(name.as_bytes());
        reply.double(value);
    }
    for database in databases {
        reply.bulk(format!("db.{}", database.number).as_bytes());
        reply.map(2);
        reply.bulk(b"overhead.hashtable.main");
        reply.integer(i64::try_from(database.table_bytes).unwrap_or(i64::MAX));
        // A key's expiry stands in its record, and in an index that is part of the table.
        reply.bulk(b"overhead.hashtable.expires");
        reply.integer(0);
    }
    DONE
}

/// A database that holds keys.
struct Database {
    number: u8,
    keys: u64,
    table_bytes: u64,
}

fn databases(engine: &Engine) -> Vec<Database> {
    let numbers = (0..engine.keyspace.databases()).filter_map(|at| u8::try_from(at).ok());
    let of = |number| Database {
        number,
        keys: engine.totals(number).keys,
        table_bytes: engine.keyspace.table_bytes_of(number) as u64,
    };
    numbers.filter(|at| engine.totals(*at).keys > 0).map(of).collect()
}
