//! The effects of any commands, replayed into an empty store, give the same keyspace.
//!
//! `CAUDAL_SEED` asks for other commands, `CAUDAL_ROUNDS` for more.

use caudal_engine::config::Config;
use caudal_engine::local::{Client, Local, encode};
use caudal_generator::{Generator, Words, asked};
use caudal_wire::{Frame, frame};
use std::collections::BTreeSet;

/// The same commands each time: a change that breaks nothing fails no test.
const SEED: u64 = 1;
const ROUNDS: u64 = 12;
const COMMANDS: usize = 1500;
/// Commands between two comparisons.
const STRIDE: usize = 100;
/// More than the longest timeout of a blocking command.
const TIMEOUT_MS: u64 = 10;
/// Some keys with an expiry are gone after this, others are not.
const LATER_MS: u64 = 700_000;

#[test]
fn replaying_the_effects_of_any_commands_gives_the_same_keys() {
    let seed = asked("CAUDAL_SEED", SEED);
    for round in 0..asked("CAUDAL_ROUNDS", ROUNDS) {
        let seed = seed.wrapping_add(round);
        if let Err(text) = check(seed, STRIDE) {
            // Comparing after each command finds the one, but hides what needs several.
            panic!("{}", check(seed, 1).err().unwrap_or(text));
        }
    }
}

/// Compares a store and its replay after every `stride` commands.
fn check(seed: u64, stride: usize) -> Result<(), String> {
    let mut generator = Generator::new(seed, |_| true);
    let mut original = Store::new();
    original.local.worker(0).listen_to_effects();
    let mut copy = Store::new();
    let mut recent: Vec<Words> = Vec::new();
    for number in 1..=COMMANDS {
        recent.extend(next(&mut generator, &mut original));
        if number % stride != 0 {
            continue;
        }
        original.reclaim();
        let effects = original.local.worker(0).take_effects();
        let replayed = copy.replay(&effects);
        let (own, others) = (original.digest(), copy.digest());
        if replayed.is_err() || own != others {
            return Err(format!(
                "CAUDAL_SEED={seed}: {replayed:?}, {own} is {others} in the replay, after\n{}\n\
                 with the effects\n{}",
                recent.iter().map(spell).collect::<Vec<_>>().join("\n"),
                String::from_utf8_lossy(&effects).replace("\r\n*", "\n*").replace("\r\n", " "),
            ));
        }
        recent.clear();
    }
    Ok(())
}

/// Runs a command, some in a transaction, or something that happens to a whole store.
fn next(generator: &mut Generator, store: &mut Store) -> Vec<Words> {
    let plain = |line: &str| vec![line.split(' ').map(|word| word.as_bytes().to_vec()).collect()];
    let commands = match generator.random().below(300) {
        0 => plain("FLUSHDB"),
        1 => plain("SWAPDB 0 1"),
        2..5 => plain("SELECT 1"),
        5..10 => plain("SELECT 0"),
        10..14 => {
            store.local.advance_ms(LATER_MS);
            Vec::new()
        }
        14..30 => {
            let len = 1 + generator.random().below(4);
            let mut commands: Vec<Words> = plain("MULTI");
            commands.extend((0..len).map(|_| generator.command()));
            commands.extend(plain("EXEC"));
            commands
        }
        _ => vec![generator.command()],
    };
    commands.iter().for_each(|words| store.run(words));
    commands
}

/// A store, its connection, and another one for what is done to it besides.
struct Store {
    local: Local,
    client: Client,
    keeper: Client,
    /// All that commands said.
    words: BTreeSet<Vec<u8>>,
}

impl Store {
    fn new() -> Store {
        let arguments = ["--enable-debug-command", "yes"].map(str::to_owned);
        let (config, _) = Config::load(&arguments, &|_| unreachable!("no file is named"))
            .expect("the arguments are directives");
        let mut local = Local::new(config, 1);
        let (client, keeper) = (local.connect(0), local.connect(0));
        Store { local, client, keeper, words: BTreeSet::new() }
    }

    /// Runs a command to its end, by waiting if it blocks.
    fn run(&mut self, words: &Words) {
        self.words.extend(words.iter().cloned());
        self.local.send(self.client, &encode(words));
        while self.local.receive(self.client).is_empty() {
            self.local.advance_ms(TIMEOUT_MS);
        }
    }

    /// Lets keys past their expiry go, with the effects of that. Any word may have become a key.
    fn reclaim(&mut self) {
        let names = || self.words.iter().map(Vec::as_slice);
        let command: Vec<&[u8]> = std::iter::once(b"EXISTS".as_slice()).chain(names()).collect();
        for database in 0..2 {
            self.local.say(self.keeper, &format!("SELECT {database}"));
            self.local.call(self.keeper, &command);
            for name in &self.words {
                reclaim_fields(&mut self.local, self.keeper, name);
            }
        }
    }

    /// Runs effects. An error is the first one that failed, and why.
    fn replay(&mut self, effects: &[u8]) -> Result<(), String> {
        for effect in frames(effects) {
            let Frame::Array(words) = &effect else { panic!("{effect:?} is no command") };
            let text = |word: &Frame| match word {
                Frame::Bulk(bytes) => bytes.clone(),
                other => panic!("{other:?} is no word"),
            };
            let words: Words = words.iter().map(text).collect();
            self.local.send(self.client, &encode(&words));
            for reply in frames(&self.local.receive(self.client)) {
                let inner = if let Frame::Array(replies) = &reply { &replies[..] } else { &[] };
                for reply in std::iter::once(&reply).chain(inner) {
                    if let Frame::Error(error) = reply {
                        let error = String::from_utf8_lossy(error);
                        return Err(format!("{error} to {}", spell(&words)));
                    }
                }
            }
        }
        Ok(())
    }

    fn digest(&mut self) -> String {
        let digest = self.local.say(self.keeper, "DEBUG DIGEST");
        assert!(!digest.starts_with('-'), "{digest}");
        digest
    }
}

/// The frames of a stream that ends with one.
/// Lets fields past their moment go: whoever does not see one has it taken away, with some others.
fn reclaim_fields(local: &mut Local, client: Client, key: &[u8]) {
    loop {
        let seen = local.call(client, &[b"HKEYS", key]);
        let count = local.call(client, &[b"HLEN", key]);
        match (seen, count) {
            (Frame::Array(seen), Frame::Integer(count)) if seen.len() as i64 != count => {}
            _ => break,
        }
    }
}

fn frames(mut bytes: &[u8]) -> Vec<Frame> {
    let mut frames = Vec::new();
    while !bytes.is_empty() {
        let (frame, len) =
            frame::parse(bytes).expect("replies are frames").expect("the last frame is whole");
        frames.push(frame);
        bytes = &bytes[len..];
    }
    frames
}

fn spell(words: &Words) -> String {
    let word = |word: &Vec<u8>| word.escape_ascii().to_string();
    words.iter().map(word).collect::<Vec<_>>().join(" ")
}
