//! Redis's own test suite: the units of it that are quick, against Caudal.
//!
//! The work is a test of the server (`crates/server/tests/suite`), which finds the suite, runs it
//! and knows what fails; it takes longer than the tests that all others are run with.

use crate::ci::finish;
use std::path::Path;
use std::process::Command;

/// Without the suite's source it says so and passes.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(root);
    command.args(["test", "--quiet", "--package", "caudal", "--test", "suite"]);
    command.args(["--", "--ignored", "--nocapture"]);
    finish(&mut command)
}
