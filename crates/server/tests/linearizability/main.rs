//! What several clients see at once is what some order of their commands explains.
//!
//! Clients send random commands over few keys, alone, in pipelines and in transactions, and note
//! when each began and returned; [`checker`] looks for the order. Each history has a database of
//! its own, so that its first writes meet there.
//!
//! A few seconds by default. `CAUDAL_HISTORIES=10000` asks for more, and `CAUDAL_SEED` for the
//! commands of an earlier run; which of them meet is up to the machine.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "../common/mod.rs"]
mod common;

mod checker;

use caudal_generator::{Random, asked, fresh_seed};
use checker::{KEYS, Operation, Step};
use common::{Server, Shape};
use redis::{Cmd, ConnectionLike, FromRedisValue, Value, cmd};
use std::sync::Barrier;
use std::time::Instant;

const CLIENTS: usize = 5;
const OPERATIONS: usize = 120;
/// Commands that a client sends at once.
const PIPELINE_MAX: usize = 6;
const HISTORIES: u64 = 12;
const DATABASES: u64 = 64;

#[test]
fn one_order_explains_what_all_clients_see() {
    let seed = asked("CAUDAL_SEED", fresh_seed());
    let histories = asked("CAUDAL_HISTORIES", HISTORIES);
    for threads in [2, 4] {
        let shape = Shape { backend: "auto", threads };
        let databases = DATABASES.to_string();
        let server = Server::start_in(shape, &["--databases", &databases]).unwrap();
        for history in 0..histories {
            let seed = seed.wrapping_add(history);
            let clients = record(&server, history % DATABASES, seed);
            if let Err(text) = checker::check(&clients) {
                panic!("CAUDAL_SEED={seed} and {threads} threads: {text}");
            }
        }
    }
}

/// Lets all clients loose on an empty database.
fn record(server: &Server, database: u64, seed: u64) -> Vec<Vec<Operation>> {
    let mut cleaner = server.client_with(&database.to_string());
    let () = cmd("FLUSHDB").query(&mut cleaner).unwrap();
    let (begin, barrier) = (Instant::now(), Barrier::new(CLIENTS));
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let barrier = &barrier;
                scope.spawn(move || {
                    let client = server.client_with(&database.to_string());
                    let random = Random::new(seed ^ (number as u64) << 32);
                    barrier.wait();
                    Recorder { client, random, begin, number, values: 0 }.run()
                })
            })
            .collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    })
}

/// A client that notes what it does.
struct Recorder {
    client: redis::Connection,
    random: Random,
    begin: Instant,
    number: usize,
    /// Values written so far: each is another, so that a reader tells where it came from.
    values: i64,
}

impl Recorder {
    fn run(mut self) -> Vec<Operation> {
        let mut operations = Vec::new();
        while operations.len() < OPERATIONS {
            let count = 1 + self.random.below(PIPELINE_MAX);
            let batch: Vec<Vec<Step>> = (0..count).map(|_| self.choose()).collect();
            let commands: Vec<Cmd> = batch.iter().flat_map(|steps| commands(steps)).collect();
            let bytes: Vec<u8> = commands.iter().flat_map(Cmd::get_packed_command).collect();
            let began = self.now();
            let replies = self.client.req_packed_commands(&bytes, 0, commands.len()).unwrap();
            let returned = self.now();
            let mut replies = replies.into_iter();
            for mut steps in batch {
                answer(&mut steps, &mut replies);
                operations.push(Operation { steps, began, returned });
            }
        }
        operations
    }

    fn now(&self) -> u64 {
        u64::try_from(self.begin.elapsed().as_nanos()).unwrap()
    }

    /// The next command, or those of a transaction. What they answer is not known yet.
    fn choose(&mut self) -> Vec<Step> {
        let len = if self.random.once_in(4) { 2 + self.random.below(3) } else { 1 };
        (0..len).map(|_| self.step()).collect()
    }

    fn step(&mut self) -> Step {
        let key = self.random.below(KEYS);
        match self.random.below(9) {
            0 | 1 => Step::Get(key, None),
            2 => Step::Set(key, self.value()),
            3 | 4 => Step::Incr(key, 0),
            5 => Step::Del(key, false),
            6 | 7 => Step::MGet((0..KEYS).collect(), Vec::new()),
            _ => Step::MSet((0..KEYS).map(|key| (key, self.value())).collect()),
        }
    }

    fn value(&mut self) -> i64 {
        self.values += 1;
        (self.values * 100 + i64::try_from(self.number).unwrap()) * 10_000
    }
}

/// What to send for the steps of an operation.
fn commands(steps: &[Step]) -> Vec<Cmd> {
    let mut sent: Vec<Cmd> = steps.iter().map(command).collect();
    if steps.len() > 1 {
        sent.insert(0, cmd("MULTI"));
        sent.push(cmd("EXEC"));
    }
    sent
}

fn command(step: &Step) -> Cmd {
    let name = |key: &usize| format!("key:{key}");
    let words = match step {
        Step::Get(key, _) => vec!["GET".to_owned(), name(key)],
        Step::Set(key, value) => vec!["SET".to_owned(), name(key), value.to_string()],
        Step::Incr(key, _) => vec!["INCR".to_owned(), name(key)],
        Step::Del(key, _) => vec!["DEL".to_owned(), name(key)],
        Step::MGet(keys, _) => {
            std::iter::once("MGET".to_owned()).chain(keys.iter().map(name)).collect()
        }
        Step::MSet(pairs) => {
            let pair = |(key, value): &(usize, i64)| [name(key), value.to_string()];
            std::iter::once("MSET".to_owned()).chain(pairs.iter().flat_map(pair)).collect()
        }
    };
    let mut command = Cmd::new();
    command.arg(words);
    command
}

/// Takes an operation's answers from the replies and puts them into its steps.
fn answer(steps: &mut [Step], replies: &mut impl Iterator<Item = Value>) {
    if steps.len() == 1 {
        return note(&mut steps[0], replies.next().unwrap());
    }
    // MULTI's and one QUEUED each.
    assert_eq!(replies.nth(steps.len() - 1), Some(Value::SimpleString("QUEUED".to_owned())));
    let last = replies.next().unwrap();
    let executed = match replies.next() {
        Some(Value::Array(executed)) => executed,
        other => panic!("{last:?} and {other:?} instead of what was executed"),
    };
    assert_eq!(executed.len(), steps.len());
    steps.iter_mut().zip(executed).for_each(|(step, reply)| note(step, reply));
}

fn note(step: &mut Step, reply: Value) {
    match step {
        Step::Get(_, seen) => *seen = read(reply),
        Step::Incr(_, seen) => *seen = read(reply),
        Step::Del(_, was_there) => *was_there = read::<i64>(reply) == 1,
        Step::MGet(_, seen) => *seen = read(reply),
        Step::Set(..) | Step::MSet(_) => assert_eq!(reply, Value::Okay),
    }
}

fn read<T: FromRedisValue>(reply: Value) -> T {
    T::from_redis_value(reply.clone()).unwrap_or_else(|error| panic!("{reply:?}: {error}"))
}
