//! Runs of workers in threads of their own, which get into each other's way on purpose.

use super::call;
use crate::atomic::{Atomic, Claim, Plan};
use crate::config::Config;
use crate::connection::State;
use crate::execute::WantedSet;
use crate::local::environment;
use crate::mail::Mail;
use crate::{Engine, Now, Open, Peer, Token, Worker};
use caudal_commands::Random;
use caudal_keyspace::Held;
use caudal_text::integer;
use caudal_wire::{Frame, frame};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Instant;

const WORKERS: usize = 3;
const ACCOUNTS: usize = 7;
const MOVES: usize = 3_000;
/// Far more than it takes: nothing waits for ever.
const PATIENCE_S: u64 = 60;

/// A worker, and its one connection.
struct Teller {
    engine: Arc<Engine>,
    id: usize,
    worker: Worker,
    token: Token,
    began: Instant,
}

impl Teller {
    fn new(engine: &Arc<Engine>, id: usize) -> Teller {
        let mut worker = engine.worker(id, || ());
        let peer = Peer { loopback: true, ..Peer::default() };
        let now = Now { unix_ms: 1, unix_us_rest: 0, monotonic_us: 1 };
        let Open::Accepted(token) = worker.open(peer, now) else { panic!("there is room") };
        Teller { engine: Arc::clone(engine), id, worker, token, began: Instant::now() }
    }

    /// Runs `body` as one that knows of no key, until it has run. What it replied is returned.
    fn run(&mut self, body: &mut dyn FnMut(&mut Atomic<'_, '_>) -> bool) -> Vec<Frame> {
        let plan =
            Plan { wanted: WantedSet::new(), written: None, claim: Claim::Keys, reaches: true };
        loop {
            let Teller { engine, id, worker, token, .. } = self;
            let mut connection = worker.connections[*token].take().expect("it is open");
            // As a batch does: inside a turn, which the gate can close.
            let ran = engine.gate.enter(*id).then(|| {
                worker.atomically(engine, &mut Held::none(), &mut connection, &plan, body)
            });
            if worker.has_token {
                worker.give_token_back();
            }
            if let Some(owner) = engine.gate.leave(*id) {
                engine.workers[owner].mailbox.send(Mail::Gate);
            }
            let bytes = std::mem::take(connection.output.tail());
            worker.connections[*token] = Some(connection);
            if let Some(Ok(whole)) = ran {
                assert!(whole, "every command replied");
                return frames(&bytes);
            }
            self.settle();
        }
    }

    /// Takes turns until the connection goes on.
    fn settle(&mut self) {
        loop {
            let elapsed = self.began.elapsed();
            assert!(elapsed.as_secs() < PATIENCE_S, "somebody waits for ever");
            let monotonic_us = 1 + u64::try_from(elapsed.as_micros()).expect("short");
            // As the beginning of a turn, whose batch is the next run.
            self.worker.now = Now { unix_ms: 1, unix_us_rest: 0, monotonic_us };
            self.worker.read_mail();
            self.worker.fire_timers();
            let connection = self.worker.connections[self.token].as_ref().expect("it is open");
            if matches!(connection.state, State::Running) {
                return;
            }
            std::thread::yield_now();
        }
    }
}

fn frames(mut bytes: &[u8]) -> Vec<Frame> {
    let mut frames = Vec::new();
    while let Some((frame, used)) = frame::parse(bytes).expect("frames") {
        frames.push(frame);
        bytes = &bytes[used..];
    }
    frames
}

fn sum(balances: &[Frame]) -> i64 {
    let balance = |frame: &Frame| match frame {
        Frame::Bulk(bytes) => integer::parse_i64(bytes).expect("a number"),
        _ => 0,
    };
    balances.iter().map(balance).sum()
}

/// Moves one from an account to another and looks at all of them; now and then with a command that
/// needs the gate.
fn move_one(teller: &mut Teller, accounts: [&[u8]; 2], all: &[Vec<u8>], needs_gate: bool) {
    let mut look = vec![b"MGET".as_slice()];
    look.extend(all.iter().map(Vec::as_slice));
    let [from, to] = accounts;
    let mut lines = vec![vec![b"DECR".as_slice(), from], vec![b"INCR", to], look];
    if needs_gate {
        lines.push(vec![b"RANDOMKEY"]);
    }
    let replies = teller.run(&mut |run| lines.iter().all(|words| call(run, words).is_ok()));
    let Frame::Array(balances) = &replies[2] else { panic!("{replies:?}") };
    assert_eq!(sum(balances), 0, "{balances:?}");
}

#[test]
fn runs_of_many_workers_move_sums_and_lose_nothing() {
    let engine = Engine::new(Config::default(), environment(WORKERS));
    let finished = AtomicUsize::new(0);
    let work = |id: usize| {
        let mut teller = Teller::new(&engine, id);
        let mut random = Random::new(id as u64 + 1);
        let mut all: Vec<Vec<u8>> =
            (0..ACCOUNTS).map(|number| format!("account:{number}").into_bytes()).collect();
        // Each in another order.
        all.rotate_left(id);
        for turn in 0..MOVES {
            let [from, to] = [0; 2].map(|_| random.below(ACCOUNTS));
            move_one(&mut teller, [&all[from], &all[to]], &all, turn % 500 == 499);
        }
        finished.fetch_add(1, SeqCst);
        while finished.load(SeqCst) < WORKERS {
            teller.settle();
            std::thread::yield_now();
        }
    };
    let work = &work;
    std::thread::scope(|scope| (0..WORKERS).for_each(|id| drop(scope.spawn(move || work(id)))));
    assert!(engine.token.take(0), "the token was given back");
}
