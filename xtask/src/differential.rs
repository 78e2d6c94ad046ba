//! Caudal beside a reference server: the same random commands, the same replies.
//!
//! The work is a test of the server (`crates/server/tests/differential`), which finds the
//! reference, starts both and shrinks what differs; here it is asked for more than it does by
//! itself, and heard while it runs.

use crate::ci::finish;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// Each command more than a hundred times, in well under a minute.
const OPERATIONS_IN_CI: &str = "20000";
/// The same commands each time: a change that breaks nothing fails no check.
const SEED_IN_CI: &str = "1";

/// What `cargo xtask ci` runs. Without a reference it says so and passes.
pub(crate) fn in_ci(root: &Path) -> Result<(), String> {
    run(root, &[OPERATIONS_IN_CI, SEED_IN_CI])
}

/// `arguments`: operations, and the seed; without one they are others each time.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<(), String> {
    let fresh = || {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        now.as_millis().to_string()
    };
    let (operations, seed) = match arguments {
        [] => (OPERATIONS_IN_CI, fresh()),
        [operations] => (*operations, fresh()),
        [operations, seed] => (*operations, (*seed).to_owned()),
        _ => return Err("usage: cargo xtask differential [OPERATIONS [SEED]]".to_owned()),
    };
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(root).env("CAUDAL_OPERATIONS", operations).env("CAUDAL_SEED", seed);
    command.args(["test", "--quiet", "--package", "caudal", "--test", "differential"]);
    command.args(["--", "--nocapture"]);
    finish(&mut command)
}
