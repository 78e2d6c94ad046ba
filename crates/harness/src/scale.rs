//! Two threads of one process beside two processes of one thread, in operations a CPU second, in
//! turns.

use crate::load::{self, Load, median, thread_cpu_s};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const KEYS: usize = 1_000_000;
const ROUNDS: usize = 5;
const WINDOW: Duration = Duration::from_millis(1000);
const VALUE: [u8; 100] = [b'x'; 100];

/// What one thread did.
#[derive(Clone, Copy, Default)]
struct Work {
    operations: f64,
    cpu_s: f64,
    wall_s: f64,
}

/// Which keys the threads use.
#[derive(Clone, Copy)]
enum Pattern {
    /// Each its own half.
    Disjoint,
    /// All of them, at random.
    Uniform,
    /// One key, read nine times of ten.
    Hot,
}

/// Works for one window: reads and writes in equal parts, but on the hot key.
fn work(load: &mut Load, pattern: Pattern, half: usize) -> Work {
    let (begin, cpu, mut operations) = (Instant::now(), thread_cpu_s(), 0);
    while begin.elapsed() < WINDOW {
        operations += load.turn(|load, request| {
            let (key, writes) = match pattern {
                Pattern::Disjoint => (load.below(KEYS / 2) + half * KEYS / 2, 2),
                Pattern::Uniform => (load.below(KEYS), 2),
                Pattern::Hot => (0, 10),
            };
            if load.below(writes) == 0 {
                load::set(request, key, &VALUE);
            } else {
                load::get(request, key);
            }
        });
    }
    Work {
        operations: operations as f64,
        cpu_s: thread_cpu_s() - cpu,
        wall_s: begin.elapsed().as_secs_f64(),
    }
}

/// One process with `threads` threads on one store, `ROUNDS` windows; the last of them count.
fn process(threads: usize, pattern: Pattern) -> Vec<Work> {
    let fill = |load: &mut Load| load::fill(load, KEYS, &VALUE);
    load::on_threads(threads, fill, |load, id| {
        work(load, pattern, id % 2);
        work(load, pattern, id % 2)
    })
}

/// What the child process of [`run`] does: one thread, its figures on standard output.
pub(crate) fn child(pattern: &str) -> String {
    let work = process(1, named(pattern));
    work.iter().map(|at| format!("{} {} {}\n", at.operations, at.cpu_s, at.wall_s)).collect()
}

fn named(pattern: &str) -> Pattern {
    match pattern {
        "disjoint" => Pattern::Disjoint,
        "uniform" => Pattern::Uniform,
        _ => Pattern::Hot,
    }
}

fn children(pattern: &str, count: usize) -> Vec<Work> {
    let program = std::env::current_exe().expect("the running program has a path");
    let spawn = |_| {
        Command::new(&program)
            .args(["scale-child", pattern])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program can be started again")
    };
    let running: Vec<_> = (0..count).map(spawn).collect();
    let figures = running.into_iter().map(|child| {
        let output = child.wait_with_output().expect("the child ends");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut numbers = text.split_whitespace().filter_map(|word| word.parse().ok());
        let mut next = || numbers.next().unwrap_or(0.0);
        Work { operations: next(), cpu_s: next(), wall_s: next() }
    });
    figures.collect()
}

fn per_cpu(work: &[Work]) -> f64 {
    work.iter().map(|at| at.operations).sum::<f64>() / work.iter().map(|at| at.cpu_s).sum::<f64>()
}

fn per_second(work: &[Work]) -> f64 {
    work.iter().map(|at| at.operations / at.wall_s).sum()
}

/// The report of all patterns.
pub(crate) fn run() -> String {
    let mut report = String::new();
    for name in ["disjoint", "uniform", "hot"] {
        let (mut ratios, mut threads_cpu, mut wall) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let apart = children(name, 2);
            let together = process(2, named(name));
            let alone = children(name, 1);
            ratios.push(per_cpu(&together) / per_cpu(&apart));
            threads_cpu.push(per_cpu(&together));
            wall.push(per_second(&together) / per_second(&alone));
        }
        report.push_str(&format!(
            "{name:9} two threads {:.0} ops/cpu-s, {:.3} of two processes; {:.2} x the ops/s of \
             one thread\n",
            median(threads_cpu),
            median(ratios),
            median(wall)
        ));
    }
    report
}
