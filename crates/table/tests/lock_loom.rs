//! All interleavings of small cases of the lock word.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p caudal-table --release --test lock_loom --target-dir
//! target/loom`
#![cfg(loom)]

use caudal_table::{LockWord, Mode};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use loom::thread;

/// A counter that loom watches: a writer beside anybody else, or without order to the last one,
/// fails the test.
struct Guarded {
    lock: LockWord,
    count: UnsafeCell<usize>,
    /// Unlocks that reported a parked command.
    wakes: AtomicUsize,
}

// SAFETY: the count is touched under the lock only, which is what the tests find out.
unsafe impl Sync for Guarded {}
// SAFETY: plain data.
unsafe impl Send for Guarded {}

impl Guarded {
    fn new() -> Arc<Self> {
        let (lock, wakes) = (LockWord::default(), AtomicUsize::new(0));
        Arc::new(Self { lock, count: UnsafeCell::new(0), wakes })
    }

    fn work(&self, mode: Mode) {
        match mode {
            // SAFETY: held shared: nobody writes.
            Mode::Shared => self.count.with(|count| _ = unsafe { *count }),
            // SAFETY: held exclusively.
            Mode::Exclusive => self.count.with_mut(|count| unsafe { *count += 1 }),
        }
        if self.lock.unlock(mode) {
            self.wakes.fetch_add(1, SeqCst);
        }
    }

    /// Works under the lock if it can be had.
    fn try_work(&self, mode: Mode, spins: u32) -> bool {
        let is_locked = self.lock.try_lock(mode) || self.lock.spin(mode, spins);
        if is_locked {
            self.work(mode);
        }
        is_locked
    }

    fn assert_idle(&self) {
        assert!(!self.lock.is_locked(), "every lock was given back");
        assert!(!self.lock.has_intent(), "intent went with its writer");
    }
}

fn explore(preemptions: usize, case: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(case);
}

#[test]
fn writers_and_readers_exclude_each_other() {
    explore(3, || {
        let guarded = Guarded::new();
        let other = |mode| {
            let guarded = Arc::clone(&guarded);
            thread::spawn(move || guarded.try_work(mode, 1))
        };
        let (writer, reader) = (other(Mode::Exclusive), other(Mode::Shared));
        let mut written = usize::from(guarded.try_work(Mode::Exclusive, 1));
        written += usize::from(writer.join().unwrap());
        reader.join().unwrap();
        guarded.assert_idle();
        // SAFETY: the others are gone.
        assert_eq!(guarded.count.with(|count| unsafe { *count }), written);
    });
}

#[test]
fn intent_is_cleared_whoever_gives_up_last() {
    explore(3, || {
        let guarded = Guarded::new();
        assert!(guarded.lock.try_shared());
        let spinners = [1, 2].map(|spins| {
            let guarded = Arc::clone(&guarded);
            thread::spawn(move || guarded.try_work(Mode::Exclusive, spins))
        });
        guarded.work(Mode::Shared);
        spinners.into_iter().for_each(|spinner| _ = spinner.join().unwrap());
        guarded.assert_idle();
        assert!(guarded.try_work(Mode::Shared, 0));
    });
}

/// Who parks stands in its queue first; once marked, some unlock after it must report.
fn no_wake_is_lost(holders: [Mode; 2], parker: Mode) {
    explore(3, move || {
        let guarded = Guarded::new();
        let holders = holders.map(|mode| {
            let guarded = Arc::clone(&guarded);
            thread::spawn(move || guarded.try_work(mode, 0))
        });
        let mut is_parked = false;
        if !guarded.lock.try_lock(parker) {
            is_parked = guarded.lock.mark_parked();
        } else {
            guarded.work(parker);
        }
        holders.into_iter().for_each(|holder| _ = holder.join().unwrap());
        assert_eq!(guarded.wakes.load(SeqCst), usize::from(is_parked), "one mark, one wake");
        guarded.assert_idle();
    });
}

#[test]
fn a_writer_parked_behind_readers_is_woken() {
    no_wake_is_lost([Mode::Shared, Mode::Shared], Mode::Exclusive);
}

#[test]
fn a_reader_parked_behind_writers_is_woken() {
    no_wake_is_lost([Mode::Exclusive, Mode::Exclusive], Mode::Shared);
}

#[test]
fn a_writer_parked_behind_both_is_woken() {
    no_wake_is_lost([Mode::Shared, Mode::Exclusive], Mode::Exclusive);
}

#[test]
fn a_reader_becomes_the_writer_only_alone() {
    explore(3, || {
        let guarded = Guarded::new();
        let other = Arc::clone(&guarded);
        let thread = thread::spawn(move || {
            other.try_work(Mode::Shared, 0);
            other.try_work(Mode::Exclusive, 1);
        });
        if guarded.lock.try_shared() {
            let is_alone = guarded.lock.try_upgrade() || guarded.lock.spin_upgrade(1);
            guarded.work(if is_alone { Mode::Exclusive } else { Mode::Shared });
        }
        thread.join().unwrap();
        guarded.assert_idle();
    });
}
