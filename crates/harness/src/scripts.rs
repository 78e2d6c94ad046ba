//! What scripts cost: with keys that the caller declares and without, on one thread and on two.
//!
//! A script reads and writes one string of the store. Figures are CPU time a script, in turns, so
//! that all patterns meet the same weather.

use crate::load::{self, Load, median, thread_cpu_s};
use std::time::{Duration, Instant};

const KEYS: usize = 100_000;
const ROUNDS: usize = 7;
const WINDOW: Duration = Duration::from_millis(700);
const SCRIPT: &str = "local key = KEYS[1] or ARGV[1] \
    local value = redis.call('GET', key) \
    redis.call('SET', key, value) \
    return #value";

/// Microseconds of CPU a script: `threads` threads, each on its part of the keys.
fn cost_us(threads: usize, declares: bool) -> f64 {
    let part = KEYS / threads;
    let fill = |load: &mut Load| {
        load::fill(load, KEYS, &[b'x'; 100]);
        load.turn(|_, request| load_script(request));
    };
    let figures = load::on_threads(threads, fill, |load, id| {
        // The first window warms up.
        window(load, declares, part * id, part);
        window(load, declares, part * id, part)
    });
    let cpu_s: f64 = figures.iter().map(|figure| figure.0).sum();
    let scripts: f64 = figures.iter().map(|figure| figure.1).sum();
    cpu_s * 1e6 / scripts
}

/// Runs scripts for a window of time: CPU seconds and their number.
fn window(load: &mut Load, declares: bool, first: usize, keys: usize) -> (f64, f64) {
    let sha = sha1_smol::Sha1::from(SCRIPT).digest().to_string();
    let (begin, cpu_s, mut scripts) = (Instant::now(), thread_cpu_s(), 0);
    while begin.elapsed() < WINDOW {
        scripts += load.turn(|load, request| {
            let key = first + load.below(keys);
            let declared = u8::from(declares);
            let text = format!(
                "*4\r\n$7\r\nEVALSHA\r\n$40\r\n{sha}\r\n$1\r\n{declared}\r\n\
                 $16\r\nkey:{key:012}\r\n"
            );
            request.extend_from_slice(text.as_bytes());
        });
    }
    (thread_cpu_s() - cpu_s, scripts as f64)
}

fn load_script(request: &mut Vec<u8>) {
    let head = format!("*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n${}\r\n{SCRIPT}\r\n", SCRIPT.len());
    request.extend_from_slice(head.as_bytes());
}

/// The report.
pub(crate) fn run() -> String {
    let mut figures = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        let declared = cost_us(1, true);
        figures[0].push(declared);
        figures[1].push(cost_us(1, false) / declared);
        figures[2].push(cost_us(2, true) / declared);
    }
    let [declared, undeclared, two] = figures.map(median);
    format!(
        "declared keys {declared:.2} us of CPU a script; undeclared {undeclared:.2} x that; two \
         threads on keys of their own {two:.2} x\n"
    )
}
