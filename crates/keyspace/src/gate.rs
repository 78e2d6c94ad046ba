//! The gate: all workers stopped between commands, for the moment that one command needs the whole
//! keyspace.
//!
//! A worker counts as stopped whenever it is not inside a turn, so sleeping workers cost nothing.
//! Nobody waits here: a worker that finds the gate closed ends its turn and is woken when it opens;
//! the owner parks its command until the last worker has stopped, or withdraws. What must stay
//! true: while the gate is complete no other worker runs a command. Both sides store their own
//! flag, then read the other's, with a sequentially consistent fence in between, so at least one
//! sees the other. `tests/gate_loom.rs` explores all interleavings of small cases; it understands
//! fences, but not the single order of sequentially consistent loads and stores.

#[cfg(loom)]
use loom::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};

/// No owner.
const OPEN: u32 = 0;

/// One flag a worker, each on its own cache line.
#[repr(align(128))]
#[derive(Debug, Default)]
struct Running(AtomicBool);

/// The gate of a process.
#[derive(Debug)]
pub struct Gate {
    /// The owner's number plus one, or `OPEN`.
    owner: AtomicU32,
    running: Box<[Running]>,
}

/// What an attempt to close the gate came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// Every other worker is stopped: go on.
    Complete,
    /// Closed, and some worker is still inside a command; it will say when it leaves.
    Waiting,
    /// Another worker owns it: try again when it opens.
    Taken,
}

impl Gate {
    /// A gate for `workers` workers.
    pub fn new(workers: usize) -> Gate {
        let running = (0..workers).map(|_| Running::default()).collect();
        Gate { owner: AtomicU32::new(OPEN), running }
    }

    /// A worker begins a turn. False: the gate is closed, and it stays stopped. Either way
    /// [`Gate::leave`] follows: whoever closed the gate may have seen this worker come.
    pub fn enter(&self, worker: usize) -> bool {
        self.running[worker].0.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        !self.is_closed_to(worker)
    }

    /// A worker ends a turn, or stays stopped. If that completes a closed gate, its owner is to be
    /// told.
    pub fn leave(&self, worker: usize) -> Option<usize> {
        self.running[worker].0.store(false, Ordering::Release);
        fence(Ordering::SeqCst);
        let owner = self.owner()?;
        (owner != worker && self.is_complete(owner)).then_some(owner)
    }

    /// Whether another worker has closed the gate: end the turn soon.
    #[inline]
    pub fn is_closed_to(&self, worker: usize) -> bool {
        self.owner().is_some_and(|owner| owner != worker)
    }

    /// Whether `worker` has closed the gate.
    pub fn is_owned_by(&self, worker: usize) -> bool {
        self.owner() == Some(worker)
    }

    /// Closes the gate for `worker`, which may be inside its turn.
    pub fn close(&self, worker: usize) -> Closing {
        let own = u32::try_from(worker + 1).expect("few workers");
        let closed = self.owner.compare_exchange(OPEN, own, Ordering::AcqRel, Ordering::Acquire);
        fence(Ordering::SeqCst);
        match closed {
            Err(owner) if owner != own => Closing::Taken,
            _ if self.is_complete(worker) => Closing::Complete,
            _ => Closing::Waiting,
        }
    }

    /// Opens the gate; the caller wakes the other workers.
    pub fn open(&self, worker: usize) {
        debug_assert_eq!(self.owner(), Some(worker));
        self.owner.store(OPEN, Ordering::Release);
    }

    /// Whether every worker but the owner is stopped.
    fn is_complete(&self, owner: usize) -> bool {
        let is_stopped = |running: &Running| !running.0.load(Ordering::Acquire);
        self.running.iter().enumerate().all(|(at, running)| at == owner || is_stopped(running))
    }

    fn owner(&self) -> Option<usize> {
        let owner = self.owner.load(Ordering::Acquire);
        (owner != OPEN).then(|| owner as usize - 1)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_owner_goes_on_when_the_last_worker_has_left() {
        let gate = Gate::new(3);
        assert!(gate.enter(0) && gate.enter(1));
        assert_eq!(gate.close(0), Closing::Waiting);
        assert_eq!(gate.close(1), Closing::Taken);
        assert!(!gate.enter(2));
        assert_eq!(gate.leave(2), None);
        assert_eq!(gate.leave(1), Some(0));
        assert_eq!(gate.close(0), Closing::Complete);
        gate.open(0);
        assert!(gate.enter(2));
        assert_eq!(gate.leave(2), None);
    }

    #[test]
    fn no_worker_runs_beside_a_complete_gate() {
        use std::sync::atomic::{
            AtomicU64,
            Ordering::{Relaxed, SeqCst},
        };
        let (gate, inside, passes) = (Gate::new(3), AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for worker in 0..3 {
                let (gate, inside, passes) = (&gate, &inside, &passes);
                scope.spawn(move || {
                    for turn in 0..20_000 {
                        if !gate.enter(worker) {
                            gate.leave(worker);
                            std::thread::yield_now();
                            continue;
                        }
                        if turn % 7 == worker && gate.close(worker) == Closing::Complete {
                            assert_eq!(inside.fetch_add(1, SeqCst), 0);
                            passes.fetch_add(1, Relaxed);
                            inside.fetch_sub(1, SeqCst);
                            gate.open(worker);
                        } else if gate.owner() == Some(worker) {
                            gate.open(worker);
                        } else if !gate.is_closed_to(worker) {
                            inside.fetch_add(1, SeqCst);
                            inside.fetch_sub(1, SeqCst);
                        }
                        gate.leave(worker);
                    }
                });
            }
        });
        assert!(passes.load(Relaxed) > 0);
    }
}
