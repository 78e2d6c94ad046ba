//! A worker: one thread, one reactor, one share of the connections.
//!
//! The middle of a request's path, and a page long: the reactor says what is ready, the bytes go
//! into the engine's input buffers, the engine runs one turn, and what it has to say is sent, once
//! a connection. What must stay true: nothing here waits but the reactor's turn; the clock is read
//! once a turn; a connection's end is told to the engine exactly once.

use std::cell::RefCell;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, AsRawFd};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use caudal_engine::{self as engine, Close, Engine, Now, Open};
use caudal_reactor::{Event, Keepalive, Peer, Reactor, Received, Socket, Token};

use crate::inbox::Inbox;

/// Pieces of output sent by one call. Most outputs are one piece.
const SLICES: usize = 16;

/// One worker.
pub(crate) struct Worker {
    engine: engine::Worker,
    sockets: Rc<RefCell<Sockets>>,
}

impl Worker {
    /// A worker without connections.
    pub(crate) fn new(
        store: Arc<Engine>,
        mut engine: engine::Worker,
        reactor: Reactor,
        inbox: Arc<Inbox>,
    ) -> Self {
        let clock = Clock::new();
        let now = clock.now();
        let (events, outgoing) = (Vec::new(), Vec::new());
        let sockets = Sockets { store, reactor, inbox, clock, now, events, outgoing };
        let sockets = Rc::new(RefCell::new(sockets));
        let shared = Rc::clone(&sockets);
        // The engine's turn runs with the sockets put down: a script that runs too long picks them
        // up.
        engine.set_interlude(move |engine| shared.borrow_mut().look_aside(engine));
        Self { engine, sockets }
    }

    /// Takes turns until the inbox says to stop.
    ///
    /// # Errors
    /// The reactor failed.
    pub(crate) fn run(mut self) -> io::Result<()> {
        while !self.sockets.borrow().inbox.is_stopping() {
            let timeout = self.timeout();
            let now = self.sockets.borrow_mut().receive(&mut self.engine, timeout)?;
            self.engine.run(now);
            self.sockets.borrow_mut().send(&mut self.engine);
        }
        Ok(())
    }

    /// How long the reactor may sleep: not at all with work left, else until the next timer.
    fn timeout(&self) -> Option<Duration> {
        if self.engine.has_ready() {
            return Some(Duration::ZERO);
        }
        let due_us = self.engine.next_timer()?;
        let now_us = self.sockets.borrow().now.monotonic_us;
        Some(Duration::from_micros(due_us.saturating_sub(now_us)))
    }
}

/// A worker's reactor, and what it needs to serve its sockets.
struct Sockets {
    store: Arc<Engine>,
    reactor: Reactor,
    inbox: Arc<Inbox>,
    clock: Clock,
    now: Now,
    events: Vec<Event>,
    outgoing: Vec<engine::Token>,
}

impl Sockets {
    /// Waits for events and takes what came: the time at which it did.
    fn receive(
        &mut self,
        engine: &mut engine::Worker,
        timeout: Option<Duration>,
    ) -> io::Result<Now> {
        self.reactor.turn(timeout, &mut self.events)?;
        self.now = self.clock.now();
        for (socket, peer) in self.inbox.take() {
            self.on_arrival(engine, socket, peer);
        }
        let mut events = std::mem::take(&mut self.events);
        for event in events.drain(..) {
            self.on_event(engine, event);
        }
        self.events = events;
        Ok(self.now)
    }

    /// Sends what the turn left to be sent.
    fn send(&mut self, engine: &mut engine::Worker) {
        let mut outgoing = std::mem::take(&mut self.outgoing);
        engine.outgoing(&mut outgoing);
        for token in outgoing.drain(..) {
            if self.reactor.is_attached(reactor_token(token)) {
                self.settle(engine, token);
            }
        }
        self.outgoing = outgoing;
    }

    /// A turn in the middle of a script that runs too long.
    fn look_aside(&mut self, engine: &mut engine::Worker) {
        // A reactor that fails now fails in the next turn too, which says so.
        if self.receive(engine, Some(Duration::ZERO)).is_ok() {
            engine.run_aside();
            self.send(engine);
        }
    }

    fn on_event(&mut self, engine: &mut engine::Worker, event: Event) {
        match event {
            // An earlier event of this turn may have closed the connection.
            event if !self.reactor.is_attached(event.token()) => {}
            // Its commands are in hand: when they have run, it is settled.
            event if !engine.is_at_hand(event.token().index()) => {
                self.reactor.pause(event.token());
            }
            Event::Readable(at) => self.on_readable(engine, at),
            Event::Writable(at) => self.settle(engine, at.index()),
            Event::Failed(at, _) => self.close(engine, at.index()),
        }
    }

    fn on_arrival(&mut self, engine: &mut engine::Worker, socket: Socket, peer: Peer) {
        if let Peer::Tcp { .. } = peer {
            // Options make a connection better, not possible: one without them is served as well.
            let _ = socket.set_no_delay();
            if let Some(seconds) = self.store.config().net.tcp_keepalive_seconds {
                let _ = socket.set_keepalive(Keepalive(Duration::from_secs(seconds.into())));
            }
        }
        match engine.open(describe(&peer, &socket), self.now) {
            Open::Refused(reply) => {
                socket.dismiss(&reply);
                self.inbox.released();
            }
            Open::Accepted(token) => {
                if self.reactor.attach(reactor_token(token), socket).is_err() {
                    engine.closed(token);
                    self.inbox.released();
                }
            }
        }
    }

    fn on_readable(&mut self, engine: &mut engine::Worker, at: Token) {
        let token = at.index();
        match self.reactor.receive(at, engine.input(token)) {
            Received::Bytes(bytes) => engine.received(token, bytes),
            Received::Nothing => {}
            Received::Closed => engine.ended(token),
            Received::Failed(_) => self.close(engine, token),
        }
    }

    /// Sends what a connection has to say, as far as the peer takes it, and follows its wishes.
    fn settle(&mut self, engine: &mut engine::Worker, token: engine::Token) {
        if engine.status(token).close == Close::Now {
            // Whoever is closed at once, for what it has not read for instance, gets no more.
            return self.close(engine, token);
        }
        let at = reactor_token(token);
        let output = engine.output(token);
        let mut sent = 0;
        while !output.is_empty() {
            let mut slices = [IoSlice::new(&[]); SLICES];
            let filled = output.slices(&mut slices);
            let slices = &slices[..filled];
            let offered: usize = slices.iter().map(|slice| slice.len()).sum();
            let Ok(taken) = self.reactor.send(at, slices) else {
                return self.close(engine, token);
            };
            output.advance(taken);
            sent += taken;
            if taken < offered {
                break;
            }
        }
        let is_flushed = output.is_empty();
        if sent > 0 {
            engine.sent(token, sent);
        }
        let status = engine.status(token);
        match status.close {
            Close::Now => self.close(engine, token),
            Close::AfterFlush if is_flushed && self.reactor.is_flushed(at) => {
                self.close(engine, token);
            }
            _ if status.wants_read => self.reactor.resume(at),
            _ => self.reactor.pause(at),
        }
    }

    fn close(&mut self, engine: &mut engine::Worker, token: engine::Token) {
        self.reactor.detach(reactor_token(token));
        engine.closed(token);
        self.inbox.released();
    }
}

/// The time, as the engine wants it.
struct Clock {
    start: Instant,
}

impl Clock {
    fn new() -> Self {
        Self { start: Instant::now() }
    }

    fn now(&self) -> Now {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let monotonic = self.start.elapsed();
        Now {
            unix_ms: u64::try_from(unix.as_millis()).unwrap_or(u64::MAX),
            unix_us_rest: unix.subsec_micros() % 1000,
            monotonic_us: u64::try_from(monotonic.as_micros()).unwrap_or(u64::MAX),
        }
    }
}

/// A peer in the engine's words.
fn describe(peer: &Peer, socket: &Socket) -> engine::Peer {
    let fd = socket.as_fd().as_raw_fd();
    match peer {
        Peer::Tcp { remote, local } => engine::Peer {
            address: remote.to_string(),
            local_address: local.to_string(),
            fd,
            unix: false,
            loopback: remote.ip().to_canonical().is_loopback(),
        },
        Peer::Unix(path) => {
            let address = format!("{}:0", path.display());
            let local_address = address.clone();
            engine::Peer { address, local_address, fd, unix: true, loopback: true }
        }
    }
}

fn reactor_token(token: engine::Token) -> Token {
    Token(u32::try_from(token).expect("maxclients is below 2^32"))
}
