//! The project's chores, in Rust instead of shell: `cargo xtask ci`, `tidy`, `differential`.
//!
//! `ci` is the one command that must pass before a change is merged; the others are its parts.
//! What must stay true: this program needs nothing but the toolchain and, where it says so, Python
//! and a reference server.
#![forbid(unsafe_code)]

mod bench;
mod ci;
mod differential;
mod fuzz;
mod suite;
mod tidy;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask CHORE

  ci             all checks: format, lints, tidy, tests, documentation, differential
  tidy           what the compiler does not check: see CONTRIBUTING.md
  bench          what the engine costs: instructions (valgrind), memory, thread scaling
  differential   random commands, compared with a reference server: [OPERATIONS [SEED]]
  fuzz           a fuzz target: [TARGET [SECONDS]]; needs cargo-fuzz and a C++ compiler
  suite          the quick units of Redis's own test suite
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["ci"] => ci::run(&root()),
        ["tidy"] => tidy::run(&root()),
        ["bench"] => bench::run(&root()),
        ["suite"] => suite::run(&root()),
        ["fuzz", ref rest @ ..] => fuzz::run(&root(), rest),
        ["differential", ref rest @ ..] => differential::run(&root(), rest),
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            say(&message);
            ExitCode::FAILURE
        }
    }
}

/// The workspace's directory. Asked of cargo at run time: work trees may share a target directory.
fn root() -> PathBuf {
    let built_in = || PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let own = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(built_in, PathBuf::from);
    own.parent().expect("xtask stands in the workspace").to_owned()
}

/// Writes a line for the person at the terminal.
fn say(line: &str) {
    // Nobody is left to be told that the terminal is gone.
    let _ = writeln!(std::io::stderr(), "{line}");
}
