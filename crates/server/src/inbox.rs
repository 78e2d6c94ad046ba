//! What the acceptor leaves for a worker: new connections, and the word to stop.
//!
//! Between `acceptor` and `worker`. What must stay true: `load` counts every socket handed over and
//! not yet closed, so that the acceptor can find the worker with fewest.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use caudal_reactor::{Peer, Socket, Waker};

/// A connection on its way to a worker.
#[derive(Debug)]
pub(crate) struct Newcomer {
    pub(crate) socket: Socket,
    pub(crate) peer: Peer,
    /// Whether it came to the TLS port.
    pub(crate) is_encrypted: bool,
}

/// One worker's inbox.
#[derive(Debug)]
pub(crate) struct Inbox {
    arrivals: Mutex<Vec<Newcomer>>,
    /// Whether `arrivals` may hold something: looked at in every turn, without the lock.
    full: AtomicBool,
    /// Connections of this worker, those still in `arrivals` included.
    load: AtomicUsize,
    stopping: AtomicBool,
    waker: Waker,
}

impl Inbox {
    /// An empty inbox of the worker that `waker` wakes.
    pub(crate) fn new(waker: Waker) -> Self {
        Self {
            arrivals: Mutex::default(),
            full: AtomicBool::new(false),
            load: AtomicUsize::new(0),
            stopping: AtomicBool::new(false),
            waker,
        }
    }

    /// Hands a connection over.
    pub(crate) fn give(&self, newcomer: Newcomer) {
        self.load.fetch_add(1, Ordering::Relaxed);
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner).push(newcomer);
        self.full.store(true, Ordering::Release);
        self.waker.wake();
    }

    /// Takes all connections handed over.
    pub(crate) fn take(&self) -> Vec<Newcomer> {
        // The mark goes before the list is read: what is given in between is taken now or later.
        if !self.full.load(Ordering::Relaxed) || !self.full.swap(false, Ordering::AcqRel) {
            return Vec::new();
        }
        std::mem::take(&mut *self.arrivals.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Notes that a connection ended.
    pub(crate) fn released(&self) {
        self.load.fetch_sub(1, Ordering::Relaxed);
    }

    /// Connections that this worker has.
    pub(crate) fn load(&self) -> usize {
        self.load.load(Ordering::Relaxed)
    }

    /// Tells the worker to stop.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
        self.waker.wake();
    }

    /// Whether the worker was told to stop.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }
}
