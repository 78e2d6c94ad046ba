//! What LATENCY remembers: events that took longer than `latency-monitor-threshold`, a few of each
//! kind.
//!
//! Beside the path of a command: only what passes the threshold comes here.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Seconds of one kind of event that are remembered, as in Valkey.
const SAMPLES_MAX: usize = 160;

/// One second with an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// Unix seconds.
    pub(crate) at: u64,
    /// The longest event of that second.
    pub(crate) millis: u64,
}

/// One kind of event.
#[derive(Debug, Default)]
pub(crate) struct Series {
    /// The newest last.
    pub(crate) samples: VecDeque<Sample>,
    /// The longest since the last reset.
    pub(crate) worst_millis: u64,
    /// Sum and number of all since the last reset.
    pub(crate) sum_millis: u64,
    pub(crate) count: u64,
}

/// All kinds of events, by name.
#[derive(Debug, Default)]
pub(crate) struct Monitor {
    series: Mutex<BTreeMap<&'static str, Series>>,
}

impl Monitor {
    /// The events so far.
    pub(crate) fn series(&self) -> MutexGuard<'_, BTreeMap<&'static str, Series>> {
        self.series.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes an event that took `millis`, at the Unix second `at`.
    pub(crate) fn add(&self, event: &'static str, at: u64, millis: u64) {
        let mut series = self.series();
        let series = series.entry(event).or_default();
        series.worst_millis = series.worst_millis.max(millis);
        series.sum_millis += millis;
        series.count += 1;
        match series.samples.back_mut() {
            Some(last) if last.at == at => last.millis = last.millis.max(millis),
            _ => series.samples.push_back(Sample { at, millis }),
        }
        if series.samples.len() > SAMPLES_MAX {
            series.samples.pop_front();
        }
    }
}
