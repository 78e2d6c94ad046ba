//! WATCH: marks on keys of one slot, made dirty by whoever changes the key.

use crate::Place;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// One connection's transaction guard, shared by the slots of the keys that it watches.
#[derive(Debug, Default)]
pub struct Watch {
    dirty: AtomicBool,
}

impl Watch {
    /// Notes that a watched key changed.
    pub fn touch(&self) {
        self.dirty.store(true, Ordering::Release);
    }

    /// Whether a watched key changed.
    pub fn is_dirty(&self) -> bool {
        self.dirty.load(Ordering::Acquire)
    }
}

/// A key that a connection watches.
#[derive(Clone, Debug)]
pub struct WatchedKey {
    /// Its database and slot.
    pub place: Place,
    /// Its name. If it was past its expiry when the watch began, it was removed then.
    pub key: Box<[u8]>,
}

/// The watches of one slot.
#[derive(Default)]
pub(crate) struct Watches {
    marks: Vec<(Box<[u8]>, Arc<Watch>)>,
}

impl Watches {
    /// Marks `key`.
    pub(crate) fn add(&mut self, key: &[u8], watch: Arc<Watch>) {
        self.marks.push((key.into(), watch));
    }

    /// Takes `watch`'s marks away.
    pub(crate) fn remove(&mut self, watch: &Arc<Watch>) {
        self.marks.retain(|(_, at)| !Arc::ptr_eq(at, watch));
    }

    /// `key` changed.
    pub(crate) fn touch(&self, key: &[u8]) {
        for (_, watch) in self.marks.iter().filter(|(at, _)| **at == *key) {
            watch.touch();
        }
    }

    /// All keys for which `changed` holds changed.
    pub(crate) fn touch_where(&self, changed: impl Fn(&[u8]) -> bool) {
        for (_, watch) in self.marks.iter().filter(|(key, _)| changed(key)) {
            watch.touch();
        }
    }

    /// The watched keys.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &[u8]> {
        self.marks.iter().map(|(key, _)| &**key)
    }

    /// Whether nobody watches.
    pub(crate) fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }
}
