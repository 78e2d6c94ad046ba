//! A clock cheap enough to read once a command: nanoseconds since its first use.
//!
//! Where the processor's time stamp counter runs at one rate whatever the processor does (it says
//! so itself), reading it takes some 10 ns, a quarter of the system's clock. Elsewhere the system's
//! clock is read. What must stay true: it only goes forward on one thread, up to the rounding of
//! the rate; nothing but statistics depends on it.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// How long the counter's rate is measured: one part in some ten thousand.
const CALIBRATION: Duration = Duration::from_millis(2);

/// Fractional bits of the rate.
const RATE_BITS: u32 = 32;

struct Clock {
    start: Instant,
    counter: Option<Counter>,
}

/// The processor's counter.
struct Counter {
    start: u64,
    /// Nanoseconds a tick, with `RATE_BITS` fractional bits.
    rate: u64,
}

static CLOCK: LazyLock<Clock> =
    LazyLock::new(|| Clock { start: Instant::now(), counter: measure() });

/// Nanoseconds since the first call in this process, which takes some milliseconds.
#[inline]
pub fn nanos() -> u64 {
    let clock = &*CLOCK;
    match &clock.counter {
        Some(counter) => {
            let ticks = u128::from(read().wrapping_sub(counter.start));
            u64::try_from((ticks * u128::from(counter.rate)) >> RATE_BITS).unwrap_or(u64::MAX)
        }
        None => u64::try_from(clock.start.elapsed().as_nanos()).unwrap_or(u64::MAX),
    }
}

fn measure() -> Option<Counter> {
    if !is_invariant() {
        return None;
    }
    let (begin, start) = (Instant::now(), read());
    while begin.elapsed() < CALIBRATION {
        std::hint::spin_loop();
    }
    let ticks = read().checked_sub(start).filter(|ticks| *ticks > 0)?;
    let rate = (begin.elapsed().as_nanos() << RATE_BITS) / u128::from(ticks);
    Some(Counter { start, rate: u64::try_from(rate).ok()? })
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn read() -> u64 {
    // SAFETY: every processor of this architecture has the instruction, and Linux allows it to
    // programs.
    unsafe { std::arch::x86_64::_rdtsc() }
}

#[cfg(target_arch = "x86_64")]
fn is_invariant() -> bool {
    // The leaf of the power management features, and its bit for a counter of constant rate.
    const LEAF: u32 = 0x8000_0007;
    const INVARIANT: u32 = 1 << 8;
    std::arch::x86_64::__cpuid(0x8000_0000).eax >= LEAF
        && std::arch::x86_64::__cpuid(LEAF).edx & INVARIANT != 0
}

#[cfg(not(target_arch = "x86_64"))]
fn read() -> u64 {
    0
}

#[cfg(not(target_arch = "x86_64"))]
fn is_invariant() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_forward_about_as_fast_as_the_system_clock() {
        let (begin, first) = (Instant::now(), nanos());
        std::thread::sleep(Duration::from_millis(20));
        let (passed, counted) = (begin.elapsed().as_nanos(), u128::from(nanos() - first));
        // Both were read at slightly different moments of a machine that may be busy.
        assert!(counted * 2 > passed.min(20_000_000), "{counted} of {passed}");
        assert!(counted < passed * 2, "{counted} of {passed}");
    }
}
