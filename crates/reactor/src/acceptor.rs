//! The main thread's loop: new connections and signals.
//!
//! First on a connection's way: it accepts, and its owner hands the socket to a worker. A handful
//! of descriptors, so plain poll(2), which is level-triggered: whatever is left for later comes
//! again by itself. What must stay true: being out of descriptors never makes it spin.

use std::io;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::socket::{Listener, Peer, Socket};
use crate::{Signal, Signals, Waker};

/// Connections taken from one listener before the others get their turn.
const ACCEPTS_PER_TURN_MAX: usize = 64;

/// How long a listener rests when the process is out of descriptors or memory: the connections
/// wait in its backlog until others have closed.
const REST: Duration = Duration::from_millis(100);

/// What an acceptor's turn brings.
#[derive(Debug)]
pub enum Arrival {
    /// A new connection, at the listener that has this place among all.
    Connection(Socket, Peer, usize),
    /// A listener could not accept, and rests a moment. The error says why.
    Refused(io::Error),
    /// A signal.
    Signal(Signal),
}

/// Waits for connections, signals, and its waker.
#[derive(Debug)]
pub struct Acceptor {
    listeners: Vec<Listening>,
    signals: Option<Signals>,
    waker: Waker,
}

#[derive(Debug)]
struct Listening {
    listener: Listener,
    rests_until: Option<Instant>,
}

impl Acceptor {
    /// An acceptor for these listeners.
    ///
    /// # Errors
    /// Out of descriptors.
    pub fn new(listeners: Vec<Listener>, signals: Option<Signals>) -> io::Result<Self> {
        let listening = |listener| Listening { listener, rests_until: None };
        let listeners = listeners.into_iter().map(listening).collect();
        Ok(Self { listeners, signals, waker: Waker::new()? })
    }

    /// Wakes this acceptor from any thread.
    pub fn waker(&self) -> Waker {
        self.waker.clone()
    }

    /// Closes all listeners: only signals arrive from now on.
    pub fn close(&mut self) {
        self.listeners.clear();
    }

    /// Waits until something arrives, it is woken, or `timeout` has passed; appends what arrived.
    ///
    /// # Errors
    /// poll(2) itself failed, for want of kernel memory.
    pub fn turn(
        &mut self,
        timeout: Option<Duration>,
        arrivals: &mut Vec<Arrival>,
    ) -> io::Result<()> {
        let now = Instant::now();
        let mut timeout = timeout;
        for listening in &mut self.listeners {
            let Some(until) = listening.rests_until else { continue };
            if until <= now {
                listening.rests_until = None;
            } else {
                timeout = Some(timeout.unwrap_or(REST).min(until - now));
            }
        }
        if !self.waker.fall_asleep() {
            timeout = Some(Duration::ZERO);
        }
        let ready = self.wait(timeout);
        self.waker.wake_up();
        let ready = ready?;
        if ready.woken {
            self.waker.drain();
        }
        if let Some(signals) = &self.signals {
            arrivals.extend(std::iter::from_fn(|| signals.next()).map(Arrival::Signal));
        }
        for index in ready.listeners {
            self.accept(index, arrivals);
        }
        Ok(())
    }

    fn wait(&self, timeout: Option<Duration>) -> io::Result<Ready> {
        let awake = |l: &&Listening| l.rests_until.is_none();
        let mut fds: Vec<PollFd<'_>> = Vec::with_capacity(self.listeners.len() + 2);
        fds.push(PollFd::from_borrowed_fd(self.waker.event(), PollFlags::IN));
        let listening = self.listeners.iter().filter(awake);
        fds.extend(listening.map(|l| PollFd::new(&l.listener, PollFlags::IN)));
        let listening = fds.len();
        fds.extend(self.signals.iter().map(|s| PollFd::new(s, PollFlags::IN)));
        let timeout = timeout.map(|t| Timespec::try_from(t).expect("a timeout of a server's life"));
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let indices = (0..self.listeners.len()).filter(|&i| awake(&&self.listeners[i]));
        let ready = |(index, fd): (usize, &PollFd<'_>)| (!fd.revents().is_empty()).then_some(index);
        Ok(Ready {
            woken: !fds[0].revents().is_empty(),
            listeners: indices.zip(&fds[1..listening]).filter_map(ready).collect(),
        })
    }

    fn accept(&mut self, index: usize, arrivals: &mut Vec<Arrival>) {
        let listening = &mut self.listeners[index];
        for _ in 0..ACCEPTS_PER_TURN_MAX {
            match listening.listener.accept() {
                Ok(Some((socket, peer))) => {
                    arrivals.push(Arrival::Connection(socket, peer, index));
                }
                Ok(None) => return,
                Err(error) => {
                    listening.rests_until = Some(Instant::now() + REST);
                    arrivals.push(Arrival::Refused(error.into()));
                    return;
                }
            }
        }
    }
}

struct Ready {
    woken: bool,
    /// Indices of listeners somebody waits at.
    listeners: Vec<usize>,
}
