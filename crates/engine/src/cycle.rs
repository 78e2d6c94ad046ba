//! The upkeep of a worker: expired keys, idle connections, garbage. Slices of its turns under one
//! budget.
//!
//! Each worker looks after its share of the slots, and sees each of them about once a second.

use crate::engine::Engine;
use crate::rates::Totals;
use crate::stats;
use crate::worker::Worker;
use caudal_keyspace::{Held, Place, Wanted};
use caudal_table::{Mode, SLOTS};
use std::sync::atomic::Ordering::Relaxed;

/// Time between two slices.
const SLICE_US: u64 = 100_000;
/// Slices in which all slots are seen once: a second.
const SLICES: usize = 10;
/// Expiry entries looked at in one slice; if they do not suffice the next slice follows at once.
const KEYS_A_SLICE: usize = 400;
/// Entries of one slot looked at under one taking of its lock: below 100 us.
const KEYS_A_LOCK: usize = 100;

/// Where the upkeep stands.
pub(crate) struct Cycle {
    worker: usize,
    workers: usize,
    next_us: u64,
    /// The slot to look at next, in steps of the number of workers.
    slot: usize,
    /// Slots left in this slice.
    slots_left: usize,
    slices: u64,
    /// The connections that had ceased to track when the last sweep of their marks began.
    swept: u64,
    /// Slots left in that sweep.
    sweep_left: usize,
}

impl Cycle {
    /// The upkeep of `worker` among `workers`.
    pub(crate) fn new(worker: usize, workers: usize) -> Cycle {
        Cycle {
            worker,
            workers,
            next_us: 0,
            slot: worker,
            slots_left: 0,
            slices: 0,
            swept: 0,
            sweep_left: 0,
        }
    }

    /// Whether a slice is due.
    pub(crate) fn is_due(&self, now_us: u64) -> bool {
        now_us >= self.next_us
    }

    /// When the next slice is due.
    pub(crate) fn next_us(&self) -> u64 {
        self.next_us
    }

    fn slots_a_slice(&self) -> usize {
        SLOTS.div_ceil(self.workers * SLICES)
    }

    fn advance(&mut self) {
        self.slot += self.workers;
        if self.slot >= SLOTS {
            self.slot = self.worker;
        }
        self.slots_left -= 1;
    }
}

impl Worker {
    /// Removes the keys, and fields, that the batch's readers found past their expiry. A busy slot
    /// is left to the cycle.
    pub(crate) fn remove_stale(&mut self, engine: &Engine) {
        if self.stale.is_empty() {
            return;
        }
        // Reading alone does not end a field for those who look into what expiry does.
        let stale = self.stale.take(engine.reclaims_expired.load(Relaxed));
        if engine.pause.is_on(self.now.unix_ms) {
            return;
        }
        let counters = &engine.workers[self.id].counters;
        for key in stale {
            let wanted = Wanted { place: key.place, mode: Mode::Exclusive };
            if let Ok(mut held) = Held::one(&engine.keyspace, wanted) {
                let (now, out) = (self.now.unix_ms, (&mut self.effects, &mut self.lost));
                engine.keyspace.reclaim(&mut held, &key, now, counters, out);
            }
        }
    }

    /// Does what is due. Inside a turn, with no lock held.
    pub(crate) fn run_cycle(&mut self, engine: &Engine) {
        self.retry_leaving();
        self.serve_lost(engine);
        self.try_again(engine);
        let more_garbage = !self.garbage.is_empty() && self.free_garbage();
        if !self.cycle.is_due(self.now.monotonic_us) {
            return;
        }
        if engine.pauses_upkeep.load(Relaxed) {
            self.cycle.next_us = self.now.monotonic_us + SLICE_US;
            return;
        }
        if self.cycle.slots_left == 0 {
            self.cycle.slots_left = self.cycle.slots_a_slice();
            self.cycle.slices += 1;
            self.sample(engine);
            if self.cycle.slices.is_multiple_of(SLICES as u64) {
                self.close_idle();
                let has_limit = self.tuning.output_limit.soft_bytes > 0;
                if has_limit || !self.audience.is_empty() {
                    self.close_unread();
                }
            }
        }
        // While clients are paused the data stands still.
        let reclaims = engine.reclaims_expired.load(Relaxed);
        let finished = if reclaims && !engine.pause.is_on(self.now.unix_ms) {
            self.expire_slice_timed(engine)
        } else {
            self.cycle.slots_left = 0;
            true
        };
        let pause = if finished && !more_garbage { SLICE_US } else { 0 };
        self.cycle.next_us = self.now.monotonic_us + pause;
    }

    /// The first worker samples the rates and the memory for all.
    fn sample(&self, engine: &Engine) {
        if self.id != 0 {
            return;
        }
        engine.rates.note_memory(caudal_table::memory::used_bytes());
        engine.rates.add(Totals {
            at_us: self.now.monotonic_us,
            commands: engine.sum(|at| &at.stats.commands_processed),
            bytes_in: engine.sum(|at| &at.stats.bytes_in),
            bytes_out: engine.sum(|at| &at.stats.bytes_out),
            turns: engine.sum(|at| &at.stats.turns),
        });
    }

    /// Reclaims expired keys, notes how long that took, and tells LATENCY if it was long.
    fn expire_slice_timed(&mut self, engine: &Engine) -> bool {
        let threshold_ns = self.tuning.thresholds.latency_ns;
        let started = (engine.environment.nanos)();
        let finished = self.expire_slice(engine);
        let nanos = (engine.environment.nanos)().saturating_sub(started);
        let stats = &engine.workers[self.id].stats;
        stats::add(&stats.expiry_ns, nanos);
        stats::add(&stats.expiry_overruns, u64::from(!finished));
        if nanos >= threshold_ns {
            engine.latency.add("expire-cycle", self.now.unix_ms / 1000, nanos / 1_000_000);
        }
        finished
    }

    /// Reclaims expired keys in the next slots. False: the budget ran out before the slice was
    /// done.
    fn expire_slice(&mut self, engine: &Engine) -> bool {
        let mut budget = KEYS_A_SLICE;
        let databases = u8::try_from(engine.keyspace.databases() - 1).unwrap_or(u8::MAX);
        while self.cycle.slots_left > 0 {
            let slot = u16::try_from(self.cycle.slot).expect("below 16,384");
            for database in 0..=databases {
                if !engine.keyspace.has_database(database) {
                    continue;
                }
                loop {
                    let place = Place { database, slot };
                    let looked = engine.keyspace.expire(
                        place,
                        self.now.unix_ms,
                        KEYS_A_LOCK,
                        &engine.workers[self.id].counters,
                        (&mut self.effects, &mut self.lost),
                    );
                    budget = budget.saturating_sub(looked);
                    if budget == 0 {
                        return false;
                    }
                    if looked < KEYS_A_LOCK {
                        break;
                    }
                }
            }
            self.sweep_trackers(engine, self.cycle.slot);
            self.cycle.advance();
        }
        true
    }

    /// Takes away the marks in a slot of connections that track no more, and those beyond
    /// `tracking-table-max-keys`.
    fn sweep_trackers(&mut self, engine: &Engine, slot: usize) {
        let ended = engine.pubsub.ended_trackers.load(Relaxed);
        if self.cycle.swept != ended {
            self.cycle.swept = ended;
            self.cycle.sweep_left = SLOTS.div_ceil(self.cycle.workers);
        }
        let keys = engine.pubsub.interest.keys.load(Relaxed);
        let keys_max = self.tuning.config.clients.tracking_keys_max.unwrap_or(usize::MAX);
        if self.cycle.sweep_left == 0 && keys <= keys_max {
            return;
        }
        self.cycle.sweep_left = self.cycle.sweep_left.saturating_sub(1);
        let slot = u16::try_from(slot).expect("below 16,384");
        for database in 0..engine.keyspace.databases() {
            let database = u8::try_from(database).expect("at most 256 databases");
            let place = Place { database, slot };
            if engine.keyspace.has_database(database) {
                engine.keyspace.sweep_trackers(place, keys_max, &self.effects.news);
            }
        }
    }
}
