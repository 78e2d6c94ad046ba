//! The access clock: when a record was last used, in the 24 bits that it has for that.

use crate::Millis;
use caudal_table::CLOCK_MASK;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_time_survives_the_wrap_of_the_clock() {
        let before_wrap = 1000 * (u64::from(CLOCK_MASK) - 1);
        assert_eq!(idle_seconds(access_clock(before_wrap), before_wrap + 999), 0);
        assert_eq!(idle_seconds(access_clock(before_wrap), before_wrap + 5000), 5);
    }
}
