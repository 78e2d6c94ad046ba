//! All interleavings of small cases of the gate.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p caudal-keyspace --release --test gate_loom --target-dir
//! target/loom`
#![cfg(loom)]

use caudal_keyspace::{Closing, Gate};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use loom::thread;

/// A gate and what happens behind it.
struct Store {
    gate: Gate,
    /// Workers inside a command.
    running: AtomicUsize,
    /// Messages to each worker that the gate it closed is complete.
    told: [AtomicUsize; 3],
}

impl Store {
    fn new(workers: usize) -> Arc<Store> {
        let told = std::array::from_fn(|_| AtomicUsize::new(0));
        Arc::new(Store { gate: Gate::new(workers), running: AtomicUsize::new(0), told })
    }

    /// A turn with one command in it.
    fn turn(&self, worker: usize) {
        if self.gate.enter(worker) {
            self.running.fetch_add(1, SeqCst);
            self.running.fetch_sub(1, SeqCst);
        }
        self.leave(worker);
    }

    /// A turn whose command needs to be alone. What closing the gate came to; it stays closed if
    /// others are to leave first.
    fn turn_alone(&self, worker: usize) -> Option<Closing> {
        if !self.gate.enter(worker) {
            self.leave(worker);
            return None;
        }
        let closing = self.gate.close(worker);
        if closing == Closing::Complete {
            self.alone(worker);
        }
        self.leave(worker);
        Some(closing)
    }

    fn alone(&self, worker: usize) {
        assert_eq!(self.running.load(SeqCst), 0, "nobody runs beside a complete gate");
        self.gate.open(worker);
    }

    fn leave(&self, worker: usize) {
        if let Some(owner) = self.gate.leave(worker) {
            self.told[owner].fetch_add(1, SeqCst);
        }
    }
}

fn explore(preemptions: usize, case: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(case);
}

/// Lets each of `turns` take its turn beside the others.
fn beside<const N: usize>(store: &Arc<Store>, turns: [(usize, fn(&Store, usize)); N]) {
    let threads = turns.map(|(worker, turn)| {
        let store = Arc::clone(store);
        thread::spawn(move || turn(&store, worker))
    });
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn nobody_runs_beside_a_complete_gate_and_its_owner_is_told_of_the_last_one() {
    explore(3, || {
        let store = Store::new(3);
        let others = [1, 2].map(|worker| {
            let store = Arc::clone(&store);
            thread::spawn(move || store.turn(worker))
        });
        let closing = store.turn_alone(0);
        others.into_iter().for_each(|thread| thread.join().unwrap());
        let told = store.told[0].load(SeqCst);
        match closing {
            Some(Closing::Waiting) => {
                assert!(told > 0, "whoever was in the way says that it has left");
                assert_eq!(store.gate.close(0), Closing::Complete);
                store.alone(0);
            }
            Some(Closing::Complete) => {}
            Some(Closing::Taken) | None => unreachable!("nobody else closes the gate"),
        }
    });
}

#[test]
fn of_two_that_close_it_one_at_most_is_alone() {
    explore(3, || {
        let store = Store::new(2);
        let turn: fn(&Store, usize) = |store, worker| {
            if store.turn_alone(worker) == Some(Closing::Waiting) {
                // Its patience is over: it withdraws.
                store.gate.open(worker);
            }
        };
        beside(&store, [(0, turn), (1, turn)]);
        assert_eq!(store.gate.close(0), Closing::Complete, "the gate was left open");
        store.alone(0);
    });
}

#[test]
fn a_withdrawn_gate_lets_everybody_in() {
    explore(3, || {
        let store = Store::new(2);
        let closing: fn(&Store, usize) = |store, worker| {
            if store.turn_alone(worker) == Some(Closing::Waiting) {
                store.gate.open(worker);
            }
        };
        beside(&store, [(0, closing), (1, Store::turn)]);
        assert!(store.gate.enter(0) && store.gate.enter(1));
    });
}
