//! `cargo xtask bench`: what the engine costs without sockets.
//!
//! Instructions of one GET and one SET, counted by callgrind as the difference of two runs, so that
//! start and loading drop out; then the harness's own reports of memory, thread scaling and
//! scripts.

use crate::say;
use std::path::Path;
use std::process::Command;

/// Commands of the two runs; their difference is what is divided by.
const COMMANDS: [u64; 2] = [10_000, 60_000];

/// Builds the harness and prints its figures.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let build = ["build", "--release", "--package", "caudal-harness"];
    output(Command::new(cargo).args(build).current_dir(root))?;
    let harness = root.join("target/release/caudal-harness");
    for command in ["get", "set"] {
        let [few, many] =
            [instructions(&harness, command, 0)?, instructions(&harness, command, 1)?];
        let each = many.saturating_sub(few) / (COMMANDS[1] - COMMANDS[0]);
        say(&format!("{command}: {each} instructions in user space, at pipeline 16"));
    }
    let memory = ["16", "100"].map(|bytes| ["memory", "1000000", bytes]);
    for report in [&memory[0][..], &memory[1], &["scale"], &["scripts"]] {
        say(output(Command::new(&harness).args(report))?.trim_end());
    }
    Ok(())
}

/// Instructions of a run of the harness, start and loading included.
fn instructions(harness: &Path, command: &str, run: usize) -> Result<u64, String> {
    let count = COMMANDS[run].to_string();
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(harness);
    let text = output(valgrind.args(["repeat", command, &count]))?;
    counted(&text).ok_or_else(|| format!("callgrind said nothing of instructions: {text}"))
}

/// The number behind callgrind's `Collected :`.
fn counted(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.contains("Collected"))?;
    line.split_whitespace().last()?.parse().ok()
}

/// What a program says on both its outputs, if it succeeds.
fn output(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let done = command.output().map_err(|error| format!("{name}: {error}"))?;
    let text = [done.stdout, done.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    if done.status.success() { Ok(text) } else { Err(format!("{name}: {}\n{text}", done.status)) }
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn the_count_stands_behind_collected() {
        assert_eq!(counted("==1== \n==1== Collected : 4711\n"), Some(4711));
        assert_eq!(counted("==1== Events : Ir\n"), None);
    }
}
