//! Keys that readers found past their expiry, and hashes with fields past their moment.
//!
//! A reader holds its slot shared and may not remove them. It notes them here, and its worker
//! removes them after the batch, so that what somebody missed is gone from the counts at
//! once; the expiry cycle finds it too, within about a second. What must stay true: if
//! effects are listened to, all keys that the running command missed are here. Replaying does not
//! expire by the clock, so they must go before its effect is replayed.

use crate::keys::Key;
use crate::{Place, WatchedKey};
use std::cell::{Cell, RefCell};

/// Beyond this many in one batch the expiry cycle does the rest.
const STALE_MAX: usize = 64;
/// The same for hashes; few, because each note is compared with the others.
const LAPSED_MAX: usize = 16;

/// One worker's notes.
#[derive(Default)]
pub struct Stale {
    keys: RefCell<Vec<WatchedKey>>,
    /// Hashes of which a field was past its moment.
    lapsed: RefCell<Vec<WatchedKey>>,
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

    /// Notes a hash. Effects need not know of it: a command that changes a hash takes the dead
    /// fields that it names away itself.
    #[cold]
    pub(crate) fn add_lapsed(&self, database: u8, key: &Key<'_>) {
        let mut lapsed = self.lapsed.borrow_mut();
        let place = Place { database, slot: key.hash.slot().0 };
        let is_known = |note: &WatchedKey| note.place == place && *note.key == *key.bytes;
        if lapsed.len() < LAPSED_MAX && !lapsed.iter().any(is_known) {
            lapsed.push(WatchedKey { place, key: key.bytes.into() });
        }
    }

    /// Whether there is nothing to remove.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.keys.borrow().is_empty() && self.lapsed.borrow().is_empty()
    }

    /// Takes the notes, those of fields only if these are to be taken away now. Each key's expiry,
    /// and that of its fields, is to be looked at again.
    pub fn take(&self, with_fields: bool) -> Vec<WatchedKey> {
        self.news.set(0);
        let mut keys = self.keys.take();
        let lapsed = self.lapsed.take();
        keys.extend(lapsed.into_iter().filter(|_| with_fields));
        keys
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
