//! One interface over the two back ends.
//!
//! A worker's turn: `turn` waits and lists what happened; the owner answers each `Readable` with
//! one `receive` into the connection's own buffer; after running commands it calls `send` once for
//! each connection that has output, and `pause` or `resume` when its appetite changes.

use std::fmt;
use std::io::{self, IoSlice};
use std::time::Duration;

use crate::epoll::Epoll;
use crate::uring::Uring;
use crate::{Event, Received, Socket, Token, Waker};

/// Which back end is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Backend {
    /// io_uring where the kernel has and permits it, else epoll.
    #[default]
    Auto,
    /// io_uring or an error.
    IoUring,
    /// epoll.
    Epoll,
}

/// Which back end a reactor has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// io_uring.
    IoUring,
    /// epoll.
    Epoll,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::IoUring => "io_uring",
            Self::Epoll => "epoll",
        })
    }
}

/// The event loop of one thread.
pub struct Reactor {
    waker: Waker,
    inner: Inner,
    /// Why `Auto` did not get io_uring.
    fallback: Option<io::Error>,
}

enum Inner {
    IoUring(Box<Uring>),
    Epoll(Epoll),
}

impl Reactor {
    /// A reactor without connections.
    ///
    /// # Errors
    /// The system has no descriptors left, or `Backend::IoUring` was asked for and is not to be
    /// had.
    pub fn new(backend: Backend) -> io::Result<Self> {
        let waker = Waker::new()?;
        let uring = match backend {
            Backend::Epoll => None,
            Backend::Auto | Backend::IoUring => Some(Uring::new(waker.clone())),
        };
        let (inner, fallback) = match uring {
            Some(Ok(uring)) => (Inner::IoUring(Box::new(uring)), None),
            Some(Err(error)) if backend == Backend::IoUring => return Err(error),
            failed => (Inner::Epoll(Epoll::new(waker.clone())?), failed.and_then(Result::err)),
        };
        Ok(Self { waker, inner, fallback })
    }

    /// The back end that was chosen.
    pub fn kind(&self) -> Kind {
        match &self.inner {
            Inner::IoUring(_) => Kind::IoUring,
            Inner::Epoll(_) => Kind::Epoll,
        }
    }

    /// Why [`Backend::Auto`] did not choose io_uring.
    pub fn fallback(&self) -> Option<&io::Error> {
        self.fallback.as_ref()
    }

    /// Wakes this reactor from any thread.
    pub fn waker(&self) -> Waker {
        self.waker.clone()
    }

    /// How many connections are attached.
    pub fn connections(&self) -> usize {
        match &self.inner {
            Inner::IoUring(uring) => uring.connections(),
            Inner::Epoll(epoll) => epoll.connections(),
        }
    }

    /// Whether the token names a connection.
    #[inline]
    pub fn is_attached(&self, token: Token) -> bool {
        match &self.inner {
            Inner::IoUring(uring) => uring.is_attached(token),
            Inner::Epoll(epoll) => epoll.is_attached(token),
        }
    }

    /// Takes a connection in, under a free token that the owner chooses. Tokens should be small:
    /// they index a table.
    ///
    /// # Errors
    /// The kernel cannot watch one more.
    pub fn attach(&mut self, token: Token, socket: Socket) -> io::Result<()> {
        match &mut self.inner {
            Inner::IoUring(uring) => uring.attach(token, socket),
            Inner::Epoll(epoll) => epoll.attach(token, socket),
        }
    }

    /// Closes a connection. What it had in flight is lost; events of it that were listed already
    /// must not be answered.
    pub fn detach(&mut self, token: Token) {
        match &mut self.inner {
            Inner::IoUring(uring) => uring.detach(token),
            Inner::Epoll(epoll) => epoll.detach(token),
        }
    }

    /// Closes a connection with a last word, which is lost if the peer does not take it at once or
    /// something is still to be sent before it: nobody waits for a peer that is sent away.
    pub fn part(&mut self, token: Token, last_word: &[u8]) {
        if !last_word.is_empty() && self.is_attached(token) {
            match &mut self.inner {
                Inner::IoUring(uring) => uring.send_last(token, last_word),
                Inner::Epoll(epoll) => epoll.send_last(token, last_word),
            }
        }
        self.detach(token);
    }

    /// Waits until something happens, the waker is used, or `timeout` has passed, and appends what
    /// happened. `None` waits without end, zero not at all.
    ///
    /// # Errors
    /// The kernel failed the wait itself: no reactor can go on after that.
    pub fn turn(&mut self, timeout: Option<Duration>, events: &mut Vec<Event>) -> io::Result<()> {
        match &mut self.inner {
            Inner::IoUring(uring) => uring.turn(timeout, events),
            Inner::Epoll(epoll) => epoll.turn(timeout, events),
        }
    }

    /// Appends to `into` what has arrived, at most its spare capacity, of which there must be some.
    /// If more is there the connection is `Readable` again in the next turn.
    #[inline]
    pub fn receive(&mut self, token: Token, into: &mut Vec<u8>) -> Received {
        debug_assert!(into.capacity() > into.len());
        match &mut self.inner {
            Inner::IoUring(uring) => uring.receive(token, into),
            Inner::Epoll(epoll) => epoll.receive(token, into),
        }
    }

    /// Sends, and gives how many bytes were taken. If they were not all of them, `Writable` will
    /// tell when to go on.
    ///
    /// # Errors
    /// The connection broke: answer with `detach`.
    #[inline]
    pub fn send(&mut self, token: Token, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match &mut self.inner {
            Inner::IoUring(uring) => uring.send(token, slices),
            Inner::Epoll(epoll) => epoll.send(token, slices),
        }
    }

    /// Whether all bytes that `send` took are out of the reactor's own hands, so that `detach`
    /// loses none of them. If not, `Writable` will tell when to ask again.
    pub fn is_flushed(&mut self, token: Token) -> bool {
        match &mut self.inner {
            Inner::IoUring(uring) => uring.is_flushed(token),
            Inner::Epoll(_) => true,
        }
    }

    /// Stops reading from a connection; its peer's window fills up. That it broke is still told.
    pub fn pause(&mut self, token: Token) {
        match &mut self.inner {
            Inner::IoUring(uring) => uring.pause(token),
            Inner::Epoll(epoll) => epoll.pause(token),
        }
    }

    /// Reads from a connection again.
    pub fn resume(&mut self, token: Token) {
        match &mut self.inner {
            Inner::IoUring(uring) => uring.resume(token),
            Inner::Epoll(epoll) => epoll.resume(token),
        }
    }
}
