//! The Caudal server: `caudal [file] [--directive value ...]`.
//!
//! The outermost layer: threads, sockets, signals and files around the engine. A connection's way:
//! `startup` (the main thread accepts) -> `crew` -> `inbox` -> `worker`, which turns between the
//! reactor and the engine. Read `worker` first: it is the loop.
#![forbid(unsafe_code)]

mod crew;
mod inbox;
mod listen;
mod log;
mod startup;
mod tls;
mod worker;

use std::io::{self, Write};
use std::process::ExitCode;

/// The version of Redis whose commands are spoken.
const REDIS_VERSION: &str = "7.2.4";

const HELP: &str = "\
Usage: caudal [/path/to/redis.conf] [--directive value ...] [-]
       caudal --version
       caudal --help

The file and the directives are those of redis.conf; the command line wins over the file, and `-`
reads more of the file's lines from standard input.

Examples:
       caudal                                  all cores, port 6379
       caudal --port 7000 --threads 4
       caudal /etc/redis/redis.conf --port 7000
       caudal --port 0 --unixsocket /run/caudal.sock --unixsocketperm 770
       caudal --port 0 --tls-port 6379 --tls-cert-file server.crt --tls-key-file server.key \
              --tls-ca-cert-file ca.crt
       caudal --io-backend epoll               instead of io_uring where that is to be had
";

fn main() -> ExitCode {
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["--version" | "-v"] => {
            let (version, bits) = (env!("CARGO_PKG_VERSION"), usize::BITS);
            say(&format!("Caudal server v={REDIS_VERSION} caudal={version} bits={bits}\n"))
        }
        ["--help" | "-h"] => say(HELP),
        _ => match startup::run(&arguments) {
            Ok(()) => ExitCode::SUCCESS,
            Err(fatal) => {
                let text = fatal.to_string();
                if !text.is_empty() {
                    // Nobody is there to be told that telling failed.
                    let _ = writeln!(io::stderr(), "{text}");
                }
                ExitCode::FAILURE
            }
        },
    }
}

fn say(text: &str) -> ExitCode {
    match io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
