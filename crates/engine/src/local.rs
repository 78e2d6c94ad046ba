//! A store without sockets: the engine stepped by hand, with a clock that stands still until it is
//! moved.
//!
//! Tests, benchmarks and programs that embed Caudal use it. One [`Local`] is one engine and its
//! workers in one thread; a [`Client`] is a connection of one of them.

use crate::config::Config;
use crate::{Close, Engine, Environment, LogSink, Now, Open, Peer, Token, Usage, Worker};
use caudal_wire::Frame;
use std::sync::Arc;

/// When the clock of a [`Local`] begins: 2026-01-01, in Unix milliseconds.
pub const BEGIN_MS: u64 = 1_767_225_600_000;

/// An engine and its workers.
pub struct Local {
    engine: Arc<Engine>,
    workers: Vec<Worker>,
    now: Now,
}

/// A connection of a [`Local`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client {
    worker: usize,
    token: Token,
}

impl Local {
    /// A store with `workers` workers and this configuration.
    pub fn new(config: Config, workers: usize) -> Local {
        Local::of(Engine::new(config, environment(workers)))
    }

    /// An engine to be stepped.
    pub fn of(engine: Arc<Engine>) -> Local {
        let workers = (0..engine.workers.len()).map(|id| engine.worker(id, || ())).collect();
        let now = Now { unix_ms: BEGIN_MS, unix_us_rest: 0, monotonic_us: 1 };
        Local { engine, workers, now }
    }

    /// The engine.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// A worker, for what has no method here.
    pub fn worker(&mut self, id: usize) -> &mut Worker {
        &mut self.workers[id]
    }

    /// Opens a connection to a worker.
    pub fn connect(&mut self, worker: usize) -> Client {
        let peer = Peer { loopback: true, address: "127.0.0.1:1".to_owned(), ..Peer::default() };
        match self.workers[worker].open(peer, self.now) {
            Open::Accepted(token) => Client { worker, token },
            Open::Refused(reply) => panic!("refused: {}", String::from_utf8_lossy(&reply)),
        }
    }

    /// Closes a connection, as when its peer goes away.
    pub fn close(&mut self, client: Client) {
        self.workers[client.worker].closed(client.token);
    }

    /// Moves the clock.
    pub fn advance_ms(&mut self, ms: u64) {
        self.now.unix_ms += ms;
        self.now.monotonic_us += ms * 1000;
        self.run();
    }

    /// Gives a connection bytes, and takes turns until nothing is left to do.
    pub fn send(&mut self, client: Client, bytes: &[u8]) {
        let worker = &mut self.workers[client.worker];
        worker.input(client.token).extend_from_slice(bytes);
        worker.received(client.token, bytes.len());
        self.run();
    }

    /// Takes what a connection has to send.
    pub fn receive(&mut self, client: Client) -> Vec<u8> {
        let worker = &mut self.workers[client.worker];
        let mut bytes = Vec::new();
        loop {
            let output = worker.output(client.token);
            let taken: usize = {
                let mut slices = [std::io::IoSlice::new(&[]); 16];
                let count = output.slices(&mut slices);
                slices[..count].iter().for_each(|slice| bytes.extend_from_slice(slice));
                slices[..count].iter().map(|slice| slice.len()).sum()
            };
            if taken == 0 {
                break;
            }
            output.advance(taken);
            worker.sent(client.token, taken);
            worker.run(self.now);
        }
        bytes
    }

    /// When a connection is to be closed.
    pub fn close_wanted(&self, client: Client) -> Close {
        self.workers[client.worker].status(client.token).close
    }

    /// Runs a command and returns its reply.
    ///
    /// # Panics
    /// If there is not exactly one reply: the command waits, or the protocol is broken.
    pub fn call<W: AsRef<[u8]>>(&mut self, client: Client, words: &[W]) -> Frame {
        self.send(client, &encode(words));
        let bytes = self.receive(client);
        let (frame, used) = caudal_wire::frame::parse(&bytes)
            .expect("replies are well formed")
            .unwrap_or_else(|| panic!("no whole reply: {:?}", String::from_utf8_lossy(&bytes)));
        assert_eq!(used, bytes.len(), "one reply: {:?}", String::from_utf8_lossy(&bytes));
        frame
    }

    /// Runs a command written as redis-cli takes it and returns its reply as redis-cli's `--no-raw`
    /// would spell its parts, nested parts in brackets: `[a b (nil) 3]`, errors with `-`, statuses
    /// bare. For tests that read like the reference.
    pub fn say(&mut self, client: Client, line: &str) -> String {
        let words = caudal_text::words::split(line.as_bytes()).expect("balanced quotes");
        spell(&self.call(client, &words))
    }

    fn run(&mut self) {
        loop {
            for worker in &mut self.workers {
                worker.run(self.now);
            }
            if !self.workers.iter().any(Worker::has_ready) {
                return;
            }
        }
    }
}

/// What an engine without a system around it knows: a fixed seed, and clocks that stand still.
pub fn environment(workers: usize) -> Environment {
    Environment {
        workers,
        seed: 42,
        started_ms: BEGIN_MS,
        run_id: "0".repeat(40),
        process_id: std::process::id(),
        system: "local".to_owned(),
        executable: String::new(),
        io_backend: "none",
        nanos: || 0,
        log: LogSink(Arc::new(|_, _| ())),
        shutdown: || (),
        usage: Usage::default,
        sleep: |_| (),
        config_file: None,
        acl_file: None,
        entropy: |bytes| bytes.fill(0xa5),
        encryption: None,
    }
}

/// A command as RESP.
pub fn encode<W: AsRef<[u8]>>(words: &[W]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words.iter().map(AsRef::as_ref) {
        bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        bytes.extend_from_slice(word);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

/// A reply as one line: statuses bare, errors with `-`, integers with `:`, bulk strings in quotes
/// where needed, nulls as `(nil)`, arrays in `[ ]`, maps in `{ }`, sets in `~[ ]`, doubles with
/// `,`.
pub fn spell(frame: &Frame) -> String {
    let text = |bytes: &[u8]| {
        let plain = !bytes.is_empty() && bytes.iter().all(|byte| byte.is_ascii_graphic());
        if plain {
            return String::from_utf8_lossy(bytes).into_owned();
        }
        let mut quoted = Vec::new();
        caudal_text::words::quote(bytes, &mut quoted);
        String::from_utf8_lossy(&quoted).into_owned()
    };
    let list = |frames: &[Frame]| frames.iter().map(spell).collect::<Vec<_>>().join(" ");
    match frame {
        Frame::Status(bytes) => text(bytes),
        Frame::Error(bytes) => format!("-{}", String::from_utf8_lossy(bytes)),
        Frame::Integer(value) => format!(":{value}"),
        Frame::Bulk(bytes) => text(bytes),
        Frame::NullBulk | Frame::NullArray | Frame::Null => "(nil)".to_owned(),
        Frame::Array(frames) => format!("[{}]", list(frames)),
        Frame::Set(frames) => format!("~[{}]", list(frames)),
        Frame::Push(frames) => format!(">[{}]", list(frames)),
        Frame::Map(pairs) => {
            let pair = |(key, value): &(Frame, Frame)| format!("{}: {}", spell(key), spell(value));
            format!("{{{}}}", pairs.iter().map(pair).collect::<Vec<_>>().join(" "))
        }
        Frame::Double(value) => format!(",{value}"),
        Frame::Boolean(value) => format!("#{value}"),
        Frame::BigNumber(bytes) => format!("({}", text(bytes)),
        Frame::Verbatim { text: bytes, .. } => format!("={}", text(bytes)),
        Frame::Attributed { frame, .. } => spell(frame),
    }
}
