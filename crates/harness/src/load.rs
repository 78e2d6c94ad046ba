//! Requests for the engine, and a thread's worth of it to send them to.

use caudal_engine::local::{BEGIN_MS, environment};
use caudal_engine::{Engine, Now, Open, Peer, Token, Worker, config::Config};
use rustix::time::{ClockId, clock_gettime};
use std::sync::{Arc, Barrier};

/// Commands that a client sends before it reads.
pub(crate) const PIPELINE: usize = 16;
/// Clients that are ready together.
const CLIENTS: usize = 8;

/// One worker with some connections, and what they send.
pub(crate) struct Load {
    worker: Worker,
    clients: Vec<Token>,
    now: Now,
    random: u64,
    request: Vec<u8>,
}

/// An engine with `workers` workers.
pub(crate) fn engine(workers: usize) -> Arc<Engine> {
    Engine::new(Config::default(), environment(workers))
}

impl Load {
    /// Takes the worker `id` of `engine`, in the thread that will run it.
    pub(crate) fn new(engine: &Arc<Engine>, id: usize) -> Load {
        Load::with(engine, id, CLIENTS)
    }

    /// The same with one connection.
    pub(crate) fn alone(engine: &Arc<Engine>) -> Load {
        Load::with(engine, 0, 1)
    }

    fn with(engine: &Arc<Engine>, id: usize, clients: usize) -> Load {
        let mut worker = engine.worker(id, || ());
        let now = Now { unix_ms: BEGIN_MS, unix_us_rest: 0, monotonic_us: 1 };
        let clients = (0..clients)
            .map(|_| match worker.open(Peer { loopback: true, ..Peer::default() }, now) {
                Open::Accepted(token) => token,
                Open::Refused(text) => unreachable!("{}", String::from_utf8_lossy(&text)),
            })
            .collect();
        let random = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(id as u64 + 1);
        Load { worker, clients, now, random, request: Vec::new() }
    }

    /// A number below `bound`. (xorshift64)
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        usize::try_from(self.random % bound as u64).expect("below a usize")
    }

    /// Has every client send `PIPELINE` commands that `write` makes, and runs a turn. Returns their
    /// number.
    pub(crate) fn turn(&mut self, mut write: impl FnMut(&mut Load, &mut Vec<u8>)) -> usize {
        let mut request = std::mem::take(&mut self.request);
        for index in 0..self.clients.len() {
            request.clear();
            (0..PIPELINE).for_each(|_| write(self, &mut request));
            let token = self.clients[index];
            self.worker.input(token).extend_from_slice(&request);
            self.worker.received(token, request.len());
        }
        self.request = request;
        self.work();
        PIPELINE * self.clients.len()
    }

    /// Runs what was received and drops the replies.
    fn work(&mut self) {
        self.now.monotonic_us += 100;
        loop {
            self.worker.run(self.now);
            if !self.worker.has_ready() {
                break;
            }
        }
        for &token in &self.clients {
            let output = self.worker.output(token);
            let bytes = output.bytes();
            output.advance(bytes);
            self.worker.sent(token, bytes);
        }
        self.worker.outgoing(&mut Vec::new());
    }
}

/// Appends `SET key:<12 digits> <value>`: a key of 16 bytes.
pub(crate) fn set(request: &mut Vec<u8>, key: usize, value: &[u8]) {
    let head = format!("*3\r\n$3\r\nSET\r\n$16\r\nkey:{key:012}\r\n${}\r\n", value.len());
    request.extend_from_slice(head.as_bytes());
    request.extend_from_slice(value);
    request.extend_from_slice(b"\r\n");
}

/// Appends `GET key:<12 digits>`.
pub(crate) fn get(request: &mut Vec<u8>, key: usize) {
    request.extend_from_slice(format!("*2\r\n$3\r\nGET\r\n$16\r\nkey:{key:012}\r\n").as_bytes());
}

/// Inserts the keys `0..keys`.
pub(crate) fn fill(load: &mut Load, keys: usize, value: &[u8]) {
    let mut next = 0;
    while next < keys {
        load.turn(|_, request| {
            set(request, next.min(keys - 1), value);
            next += 1;
        });
    }
}

/// Runs `work` in the threads of one engine, each with a worker of its own; the first one fills the
/// store before.
pub(crate) fn on_threads<R: Send>(
    threads: usize,
    fill: impl Fn(&mut Load) + Sync,
    work: impl Fn(&mut Load, usize) -> R + Sync,
) -> Vec<R> {
    let (engine, ready) = (engine(threads), Barrier::new(threads));
    let run = |id: usize| {
        let mut load = Load::new(&engine, id);
        if id == 0 {
            fill(&mut load);
        }
        ready.wait();
        work(&mut load, id)
    };
    let run = &run;
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|id| scope.spawn(move || run(id))).collect();
        handles.into_iter().map(|handle| handle.join().expect("a worker's thread")).collect()
    })
}

/// CPU time of this thread, in seconds.
pub(crate) fn thread_cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The figure in the middle.
pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
