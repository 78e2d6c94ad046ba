//! One worker's counts of the keyspace, summed over the workers when somebody asks.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

/// At most this many databases: SELECT takes a byte.
pub(crate) const DATABASES_MAX: usize = 256;

/// Written by one worker, read by all: plain loads and stores, no locked instruction.
pub struct Counters {
    /// Change of the number of keys that this worker brought about, by database.
    keys: Box<[AtomicI64]>,
    /// The same for keys that have an expiry.
    volatile: Box<[AtomicI64]>,
    /// The same for hashes of which a field has a moment.
    timed: Box<[AtomicI64]>,
    /// Keys that expired.
    pub expired: AtomicU64,
    /// Fields of hashes that ended.
    pub expired_fields: AtomicU64,
    /// Reads that found their key.
    pub hits: AtomicU64,
    /// Reads that did not.
    pub misses: AtomicU64,
}

impl Default for Counters {
    fn default() -> Counters {
        let zeros = || (0..DATABASES_MAX).map(|_| AtomicI64::new(0)).collect();
        Counters {
            keys: zeros(),
            volatile: zeros(),
            timed: zeros(),
            expired: AtomicU64::new(0),
            expired_fields: AtomicU64::new(0),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        }
    }
}

impl Counters {
    /// Adds one to `counter`, which only this worker writes.
    #[inline]
    pub fn count(counter: &AtomicU64, more: u64) {
        counter.store(counter.load(Relaxed).wrapping_add(more), Relaxed);
    }

    /// Sets what RESETSTAT resets to zero; the numbers of keys stay. Its worker does not run.
    pub fn reset(&self) {
        for counter in self.resettable() {
            counter.store(0, Relaxed);
        }
    }

    /// What RESETSTAT resets, to be put back by [`Counters::restore`].
    pub fn statistics(&self) -> [u64; 4] {
        self.resettable().map(|counter| counter.load(Relaxed))
    }

    /// Puts back what RESETSTAT resets: the commands since then run again.
    pub fn restore(&self, statistics: [u64; 4]) {
        for (counter, value) in self.resettable().iter().zip(statistics) {
            counter.store(value, Relaxed);
        }
    }

    fn resettable(&self) -> [&AtomicU64; 4] {
        [&self.expired, &self.expired_fields, &self.hits, &self.misses]
    }

    /// Notes that a database has so many more (or fewer) keys, volatile ones and timed hashes.
    #[inline]
    pub(crate) fn add(&self, database: u8, keys: i64, volatile: i64, timed: i64) {
        let add = |cell: &AtomicI64, more: i64| cell.store(cell.load(Relaxed) + more, Relaxed);
        if keys != 0 {
            add(&self.keys[usize::from(database)], keys);
        }
        if volatile != 0 {
            add(&self.volatile[usize::from(database)], volatile);
        }
        if timed != 0 {
            add(&self.timed[usize::from(database)], timed);
        }
    }
}

/// The sum over workers, for one database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Keys, expired ones not yet reclaimed included.
    pub keys: u64,
    /// Keys that have an expiry.
    pub volatile: u64,
    /// Hashes of which a field has a moment.
    pub timed: u64,
}

impl Totals {
    /// Sums `workers`' counts of `database`.
    pub fn of<'a>(workers: impl Iterator<Item = &'a Counters>, database: u8) -> Totals {
        let (mut keys, mut volatile, mut timed) = (0, 0, 0);
        for worker in workers {
            keys += worker.keys[usize::from(database)].load(Relaxed);
            volatile += worker.volatile[usize::from(database)].load(Relaxed);
            timed += worker.timed[usize::from(database)].load(Relaxed);
        }
        let positive = |sum: i64| u64::try_from(sum).unwrap_or(0);
        Totals { keys: positive(keys), volatile: positive(volatile), timed: positive(timed) }
    }
}
