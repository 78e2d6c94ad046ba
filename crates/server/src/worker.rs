//! A worker: one thread, one reactor, one share of the connections.
//!
//! The middle of a request's path, and a page long: the reactor says what is ready, the bytes go
//! into the engine's input buffers, the engine runs one turn, and what it has to say is sent, once
//! a connection. Connections to the TLS port have a tunnel between the two. What must stay true:
//! nothing here waits but the reactor's turn; the clock is read once a turn; a connection's end is
//! told to the engine exactly once.

use std::cell::RefCell;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, AsRawFd};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use caudal_engine::{self as engine, Close, Engine, Now, Open};
use caudal_reactor::{Event, Keepalive, Peer, Reactor, Received, Socket, Token};

use crate::inbox::{Inbox, Newcomer};
use crate::tls::{Keeper, Tunnels};

/// Pieces of output sent by one call. Most outputs are one piece.
const SLICES: usize = 16;

/// Ciphertext received by one call: two records. It is decrypted before the next one.
const CIPHERTEXT_BYTES: usize = 32 << 10;

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
        keeper: Option<Arc<Keeper>>,
    ) -> Self {
        let clock = Clock::new();
        let now = clock.now();
        let sockets = Sockets {
            store,
            reactor,
            inbox,
            clock,
            now,
            events: Vec::new(),
            outgoing: Vec::new(),
            tunnels: Tunnels::new(keeper),
            ciphertext: Vec::new(),
        };
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
        let sockets = self.sockets.borrow();
        let timers = [self.engine.next_timer(), sockets.tunnels.next_deadline_us()];
        let due_us = timers.into_iter().flatten().min()?;
        let now_us = sockets.now.monotonic_us;
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
    tunnels: Tunnels,
    /// Received and about to be decrypted; empty between connections.
    ciphertext: Vec<u8>,
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
        for newcomer in self.inbox.take() {
            self.on_arrival(engine, newcomer);
        }
        let mut events = std::mem::take(&mut self.events);
        for event in events.drain(..) {
            self.on_event(engine, event);
        }
        self.events = events;
        while let Some(token) = self.tunnels.next_late(self.now.monotonic_us) {
            self.close(engine, token);
        }
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
        let reactor = &mut self.reactor;
        self.tunnels.call(|token| reactor.resume(reactor_token(token)));
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

    fn on_arrival(&mut self, engine: &mut engine::Worker, newcomer: Newcomer) {
        let Newcomer { socket, peer, is_encrypted } = newcomer;
        if let Peer::Tcp { .. } = peer {
            // Options make a connection better, not possible: one without them is served as well.
            let _ = socket.set_no_delay();
            if let Some(seconds) = self.store.config().net.tcp_keepalive_seconds {
                let _ = socket.set_keepalive(Keepalive(Duration::from_secs(seconds.into())));
            }
        }
        match engine.open(describe(&peer, &socket), self.now) {
            Open::Refused(reply) => {
                // A peer that wants TLS could not read it.
                socket.dismiss(if is_encrypted { &[] } else { &reply });
                self.inbox.released();
            }
            Open::Accepted(token) => {
                let now_us = self.now.monotonic_us;
                let settings = &self.store.config().tls;
                if is_encrypted && self.tunnels.add(token, settings, now_us).is_err() {
                    engine.closed(token);
                    self.inbox.released();
                } else if self.reactor.attach(reactor_token(token), socket).is_err() {
                    drop(self.tunnels.remove(token));
                    engine.closed(token);
                    self.inbox.released();
                }
            }
        }
    }

    fn on_readable(&mut self, engine: &mut engine::Worker, at: Token) {
        let token = at.index();
        if self.tunnels.find(token).is_some() {
            return self.on_ciphertext(engine, at);
        }
        match self.reactor.receive(at, engine.input(token)) {
            Received::Bytes(bytes) => engine.received(token, bytes),
            Received::Nothing => {}
            Received::Closed => engine.ended(token),
            Received::Failed(_) => self.close(engine, token),
        }
    }

    fn on_ciphertext(&mut self, engine: &mut engine::Worker, at: Token) {
        let token = at.index();
        let Some(tunnel) = self.tunnels.find(token) else { return };
        let is_shaking_hands = tunnel.is_shaking_hands();
        if is_shaking_hands && !self.tunnels.may_step(token) {
            return self.reactor.pause(at);
        }
        self.ciphertext.clear();
        self.ciphertext.reserve(CIPHERTEXT_BYTES);
        match self.reactor.receive(at, &mut self.ciphertext) {
            Received::Bytes(_) => self.decrypt(engine, token),
            Received::Nothing => {}
            Received::Closed if is_shaking_hands => self.close(engine, token),
            // Without a goodbye it may have been cut off; the commands that came whole are run, as
            // of a connection that is not encrypted.
            Received::Closed => engine.ended(token),
            Received::Failed(_) => self.close(engine, token),
        }
    }

    /// Gives the engine what is in the received ciphertext.
    fn decrypt(&mut self, engine: &mut engine::Worker, token: engine::Token) {
        let Some(tunnel) = self.tunnels.find(token) else { return };
        let heard = tunnel.hear(&self.ciphertext, |plaintext| {
            engine.input(token).extend_from_slice(plaintext);
            engine.received(token, plaintext.len());
        });
        let heard = match heard {
            Ok(heard) => heard,
            Err(reason) => {
                self.tunnels.tell_failure(&engine.address(token), &reason);
                return self.close(engine, token);
            }
        };
        if heard.shook_hands {
            self.tunnels.on_handshake(token);
            self.sign_on(engine, token);
        }
        if heard.has_ended {
            engine.ended(token);
        }
        if heard.wants_send {
            self.settle(engine, token);
        }
    }

    /// Makes a connection the user's whom its certificate names.
    fn sign_on(&mut self, engine: &mut engine::Worker, token: engine::Token) {
        if let Some(kind) = self.store.config().tls.user_name
            && let Some(tunnel) = self.tunnels.find(token)
        {
            engine.certified(token, &tunnel.names(kind));
        }
    }

    /// Sends output as far as the peer takes it: how much left the engine, and whether all did and
    /// is encrypted and sent.
    fn send_output(
        &mut self,
        engine: &mut engine::Worker,
        token: engine::Token,
    ) -> io::Result<(usize, bool)> {
        let at = reactor_token(token);
        let output = engine.output(token);
        if let Some(tunnel) = self.tunnels.find(token) {
            let sent = tunnel.send(output, |slices| self.reactor.send(at, slices))?;
            return Ok((sent, output.is_empty() && tunnel.is_drained()));
        }
        let mut sent = 0;
        while !output.is_empty() {
            let mut slices = [IoSlice::new(&[]); SLICES];
            let filled = output.slices(&mut slices);
            let slices = &slices[..filled];
            let offered: usize = slices.iter().map(|slice| slice.len()).sum();
            let taken = self.reactor.send(at, slices)?;
            output.advance(taken);
            sent += taken;
            if taken < offered {
                break;
            }
        }
        Ok((sent, output.is_empty()))
    }

    /// Sends what a connection has to say, as far as the peer takes it, and follows its wishes.
    fn settle(&mut self, engine: &mut engine::Worker, token: engine::Token) {
        if engine.status(token).close == Close::Now {
            // Whoever is closed at once, for what it has not read for instance, gets no more.
            return self.close(engine, token);
        }
        let at = reactor_token(token);
        let Ok((sent, is_flushed)) = self.send_output(engine, token) else {
            return self.close(engine, token);
        };
        if sent > 0 {
            engine.sent(token, sent);
        }
        let status = engine.status(token);
        match status.close {
            Close::Now => self.close(engine, token),
            Close::AfterFlush
                if is_flushed && self.says_goodbye(token) && self.reactor.is_flushed(at) =>
            {
                self.close(engine, token);
            }
            _ if status.wants_read => self.reactor.resume(at),
            _ => self.reactor.pause(at),
        }
    }

    /// Whether a connection that is to be closed has taken its leave of the peer.
    fn says_goodbye(&mut self, token: engine::Token) -> bool {
        let Some(tunnel) = self.tunnels.find(token) else { return true };
        let said = tunnel.say_goodbye(|slices| self.reactor.send(reactor_token(token), slices));
        // To a peer that is gone there is nothing to say.
        said.is_err() || tunnel.is_drained()
    }

    fn close(&mut self, engine: &mut engine::Worker, token: engine::Token) {
        let at = reactor_token(token);
        match self.tunnels.remove(token) {
            Some(tunnel) => self.reactor.part(at, &tunnel.last_word()),
            None => self.reactor.detach(at),
        }
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
