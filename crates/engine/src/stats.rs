//! One worker's statistics: written by it alone, read by whoever asks.

use caudal_keyspace::Counters;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Buckets of a latency histogram: powers of two of nanoseconds.
pub(crate) const LATENCY_BUCKETS: usize = 40;

/// What one command has cost.
#[derive(Debug, Default)]
pub(crate) struct CommandStats {
    pub(crate) calls: AtomicU64,
    /// Nanoseconds.
    pub(crate) duration_ns: AtomicU64,
    /// Refused before they ran.
    pub(crate) rejected: AtomicU64,
    /// Ran and replied with an error.
    pub(crate) failed: AtomicU64,
}

/// A worker's counts.
#[derive(Default)]
pub(crate) struct Stats {
    pub(crate) commands: Box<[CommandStats]>,
    pub(crate) connections_received: AtomicU64,
    pub(crate) connections_rejected: AtomicU64,
    pub(crate) bytes_in: AtomicU64,
    pub(crate) bytes_out: AtomicU64,
    pub(crate) error_replies: AtomicU64,
    pub(crate) turns: AtomicU64,
    pub(crate) commands_processed: AtomicU64,
    pub(crate) parked: AtomicU64,
    pub(crate) output_limit_closed: AtomicU64,
    pub(crate) query_limit_closed: AtomicU64,
    /// Connections open on this worker.
    pub(crate) connections: AtomicU64,
    /// Connections that wait in a blocking command.
    pub(crate) blocked: AtomicU64,
}

impl Stats {
    /// Counts for `commands` kinds of command.
    pub(crate) fn new(commands: usize) -> Stats {
        Stats {
            commands: (0..commands).map(|_| CommandStats::default()).collect(),
            ..Stats::default()
        }
    }
}

/// Adds to a counter that only this worker writes.
#[inline]
pub(crate) fn add(counter: &AtomicU64, more: u64) {
    Counters::count(counter, more);
}

/// Takes one from a counter that only this worker writes.
pub(crate) fn drop_one(counter: &AtomicU64) {
    counter.store(counter.load(Relaxed).saturating_sub(1), Relaxed);
}
