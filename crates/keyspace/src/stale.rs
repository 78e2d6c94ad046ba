//! Keys that readers found past their expiry.
//!
//! A reader holds its slot shared and may not remove them. It notes them here, and its worker
//! removes them after the batch, so that a key that somebody missed is gone from the counts at
//! once; the expiry cycle finds these keys too, within about a second. What must stay true: if
//! effects are listened to, all keys that the running command missed are here. Replaying does not
//! expire by the clock, so they must go before its effect is replayed.

use crate::keys::Key;
use crate::{Place, WatchedKey};
use std::cell::{Cell, RefCell};

/// Beyond this many in one batch the expiry cycle does the rest.
const STALE_MAX: usize = 64;

/// One worker's notes.
#[derive(Default)]
pub struct Stale {
    keys: RefCell<Vec<WatchedKey>>,
    /// Where the notes begin that the effects do not know of. <= keys.len()
    news: Cell<usize>,
    /// Whether the notes of a command must be all there: somebody listens to effects.
    is_complete: Cell<bool>,
}

impl Stale {
    /// A command begins whose effects are listened to.
    pub fn begin(&self) {
        self.news.set(self.keys.borrow().len());
        self.is_complete.set(true);
    }

    /// Notes a key.
    #[cold]
    pub(crate) fn add(&self, database: u8, key: &Key<'_>) {
        let mut keys = self.keys.borrow_mut();
        let own = &keys[self.news.get()..];
        let is_last = own.last().is_some_and(|last| *last.key == *key.bytes);
        if !is_last && (self.is_complete.get() || keys.len() < STALE_MAX) {
            let place = Place { database, slot: key.hash.slot().0 };
            keys.push(WatchedKey { place, key: key.bytes.into() });
        }
    }

    /// Whether there is nothing to remove.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.keys.borrow().is_empty()
    }

    /// Takes the notes. Each key's expiry is to be looked at again.
    pub fn take(&self) -> Vec<WatchedKey> {
        self.news.set(0);
        self.keys.take()
    }

    /// Whether the running command missed keys that its effects do not know of yet.
    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        self.is_complete.get() && self.news.get() < self.keys.borrow().len()
    }

    /// Gives each of those keys once.
    pub(crate) fn take_news(&self, mut each: impl FnMut(&WatchedKey)) {
        let keys = self.keys.borrow();
        keys[self.news.replace(keys.len())..].iter().for_each(&mut each);
    }
}
