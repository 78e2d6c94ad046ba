//! Random steps against a model: whatever happens, each peer gets its own bytes back, in order.

use std::collections::VecDeque;
use std::io::{ErrorKind, IoSlice, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::net::sockopt;

use super::{each_backend, pair, tcp_pair};
use crate::{Event, Reactor, Received, Token};

const SEATS: usize = 12;
const STEPS: usize = 6000;

/// Numbers that look random, and are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).unwrap()
    }
}

/// One token, and the connection that has it at the moment.
struct Seat {
    peer: UnixStream,
    /// Written by the peer and not yet come back.
    expected: VecDeque<u8>,
    /// Received by the owner and not yet taken by the reactor.
    owed: Vec<u8>,
    next_byte: u8,
    paused: bool,
    /// The peer writes no more.
    finished: bool,
    /// The owner has seen that.
    ended: bool,
}

impl Seat {
    fn new(reactor: &mut Reactor, token: Token) -> Self {
        let (ours, peer) = if token.0.is_multiple_of(3) {
            let (ours, peer) = tcp_pair();
            // The methods of this type do for any stream what the test needs.
            (ours, UnixStream::from(OwnedFd::from(peer)))
        } else {
            pair()
        };
        sockopt::set_socket_send_buffer_size(&ours, 4096).unwrap();
        peer.set_nonblocking(true).unwrap();
        reactor.attach(token, ours).unwrap();
        Self {
            peer,
            expected: VecDeque::new(),
            owed: Vec::new(),
            next_byte: 0,
            paused: false,
            finished: false,
            ended: false,
        }
    }

    fn write(&mut self, bytes: usize) {
        let start = self.next_byte;
        let chunk: Vec<u8> = (0..bytes).map(|i| start.wrapping_add(low_byte(i))).collect();
        match self.peer.write(&chunk) {
            Ok(n) => {
                self.expected.extend(&chunk[..n]);
                self.next_byte = start.wrapping_add(low_byte(n));
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
        }
    }

    /// Reads at the peer's side; says whether the connection was closed.
    fn read(&mut self, bytes: usize) -> bool {
        let mut chunk = vec![0; bytes];
        match self.peer.read(&mut chunk) {
            Ok(0) => return true,
            Ok(n) => {
                for byte in &chunk[..n] {
                    assert_eq!(Some(*byte), self.expected.pop_front());
                }
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
        }
        false
    }

    fn send(&mut self, reactor: &mut Reactor, token: Token) {
        if self.owed.is_empty() {
            return;
        }
        let (head, tail) = self.owed.split_at(self.owed.len() / 3);
        let sent = reactor.send(token, &[IoSlice::new(head), IoSlice::new(tail)]).unwrap();
        self.owed.drain(..sent);
    }

    fn receive(&mut self, reactor: &mut Reactor, token: Token, room: usize) {
        let mut input = Vec::with_capacity(room);
        match reactor.receive(token, &mut input) {
            Received::Bytes(n) => assert_eq!(n, input.len()),
            Received::Nothing => assert!(input.is_empty()),
            Received::Closed => self.ended = true,
            Received::Failed(error) => panic!("{error}"),
        }
        self.owed.extend(input);
    }
}

fn turn(reactor: &mut Reactor, seats: &mut [Seat], dice: &mut Dice) {
    let mut events = Vec::new();
    reactor.turn(Some(Duration::ZERO), &mut events).unwrap();
    for event in events {
        let token = event.token();
        let seat = &mut seats[token.index()];
        match event {
            Event::Readable(_) if dice.below(8) == 0 => {
                reactor.pause(token);
                seat.paused = true;
            }
            Event::Readable(_) => {
                let room = [1, 100, 5000, 70_000][dice.below(4)];
                seat.receive(reactor, token, room);
                if dice.below(4) > 0 {
                    seat.send(reactor, token);
                }
            }
            Event::Writable(_) => seat.send(reactor, token),
            Event::Failed(_, error) => panic!("{error}"),
        }
    }
}

#[test]
fn every_peer_gets_its_own_bytes_back() {
    each_backend(|reactor| {
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
        let token = |index: usize| Token(u32::try_from(index).unwrap());
        let mut seats: Vec<Seat> = (0..SEATS).map(|i| Seat::new(reactor, token(i))).collect();
        for _ in 0..STEPS {
            let index = dice.below(SEATS);
            let (seat, at) = (&mut seats[index], token(index));
            match dice.below(100) {
                0..35 if !seat.finished => {
                    seat.write([1, 50, 3000, 60_000][dice.below(4)]);
                }
                35..60 => {
                    seat.read([1, 500, 40_000][dice.below(3)]);
                }
                60..68 => {
                    if seat.paused {
                        reactor.resume(at);
                    } else {
                        reactor.pause(at);
                    }
                    seat.paused = !seat.paused;
                }
                68 if !seat.finished => {
                    seat.peer.shutdown(Shutdown::Write).unwrap();
                    seat.finished = true;
                }
                69..71 => {
                    reactor.detach(at);
                    *seat = Seat::new(reactor, at);
                }
                71..75 => seat.send(reactor, at),
                _ => turn(reactor, &mut seats, &mut dice),
            }
        }
        settle(reactor, &mut seats, &mut dice);
    });
}

/// Lets everything come to rest: all bytes are back, and all ends are seen.
fn settle(reactor: &mut Reactor, seats: &mut [Seat], dice: &mut Dice) {
    for round in 0.. {
        assert!(round < 50_000, "some bytes never came back");
        let mut is_done = true;
        for (index, seat) in seats.iter_mut().enumerate() {
            let at = Token(u32::try_from(index).unwrap());
            if !seat.finished {
                seat.peer.shutdown(Shutdown::Write).unwrap();
                seat.finished = true;
            }
            if seat.paused && !seat.ended {
                reactor.resume(at);
                seat.paused = false;
            }
            seat.send(reactor, at);
            seat.read(100_000);
            is_done &= seat.ended && seat.expected.is_empty() && reactor.is_flushed(at);
        }
        if is_done {
            break;
        }
        turn(reactor, seats, dice);
    }
    for (index, seat) in seats.iter_mut().enumerate() {
        assert!(seat.owed.is_empty());
        reactor.detach(Token(u32::try_from(index).unwrap()));
        assert!(seat.read(1), "the peer sees the end");
    }
    assert_eq!(reactor.connections(), 0);
}

/// The lowest byte of a number.
fn low_byte(number: usize) -> u8 {
    number.to_le_bytes()[0]
}
