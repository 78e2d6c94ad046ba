//! What every back end promises, asked of each of them.

use std::collections::HashMap;
use std::io::{IoSlice, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

use crate::*;

mod model;

/// Long enough for the slowest machine, so that it only passes when something is wrong.
const PATIENCE: Duration = Duration::from_secs(20);

/// Runs a test on epoll, and on io_uring where the kernel permits it.
fn each_backend(test: impl Fn(&mut Reactor)) {
    test(&mut Reactor::new(Backend::Epoll).unwrap());
    match Reactor::new(Backend::IoUring) {
        Ok(mut reactor) => test(&mut reactor),
        Err(error) => eprintln_skip(&error),
    }
}

#[allow(clippy::print_stderr, reason = "a skipped half of a test must be seen")]
fn eprintln_skip(error: &std::io::Error) {
    eprintln!("skipped on io_uring: {error}");
}

/// A pair of connected unix sockets: one for the reactor, one for the test.
fn pair() -> (Socket, UnixStream) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    theirs.set_read_timeout(Some(PATIENCE)).unwrap();
    theirs.set_write_timeout(Some(PATIENCE)).unwrap();
    (Socket::new(OwnedFd::from(ours)).unwrap(), theirs)
}

/// A pair of connected TCP sockets.
fn tcp_pair() -> (Socket, TcpStream) {
    let listener = Listener::tcp("127.0.0.1:0".parse().unwrap(), 16).unwrap();
    let theirs = TcpStream::connect(("127.0.0.1", listener.port().unwrap())).unwrap();
    theirs.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut acceptor = Acceptor::new(vec![listener], None).unwrap();
    let mut arrivals = Vec::new();
    acceptor.turn(Some(PATIENCE), &mut arrivals).unwrap();
    let Some(Arrival::Connection(ours, Peer::Tcp { remote, .. }, 0)) = arrivals.pop() else {
        panic!("no connection arrived")
    };
    assert_eq!(remote, theirs.local_addr().unwrap());
    ours.set_no_delay().unwrap();
    ours.set_keepalive(Keepalive(Duration::from_secs(300))).unwrap();
    (ours, theirs)
}

/// What one turn brought, as short words.
fn turn(reactor: &mut Reactor) -> Vec<Event> {
    let mut events = Vec::new();
    reactor.turn(Some(PATIENCE), &mut events).unwrap();
    events
}

/// Turns until the reactor has something to tell: kernels may wake it for nothing.
fn next_events(reactor: &mut Reactor) -> Vec<Event> {
    for _ in 0..1000 {
        let events = turn(reactor);
        if !events.is_empty() {
            return events;
        }
    }
    panic!("nothing happened");
}

/// What a turn without waiting brings.
fn glance(reactor: &mut Reactor) -> Vec<Event> {
    let mut events = Vec::new();
    reactor.turn(Some(Duration::ZERO), &mut events).unwrap();
    events
}

/// An owner that sends back what it receives.
#[derive(Default)]
struct Echo {
    /// By token: what was received and not yet sent.
    owed: HashMap<Token, Vec<u8>>,
    closed: Vec<Token>,
    /// Connections whose input ended: closed when nothing is owed.
    ended: Vec<Token>,
    short_sends: usize,
    received: usize,
}

impl Echo {
    fn attach(&mut self, reactor: &mut Reactor, token: Token, socket: Socket) {
        reactor.attach(token, socket).unwrap();
        self.owed.insert(token, Vec::new());
    }

    /// One turn: receives, and sends what is owed.
    fn turn(&mut self, reactor: &mut Reactor) {
        let mut touched = Vec::new();
        for event in turn(reactor) {
            match event {
                Event::Readable(token) => {
                    let owed = self.owed.get_mut(&token).expect("attached");
                    owed.reserve(16 * 1024);
                    match reactor.receive(token, owed) {
                        Received::Bytes(n) => {
                            assert!(n > 0);
                            self.received += n;
                            touched.push(token);
                        }
                        Received::Nothing => {}
                        Received::Closed => {
                            reactor.pause(token);
                            self.ended.push(token);
                        }
                        Received::Failed(_) => self.close(reactor, token),
                    }
                }
                Event::Writable(token) => touched.push(token),
                Event::Failed(token, _) => self.close(reactor, token),
            }
        }
        for token in touched {
            self.send(reactor, token);
        }
        for token in std::mem::take(&mut self.ended) {
            match self.owed.get(&token) {
                Some(owed) if owed.is_empty() && reactor.is_flushed(token) => {
                    self.close(reactor, token);
                }
                Some(_) => self.ended.push(token),
                None => {}
            }
        }
    }

    fn send(&mut self, reactor: &mut Reactor, token: Token) {
        let Some(owed) = self.owed.get_mut(&token) else { return };
        if owed.is_empty() {
            return;
        }
        let (head, tail) = owed.split_at(owed.len() / 2);
        let slices = [IoSlice::new(head), IoSlice::new(tail)];
        match reactor.send(token, &slices) {
            Ok(sent) => {
                self.short_sends += usize::from(sent < owed.len());
                owed.drain(..sent);
            }
            Err(_) => self.close(reactor, token),
        }
    }

    fn close(&mut self, reactor: &mut Reactor, token: Token) {
        if self.owed.remove(&token).is_some() {
            reactor.detach(token);
            self.closed.push(token);
        }
    }
}

#[test]
fn echoes_over_many_sockets() {
    each_backend(|reactor| {
        let mut echo = Echo::default();
        let mut peers = Vec::new();
        for token in 0..64 {
            let (ours, theirs) = pair();
            echo.attach(reactor, Token(token), ours);
            peers.push(theirs);
        }
        for round in 0..20_u32 {
            for (index, peer) in peers.iter_mut().enumerate() {
                peer.write_all(format!("{round} {index:04}").as_bytes()).unwrap();
            }
            let before = echo.received;
            while echo.received - before < 64 * format!("{round} 0000").len() {
                echo.turn(reactor);
            }
            // Sends may leave with the next turn only.
            reactor.turn(Some(Duration::ZERO), &mut Vec::new()).unwrap();
            for (index, peer) in peers.iter_mut().enumerate() {
                let expected = format!("{round} {index:04}");
                let mut reply = vec![0; expected.len()];
                peer.read_exact(&mut reply).unwrap();
                assert_eq!(reply, expected.as_bytes());
            }
        }
        assert_eq!(reactor.connections(), 64);
    });
}

#[test]
fn a_thousand_connections() {
    raise_files_max(5000);
    each_backend(|reactor| {
        let mut echo = Echo::default();
        let mut peers = Vec::new();
        for token in 0..1000 {
            let (ours, mut theirs) = pair();
            theirs.write_all(&token.to_string().into_bytes()).unwrap();
            echo.attach(reactor, Token(token), ours);
            peers.push(theirs);
        }
        let expected: usize = (0..1000).map(|token| token.to_string().len()).sum();
        while echo.received < expected {
            echo.turn(reactor);
        }
        glance(reactor);
        for (token, peer) in peers.iter_mut().enumerate() {
            let mut reply = vec![0; token.to_string().len()];
            peer.read_exact(&mut reply).unwrap();
            assert_eq!(reply, token.to_string().into_bytes());
        }
        drop(peers);
        while echo.closed.len() < 1000 {
            echo.turn(reactor);
        }
        assert_eq!(reactor.connections(), 0);
    });
}

#[test]
fn large_transfers_survive_short_sends() {
    const BYTES: usize = 1024 * 1024;
    each_backend(|reactor| {
        let mut echo = Echo::default();
        let (ours, theirs) = tcp_pair();
        sockopt::set_socket_send_buffer_size(&ours, 8 * 1024).unwrap();
        echo.attach(reactor, Token(7), ours);
        let payload: Vec<u8> = (0..BYTES).map(|i| (i * 31 % 251).to_le_bytes()[0]).collect();
        let mut writer = theirs.try_clone().unwrap();
        let sent = payload.clone();
        let writing = thread::spawn(move || {
            writer.write_all(&sent).unwrap();
            writer.shutdown(Shutdown::Write).unwrap();
        });
        let (start, started) = mpsc::channel();
        let reading = thread::spawn(move || {
            let mut theirs = theirs;
            started.recv().unwrap();
            let mut got = vec![0; BYTES];
            theirs.read_exact(&mut got).unwrap();
            got
        });
        // The peer reads nothing before a send was short.
        while echo.closed.is_empty() {
            echo.turn(reactor);
            if echo.short_sends > 0 {
                let _ = start.send(());
            }
        }
        writing.join().unwrap();
        assert!(reading.join().unwrap() == payload);
    });
}

#[test]
fn half_close_comes_after_the_last_bytes() {
    each_backend(|reactor| {
        let (ours, mut theirs) = pair();
        reactor.attach(Token(0), ours).unwrap();
        theirs.write_all(b"last").unwrap();
        theirs.shutdown(Shutdown::Write).unwrap();
        let mut input = Vec::new();
        let mut closed = false;
        while !closed {
            for event in next_events(reactor) {
                let Event::Readable(Token(0)) = event else { panic!("{event:?}") };
                input.reserve(1024);
                closed |= matches!(reactor.receive(Token(0), &mut input), Received::Closed);
            }
        }
        assert_eq!(input, b"last");
        assert_eq!(reactor.send(Token(0), &[IoSlice::new(b"bye")]).unwrap(), 3);
        glance(reactor);
        let mut reply = [0; 3];
        theirs.read_exact(&mut reply).unwrap();
        assert_eq!(&reply, b"bye");
        reactor.detach(Token(0));
        assert_eq!(theirs.read(&mut reply).unwrap(), 0);
    });
}

/// Receives until the end of input, and gives what came.
fn receive_all(reactor: &mut Reactor, token: Token) -> Vec<u8> {
    let mut input = Vec::new();
    loop {
        for event in next_events(reactor) {
            let Event::Readable(at) = event else { panic!("{event:?}") };
            assert_eq!(at, token);
            input.reserve(1024);
            match reactor.receive(token, &mut input) {
                Received::Closed => return input,
                Received::Failed(error) => panic!("{error}"),
                Received::Bytes(_) | Received::Nothing => {}
            }
        }
    }
}

#[test]
fn an_end_right_behind_the_last_bytes_is_seen() {
    each_backend(|reactor| {
        for round in 0..200 {
            // The receive stands before bytes and end come, together.
            let (ours, mut theirs) = pair();
            reactor.attach(Token(0), ours).unwrap();
            glance(reactor);
            theirs.write_all(b"last").unwrap();
            if round % 2 == 0 {
                theirs.shutdown(Shutdown::Write).unwrap();
            } else {
                drop(theirs);
            }
            assert_eq!(receive_all(reactor, Token(0)), b"last");
            reactor.detach(Token(0));
            let (ours, mut theirs) = tcp_pair();
            reactor.attach(Token(0), ours).unwrap();
            glance(reactor);
            theirs.write_all(b"last").unwrap();
            if round % 2 == 0 {
                theirs.shutdown(Shutdown::Write).unwrap();
            } else {
                drop(theirs);
            }
            assert_eq!(receive_all(reactor, Token(0)), b"last");
            reactor.detach(Token(0));
        }
    });
}

#[test]
fn a_reset_is_told_even_while_paused() {
    each_backend(|reactor| {
        for paused in [false, true] {
            let (ours, theirs) = tcp_pair();
            reactor.attach(Token(3), ours).unwrap();
            glance(reactor);
            if paused {
                reactor.pause(Token(3));
            }
            sockopt::set_socket_linger(&theirs, Some(Duration::ZERO)).unwrap();
            drop(theirs);
            let mut told = false;
            while !told {
                for event in next_events(reactor) {
                    told = match event {
                        Event::Failed(Token(3), _) => true,
                        Event::Readable(Token(3)) => matches!(
                            reactor.receive(Token(3), &mut Vec::with_capacity(10)),
                            Received::Failed(_)
                        ),
                        other => panic!("{other:?}"),
                    };
                }
            }
            reactor.detach(Token(3));
        }
    });
}

#[test]
fn pausing_stops_input_and_resuming_loses_none() {
    each_backend(|reactor| {
        let (ours, mut theirs) = pair();
        reactor.attach(Token(1), ours).unwrap();
        let mut input = Vec::with_capacity(1024);
        reactor.pause(Token(1));
        glance(reactor);
        theirs.write_all(b"held back").unwrap();
        for _ in 0..3 {
            assert!(glance(reactor).is_empty());
        }
        reactor.resume(Token(1));
        while input.len() < 9 {
            for event in next_events(reactor) {
                let Event::Readable(Token(1)) = event else { panic!("{event:?}") };
                reactor.receive(Token(1), &mut input);
            }
        }
        assert_eq!(input, b"held back");
        // An event answered with a pause comes again.
        theirs.write_all(b"again").unwrap();
        let events = next_events(reactor);
        assert!(matches!(events[..], [Event::Readable(Token(1))]), "{events:?}");
        reactor.pause(Token(1));
        assert!(glance(reactor).is_empty());
        reactor.resume(Token(1));
        let events = next_events(reactor);
        assert!(matches!(events[..], [Event::Readable(Token(1))]), "{events:?}");
        assert!(matches!(reactor.receive(Token(1), &mut input), Received::Bytes(5)));
    });
}

#[test]
fn a_small_buffer_gets_the_rest_in_later_turns() {
    each_backend(|reactor| {
        let (ours, mut theirs) = pair();
        reactor.attach(Token(0), ours).unwrap();
        theirs.write_all(b"0123456789").unwrap();
        let mut input = Vec::new();
        while input.len() < 10 {
            for event in next_events(reactor) {
                let Event::Readable(Token(0)) = event else { panic!("{event:?}") };
                let mut some = Vec::with_capacity(4);
                if let Received::Bytes(n) = reactor.receive(Token(0), &mut some) {
                    assert_eq!(n, some.len());
                    assert!(n <= some.capacity());
                }
                input.extend(some);
            }
        }
        assert_eq!(input, b"0123456789");
        assert!(glance(reactor).is_empty() || reactor.kind() == Kind::Epoll);
    });
}

#[test]
fn a_token_can_be_used_again() {
    each_backend(|reactor| {
        for round in 0..50_u8 {
            let (ours, mut theirs) = pair();
            reactor.attach(Token(5), ours).unwrap();
            theirs.write_all(&[round]).unwrap();
            if round % 3 == 0 {
                // Detached with input under way.
                glance(reactor);
                reactor.detach(Token(5));
                continue;
            }
            let mut input = Vec::with_capacity(16);
            while input.is_empty() {
                for event in next_events(reactor) {
                    let Event::Readable(Token(5)) = event else { panic!("{event:?}") };
                    reactor.receive(Token(5), &mut input);
                }
            }
            assert_eq!(input, [round]);
            reactor.send(Token(5), &[IoSlice::new(&input)]).unwrap();
            if round % 2 == 0 {
                glance(reactor);
                theirs.read_exact(&mut input).unwrap();
            }
            reactor.detach(Token(5));
        }
    });
}

#[test]
fn another_thread_wakes_it() {
    each_backend(|reactor| {
        let mail = Arc::new(Mutex::new(Vec::new()));
        let done = Arc::new(AtomicBool::new(false));
        let (sender, waker) = (Arc::clone(&mail), reactor.waker());
        let finished = Arc::clone(&done);
        let posting = thread::spawn(move || {
            for letter in 0..2000 {
                sender.lock().unwrap().push(letter);
                waker.wake();
                if letter % 7 == 0 {
                    thread::yield_now();
                }
            }
            finished.store(true, Ordering::SeqCst);
            waker.wake();
        });
        let mut received = Vec::new();
        // A lost wake would leave this waiting for ever: the test would not end.
        while !done.load(Ordering::SeqCst) || received.len() < 2000 {
            received.append(&mut mail.lock().unwrap());
            if received.len() < 2000 {
                reactor.turn(None, &mut Vec::new()).unwrap();
            }
        }
        posting.join().unwrap();
        assert_eq!(received, (0..2000).collect::<Vec<_>>());
    });
}

#[test]
fn a_wake_while_awake_is_kept() {
    each_backend(|reactor| {
        reactor.waker().wake();
        reactor.turn(None, &mut Vec::new()).unwrap();
    });
}

#[test]
fn an_acceptor_out_of_descriptors_rests() {
    let listener = Listener::tcp("127.0.0.1:0".parse().unwrap(), 16).unwrap();
    let _waiting = TcpStream::connect(("127.0.0.1", listener.port().unwrap())).unwrap();
    // A connected socket takes no connections: accept fails as it does when out of descriptors.
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let deaf = rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, None);
    let mut acceptor = Acceptor::new(vec![Listener::broken(deaf.unwrap())], None).unwrap();
    let mut arrivals = Vec::new();
    acceptor.turn(Some(PATIENCE), &mut arrivals).unwrap();
    assert!(matches!(arrivals[..], [Arrival::Refused(_)]), "{arrivals:?}");
    // The descriptor is still ready, and the acceptor still waits: it returns for its waker.
    acceptor.waker().wake();
    arrivals.clear();
    acceptor.turn(Some(Duration::ZERO), &mut arrivals).unwrap();
    assert!(arrivals.is_empty(), "{arrivals:?}");
}

#[test]
fn unix_listeners_replace_stale_files_only() {
    let path = std::env::temp_dir().join(format!("caudal-listener-{}", std::process::id()));
    let listener = Listener::unix(&path, Some(0o700), 16).unwrap();
    let mode = std::fs::metadata(&path).unwrap();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode.permissions()) & 0o777, 0o700);
    assert_eq!(listener.to_string(), path.display().to_string());
    let taken = Listener::unix(&path, None, 16).unwrap_err();
    assert_eq!(taken.kind(), std::io::ErrorKind::AddrInUse);
    assert!(path.exists());
    let theirs = UnixStream::connect(&path).unwrap();
    let mut acceptor = Acceptor::new(vec![listener], None).unwrap();
    let mut arrivals = Vec::new();
    acceptor.turn(Some(PATIENCE), &mut arrivals).unwrap();
    let arrival = arrivals.last();
    assert!(matches!(arrival, Some(Arrival::Connection(_, Peer::Unix(p), 0)) if *p == path));
    drop((acceptor, theirs));
    assert!(!path.exists(), "the listener removes its file");
    // A file that a killed server left behind.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    drop(Listener::unix(&path, None, 16).unwrap());
    // Anything else stays.
    std::fs::write(&path, "precious").unwrap();
    assert!(Listener::unix(&path, None, 16).is_err());
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn ports_in_use_are_refused_and_v6_stands_beside_v4() {
    let first = Listener::tcp("0.0.0.0:0".parse().unwrap(), 16).unwrap();
    let port = first.port().unwrap();
    let second = Listener::tcp(([0, 0, 0, 0], port).into(), 16).unwrap_err();
    assert_eq!(second.kind(), std::io::ErrorKind::AddrInUse);
    // A machine without IPv6 says so by another error.
    if let Err(error) = Listener::tcp(format!("[::]:{port}").parse().unwrap(), 16) {
        assert_ne!(error.kind(), std::io::ErrorKind::AddrInUse);
    }
}

#[test]
fn dismissed_peers_get_the_last_word() {
    let (ours, mut theirs) = pair();
    ours.dismiss(b"-ERR full\r\n");
    let mut said = String::new();
    theirs.read_to_string(&mut said).unwrap();
    assert_eq!(said, "-ERR full\r\n");
}

#[test]
fn who_is_parted_with_gets_a_last_word_unless_something_stands_before_it() {
    each_backend(|reactor| {
        let (ours, mut theirs) = pair();
        reactor.attach(Token(0), ours).unwrap();
        glance(reactor);
        reactor.part(Token(0), b"goodbye");
        glance(reactor);
        let mut got = Vec::new();
        theirs.read_to_end(&mut got).unwrap();
        assert_eq!(got, b"goodbye");
        let (ours, mut theirs) = pair();
        reactor.attach(Token(0), ours).unwrap();
        glance(reactor);
        let much = vec![b'x'; 64 << 20];
        assert!(reactor.send(Token(0), &[IoSlice::new(&much)]).unwrap() < much.len());
        reactor.part(Token(0), b"goodbye");
        glance(reactor);
        let mut got = Vec::new();
        theirs.read_to_end(&mut got).unwrap();
        assert!(got.iter().all(|byte| *byte == b'x'));
    });
}

#[test]
fn the_supervisor_is_told() {
    let path = std::env::temp_dir().join(format!("caudal-notify-{}", std::process::id()));
    let supervisor = std::os::unix::net::UnixDatagram::bind(&path).unwrap();
    notify_supervisor(path.to_str().unwrap(), "READY=1\n").unwrap();
    let mut said = [0; 32];
    let n = supervisor.recv(&mut said).unwrap();
    assert_eq!(&said[..n], b"READY=1\n");
    std::fs::remove_file(&path).unwrap();
    assert!(notify_supervisor(path.to_str().unwrap(), "READY=1\n").is_err());
    assert!(!Path::new(&path).exists());
}
