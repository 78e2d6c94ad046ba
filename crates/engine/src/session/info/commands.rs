//! The sections on single commands: calls, errors, latencies.

use super::Text;
use crate::catalog::Entry;
use crate::engine::{Engine, Shared};
use crate::session::Session;
use crate::stats::{CommandStats, Latencies};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The statistics of one command on each worker.
fn of_command<'e>(engine: &'e Engine, entry: &Entry) -> impl Iterator<Item = &'e CommandStats> {
    let id = usize::from(entry.id);
    engine.workers.iter().map(move |worker: &Shared| &worker.stats.commands[id])
}

/// How long a command's calls took, over all workers.
pub(in crate::session) fn latencies(engine: &Engine, entry: &Entry) -> Latencies {
    let mut sums = Latencies::default();
    of_command(engine, entry)
        .filter_map(CommandStats::known_latencies)
        .for_each(|histogram| histogram.add_to(&mut sums));
    sums
}

/// How often some commands were called, together.
pub(super) fn calls(engine: &Engine, names: &[&str]) -> u64 {
    let entries = names.iter().filter_map(|name| engine.catalog.find(name.as_bytes()));
    entries.flat_map(|entry| of_command(engine, entry)).map(|at| at.calls.load(Relaxed)).sum()
}

/// Time that all commands took, in microseconds.
pub(super) fn total_micros(engine: &Engine) -> u64 {
    let entries = engine.catalog.entries().iter();
    let all = entries.flat_map(|entry| of_command(engine, entry));
    all.map(|at| at.duration_ns.load(Relaxed)).sum::<u64>() / 1000
}

/// Calls and their time.
pub(super) fn command_stats(session: &mut Session<'_, '_>, text: &mut Text) {
    let engine = session.engine;
    for entry in engine.catalog.entries() {
        let sum = |of: fn(&CommandStats) -> &AtomicU64| -> u64 {
            of_command(engine, entry).map(|stats| of(stats).load(Relaxed)).sum()
        };
        let (calls, rejected) = (sum(|at| &at.calls), sum(|at| &at.rejected));
        if calls + rejected == 0 {
            continue;
        }
        let micros = sum(|at| &at.duration_ns) / 1000;
        let each = micros as f64 / calls.max(1) as f64;
        let failed = sum(|at| &at.failed);
        text.field(
            &format!("cmdstat_{}", entry.full_name),
            format_args!(
                "calls={calls},usec={micros},usec_per_call={each:.2},rejected_calls={rejected},\
                 failed_calls={failed}"
            ),
        );
    }
}

/// Errors by their code.
pub(super) fn error_stats(session: &mut Session<'_, '_>, text: &mut Text) {
    let mut sums = BTreeMap::<String, u64>::new();
    for worker in session.engine.workers.iter() {
        for (code, count) in &*worker.stats.errors() {
            *sums.entry(code.to_string()).or_default() += count;
        }
    }
    for (code, count) in sums {
        text.field(&format!("errorstat_{code}"), format_args!("count={count}"));
    }
}

/// Percentiles of the calls' times, in microseconds.
pub(super) fn latency_stats(session: &mut Session<'_, '_>, text: &mut Text) {
    let engine = session.engine;
    let config = engine.config();
    if !config.log.latency_tracking {
        return;
    }
    for entry in engine.catalog.entries() {
        let latencies = latencies(engine, entry);
        if latencies.calls() == 0 {
            continue;
        }
        let percentiles = config.log.latency_percentiles.iter().map(|percent| {
            format!("p{percent}={:.3}", latencies.percentile(*percent) as f64 / 1000.0)
        });
        let percentiles = percentiles.collect::<Vec<_>>().join(",");
        text.field(&format!("latency_percentiles_usec_{}", entry.full_name), percentiles);
    }
}
