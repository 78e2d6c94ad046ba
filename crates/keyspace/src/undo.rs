//! Undoing what the commands under a lock set did, so that they can run again with more locks.
//!
//! Before a key is changed for the first time its record is copied (a large collection counts one
//! reference more, and its writers copy the nodes that they touch). What must stay true: every
//! change of a table goes through [`Keys`](crate::Keys), which saves first; marks of WATCH are
//! made dirty only when it is known that the changes stay, or the commands' own transaction would
//! find its keys changed when it runs again.

use crate::expiry::Ends;
use crate::held::Held;
use crate::keys::{Key, index_expiry};
use crate::keyspace::tidy;
use crate::side::Side;
use crate::{Counters, Keyspace, Millis, News, Place};
use caudal_table::{Guard, OwnedValue, RecordRef, Stamp};
use std::collections::{BTreeMap, HashMap};

/// What the keys were before they were changed.
#[derive(Default)]
pub(crate) struct Undo {
    /// By database; none: the key was not there.
    saved: BTreeMap<u8, HashMap<Box<[u8]>, Option<Image>>>,
    /// Keys whose watches are to be told.
    touched: Vec<(Place, Box<[u8]>)>,
}

/// A record as it was.
struct Image {
    value: OwnedValue,
    expiry: Option<Millis>,
    clock: u32,
    is_edited: bool,
}

impl Image {
    fn of(record: RecordRef<'_>) -> Image {
        Image {
            value: record.to_owned_value(),
            expiry: record.expiry(),
            clock: record.clock(),
            is_edited: record.is_edited(),
        }
    }
}

impl Held<'_> {
    /// From now on keeps what the keys were, until [`Held::commit`] or [`Held::roll_back`].
    pub fn keep_undo(&mut self) {
        debug_assert!(self.undo.is_none(), "one run at a time");
        self.undo = Some(Box::default());
    }

    /// Whether changes can be undone.
    #[inline]
    pub fn has_undo(&self) -> bool {
        self.undo.is_some()
    }

    /// The changes stay: whoever watches the keys is told. The slots stay locked.
    pub fn commit(&mut self, news: &News) {
        let Some(undo) = self.undo.take() else { return };
        for (place, key) in &undo.touched {
            self.touch(*place, key, news);
        }
    }

    /// Tells whoever watches a key or has read it that it changed.
    pub(crate) fn touch(&mut self, place: Place, key: &[u8], news: &News) {
        let Some(guard) = self.at_mut(place) else { return };
        let Some(side) = guard.side_mut() else { return };
        side.watches.touch(key);
        if !side.trackers.is_empty() {
            side.trackers.touch(key, news.author(), news);
            tidy(guard.side_mut());
        }
    }

    /// Puts all keys back as they were. The slots stay locked.
    pub fn roll_back(&mut self, keyspace: &Keyspace, counters: &Counters) {
        let Some(undo) = self.undo.take() else { return };
        for (database, keys) in undo.saved {
            for (bytes, image) in keys {
                let key = Key { bytes: &bytes, hash: keyspace.hash(&bytes) };
                let place = Place { database, slot: key.hash.slot().0 };
                let guard = self.at_mut(place).expect("the slot of a saved key is locked");
                restore(guard, &key, image, keyspace, counters);
            }
        }
    }

    /// Notes that whoever watches a key is to be told if the changes stay.
    #[cold]
    #[inline(never)]
    pub(crate) fn touch_later(&mut self, place: Place, key: &Key<'_>) {
        if let Some(undo) = &mut self.undo {
            undo.touched.push((place, key.bytes.into()));
        }
    }

    /// Notes what a key is, unless that is done.
    #[cold]
    #[inline(never)]
    pub(crate) fn save(&mut self, place: Place, key: &Key<'_>) {
        let Some(mut undo) = self.undo.take() else { return };
        let saved = undo.saved.entry(place.database).or_default();
        if !saved.contains_key(key.bytes) {
            let guard = self.at(place).expect("a command's keys are locked");
            let image = guard.table().find(key.hash, key.bytes).map(Image::of);
            saved.insert(key.bytes.into(), image);
        }
        self.undo = Some(undo);
    }
}

/// Makes a key what its image shows.
fn restore(
    guard: &mut Guard<'_, Side>,
    key: &Key<'_>,
    image: Option<Image>,
    keyspace: &Keyspace,
    counters: &Counters,
) {
    let database = guard.database();
    let now = guard.table().find(key.hash, key.bytes).map(Ends::of);
    let (was_there, is_there) = (image.is_some(), now.is_some());
    let mut after = Ends::default();
    match image {
        Some(Image { value, expiry, clock, is_edited }) => {
            let replaced = value.with_new(|value| {
                let stamp = |_: Option<RecordRef<'_>>| Stamp { expiry, clock };
                after = Ends::of_new(&value, expiry);
                guard.table_mut().set_stamped(key.hash, key.bytes, value, stamp)
            });
            drop(replaced);
            if is_edited && let Some(mut record) = guard.table_mut().find_mut(key.hash, key.bytes) {
                record.mark_edited();
            }
        }
        None => drop(guard.table_mut().remove(key.hash, key.bytes)),
    }
    counters.add(database, i64::from(was_there) - i64::from(is_there), 0, 0);
    index_expiry(guard, key, (now.unwrap_or_default(), after), keyspace, counters);
    tidy(guard.side_mut());
}
