//! The lock word of a slot: shared or exclusive, never waited for.
//!
//! Every command takes the words of its slots before it runs. A failed try is an answer, not a
//! wait: the command spins a bounded while, then is parked by the keyspace, which marks the word so
//! that the holder's unlock reports that somebody waits.
//!
//! ```text
//! 31      30      29      28                       0
//! +-------+-------+-------+------------------------+
//! | WRITER| INTENT| PARKED| number of readers      |
//! +-------+-------+-------+------------------------+
//! ```
//!
//! What must stay true: WRITER excludes readers; a set PARKED is reported by exactly one unlock;
//! INTENT does not outlive the spinning that set it. `tests/lock_loom.rs` explores all
//! interleavings of small cases.

#[cfg(loom)]
use loom::{hint::spin_loop, sync::atomic::AtomicU32};
#[cfg(not(loom))]
use std::{hint::spin_loop, sync::atomic::AtomicU32};

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

/// How a slot is held.
#[derive(Debug, Copy, Clone, Eq, PartialEq)]
pub enum Mode {
    /// Together with other readers.
    Shared,
    /// Alone.
    Exclusive,
}

/// One lock. Free when all bits are clear.
pub struct LockWord(AtomicU32);

const WRITER: u32 = 1 << 31;
const INTENT: u32 = 1 << 30;
const PARKED: u32 = 1 << 29;
const READERS: u32 = PARKED - 1;
const FREE: u32 = 0;

impl Default for LockWord {
    fn default() -> Self {
        Self(AtomicU32::new(FREE))
    }
}

impl LockWord {
    /// Takes the lock unless a writer has it or wants it.
    #[inline]
    pub fn try_shared(&self) -> bool {
        // Guessing a free word saves the load: a contended line then travels once, not twice.
        let mut word = FREE;
        loop {
            match self.0.compare_exchange_weak(word, word + 1, Acquire, Relaxed) {
                Ok(_) => return true,
                Err(now) if now & (WRITER | INTENT) != 0 => return false,
                Err(now) => word = now,
            }
            assert!(word & READERS < READERS, "a reader's guard was leaked too often");
        }
    }

    /// Takes the lock unless anybody has it.
    #[inline]
    pub fn try_exclusive(&self) -> bool {
        let mut word = FREE;
        loop {
            // The winner's INTENT goes; another writer that still spins sets its own again.
            match self.0.compare_exchange_weak(word, WRITER | word & PARKED, Acquire, Relaxed) {
                Ok(_) => return true,
                Err(now) if now & (WRITER | READERS) != 0 => return false,
                Err(now) => word = now,
            }
        }
    }

    /// Takes the lock in either mode.
    #[inline]
    pub fn try_lock(&self, mode: Mode) -> bool {
        match mode {
            Mode::Shared => self.try_shared(),
            Mode::Exclusive => self.try_exclusive(),
        }
    }

    /// Makes the lock of its only reader, the caller, exclusive. False: there are other readers.
    #[inline]
    pub fn try_upgrade(&self) -> bool {
        let mut word = self.0.load(Relaxed);
        debug_assert!(word & WRITER == 0 && word & READERS > 0, "the caller holds it shared");
        while word & READERS == 1 {
            // As with any winner, INTENT goes.
            match self.0.compare_exchange_weak(word, WRITER | word & PARKED, Acquire, Relaxed) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    /// Tries up to `spins` times more. A writer keeps new readers out meanwhile.
    #[cold]
    pub fn spin(&self, mode: Mode, spins: u32) -> bool {
        self.spin_on(mode == Mode::Exclusive, spins, || self.try_lock(mode))
    }

    /// Tries up to `spins` times more to make the caller's shared lock exclusive, keeping new
    /// readers out meanwhile. Two that do so at once are in each other's way until one gives up.
    #[cold]
    pub fn spin_upgrade(&self, spins: u32) -> bool {
        self.spin_on(true, spins, || self.try_upgrade())
    }

    fn spin_on(&self, announces: bool, spins: u32, attempt: impl Fn() -> bool) -> bool {
        let mut has_intent = false;
        for _ in 0..spins {
            if attempt() {
                return true;
            }
            if announces && self.0.load(Relaxed) & INTENT == 0 {
                self.0.fetch_or(INTENT, Relaxed);
                has_intent = true;
            }
            spin_loop();
        }
        if attempt() {
            return true;
        }
        if has_intent {
            // Clears the INTENT of any other writer too: that one sets it again on its next turn.
            self.0.fetch_and(!INTENT, Relaxed);
        }
        false
    }

    /// Gives a shared lock back. True: somebody parked, and the caller must wake the first of them.
    #[inline]
    #[must_use]
    pub fn unlock_shared(&self) -> bool {
        let before = self.0.fetch_sub(1, AcqRel);
        debug_assert!(before & READERS > 0);
        // Any reader's unlock wakes, not the last one's only: else readers that overlap could keep
        // a parked writer out for ever. Woken, it spins with INTENT.
        before & PARKED != 0 && self.0.fetch_and(!PARKED, AcqRel) & PARKED != 0
    }

    /// Gives an exclusive lock back. True: somebody parked, and the caller must wake the first of
    /// them.
    #[inline]
    #[must_use]
    pub fn unlock_exclusive(&self) -> bool {
        let before = self.0.swap(FREE, AcqRel);
        debug_assert!(before & WRITER != 0);
        before & PARKED != 0
    }

    /// Gives the lock back in the mode that it was taken in.
    #[inline]
    #[must_use]
    pub fn unlock(&self, mode: Mode) -> bool {
        match mode {
            Mode::Shared => self.unlock_shared(),
            Mode::Exclusive => self.unlock_exclusive(),
        }
    }

    /// Asks the holder to report its unlock. False: nobody holds the lock, try again. Who waits
    /// must be found by the one that is told, so it joins its queue before it marks.
    pub fn mark_parked(&self) -> bool {
        let mut word = self.0.load(Relaxed);
        while word & (WRITER | READERS) != 0 {
            match self.0.compare_exchange_weak(word, word | PARKED, AcqRel, Relaxed) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    /// Whether a writer has announced itself. For tests and statistics.
    pub fn has_intent(&self) -> bool {
        self.0.load(Relaxed) & INTENT != 0
    }

    /// Whether anybody holds the lock at this instant. For tests and statistics.
    pub fn is_locked(&self) -> bool {
        self.0.load(Relaxed) & (WRITER | READERS) != 0
    }
}
