//! The longest turns of a worker while a store grows, in CPU time of its thread.

use crate::load::{self, Load};
use rustix::time::{ClockId, clock_gettime};

/// Upper ends of the histogram's buckets, in microseconds.
const BUCKETS_US: [u64; 12] = [25, 50, 75, 100, 150, 200, 300, 400, 600, 1000, 2000, u64::MAX];

fn thread_cpu_us() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec.unsigned_abs() * 1_000_000 + time.tv_nsec.unsigned_abs() / 1000
}

/// Inserts `keys` keys, one client's pipeline of 16 a turn, and reports the turns' times.
pub(crate) fn run(keys: usize) -> String {
    let mut load = Load::alone(&load::engine(1));
    let (mut counts, mut longest, mut next) = ([0_u64; BUCKETS_US.len()], Vec::new(), 0);
    while next < keys {
        let begin = thread_cpu_us();
        load.turn(|_, request| {
            load::set(request, next, b"value");
            next += 1;
        });
        let took = thread_cpu_us() - begin;
        let bucket = BUCKETS_US.iter().position(|end| took <= *end).unwrap_or_default();
        counts[bucket] += 1;
        longest.push(took);
        if longest.len() > 4096 {
            longest.sort_unstable_by(|a, b| b.cmp(a));
            longest.truncate(10);
        }
    }
    longest.sort_unstable_by(|a, b| b.cmp(a));
    longest.truncate(10);
    let mut report = format!("{keys} keys, turns of 16 insertions, microseconds of CPU\n");
    for (end, count) in BUCKETS_US.iter().zip(counts) {
        let end = if *end == u64::MAX { "more".to_owned() } else { format!("<= {end}") };
        report.push_str(&format!("{end:>8} {count}\n"));
    }
    report.push_str(&format!("longest {longest:?}\n"));
    report
}
