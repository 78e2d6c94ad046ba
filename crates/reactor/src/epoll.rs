//! The epoll back end: edges from the kernel, one receive and one send a ready connection.
//!
//! Edge-triggered, because a level-triggered item is polled a second time in every turn. That asks
//! for some memory of our own: `readable` says that the last receive did not reach the end, so the
//! connection comes again in the next turn without an edge; a receive shorter than its buffer did
//! reach it, and the next bytes will make an edge. Pausing is then a flag and no system call.
//! EPOLLOUT is asked for only while a send is short: on a unix socket every reply that the peer
//! reads would make an edge. What must stay true: `readable` and unpaused implies listed or
//! announced in this turn.

use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::Timespec;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;

use crate::slots::Slots;
use crate::{Event, Received, Socket, Token, Waker};

/// Events taken from the kernel in one turn. More stay for the next one, which is as soon.
const EVENTS_PER_TURN_MAX: usize = 256;

/// What marks the waker's own event; no connection has this token.
const WAKER: u64 = u64::MAX;

pub(crate) struct Epoll {
    epoll: OwnedFd,
    waker: Waker,
    slots: Slots<State>,
    /// Connections whose last receive left something behind, or that were resumed.
    unfinished: Vec<Token>,
    /// Counts turns, to announce a connection once in each.
    turn: u32,
    ready: Vec<epoll::Event>,
}

#[derive(Debug, Default)]
struct State {
    /// There may be input: an edge came, and no short receive since.
    readable: bool,
    /// The peer closed or the connection broke: a short receive is not the end.
    hung_up: bool,
    /// Both directions are gone: not even a paused connection may stay.
    broken: bool,
    paused: bool,
    /// A send was short: EPOLLOUT is asked for.
    blocked: bool,
    /// The turn in which it was last announced as readable.
    announced: u32,
}

impl Epoll {
    pub(crate) fn new(waker: Waker) -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let flags = EventFlags::IN | EventFlags::ET;
        epoll::add(&epoll, waker.event(), EventData::new_u64(WAKER), flags)?;
        let ready = Vec::with_capacity(EVENTS_PER_TURN_MAX);
        let slots = Slots::new();
        Ok(Self { epoll, waker, slots, unfinished: Vec::new(), turn: 0, ready })
    }

    pub(crate) fn connections(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn is_attached(&self, token: Token) -> bool {
        self.slots.has(token)
    }

    pub(crate) fn attach(&mut self, token: Token, socket: Socket) -> io::Result<()> {
        let data = EventData::new_u64(u64::from(token.0));
        epoll::add(&self.epoll, &socket, data, INPUT)?;
        self.slots.insert(token, socket, State::default());
        Ok(())
    }

    pub(crate) fn detach(&mut self, token: Token) {
        // Closing takes the socket out of the epoll set: no other descriptor shares it.
        drop(self.slots.remove(token));
    }

    pub(crate) fn turn(
        &mut self,
        timeout: Option<Duration>,
        events: &mut Vec<Event>,
    ) -> io::Result<()> {
        self.turn = self.turn.wrapping_add(1);
        let before = events.len();
        for index in 0..self.unfinished.len() {
            self.announce(self.unfinished[index], events);
        }
        self.unfinished.clear();
        let mut timeout = if events.len() == before { timeout } else { Some(Duration::ZERO) };
        let sleeps = timeout != Some(Duration::ZERO);
        if sleeps && !self.waker.fall_asleep() {
            timeout = Some(Duration::ZERO);
        }
        let outcome = self.wait(timeout);
        self.waker.wake_up();
        outcome?;
        self.collect(events);
        Ok(())
    }

    pub(crate) fn receive(&mut self, token: Token, into: &mut Vec<u8>) -> Received {
        let slot = self.slots.expect(token);
        let room = into.capacity() - into.len();
        match slot.socket.receive(into) {
            Ok(0) => {
                slot.state.readable = false;
                Received::Closed
            }
            Ok(n) => {
                if n == room || slot.state.hung_up {
                    self.unfinished.push(token);
                } else {
                    slot.state.readable = false;
                }
                Received::Bytes(n)
            }
            Err(Errno::AGAIN) => {
                slot.state.readable = false;
                Received::Nothing
            }
            Err(error) => Received::Failed(error.into()),
        }
    }

    pub(crate) fn send(&mut self, token: Token, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let slot = self.slots.expect(token);
        let wanted: usize = slices.iter().map(|slice| slice.len()).sum();
        let sent = match slot.socket.send(slices) {
            Ok(sent) => sent,
            Err(Errno::AGAIN) => 0,
            Err(error) => return Err(error.into()),
        };
        if sent < wanted && !slot.state.blocked {
            let data = EventData::new_u64(u64::from(token.0));
            epoll::modify(&self.epoll, &slot.socket, data, INPUT | EventFlags::OUT)?;
            slot.state.blocked = true;
        }
        Ok(sent)
    }

    /// Sends once, and does not ask what became of it.
    pub(crate) fn send_last(&mut self, token: Token, word: &[u8]) {
        let slot = self.slots.expect(token);
        if !slot.state.blocked {
            // The connection is about to be closed, whatever the kernel says.
            let _ = slot.socket.send(&[IoSlice::new(word)]);
        }
    }

    pub(crate) fn pause(&mut self, token: Token) {
        let state = &mut self.slots.expect(token).state;
        state.paused = true;
        if state.broken {
            self.unfinished.push(token);
        }
    }

    pub(crate) fn resume(&mut self, token: Token) {
        let state = &mut self.slots.expect(token).state;
        if state.paused && state.readable {
            self.unfinished.push(token);
        }
        state.paused = false;
    }

    fn wait(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        self.ready.clear();
        let timeout = timeout.map(|t| Timespec::try_from(t).expect("a timeout of a server's life"));
        let ready = rustix::buffer::spare_capacity(&mut self.ready);
        match epoll::wait(&self.epoll, ready, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Turns the kernel's edges into events.
    fn collect(&mut self, events: &mut Vec<Event>) {
        for index in 0..self.ready.len() {
            let epoll::Event { flags, data } = self.ready[index];
            if data.u64() == WAKER {
                self.waker.drain();
                continue;
            }
            let token = Token(u32::try_from(data.u64()).expect("tokens have 32 bits"));
            let Some(slot) = self.slots.find(token) else { continue };
            if flags.intersects(EventFlags::OUT) && slot.state.blocked {
                slot.state.blocked = false;
                let data = EventData::new_u64(u64::from(token.0));
                // It can only fail for want of kernel memory, and then edges come too often.
                let _ = epoll::modify(&self.epoll, &slot.socket, data, INPUT);
                events.push(Event::Writable(token));
            }
            slot.state.hung_up |= flags.intersects(HANG_UP);
            slot.state.broken |= flags.intersects(EventFlags::HUP | EventFlags::ERR);
            if flags.intersects(EventFlags::IN | HANG_UP) {
                slot.state.readable = true;
                self.announce(token, events);
            }
        }
    }

    /// Tells the owner of input, once a turn; of a paused connection only that it is gone.
    fn announce(&mut self, token: Token, events: &mut Vec<Event>) {
        let turn = self.turn;
        let Some(slot) = self.slots.find(token) else { return };
        let state = &mut slot.state;
        if state.announced == turn || !state.readable {
            return;
        }
        if !state.paused {
            state.announced = turn;
            events.push(Event::Readable(token));
        } else if state.broken {
            state.announced = turn;
            events.push(Event::Failed(token, slot.socket.error()));
        }
    }
}

/// What every connection waits for.
const INPUT: EventFlags = EventFlags::IN.union(EventFlags::RDHUP).union(EventFlags::ET);

/// Ways of the kernel to say that there is nothing more to come.
const HANG_UP: EventFlags = EventFlags::RDHUP.union(EventFlags::HUP).union(EventFlags::ERR);
