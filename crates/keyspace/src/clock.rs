//! The access clock: when or how often a record was used, in the 24 bits that it has for that.
//!
//! Under an LFU policy they are 16 bits of minutes and a counter of 8 bits that grows with the
//! logarithm of the uses and shrinks with time, as in Redis; else they are seconds. When the policy
//! changes, records keep what they had, and it is wrong until they are used again.

use crate::Millis;
use caudal_table::CLOCK_MASK;
use std::cell::Cell;

/// The clock of a moment. Minutes do not suffice for OBJECT IDLETIME; 24 bits of seconds last 194
/// days.
#[inline]
pub fn access_clock(now: Millis) -> u32 {
    u32::try_from((now / 1000) & u64::from(CLOCK_MASK)).expect("24 bits are left")
}

/// Seconds from the moment that `clock` tells to `now`, if less than 194 days lie between.
pub fn idle_seconds(clock: u32, now: Millis) -> u32 {
    access_clock(now).wrapping_sub(clock) & CLOCK_MASK
}

/// What the uses of records leave in their clocks.
#[derive(Clone, Copy, Debug)]
pub struct Usage<'a> {
    /// Whether a use leaves anything: not for CLIENT NO-TOUCH.
    pub counts: bool,
    /// The second of the use.
    pub second: u32,
    /// How uses are counted, under an LFU policy.
    pub frequency: Option<&'a Frequency>,
}

impl<'a> Usage<'a> {
    /// What a use leaves at a moment.
    #[inline]
    pub fn new(counts: bool, now: Millis, frequency: Option<&'a Frequency>) -> Usage<'a> {
        Usage { counts, second: access_clock(now), frequency }
    }

    /// The clock of a record after a use.
    #[inline]
    pub fn used(&self, clock: u32, now: Millis) -> u32 {
        match self.frequency {
            None => self.second,
            Some(frequency) => frequency.used(clock, now),
        }
    }

    /// The clock of a record that is made now.
    #[inline]
    pub fn born(&self, now: Millis) -> u32 {
        match self.frequency {
            None => self.second,
            Some(_) => Frequency::clock(Frequency::BORN, now),
        }
    }
}

/// How uses are counted under an LFU policy.
#[derive(Debug)]
pub struct Frequency {
    /// `lfu-log-factor`: the larger, the more uses until the counter is full.
    log_factor: u32,
    /// `lfu-decay-time`: minutes in which the counter loses one; 0: it loses nothing.
    decay_minutes: u32,
    /// State of the chance by which a use counts.
    chance: Cell<u64>,
}

impl Frequency {
    /// The counter of a new record: it gets some time to be used before it is the least used.
    const BORN: u8 = 5;
    const COUNTER: u32 = 0xff;
    const MINUTES: u32 = 0xffff;

    /// Counting with these parameters, by chances that `seed` fixes.
    pub fn new(log_factor: u32, decay_minutes: u32, seed: u64) -> Frequency {
        Frequency { log_factor, decay_minutes, chance: Cell::new(seed) }
    }

    /// The clock of a record whose counter is `count` now.
    pub fn clock(count: u8, now: Millis) -> u32 {
        minutes(now) << 8 | u32::from(count)
    }

    /// What OBJECT FREQ tells: the counter, less what time has taken from it.
    pub fn count(&self, clock: u32, now: Millis) -> u8 {
        let since = minutes(now).wrapping_sub(clock >> 8) & Self::MINUTES;
        let lost = since.checked_div(self.decay_minutes).unwrap_or(0);
        (clock & Self::COUNTER).saturating_sub(lost) as u8
    }

    #[cold]
    fn used(&self, clock: u32, now: Millis) -> u32 {
        let count = self.count(clock, now);
        let above = u64::from(count.saturating_sub(Self::BORN));
        // One use in `above * log_factor + 1` counts.
        let uses = above * u64::from(self.log_factor) + 1;
        let counts = u128::from(self.next_chance()) * u128::from(uses) < 1 << 64;
        Self::clock(count.saturating_add(u8::from(counts)), now)
    }

    /// The next number of a xorshift generator.
    fn next_chance(&self) -> u64 {
        let mut state = self.chance.get() | 1;
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        self.chance.set(state);
        state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

fn minutes(now: Millis) -> u32 {
    u32::try_from((now / 60_000) & u64::from(Frequency::MINUTES)).expect("16 bits are left")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = 1_800_000_000_000;
    const MINUTE: Millis = 60_000;

    fn after(frequency: &Frequency, uses: u32) -> u8 {
        let mut clock = Frequency::clock(Frequency::BORN, NOW);
        (0..uses).for_each(|_| clock = frequency.used(clock, NOW));
        frequency.count(clock, NOW)
    }

    #[test]
    fn idle_time_survives_the_wrap_of_the_clock() {
        let before_wrap = 1000 * (u64::from(CLOCK_MASK) - 1);
        assert_eq!(idle_seconds(access_clock(before_wrap), before_wrap + 999), 0);
        assert_eq!(idle_seconds(access_clock(before_wrap), before_wrap + 5000), 5);
    }

    #[test]
    fn the_counter_grows_with_the_logarithm_of_the_uses() {
        // Redis's documentation has this table: 100 uses 10, 1000 uses 18, 100 K uses 142, 1 M 255.
        let frequency = Frequency::new(10, 1, 7);
        assert!((8..=13).contains(&after(&frequency, 100)));
        assert!((15..=24).contains(&after(&frequency, 1000)));
        assert!((130..=155).contains(&after(&frequency, 100_000)));
        assert_eq!(after(&frequency, 1_000_000), 255);
        assert_eq!(after(&Frequency::new(0, 1, 7), 200), 205);
    }

    #[test]
    fn the_counter_shrinks_with_time_and_survives_the_wrap_of_its_minutes() {
        let decays = |minutes, past| {
            Frequency::new(10, minutes, 7).count(Frequency::clock(20, NOW), NOW + past * MINUTE)
        };
        assert_eq!([decays(1, 7), decays(1, 21), decays(5, 14), decays(0, 99)], [13, 0, 18, 20]);
        let wrap = MINUTE * 0xffff;
        let frequency = Frequency::new(10, 1, 7);
        assert_eq!(frequency.count(Frequency::clock(9, wrap), wrap + 2 * MINUTE), 7);
    }
}
