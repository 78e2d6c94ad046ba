//! Workers in threads of their own, as in a server: what only true concurrency can show.

use caudal_engine::config::Config;
use caudal_engine::local::{encode, environment, spell};
use caudal_engine::{Engine, Now, Open, Peer, Token, Worker};
use caudal_wire::frame;
use std::io::IoSlice;
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
