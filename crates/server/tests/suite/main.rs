//! Redis's own test suite, those of its units that are quick, run against Caudal.
//!
//! The suite is part of Redis's source, which is no part of this project: `REDIS_SOURCE` names a
//! tree of it, or one stands under `target/redis-suite`, where CI puts it. Without one, or without
//! `tclsh`, the test says so and passes. `known.tsv` has the units, how many of their tests pass,
//! and each test that fails with the reason. What must stay true: a test that fails is in that
//! list, and a test of the list fails, so that neither the list nor the code gets worse unseen.
//!
//! It takes a minute or two, so it is not run with the other tests: `cargo xtask suite`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "../common/mod.rs"]
mod common;

mod known;
mod report;
mod source;

use common::{Server, tell};
use known::{Known, Unit};
use report::Report;
use source::Source;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What is left out: what takes long, what needs replicas, files or eviction, and what asks for the
/// insides of Redis.
const TAGS: &str = "-slow -needs:debug -needs:repl -needs:pfdebug -needs:save \
    -needs:config-maxmemory";
/// Seconds without a word after which the suite gives a unit up.
const SILENCE_SECONDS_MAX: &str = "100";
/// Ports that the suite's own parts of one unit may use.
const PORTS_A_LANE: usize = 500;
const FIRST_PORT: usize = 21_111;

#[test]
#[ignore = "takes a minute: cargo xtask suite"]
fn the_quick_units_of_the_suite_pass() {
    let known = Known::read();
    let source = match Source::find(&known.version) {
        Ok(source) => source,
        Err(reason) => return tell(&format!("skipped: {reason}")),
    };
    let (next, troubles) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let lanes = std::thread::available_parallelism().map_or(1, usize::from).min(4);
    std::thread::scope(|scope| {
        for lane in 0..lanes {
            let (known, source, next, troubles) = (&known, &source, &next, &troubles);
            scope.spawn(move || {
                while let Some(unit) = known.units.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let report = run(source, unit, FIRST_PORT + lane * PORTS_A_LANE);
                    let found = unit.compare(&report);
                    let (passed, failed) = (report.passed.len(), report.failed.len());
                    tell(&format!("{}: {passed} passed, {failed} failed", unit.name));
                    if !found.is_empty() {
                        tell(&report.text);
                    }
                    troubles.lock().unwrap().extend(found);
                }
            });
        }
    });
    let troubles = troubles.into_inner().unwrap();
    assert!(troubles.is_empty(), "\n{}", troubles.join("\n"));
}

/// Runs a unit against a server of its own. One worker: a test that has a script run too long
/// expects every connection to be told so.
fn run(source: &Source, unit: &Unit, base_port: usize) -> Report {
    let server = Server::start(&["--threads", "1", "--enable-debug-command", "yes"]);
    let mut command = Command::new("tclsh");
    command.current_dir(&source.directory).arg("tests/test_helper.tcl");
    command.args(["--host", "127.0.0.1", "--port", &server.port.to_string()]);
    command.args(["--single", &unit.name, "--durable", "--timeout", SILENCE_SECONDS_MAX]);
    command.args(["--baseport", &base_port.to_string()]);
    command.args(["--tags", TAGS, "--ignore-encoding", "--ignore-digest"]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    Report::of(&String::from_utf8_lossy(&output.stdout))
}
