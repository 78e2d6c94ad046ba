//! How fast things go at the moment: INFO's `instantaneous_` figures, and the peak of used memory.
//!
//! The first worker's upkeep takes a sample ten times a second; asking computes the mean of the
//! last ones.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Samples that a figure is the mean of: 1.6 seconds.
const SAMPLES: usize = 16;

/// Running totals at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    /// Microseconds of the monotonic clock.
    pub(crate) at_us: u64,
    pub(crate) commands: u64,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
    pub(crate) turns: u64,
}

/// What is computed from two samples: amounts a second.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rate {
    pub(crate) commands: u64,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
    pub(crate) turns: u64,
}

/// The last samples.
#[derive(Debug, Default)]
pub(crate) struct Rates {
    samples: Mutex<([Totals; SAMPLES], usize)>,
    memory_peak: AtomicU64,
}

impl Rates {
    /// Takes a sample.
    pub(crate) fn add(&self, totals: Totals) {
        let mut samples = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
        let (ring, taken) = &mut *samples;
        ring[*taken % SAMPLES] = totals;
        *taken += 1;
    }

    /// The mean over the last samples.
    pub(crate) fn rate(&self) -> Rate {
        let samples = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
        let (ring, taken) = &*samples;
        if *taken < 2 {
            return Rate::default();
        }
        let newest = ring[(taken - 1) % SAMPLES];
        let oldest = if *taken < SAMPLES { ring[0] } else { ring[taken % SAMPLES] };
        let micros = newest.at_us.saturating_sub(oldest.at_us).max(1);
        let rate = |new: u64, old: u64| new.saturating_sub(old).saturating_mul(1_000_000) / micros;
        Rate {
            commands: rate(newest.commands, oldest.commands),
            bytes_in: rate(newest.bytes_in, oldest.bytes_in),
            bytes_out: rate(newest.bytes_out, oldest.bytes_out),
            turns: rate(newest.turns, oldest.turns),
        }
    }

    /// Forgets all samples: the totals begin anew. The peak of memory stays, as in Redis.
    pub(crate) fn reset(&self) {
        *self.samples.lock().unwrap_or_else(PoisonError::into_inner) = Default::default();
    }

    /// Notes that `bytes` are in use, and gives the most that was ever seen.
    pub(crate) fn note_memory(&self, bytes: u64) -> u64 {
        self.memory_peak.fetch_max(bytes, Relaxed).max(bytes)
    }
}
