//! One worker's statistics: written by it alone, read by whoever asks.
//!
//! Beside the path of every command. What must stay true: only the owner adds to a counter;
//! RESETSTAT sets them to zero at the gate, when no owner runs.

use caudal_keyspace::Counters;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Buckets of a latency histogram within one power of two: a duration is known to 6 %.
const BUCKETS_AN_OCTAVE: usize = 16;
/// Octaves that a histogram tells apart: up to nine minutes; what is longer counts as that.
const OCTAVES: usize = 36;
/// Kinds of error that are counted apart, as in Valkey: a script can make up any number of them.
const ERROR_KINDS_MAX: usize = 128;
/// Counts the errors of all further kinds.
const ERROR_KINDS_OVERFLOW: &str = "ERRORSTATS_OVERFLOW";
/// Longest kind of an error that is told apart; a longer first word is no code.
const ERROR_KIND_BYTES_MAX: usize = 64;

/// How long the calls of one command took.
#[derive(Debug)]
pub(crate) struct Histogram {
    buckets: Box<[AtomicU64]>,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { buckets: (0..OCTAVES * BUCKETS_AN_OCTAVE).map(|_| AtomicU64::new(0)).collect() }
    }
}

impl Histogram {
    /// Counts a call.
    #[inline]
    pub(crate) fn record(&self, nanos: u64) {
        add(&self.buckets[bucket_of(nanos)], 1);
    }

    /// Adds this histogram's counts to `sums`.
    pub(crate) fn add_to(&self, sums: &mut Latencies) {
        sums.0.resize(self.buckets.len(), 0);
        for (sum, bucket) in sums.0.iter_mut().zip(&self.buckets) {
            *sum += bucket.load(Relaxed);
        }
    }

    fn reset(&self) {
        self.buckets.iter().for_each(|bucket| bucket.store(0, Relaxed));
    }
}

/// Histograms of several workers, summed.
#[derive(Debug, Default)]
pub(crate) struct Latencies(Vec<u64>);

impl Latencies {
    /// Number of calls.
    pub(crate) fn calls(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The duration, in nanoseconds, that `percent` of the calls did not pass; 0 without calls.
    pub(crate) fn percentile(&self, percent: f64) -> u64 {
        let calls = self.calls();
        #[allow(clippy::cast_possible_truncation, reason = "between zero and the number of calls")]
        let rank = ((percent / 100.0 * calls as f64).ceil() as u64).clamp(1, calls.max(1));
        let mut seen = 0;
        let found = self.0.iter().position(|count| {
            seen += count;
            seen >= rank
        });
        found.map_or(0, bucket_end)
    }

    /// The calls that took at most 2^n * 1024 ns, for each n from the first such bound that some
    /// call meets to the first that all meet: LATENCY HISTOGRAM's pairs of microseconds and a count
    /// that only grows.
    pub(crate) fn by_microseconds(&self) -> Vec<(u64, u64)> {
        /// 2^10 ns stand for a microsecond.
        const FIRST_BOUND_BITS: usize = 10;
        let (calls, mut pairs, mut before) = (self.calls(), Vec::new(), 0);
        let last_bound_bits = OCTAVES + BUCKETS_AN_OCTAVE.ilog2() as usize - 1;
        for bits in FIRST_BOUND_BITS..=last_bound_bits {
            let bound = 1_u64 << bits;
            let within = self.0.iter().enumerate().take_while(|(at, _)| bucket_end(*at) <= bound);
            let sum = within.map(|(_, count)| count).sum();
            if sum > before {
                pairs.push((bound / 1000, sum));
                before = sum;
            }
            if sum == calls {
                break;
            }
        }
        pairs
    }
}

/// The bucket of a duration: its highest bits, as a floating-point number has them.
#[inline]
fn bucket_of(nanos: u64) -> usize {
    const BITS: u32 = BUCKETS_AN_OCTAVE.ilog2();
    // The first octaves are too narrow to be cut in sixteen: there a bucket is a nanosecond.
    let octave = (nanos | BUCKETS_AN_OCTAVE as u64).ilog2() - BITS;
    #[allow(clippy::cast_possible_truncation, reason = "below 32 after the shift")]
    let within = (nanos >> octave) as usize;
    (octave as usize * BUCKETS_AN_OCTAVE + within).min(OCTAVES * BUCKETS_AN_OCTAVE - 1)
}

/// The longest duration in a bucket.
fn bucket_end(bucket: usize) -> u64 {
    if bucket < 2 * BUCKETS_AN_OCTAVE {
        return bucket as u64;
    }
    let octave = bucket / BUCKETS_AN_OCTAVE - 1;
    let within = (bucket % BUCKETS_AN_OCTAVE + BUCKETS_AN_OCTAVE) as u64;
    ((within + 1) << octave) - 1
}

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
    /// Made at the first call: most commands are never called.
    latencies: OnceLock<Histogram>,
}

impl CommandStats {
    /// Where to record how long a call took.
    #[inline]
    pub(crate) fn latencies(&self) -> &Histogram {
        self.latencies.get_or_init(Histogram::default)
    }

    /// How long the calls took, if there was one.
    pub(crate) fn known_latencies(&self) -> Option<&Histogram> {
        self.latencies.get()
    }
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
    /// Times that bytes came from a socket, and went to one.
    pub(crate) reads: AtomicU64,
    pub(crate) writes: AtomicU64,
    /// Time spent on reclaiming expired keys, and how often that had to go on in the next slice.
    pub(crate) expiry_ns: AtomicU64,
    pub(crate) expiry_overruns: AtomicU64,
    /// Keys whose memory was freed some time after they were gone.
    pub(crate) freed_later: AtomicU64,
    pub(crate) output_limit_closed: AtomicU64,
    pub(crate) query_limit_closed: AtomicU64,
    /// Wrong passwords and users.
    pub(crate) auth_refused: AtomicU64,
    /// Certificates that name no enabled user.
    pub(crate) certificates_refused: AtomicU64,
    /// Commands that a user may not run, by what is forbidden.
    pub(crate) commands_denied: AtomicU64,
    pub(crate) keys_denied: AtomicU64,
    pub(crate) channels_denied: AtomicU64,
    pub(crate) databases_denied: AtomicU64,
    /// Changes of keys: a gauge of work not saved, so RESETSTAT leaves it.
    pub(crate) changes: AtomicU64,
    /// Connections open on this worker.
    pub(crate) connections: AtomicU64,
    /// Connections that wait in a blocking command.
    pub(crate) blocked: AtomicU64,
    errors: Mutex<HashMap<Box<str>, u64>>,
}

impl Stats {
    /// Counts for `commands` kinds of command.
    pub(crate) fn new(commands: usize) -> Stats {
        Stats {
            commands: (0..commands).map(|_| CommandStats::default()).collect(),
            ..Stats::default()
        }
    }

    /// Counts an error reply, in all and by its code.
    pub(crate) fn count_error(&self, text: &[u8]) {
        add(&self.error_replies, 1);
        let code = text.split(|byte| *byte == b' ').next();
        let code = code.filter(|code| code.len() <= ERROR_KIND_BYTES_MAX);
        let code = code.and_then(|code| std::str::from_utf8(code).ok()).unwrap_or("ERR");
        let mut errors = self.errors();
        if let Some(count) = errors.get_mut(code) {
            *count += 1;
            return;
        }
        let code = if errors.len() < ERROR_KINDS_MAX { code } else { ERROR_KINDS_OVERFLOW };
        *errors.entry(code.into()).or_default() += 1;
    }

    /// The errors by code. Its worker takes the lock for each error reply, others for INFO.
    pub(crate) fn errors(&self) -> MutexGuard<'_, HashMap<Box<str>, u64>> {
        self.errors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets to zero what RESETSTAT resets. The worker does not run.
    pub(crate) fn reset(&self) {
        for command in &self.commands {
            for counter in
                [&command.calls, &command.duration_ns, &command.rejected, &command.failed]
            {
                counter.store(0, Relaxed);
            }
            command.known_latencies().inspect(|histogram| histogram.reset());
        }
        let counters = [
            &self.connections_received,
            &self.connections_rejected,
            &self.bytes_in,
            &self.bytes_out,
            &self.error_replies,
            &self.turns,
            &self.commands_processed,
            &self.parked,
            &self.reads,
            &self.writes,
            &self.expiry_ns,
            &self.expiry_overruns,
            &self.freed_later,
            &self.output_limit_closed,
            &self.query_limit_closed,
            &self.auth_refused,
            &self.certificates_refused,
            &self.commands_denied,
            &self.keys_denied,
            &self.channels_denied,
            &self.databases_denied,
        ];
        counters.iter().for_each(|counter| counter.store(0, Relaxed));
        self.errors().clear();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_duration_falls_into_a_bucket_that_ends_close_above_it() {
        let mut last = 0;
        for shift in 3..=OCTAVES + 2 {
            for more in [0, 1, 3] {
                let nanos = (1_u64 << shift) + (more << (shift - 3));
                let bucket = bucket_of(nanos);
                assert!(bucket >= last, "{nanos}");
                last = bucket;
                if nanos < 1 << OCTAVES {
                    let end = bucket_end(bucket);
                    assert!(end >= nanos && end <= nanos + nanos / 16, "{nanos} {end}");
                }
            }
        }
        assert_eq!(bucket_of(u64::MAX), OCTAVES * BUCKETS_AN_OCTAVE - 1);
    }

    #[test]
    fn percentiles_and_powers_of_two_count_all_calls() {
        let histogram = Histogram::default();
        (0..90).for_each(|_| histogram.record(900));
        (0..10).for_each(|_| histogram.record(100_000));
        let mut sums = Latencies::default();
        histogram.add_to(&mut sums);
        assert_eq!(sums.calls(), 100);
        assert!((900..960).contains(&sums.percentile(50.0)));
        assert!((100_000..107_000).contains(&sums.percentile(99.0)));
        assert_eq!(sums.by_microseconds(), [(1, 90), (131, 100)]);
    }

    #[test]
    fn kinds_of_errors_are_bounded() {
        let stats = Stats::new(0);
        (0..1000).for_each(|kind| stats.count_error(format!("E{kind} text").as_bytes()));
        stats.count_error(b"E1 again");
        assert_eq!(stats.errors().len(), ERROR_KINDS_MAX + 1);
        assert_eq!(stats.errors()["E1"], 2);
        assert_eq!(stats.errors()[ERROR_KINDS_OVERFLOW], 872);
    }
}
