//! What a request costs the server's side of a loopback connection, by back end and ready sockets.
//!
//!     cargo run --release -p caudal-reactor --example round_trip [seconds a row]
//!
//! One thread plays both sides in turns, and only the server's turns are timed, in CPU time of the
//! thread: the figure holds on a machine that is busy otherwise. Two groups of sockets alternate,
//! so that a turn finds input while the replies of the other group are on their way, as it does
//! under load. A request has 40 bytes, a reply 110; nothing is parsed.
#![allow(clippy::print_stdout, reason = "a measuring program prints its figures")]

use std::io::{IoSlice, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use caudal_reactor::{Backend, Event, Reactor, Received, Socket, Token};
use rustix::time::{ClockId, clock_gettime};

const REQUEST: [u8; 40] = [b'q'; 40];
const REPLY: [u8; 110] = [b'r'; 110];

fn main() -> std::io::Result<()> {
    let seconds = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(1.0);
    println!("ready sockets   epoll ns   io_uring ns   ratio");
    for ready in [1, 4, 16, 64, 512] {
        let mut best = [f64::INFINITY; 2];
        // In turns, so that a slow moment of the machine meets both.
        for _ in 0..5 {
            for (best, backend) in best.iter_mut().zip([Backend::Epoll, Backend::IoUring]) {
                *best = best.min(measure(backend, ready, Duration::from_secs_f64(seconds / 5.0))?);
            }
        }
        let [epoll, uring] = best;
        println!("{ready:13} {epoll:10.0} {uring:13.0} {:7.2}", uring / epoll);
    }
    Ok(())
}

/// Nanoseconds of CPU a request.
fn measure(backend: Backend, ready: usize, time: Duration) -> std::io::Result<f64> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut reactor = Reactor::new(backend)?;
    let mut clients = Vec::new();
    for token in 0..2 * ready {
        clients.push(TcpStream::connect(listener.local_addr()?)?);
        let socket = Socket::new(OwnedFd::from(listener.accept()?.0))?;
        socket.set_no_delay()?;
        clients[token].set_nodelay(true)?;
        reactor.attach(Token(u32::try_from(token).expect("few sockets")), socket)?;
    }
    let (mut events, mut input) = (Vec::new(), Vec::with_capacity(16 * 1024));
    let (mut spent, mut requests) = (Duration::ZERO, 0_u32);
    let (mut group, start) = (0, Instant::now());
    let mut reply = [0; REPLY.len()];
    let mut is_first = [true; 2];
    while start.elapsed() < time {
        let members = &mut clients[group * ready..(group + 1) * ready];
        for client in members {
            // Its reply was sent in the turn that received the other group's requests.
            if !is_first[group] {
                client.read_exact(&mut reply)?;
            }
            client.write_all(&REQUEST)?;
        }
        is_first[group] = false;
        let began = clock_gettime(ClockId::ThreadCPUTime);
        let mut answered = 0;
        while answered < ready {
            reactor.turn(None, &mut events)?;
            for event in events.drain(..) {
                let Event::Readable(token) = event else { continue };
                input.clear();
                if let Received::Bytes(_) = reactor.receive(token, &mut input) {
                    reactor.send(token, &[IoSlice::new(&REPLY)])?;
                    answered += 1;
                }
            }
        }
        let ended = clock_gettime(ClockId::ThreadCPUTime);
        spent += Duration::try_from(ended - began).unwrap_or_default();
        requests += u32::try_from(ready).expect("few sockets");
        group = 1 - group;
    }
    Ok(spent.as_secs_f64() * 1e9 / f64::from(requests))
}
