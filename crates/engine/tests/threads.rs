//! Workers in threads of their own, as in a server: what only true concurrency can show.

use caudal_engine::config::Config;
use caudal_engine::local::{encode, environment, spell};
use caudal_engine::{Engine, Now, Open, Peer, Token, Worker};
use caudal_wire::frame;
use std::io::IoSlice;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// A worker in a thread of its own.
struct Threaded {
    worker: Worker,
    began: Instant,
}

impl Threaded {
    fn open(&mut self) -> Token {
        let peer = Peer { loopback: true, ..Peer::default() };
        match self.worker.open(peer, self.now()) {
            Open::Accepted(token) => token,
            Open::Refused(_) => panic!("there is room"),
        }
    }

    fn now(&self) -> Now {
        let elapsed = self.began.elapsed();
        Now {
            unix_ms: 1_800_000_000_000 + u64::try_from(elapsed.as_millis()).expect("short"),
            unix_us_rest: 0,
            monotonic_us: 1 + u64::try_from(elapsed.as_micros()).expect("short"),
        }
    }

    fn send(&mut self, token: Token, words: &[&str]) {
        let bytes = encode(words);
        self.worker.input(token).extend_from_slice(&bytes);
        self.worker.received(token, bytes.len());
    }

    /// Takes one reply, if there is one.
    fn receive(&mut self, token: Token) -> Option<String> {
        let output = self.worker.output(token);
        let mut slices = [IoSlice::new(&[])];
        let bytes = match output.slices(&mut slices) {
            0 => return None,
            _ => slices[0].to_vec(),
        };
        let (frame, used) = frame::parse(&bytes).expect("frames").expect("whole ones");
        output.advance(used);
        self.worker.sent(token, used);
        Some(spell(&frame))
    }
}

#[test]
fn blocking_commands_lose_and_double_nothing() {
    const WORKERS: usize = 3;
    const ELEMENTS: usize = 2_000;
    let engine = Engine::new(Config::default(), environment(WORKERS));
    let taken = Mutex::new(Vec::new());
    let run = |id: usize| {
        let worker = Arc::clone(&engine).worker(id, || ());
        let mut threaded = Threaded { worker, began: Instant::now() };
        let producer = threaded.open();
        let takes: [&[&str]; 5] = [
            &["BLPOP", "q", "p", "0"],
            &["BLMOVE", "q", "p", "LEFT", "RIGHT", "0"],
            &["BRPOP", "p", "0"],
            &["BLMOVE", "p", "q", "RIGHT", "LEFT", "0.001"],
            &["BLMPOP", "0.001", "2", "p", "q", "LEFT"],
        ];
        let consumers = takes.map(|words| (threaded.open(), words));
        consumers.iter().for_each(|(token, words)| threaded.send(*token, words));
        let mut pushed = 0;
        while taken.lock().expect("no panic").len() < WORKERS * ELEMENTS {
            if pushed < ELEMENTS {
                threaded.send(producer, &["RPUSH", "q", &format!("e{}", pushed * WORKERS + id)]);
                pushed += 1;
            }
            let now = threaded.now();
            threaded.worker.run(now);
            threaded.receive(producer);
            for (token, words) in &consumers {
                let Some(reply) = threaded.receive(*token) else { continue };
                assert!(!reply.starts_with('-'), "{reply}");
                // What was only moved is still to be taken.
                if words[0] != "BLMOVE" && reply != "(nil)" {
                    let element = reply.trim_end_matches(']').rsplit([' ', '[']).next();
                    let element = element.expect("an element").to_owned();
                    taken.lock().expect("no panic").push(element);
                }
                threaded.send(*token, words);
            }
            std::thread::yield_now();
        }
    };
    let run = &run;
    std::thread::scope(|scope| (0..WORKERS).for_each(|id| drop(scope.spawn(move || run(id)))));
    let mut taken = taken.into_inner().expect("no panic");
    taken.sort();
    taken.dedup();
    assert_eq!(taken.len(), WORKERS * ELEMENTS);
}

/// Keys that are always written together.
const TOGETHER: usize = 24;

/// The words of a command that reads all of a group through SORT, in one of two orders.
fn read_together(group: &str, order: usize) -> Vec<String> {
    let list = ["up", "down"][order % 2];
    ["SORT", list, "BY", "nosort", "GET", &format!("{group}_*")].map(str::to_owned).to_vec()
}

fn write_together(group: &str, value: usize) -> Vec<String> {
    let pairs = (0..TOGETHER).flat_map(|at| [format!("{group}_{at}"), value.to_string()]);
    std::iter::once("MSET".to_owned()).chain(pairs).collect()
}

/// The one value that all of a group had.
fn value_of(reply: &str) -> &str {
    let mut values = reply.trim_matches(['[', ']']).split(' ');
    let first = values.next().expect("a group has keys");
    assert!(values.all(|value| value == first), "torn: {reply}");
    first
}

/// A client that runs one command after the other.
struct Caller {
    token: Token,
    /// Its transaction, which counts on both sides of a SORT.
    own: String,
    calls: usize,
    /// The newest value of group `a` that it saw.
    seen: usize,
    writes_a: bool,
}

impl Caller {
    /// Sends what comes next; the last command of it has the reply that counts.
    fn call(&mut self, threaded: &mut Threaded, id: usize) {
        self.calls += 1;
        let calls = self.calls;
        match (self.writes_a, calls % 4) {
            // One client alone writes `a`: its values only grow.
            (true, 0 | 2) => self.send(threaded, &write_together("a", calls)),
            (_, 0) => self.send(threaded, &write_together("b", calls * 10 + id)),
            (_, 1) => self.send(threaded, &read_together("a", calls / 4 + id)),
            (_, 2) => self.send(threaded, &read_together("b", calls / 4 + id)),
            _ => {
                let mut sort = read_together("b", calls / 4);
                sort.extend(["STORE".to_owned(), format!("{}:out", self.own)]);
                let [before, after] =
                    ["before", "after"].map(|side| format!("{}:{side}", self.own));
                threaded.send(self.token, &["MULTI"]);
                threaded.send(self.token, &["INCR", &before]);
                self.send(threaded, &sort);
                threaded.send(self.token, &["INCR", &after]);
                threaded.send(self.token, &["LRANGE", &format!("{}:out", self.own), "0", "-1"]);
                threaded.send(self.token, &["EXEC"]);
            }
        }
    }

    fn send(&self, threaded: &mut Threaded, words: &[String]) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        threaded.send(self.token, &words);
    }

    /// Looks at a reply; true if it was the last of a call.
    fn look(&mut self, reply: &str) -> bool {
        assert!(!reply.contains('-'), "{reply}");
        if ["OK", "QUEUED"].contains(&reply) {
            return reply == "OK" && self.calls % 4 != 3;
        }
        match self.calls % 4 {
            1 => {
                let seen = value_of(reply).parse().expect("a number");
                assert!(seen >= self.seen, "{seen} after {}", self.seen);
                self.seen = seen;
            }
            2 => drop(value_of(reply)),
            _ => {
                // [:before :stored :after [values]]
                let (counts, values) = reply.split_at(reply[1..].find('[').expect("a list") + 1);
                let counts: Vec<&str> = counts.trim_matches(['[', ' ']).split(' ').collect();
                let expected = format!(":{}", self.calls / 4 + 1);
                assert_eq!(counts, [expected.as_str(), &format!(":{TOGETHER}"), &expected]);
                value_of(values);
            }
        }
        true
    }
}

#[test]
fn keys_found_while_a_command_runs_are_of_one_instant() {
    const WORKERS: usize = 3;
    const CLIENTS: usize = 4;
    const CALLS: usize = 1200;
    /// Far more than it takes: nothing may wait for ever.
    const PATIENCE_S: u64 = 120;
    let engine = Engine::new(Config::default(), environment(WORKERS));
    let ready = std::sync::Barrier::new(WORKERS);
    let run = |id: usize| {
        let worker = Arc::clone(&engine).worker(id, || ());
        let mut threaded = Threaded { worker, began: Instant::now() };
        let tokens: Vec<Token> = (0..CLIENTS).map(|_| threaded.open()).collect();
        let mut callers: Vec<Caller> = tokens
            .into_iter()
            .enumerate()
            .map(|(number, token)| {
                let (own, writes_a) = (format!("{id}:{token}"), (id, number) == (0, 0));
                Caller { token, own, calls: 0, seen: 0, writes_a }
            })
            .collect();
        if id == 0 {
            let numbers: Vec<String> = (0..TOGETHER).map(|at| at.to_string()).collect();
            let push = |name: &str, list: &str| {
                let words = [name.to_owned(), list.to_owned()].into_iter();
                words.chain(numbers.iter().cloned()).collect::<Vec<_>>()
            };
            for words in [push("RPUSH", "up"), push("LPUSH", "down")] {
                callers[0].send(&mut threaded, &words);
            }
            for words in [write_together("a", 0), write_together("b", 0)] {
                callers[0].send(&mut threaded, &words);
            }
            let now = threaded.now();
            threaded.worker.run(now);
            while threaded.receive(callers[0].token).is_some() {}
        }
        ready.wait();
        callers.iter_mut().for_each(|caller| caller.call(&mut threaded, id));
        let mut left = CLIENTS;
        // A worker that is done still has to hand on what it is handed.
        while left > 0 || !DONE[..WORKERS].iter().all(|done| done.load(SeqCst)) {
            let now = threaded.now();
            threaded.worker.run(now);
            for caller in &mut callers {
                while let Some(reply) = threaded.receive(caller.token) {
                    if caller.look(&reply) {
                        match caller.calls {
                            CALLS => left -= 1,
                            _ => caller.call(&mut threaded, id),
                        }
                    }
                }
            }
            DONE[id].store(left == 0, SeqCst);
            assert!(threaded.began.elapsed().as_secs() < PATIENCE_S, "somebody waits for ever");
            std::thread::yield_now();
        }
    };
    let run = &run;
    std::thread::scope(|scope| (0..WORKERS).for_each(|id| drop(scope.spawn(move || run(id)))));
}

/// Which workers have no call left.
static DONE: [AtomicBool; 8] = [const { AtomicBool::new(false) }; 8];
