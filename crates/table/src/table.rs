//! The table of one slot: from a key to its record.
//!
//! Reached through a guard that holds the slot. One root word leads to the slot's one page, or to
//! the directory of its pages; all the rest of a look-up is the page's. Growth, splits and
//! shrinking are done here, a step at a time: none moves more than 2,048 keys, and none reads a
//! record.
//!
//! What must stay true: an entry's address leads to a live record, and each record is in one entry;
//! `len` is the number of entries; lines and directories go through the epoch, records are freed at
//! once. `table/tests.rs` holds the table against a model.

mod directory;
mod grow;
mod line;
mod page;
mod prefetch;
mod scan;
#[cfg(test)]
mod tests;

pub use prefetch::Bucket;
pub(crate) use prefetch::{fetch, prefetch_bucket};
pub use scan::Iter;

use crate::hash::KeyHash;
use crate::record::{NewValue, OwnedValue, Record, RecordMut, RecordRef, Removed, Stamp};
use directory::{DIRECTORY, Directory};
use line::Entry;
use page::{Page, Place};

/// The keys of one slot of one database. Plain data: it may be moved and swapped by who holds its
/// slots.
#[derive(Default)]
pub struct Table {
    /// A packed page, or a packed directory. 0: no keys yet.
    root: u64,
    /// Stash lines of the one page; the directory keeps its own.
    stash: u32,
    len: u32,
    /// Bytes of all the records' blocks.
    bytes: u64,
}

const _: () = assert!(size_of::<Table>() <= 32);
const fn assert_shareable<T: Send + Sync>() {}
const _: () = assert_shareable::<caudal_value::Object>();

impl Table {
    /// Number of keys.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether there are no keys.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of the records' blocks; what collections, blobs and long keys hold beside is not in
    /// it.
    #[must_use]
    pub fn record_bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes of lines and directory.
    #[must_use]
    pub fn memory(&self) -> usize {
        let directory = self.directory().map_or(0, Directory::memory);
        self.pages().map(|(_, page, _)| page.memory()).sum::<usize>() + directory
    }

    /// The record of a key.
    #[inline]
    #[must_use]
    pub fn find(&self, hash: KeyHash, key: &[u8]) -> Option<RecordRef<'_>> {
        // SAFETY: the record lives until it is removed, which needs `&mut self`.
        Some(unsafe { RecordRef::new(self.look_up(hash, key)?) })
    }

    /// The record of a key, to be changed where it stands.
    #[inline]
    #[must_use]
    pub fn find_mut(&mut self, hash: KeyHash, key: &[u8]) -> Option<RecordMut<'_>> {
        // SAFETY: as above, and `self` is borrowed exclusively.
        Some(unsafe { RecordMut::new(self.look_up(hash, key)?) })
    }

    /// Inserts a key or replaces its value and expiry. The access clock stays, and is 0 for a new
    /// key.
    pub fn set(
        &mut self,
        hash: KeyHash,
        key: &[u8],
        value: NewValue<'_>,
        expiry: Option<u64>,
    ) -> Option<Removed> {
        self.set_stamped(hash, key, value, |old| Stamp {
            expiry,
            clock: old.map_or(0, RecordRef::clock),
        })
    }

    /// Inserts a key or replaces its value, with the expiry and clock that `stamp` makes of the old
    /// record. A string over a string is written in place if it fits. Returns the old record if it
    /// held a blob or a collection, so that it can be freed without the lock.
    #[inline]
    pub fn set_stamped(
        &mut self,
        hash: KeyHash,
        key: &[u8],
        value: NewValue<'_>,
        stamp: impl FnOnce(Option<RecordRef<'_>>) -> Stamp,
    ) -> Option<Removed> {
        let Some((page, place)) = self.locate(hash, key) else {
            self.insert_new(hash, key, value, stamp(None));
            return None;
        };
        let old = record_of(page.entry(place));
        // SAFETY: the record lives, and is not changed before `stamp` has returned.
        let stamp = stamp(Some(unsafe { RecordRef::new(old) }));
        if old.try_overwrite(&value, stamp.expiry) {
            // SAFETY: the record lives; its clock may be written through a shared view.
            unsafe { RecordRef::new(old) }.set_clock(stamp.clock);
            return None;
        }
        let new = Record::new(key, value.settled(), stamp.expiry, stamp.clock);
        self.replace(page, place, old, new);
        // SAFETY: the entry leads to the new record now.
        let removed = unsafe { Removed::new(old) };
        removed.is_large().then_some(removed)
    }

    /// [`set`](Self::set) of a value that was taken out of a table: collections and blobs move.
    pub fn set_owned(
        &mut self,
        hash: KeyHash,
        key: &[u8],
        value: OwnedValue,
        expiry: Option<u64>,
    ) -> Option<Removed> {
        value.with_new(|value| self.set(hash, key, value, expiry))
    }

    /// Inserts a key that is known to be absent.
    pub fn insert(&mut self, hash: KeyHash, key: &[u8], value: NewValue<'_>, expiry: Option<u64>) {
        debug_assert!(self.find(hash, key).is_none());
        self.insert_new(hash, key, value, Stamp { expiry, clock: 0 });
    }

    /// Takes a key out.
    pub fn remove(&mut self, hash: KeyHash, key: &[u8]) -> Option<Removed> {
        let (page, place) = self.locate(hash, key)?;
        let record = record_of(page.entry(place));
        page.remove(place);
        self.bytes -= record.extent() as u64;
        self.note_removal(hash.position(), page);
        // SAFETY: its entry is gone.
        Some(unsafe { Removed::new(record) })
    }

    /// Sets or takes away the expiry of a key. False: there is no such key. The record moves when
    /// the place for its expiry comes or goes.
    pub fn set_expiry(&mut self, hash: KeyHash, key: &[u8], expiry: Option<u64>) -> bool {
        let Some((page, place)) = self.locate(hash, key) else { return false };
        let old = record_of(page.entry(place));
        match expiry {
            Some(expiry) if old.expires() => old.write_expiry(expiry),
            None if !old.expires() => (),
            _ => {
                let new = old.moved(expiry);
                self.replace(page, place, old, new);
                // SAFETY: the entry leads to the new record, which has the value.
                unsafe { old.free_without_value() };
            }
        }
        true
    }

    /// Takes all keys out, to be freed later and piece by piece: dropping a large table takes a
    /// while.
    #[must_use]
    pub fn clear(&mut self) -> Table {
        std::mem::take(self)
    }

    /// The word from which a prefetch pass finds its way. Valid until the table is next changed.
    #[inline]
    pub(crate) fn hint(&self) -> u64 {
        self.root
    }

    #[inline]
    fn locate(&self, hash: KeyHash, key: &[u8]) -> Option<(Page, Place)> {
        let position = hash.position();
        let page = self.page(position);
        let (place, _) = page.find(position, |entry| record_of(entry).key() == key)?;
        Some((page, place))
    }

    /// The record of a key alone: the result is a register.
    fn look_up(&self, hash: KeyHash, key: &[u8]) -> Option<Record> {
        let position = hash.position();
        let is_it = |entry| record_of(entry).key() == key;
        Some(record_of(self.page(position).find(position, is_it)?.1))
    }

    #[inline]
    fn page(&self, position: u32) -> Page {
        match self.directory() {
            None => Page::unpack(self.root, self.stash),
            Some(directory) => directory.page(position),
        }
    }

    #[inline]
    fn directory(&self) -> Option<Directory> {
        (self.root & DIRECTORY != 0).then(|| Directory::unpack(self.root))
    }

    /// Every page with its first position and number of keys.
    fn pages(&self) -> impl Iterator<Item = (u32, Page, u32)> {
        let directory = self.directory();
        let single = directory.is_none().then(|| (0, self.page(0), self.len));
        single.into_iter().chain(directory.into_iter().flat_map(Directory::pages))
    }

    fn insert_new(&mut self, hash: KeyHash, key: &[u8], value: NewValue<'_>, stamp: Stamp) {
        let record = Record::new(key, value.settled(), stamp.expiry, stamp.clock);
        self.bytes += record.extent() as u64;
        self.insert_entry(Entry::new(hash.position(), record));
    }

    fn replace(&mut self, page: Page, place: Place, old: Record, new: Record) {
        let entry = Entry::new(page.entry(place).position(), new);
        page.replace(place, entry);
        self.bytes = self.bytes - old.extent() as u64 + new.extent() as u64;
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        for (_, page, _) in self.pages() {
            for entry in page.entries() {
                // SAFETY: the table goes, and its entries with it; nobody has a view of a record.
                unsafe { record_of(entry).free() };
            }
            // SAFETY: a table that is dropped is in no slot, so no hint leads here.
            unsafe { page.retire() };
        }
        if let Some(directory) = self.directory() {
            // SAFETY: as above.
            unsafe { directory.retire() };
        }
    }
}

/// The record of an entry that was just read from a table that is borrowed.
#[inline]
fn record_of(entry: Entry) -> Record {
    // SAFETY: an entry in use leads to a live record; removing it needs the table exclusively.
    unsafe { entry.record() }
}
