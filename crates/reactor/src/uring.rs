//! The io_uring back end: one system call a turn sends every reply, and waits.
//!
//! A connection has one standing receive (multishot) into buffers that the ring's connections
//! share, so an idle one holds none. Small outputs are copied beside each other and sent by the
//! same call that then waits for input; larger ones are sent at once, as one system call more is
//! nothing beside copying them. Against epoll a request costs the server's side 1.05 x the CPU with
//! one ready socket, 0.95 x with two and 0.85 x from eight on (`examples/round_trip.rs`); most of
//! that is the batched sends, without which it is 0.96 x at best. What must stay true: a buffer is
//! in the kernel's hands again before the turn after the one that brought it has waited; a
//! connection that is short of room has its remainder here, and takes nothing more until that is
//! sent.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::ops::Range;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::Shutdown;

use crate::ring::{Completion, Ring};
use crate::slots::{Slot, Slots};
use crate::{Event, Received, Socket, Token, Waker};

/// Larger outputs are not copied: at this size a send costs twice what entering the kernel does.
const QUEUED_SEND_BYTES_MAX: usize = 16 * 1024;

/// The io_uring loop.
pub(crate) struct Uring {
    ring: Ring,
    waker: Waker,
    waker_is_polled: bool,
    slots: Slots<State>,
    /// Counts attachments: completions of a token's former connection are told apart by it.
    generation: u32,
    /// Connections whose receive ended while they still want input.
    rearm: Vec<Token>,
    /// Connections to announce in the next turn without a completion.
    unfinished: Vec<Token>,
    /// Connections that may still have unread buffers of this turn.
    announced: Vec<Token>,
    /// Connections whose owner waits for an earlier send of the same turn.
    deferred: Vec<Token>,
    /// Connections with a queued send.
    sending: Vec<Token>,
    /// Sockets of detached connections, until the kernel has seen what was queued for them.
    closing: Vec<Socket>,
}

#[derive(Debug, Default)]
struct State {
    generation: u32,
    /// A receive stands.
    receiving: bool,
    paused: bool,
    /// Listed in `announced`.
    announced: bool,
    /// A poll for the peer's end stands.
    watched: bool,
    /// The owner was refused, and waits for `Writable`.
    wants_room: bool,
    /// Where a send of this turn stands in the ring's outbound bytes.
    queued: Option<Range<usize>>,
    /// What the peer did not take yet.
    remainder: Vec<u8>,
    /// A poll for room stands.
    waits_for_room: bool,
    /// Received and not read, oldest first.
    unread: VecDeque<Chunk>,
    /// Received in an earlier turn and not read; comes before `unread`.
    held: Vec<u8>,
    /// How the input ended.
    end: Option<End>,
}

/// Ten thousand idle connections are to cost next to nothing.
const _: () = assert!(size_of::<Slot<State>>() <= 256);

/// Part of a receive buffer.
#[derive(Debug, Clone, Copy)]
struct Chunk {
    buffer: u16,
    start: usize,
    end: usize,
}

#[derive(Debug, Clone, Copy)]
enum End {
    Closed,
    Failed(i32),
}

/// What a completion is about, in the upper eight bits of its id; below stand 24 bits of
/// generation and 32 of token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Operation {
    Receive = 1,
    Send = 2,
    Room = 3,
    Watch = 4,
    Wake = 5,
    Cancel = 6,
}

const GENERATIONS: u32 = 1 << 24;

impl Operation {
    fn id(self, generation: u32, token: Token) -> u64 {
        debug_assert!(generation < GENERATIONS);
        (self as u64) << 56 | u64::from(generation) << 32 | u64::from(token.0)
    }

    /// What `id` was made of.
    fn parts(id: u64) -> (Self, u32, Token) {
        let all = [Self::Receive, Self::Send, Self::Room, Self::Watch, Self::Wake, Self::Cancel];
        let [kind, a, b, c, token @ ..] = id.to_be_bytes();
        let operation = all.into_iter().find(|&operation| operation as u8 == kind);
        let generation = u32::from_be_bytes([0, a, b, c]);
        let operation = operation.expect("ids are made by `id`");
        (operation, generation, Token(u32::from_be_bytes(token)))
    }
}

impl Uring {
    pub(crate) fn new(waker: Waker) -> io::Result<Self> {
        Ok(Self {
            ring: Ring::new()?,
            waker,
            waker_is_polled: false,
            slots: Slots::new(),
            generation: 0,
            rearm: Vec::new(),
            unfinished: Vec::new(),
            announced: Vec::new(),
            deferred: Vec::new(),
            sending: Vec::new(),
            closing: Vec::new(),
        })
    }

    pub(crate) fn connections(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn is_attached(&self, token: Token) -> bool {
        self.slots.has(token)
    }

    pub(crate) fn attach(&mut self, token: Token, socket: Socket) -> io::Result<()> {
        self.generation = (self.generation + 1) % GENERATIONS;
        let state = State { generation: self.generation, receiving: true, ..State::default() };
        let id = Operation::Receive.id(self.generation, token);
        self.ring.receive(socket.as_fd(), id)?;
        let needs_watch = !socket.is_tcp();
        self.slots.insert(token, socket, state);
        if needs_watch {
            self.watch(token)?;
        }
        Ok(())
    }

    pub(crate) fn detach(&mut self, token: Token) {
        let Some(slot) = self.slots.remove(token) else { return };
        for chunk in &slot.state.unread {
            self.ring.give_back(chunk.buffer);
        }
        // What stands in the ring holds the socket open; this ends it, and tells the peer.
        let _ = rustix::net::shutdown(&slot.socket, Shutdown::Both);
        self.closing.push(slot.socket);
    }

    pub(crate) fn turn(
        &mut self,
        timeout: Option<Duration>,
        events: &mut Vec<Event>,
    ) -> io::Result<()> {
        let before = events.len();
        self.prepare(events)?;
        let mut timeout = if events.len() == before { timeout } else { Some(Duration::ZERO) };
        let sleeps = timeout != Some(Duration::ZERO);
        if sleeps && !self.waker.fall_asleep() {
            timeout = Some(Duration::ZERO);
        }
        let outcome = self.ring.enter(timeout);
        self.waker.wake_up();
        outcome?;
        // Sends are done with when the kernel has taken all of them and keeps no completion back.
        while !self.ring.is_submitted() || self.ring.is_overflown() {
            self.read_completions(events);
            self.ring.enter(Some(Duration::ZERO))?;
        }
        self.read_completions(events);
        for token in self.sending.drain(..) {
            if let Some(slot) = self.slots.find(token) {
                slot.state.queued = None;
            }
        }
        self.ring.forget_outbound();
        Ok(())
    }

    pub(crate) fn receive(&mut self, token: Token, into: &mut Vec<u8>) -> Received {
        let state = &mut self.slots.expect(token).state;
        let before = into.len();
        if !state.held.is_empty() {
            let n = state.held.len().min(into.capacity() - into.len());
            into.extend(state.held.drain(..n));
            if state.held.is_empty() {
                state.held = Vec::new();
            }
        }
        while let Some(chunk) = state.unread.front_mut() {
            let n = (chunk.end - chunk.start).min(into.capacity() - into.len());
            if n == 0 {
                break;
            }
            into.extend_from_slice(self.ring.inbound(chunk.buffer, chunk.start..chunk.start + n));
            chunk.start += n;
            if chunk.start == chunk.end {
                self.ring.give_back(chunk.buffer);
                state.unread.pop_front();
            }
        }
        let received = into.len() - before;
        if state.has_input() {
            self.unfinished.push(token);
        }
        match (received, state.end) {
            (0, Some(End::Closed)) => Received::Closed,
            (0, Some(End::Failed(number))) => {
                Received::Failed(io::Error::from_raw_os_error(number))
            }
            (0, None) => Received::Nothing,
            (n, _) => Received::Bytes(n),
        }
    }

    pub(crate) fn send(&mut self, token: Token, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let slot = self.slots.expect(token);
        let state = &mut slot.state;
        if state.queued.is_some() {
            state.wants_room = true;
            self.deferred.push(token);
            return Ok(0);
        }
        if state.waits_for_room {
            state.wants_room = true;
            return Ok(0);
        }
        let wanted: usize = slices.iter().map(|slice| slice.len()).sum();
        if wanted <= QUEUED_SEND_BYTES_MAX {
            let id = Operation::Send.id(state.generation, token);
            if let Some(range) = self.ring.send(slot.socket.as_fd(), slices, id)? {
                state.queued = Some(range);
                self.sending.push(token);
                return Ok(wanted);
            }
        }
        let sent = match slot.socket.send(slices) {
            Ok(sent) => sent,
            Err(Errno::AGAIN) => 0,
            Err(error) => return Err(error.into()),
        };
        if sent < wanted {
            state.wants_room = true;
            self.wait_for_room(token)?;
        }
        Ok(sent)
    }

    /// Sends once, and does not ask what became of it.
    pub(crate) fn send_last(&mut self, token: Token, word: &[u8]) {
        let slot = self.slots.expect(token);
        if slot.state.queued.is_none() && slot.state.remainder.is_empty() {
            // The connection is about to be closed, whatever the kernel says.
            let _ = slot.socket.send(&[IoSlice::new(word)]);
        }
    }

    pub(crate) fn is_flushed(&mut self, token: Token) -> bool {
        let state = &mut self.slots.expect(token).state;
        if state.queued.is_some() {
            self.deferred.push(token);
        }
        let is_flushed = state.queued.is_none() && state.remainder.is_empty();
        state.wants_room |= !is_flushed;
        is_flushed
    }

    pub(crate) fn pause(&mut self, token: Token) {
        let state = &mut self.slots.expect(token).state;
        if state.paused {
            return;
        }
        state.paused = true;
        // These fail only with the ring itself, which the next turn will tell.
        let _ = self.cancel_receive(token);
        let _ = self.watch(token);
    }

    pub(crate) fn resume(&mut self, token: Token) {
        let state = &mut self.slots.expect(token).state;
        if !state.paused {
            return;
        }
        state.paused = false;
        if state.has_input() {
            self.unfinished.push(token);
        }
        if !state.receiving && state.end.is_none() {
            self.rearm.push(token);
        }
    }

    /// Before the wait: what the last turn left behind.
    fn prepare(&mut self, events: &mut Vec<Event>) -> io::Result<()> {
        if !self.closing.is_empty() {
            self.ring.submit()?;
            // A number that is closed may be given to the next socket: nothing queued may name it.
            if self.ring.is_submitted() {
                self.closing.clear();
            }
        }
        if !self.waker_is_polled {
            self.ring.poll(self.waker.event(), libc::POLLIN, Operation::Wake.id(0, Token(0)))?;
            self.waker_is_polled = true;
        }
        for token in self.announced.drain(..) {
            if let Some(slot) = self.slots.find(token) {
                slot.state.announced = false;
                slot.state.hold(&mut self.ring);
            }
        }
        for token in self.rearm.drain(..) {
            let Some(slot) = self.slots.find(token) else { continue };
            let state = &mut slot.state;
            if !state.receiving && !state.paused && state.end.is_none() {
                let id = Operation::Receive.id(state.generation, token);
                self.ring.receive(slot.socket.as_fd(), id)?;
                state.receiving = true;
            }
        }
        for token in self.deferred.drain(..) {
            if self.slots.has(token) {
                events.push(Event::Writable(token));
            }
        }
        let mut unfinished = std::mem::take(&mut self.unfinished);
        for token in unfinished.drain(..) {
            self.announce(token, events);
        }
        self.unfinished = unfinished;
        Ok(())
    }

    fn read_completions(&mut self, events: &mut Vec<Event>) {
        while let Some(completion) = self.ring.next() {
            self.on_completion(completion, events);
        }
    }

    fn on_completion(&mut self, completion: Completion, events: &mut Vec<Event>) {
        let (operation, generation, token) = Operation::parts(completion.id);
        if operation == Operation::Wake {
            self.waker.drain();
            self.waker_is_polled = false;
            return;
        }
        let is_current =
            self.slots.find(token).is_some_and(|slot| slot.state.generation == generation);
        if !is_current {
            if let Some(buffer) = completion.buffer {
                self.ring.give_back(buffer);
            }
            return;
        }
        match operation {
            Operation::Receive => self.on_received(token, completion, events),
            Operation::Send => self.on_short_send(token, completion.result, events),
            Operation::Room => self.on_room(token, events),
            Operation::Watch => self.on_watch(token, completion.result, events),
            Operation::Wake | Operation::Cancel => {}
        }
    }

    fn on_received(&mut self, token: Token, completion: Completion, events: &mut Vec<Event>) {
        let state = &mut self.slots.expect(token).state;
        state.receiving = completion.more;
        match (completion.result, completion.buffer) {
            (bytes @ 1.., Some(buffer)) => {
                let end = usize::try_from(bytes).expect("positive");
                state.unread.push_back(Chunk { buffer, start: 0, end });
            }
            (result, buffer) => {
                if let Some(buffer) = buffer {
                    self.ring.give_back(buffer);
                }
                state.end = match -result {
                    0 => Some(End::Closed),
                    // Out of buffers for now, or cancelled by a pause.
                    libc::ENOBUFS | libc::ECANCELED | libc::EINTR => None,
                    number => Some(End::Failed(number)),
                };
            }
        }
        if !state.receiving && state.end.is_none() && !state.paused {
            self.rearm.push(token);
        }
        self.announce(token, events);
    }

    /// A queued send that was not taken whole.
    fn on_short_send(&mut self, token: Token, result: i32, events: &mut Vec<Event>) {
        let state = &mut self.slots.expect(token).state;
        let Some(range) = state.queued.take() else { return };
        let sent = match result {
            0.. => usize::try_from(result).expect("not negative"),
            _ if matches!(-result, libc::EAGAIN | libc::EINTR) => 0,
            _ => {
                let error = io::Error::from_raw_os_error(-result);
                events.push(Event::Failed(token, error));
                return;
            }
        };
        state.remainder = self.ring.outbound(range.start + sent..range.end).to_vec();
        if !state.remainder.is_empty()
            && let Err(error) = self.wait_for_room(token)
        {
            events.push(Event::Failed(token, error));
        }
    }

    fn on_room(&mut self, token: Token, events: &mut Vec<Event>) {
        let slot = self.slots.expect(token);
        slot.state.waits_for_room = false;
        if !slot.state.remainder.is_empty() {
            match slot.socket.send(&[IoSlice::new(&slot.state.remainder)]) {
                Ok(sent) => {
                    slot.state.remainder.drain(..sent);
                }
                Err(Errno::AGAIN) => {}
                Err(error) => return events.push(Event::Failed(token, error.into())),
            }
            if !slot.state.remainder.is_empty() {
                if let Err(error) = self.wait_for_room(token) {
                    events.push(Event::Failed(token, error));
                }
                return;
            }
            slot.state.remainder = Vec::new();
        }
        if std::mem::take(&mut slot.state.wants_room) {
            events.push(Event::Writable(token));
        }
    }

    /// The peer is gone, or sends no more.
    fn on_watch(&mut self, token: Token, result: i32, events: &mut Vec<Event>) {
        let slot = self.slots.expect(token);
        slot.state.watched = false;
        if slot.state.paused {
            // The kernel adds POLLRDHUP to every mask; a peer that only stopped sending may stay.
            if result < 0 || result & i32::from(libc::POLLERR | libc::POLLHUP) != 0 {
                events.push(Event::Failed(token, slot.socket.error()));
            }
        } else if slot.state.end.is_none()
            && let Err(error) = self.cancel_receive(token)
        {
            events.push(Event::Failed(token, error));
        }
    }

    /// Ends the standing receive; unless the connection is paused, another one takes its place.
    fn cancel_receive(&mut self, token: Token) -> io::Result<()> {
        let state = &self.slots.expect(token).state;
        if !state.receiving {
            return Ok(());
        }
        let target = Operation::Receive.id(state.generation, token);
        self.ring.cancel(target, Operation::Cancel.id(state.generation, token))
    }

    /// Asks to be told when the peer is gone or sends no more. Needed while nothing is received,
    /// and always for unix sockets: there a standing receive now and then waits on for ever when
    /// the input ends (Linux 6.18, the model test without this line; never seen with TCP, where the
    /// kernel counts an end as something left to read). A new receive does see it.
    fn watch(&mut self, token: Token) -> io::Result<()> {
        let slot = self.slots.expect(token);
        if !slot.state.watched {
            let id = Operation::Watch.id(slot.state.generation, token);
            let mask = libc::POLLRDHUP | libc::POLLERR | libc::POLLHUP;
            self.ring.poll(slot.socket.as_fd(), mask, id)?;
            slot.state.watched = true;
        }
        Ok(())
    }

    fn wait_for_room(&mut self, token: Token) -> io::Result<()> {
        let slot = self.slots.expect(token);
        if !slot.state.waits_for_room {
            let id = Operation::Room.id(slot.state.generation, token);
            self.ring.poll(slot.socket.as_fd(), libc::POLLOUT, id)?;
            slot.state.waits_for_room = true;
        }
        Ok(())
    }

    /// Tells the owner of input, once a turn; of a paused connection only that it is gone.
    fn announce(&mut self, token: Token, events: &mut Vec<Event>) {
        let Some(slot) = self.slots.find(token) else { return };
        let state = &mut slot.state;
        if std::mem::replace(&mut state.announced, true) {
            return;
        }
        self.announced.push(token);
        if state.paused {
            if let Some(End::Failed(number)) = state.end {
                events.push(Event::Failed(token, io::Error::from_raw_os_error(number)));
            }
        } else if state.has_input() {
            events.push(Event::Readable(token));
        }
    }
}

impl State {
    fn has_input(&self) -> bool {
        !self.unread.is_empty() || !self.held.is_empty() || self.end.is_some()
    }

    /// Copies what was not read in its turn, so that nobody keeps the shared buffers.
    fn hold(&mut self, ring: &mut Ring) {
        for chunk in self.unread.drain(..) {
            self.held.extend_from_slice(ring.inbound(chunk.buffer, chunk.start..chunk.end));
            ring.give_back(chunk.buffer);
        }
    }
}
