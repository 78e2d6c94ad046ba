//! Keys that readers found past their expiry.
//!
//! A reader holds its slot shared and may not remove them. It notes them here, and its worker removes them after
//! the batch, so that a key that somebody missed is gone from the counts at once. What must stay true: nothing
//! depends on it; the expiry cycle finds these keys too, within about a second.

use crate::keys::Key;
use crate::{Place, WatchedKey};
use std::cell::RefCell;

/// Beyond this many in one batch the expiry cycle does the rest.
const STALE_MAX: usize = 64;

/// One worker's notes.
#[derive(Default)]
pub struct Stale(RefCell<Vec<WatchedKey>>);

impl Stale {
    /// Notes a key.
    #[cold]
    pub(crate) fn add(&self, database: u8, key: &Key<'_>) {
        let mut keys = self.0.borrow_mut();
        let is_last = keys.last().is_some_and(|last| *last.key == *key.bytes);
        if keys.len() < STALE_MAX && !is_last {
            let place = Place { database, slot: key.hash.slot().0 };
            keys.push(WatchedKey { place, key: key.bytes.into() });
        }
    }

    /// Whether there is nothing to remove.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// Takes the notes. Each key's expiry is to be looked at again.
    pub fn take(&self) -> Vec<WatchedKey> {
        self.0.take()
    }
}
