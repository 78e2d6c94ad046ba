//! A fuzz target of `fuzz/` for some seconds: built with coverage, debug assertions and checks of
//! overflow, on whatever compiler is there.
//!
//! It needs `cargo install cargo-fuzz` and a C++ compiler, for libFuzzer. Not part of `ci`: a build
//! of the engine with coverage takes minutes.

use crate::ci::finish;
use std::path::Path;
use std::process::Command;

const TARGET: &str = "commands";
/// Long enough to see that it runs; what is hidden deeper wants hours.
const SECONDS: &str = "60";

/// `arguments`: the target, and the seconds.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<(), String> {
    let (target, seconds) = match arguments {
        [] => (TARGET, SECONDS),
        [target] => (*target, SECONDS),
        [target, seconds] => (*target, *seconds),
        _ => return Err("usage: cargo xtask fuzz [TARGET [SECONDS]]".to_owned()),
    };
    let mut command = Command::new(env!("CARGO"));
    // The sanitizers want a nightly compiler; coverage does not, once it is let use its options.
    command.current_dir(root).env("RUSTC_BOOTSTRAP", "1");
    command.args(["fuzz", "run", "--sanitizer", "none", target, "--"]);
    command.arg(format!("-max_total_time={seconds}"));
    // No input may take seconds or hundreds of megabytes. Inputs of any length from the start: at
    // the engine's rate of runs they would stay shorter than one command for many minutes.
    command.args(["-timeout=20", "-rss_limit_mb=2048", "-max_len=4096", "-len_control=0"]);
    command.arg("-print_final_stats=1");
    finish(&mut command)
}
