//! All interleavings of small cases of the token: who may wait for slots with others in hand.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p caudal-keyspace --release --test token_loom --target-dir
//! target/loom`
#![cfg(loom)]

use caudal_keyspace::Token;
use caudal_table::{LockWord, Mode};
use loom::cell::UnsafeCell;
use loom::sync::{Arc, Notify};
use loom::thread;

/// Two slots, each with a value that loom watches, and the token.
struct Store {
    slots: [LockWord; 2],
    values: [UnsafeCell<usize>; 2],
    token: Token,
    /// Messages to each worker that it was handed the token.
    told: [Notify; 2],
    /// The message that a slot came free for which the token's holder is parked.
    unparked: Notify,
}

// SAFETY: the values are touched under their slots' locks only, which is what the tests find out.
unsafe impl Sync for Store {}
// SAFETY: plain data.
unsafe impl Send for Store {}

impl Store {
    fn new() -> Arc<Store> {
        Arc::new(Store {
            slots: [LockWord::default(), LockWord::default()],
            values: [UnsafeCell::new(0), UnsafeCell::new(0)],
            token: Token::new(),
            told: [Notify::new(), Notify::new()],
            unparked: Notify::new(),
        })
    }

    /// A command that finds out one after the other that it needs `order`'s slots, and adds one to
    /// each: tried first, then with the token. It ends, or loom finds that it hangs.
    fn command(&self, worker: u16, order: [usize; 2]) {
        if self.attempt(order, LockWord::try_exclusive) {
            return;
        }
        while !self.token.take(worker) {
            // Set aside until it is told.
            self.told[usize::from(worker)].wait();
        }
        assert!(self.attempt(order, |slot| self.wait(slot)), "who waits gets it");
        if let Some(next) = self.token.give_back(worker) {
            assert_ne!(next, worker);
            self.told[usize::from(next)].notify();
        }
    }

    /// Waits for a slot with any patience, whatever is in hand: more than the keyspace does.
    fn wait(&self, slot: &LockWord) -> bool {
        while !slot.try_exclusive() {
            if slot.mark_parked() {
                self.unparked.wait();
            }
        }
        true
    }

    fn attempt(&self, order: [usize; 2], lock: impl Fn(&LockWord) -> bool) -> bool {
        let [first, second] = order;
        if !lock(&self.slots[first]) {
            return false;
        }
        let has_both = lock(&self.slots[second]);
        if has_both {
            for value in &self.values {
                // SAFETY: both slots are held exclusively.
                value.with_mut(|value| unsafe { *value += 1 });
            }
            self.unlock(second);
        }
        self.unlock(first);
        has_both
    }

    fn unlock(&self, slot: usize) {
        if self.slots[slot].unlock_exclusive() {
            self.unparked.notify();
        }
    }
}

fn explore(case: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(case);
}

#[test]
fn two_that_need_each_others_slots_both_come_to_their_end() {
    explore(|| {
        let store = Store::new();
        let other = Arc::clone(&store);
        let thread = thread::spawn(move || other.command(1, [1, 0]));
        store.command(0, [0, 1]);
        thread.join().unwrap();
        for value in &store.values {
            // SAFETY: the other thread has ended.
            value.with(|value| assert_eq!(unsafe { *value }, 2));
        }
        assert!(store.token.take(0), "the token was given back");
    });
}

#[test]
fn who_is_handed_a_token_that_it_needs_no_more_hands_it_on() {
    explore(|| {
        let store = Store::new();
        assert!(store.token.take(0));
        let other = Arc::clone(&store);
        // It queues, and at its next turn gives back what it was handed.
        let thread = thread::spawn(move || {
            if !other.token.take(1) {
                other.told[1].wait();
            }
            assert!(other.token.take(1), "it was handed to it");
            assert_eq!(other.token.give_back(1), None);
        });
        if let Some(next) = store.token.give_back(0) {
            store.told[usize::from(next)].notify();
        }
        thread.join().unwrap();
        assert!(store.token.take(0));
    });
}
