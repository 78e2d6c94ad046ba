//! Clients that block on keys of one slot, first come first served.
//!
//! A waiter stands at each of its keys and is claimed once, by whoever comes first: the command that makes a key
//! ready, its timeout, CLIENT UNBLOCK, its connection's end.

use crate::Place;
use caudal_table::Kind;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A command that waits for one of its keys. Shared by the slots of its keys and its connection.
#[derive(Debug)]
pub struct Waiter {
    claimed: AtomicBool,
    /// The worker that owns the connection.
    pub worker: u16,
    /// The connection's id.
    pub connection: u64,
    /// The command, as its place in the command table.
    pub command: u16,
    /// The database it runs on.
    pub database: u8,
    /// Whether its connection speaks RESP3.
    pub resp3: bool,
    /// The type that its keys must get.
    pub kind: Kind,
    /// Where its keys live, all of them, sorted: serving it needs these locks.
    pub places: Vec<Place>,
    /// The keys that it waits for, with their slots' places.
    pub keys: Vec<(Place, Box<[u8]>)>,
    /// The command's words.
    pub words: Vec<Box<[u8]>>,
}

impl Waiter {
    /// A waiter that nobody has claimed.
    #[allow(clippy::too_many_arguments, reason = "plain data, built in one place")]
    pub fn new(
        (worker, connection): (u16, u64),
        (command, database, resp3): (u16, u8, bool),
        kind: Kind,
        places: Vec<Place>,
        keys: Vec<(Place, Box<[u8]>)>,
        words: Vec<Box<[u8]>>,
    ) -> Waiter {
        let claimed = AtomicBool::new(false);
        Waiter { claimed, worker, connection, command, database, resp3, kind, places, keys, words }
    }

    /// Claims it; true for exactly one caller.
    pub fn claim(&self) -> bool {
        self.claimed.compare_exchange(false, true, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Gives it back: whoever claimed it could not serve it, and it stays in its queues.
    pub fn unclaim(&self) {
        self.claimed.store(false, Ordering::Release);
    }

    /// Whether somebody has it.
    pub fn is_claimed(&self) -> bool {
        self.claimed.load(Ordering::Acquire)
    }
}

/// The waiters of one slot, a queue a key.
#[derive(Default)]
pub(crate) struct Waiters {
    queues: Vec<(Box<[u8]>, VecDeque<Arc<Waiter>>)>,
}

impl Waiters {
    /// Puts `waiter` at the end of `key`'s queue.
    pub(crate) fn add(&mut self, key: &[u8], waiter: Arc<Waiter>) {
        match self.queues.iter_mut().find(|(at, _)| **at == *key) {
            Some((_, queue)) => queue.push_back(waiter),
            None => self.queues.push((key.into(), VecDeque::from([waiter]))),
        }
    }

    /// Takes `waiter` out of `key`'s queue.
    pub(crate) fn remove(&mut self, key: &[u8], waiter: &Arc<Waiter>) {
        if let Some(index) = self.queues.iter().position(|(at, _)| **at == *key) {
            let queue = &mut self.queues[index].1;
            queue.retain(|at| !Arc::ptr_eq(at, waiter));
            if queue.is_empty() {
                self.queues.swap_remove(index);
            }
        }
    }

    /// The queue of `key`.
    pub(crate) fn of(&self, key: &[u8]) -> Option<&VecDeque<Arc<Waiter>>> {
        self.queues.iter().find(|(at, _)| **at == *key).map(|(_, queue)| queue)
    }

    /// Every waiter of the slot.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Waiter>> {
        self.queues.iter().flat_map(|(_, queue)| queue)
    }

    /// Whether nobody waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }
}
