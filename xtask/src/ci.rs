//! All checks in the order in which they fail fastest.

use crate::{differential, say, suite, tidy};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Runs every check; the first failure ends it.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    step("format", || cargo(root, &["fmt", "--all", "--check"]))?;
    step("tidy", || tidy::run(root))?;
    step("lints", || {
        cargo(root, &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
    })?;
    step("documentation", || {
        let mut command = cargo_command(root, &["doc", "--workspace", "--no-deps"]);
        command.env("RUSTDOCFLAGS", "-D warnings");
        finish(&mut command)
    })?;
    step("differential", || differential::in_ci(root))?;
    step("suite", || suite::run(root))?;
    // Last, so that the summary of all tests is what the output ends with.
    say("== tests");
    tests(root)
}

fn step(name: &str, check: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    say(&format!("== {name}"));
    let start = Instant::now();
    check().map_err(|message| format!("{message}\n{name} failed"))?;
    say(&format!("== {name} passed in {} s", start.elapsed().as_secs()));
    Ok(())
}

/// nextest runs the tests of all crates side by side; documentation examples are cargo's own.
fn tests(root: &Path) -> Result<(), String> {
    let has_nextest = cargo_command(root, &["nextest", "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if has_nextest {
        cargo(root, &["test", "--quiet", "--workspace", "--doc"])?;
        return cargo(root, &["nextest", "run", "--workspace", "--no-fail-fast"]);
    }
    cargo(root, &["test", "--quiet", "--workspace", "--no-fail-fast"])
}

fn cargo(root: &Path, arguments: &[&str]) -> Result<(), String> {
    finish(&mut cargo_command(root, arguments))
}

fn cargo_command(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(root).args(arguments);
    command
}

/// Runs `command` to its end.
pub(crate) fn finish(command: &mut Command) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?}: {status}")),
        Err(error) => Err(format!("{command:?}: {error}")),
    }
}
