//! Measures the engine without sockets: RESP bytes in, reply bytes out.
//!
//!     caudal-harness repeat get 100000    that many commands, to be counted by callgrind
//!     caudal-harness scale                two threads of one process beside two processes
//!     caudal-harness scripts              CPU of scripts: keys declared or not, one thread or two
//!     caudal-harness memory 1000000 100   bytes of table and of memory a key, values of 100 bytes
//!     caudal-harness turns 20000000       the longest turns while that many keys are inserted
#![forbid(unsafe_code)]

mod load;
mod memory;
mod repeat;
mod scale;
mod scripts;
mod turns;

use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let number =
        |at: usize, default: usize| words.get(at).map_or(Ok(default), |word| word.parse::<usize>());
    let report = match words[..] {
        ["repeat", command, ..] => number(2, 100_000).map(|count| repeat::run(command, count)),
        ["scale", ..] => Ok(scale::run()),
        ["scripts", ..] => Ok(scripts::run()),
        ["scale-child", pattern, ..] => Ok(scale::child(pattern)),
        ["memory", ..] => number(1, 1_000_000)
            .and_then(|keys| number(2, 100).map(|bytes| memory::run(keys, bytes))),
        ["turns", ..] => number(1, 20_000_000).map(turns::run),
        _ => Ok(USAGE.to_owned()),
    };
    let text = report.unwrap_or_else(|error| format!("{error}\n{USAGE}"));
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

const USAGE: &str = "usage: caudal-harness repeat get|set|empty [COMMANDS] | scale | scripts \
    | memory [KEYS] [BYTES] | turns [KEYS]\n";
