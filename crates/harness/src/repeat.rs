//! Runs a number of commands, to be counted from outside. The requests are made before, so that
//! what grows with the number is the engine's work alone, but for a copy of the bytes.

use crate::load::{self, Load};

/// Keys in the store.
const KEYS: usize = 10_000;

/// Runs `count` commands; `empty` fills the store and runs none.
pub(crate) fn run(command: &str, count: usize) -> String {
    let value = [b'x'; 100];
    let mut load = Load::new(&load::engine(1), 0);
    load::fill(&mut load, KEYS, &value);
    let mut requests = Vec::new();
    for key in 0..KEYS {
        let mut request = Vec::new();
        match command {
            "get" => load::get(&mut request, key * 7919 % KEYS),
            "set" => load::set(&mut request, key * 7919 % KEYS, &value),
            _ => {}
        }
        requests.push(request);
    }
    let (mut done, mut next) = (0, 0);
    while done < count {
        done += load.turn(|_, request| {
            request.extend_from_slice(&requests[next % KEYS]);
            next += 1;
        });
    }
    format!("{done} x {command}\n")
}
