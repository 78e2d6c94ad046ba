//! The slots of one database: 16,384 cells of one cache line, and the guard that holds one.
//!
//! Every command comes through here: it locks the cells of its keys, works on their tables, and
//! unlocks.
//!
//! ```text
//! cell:  lock word u32 | hint u64 | sequence u64 | side 8 bytes | table
//! ```
//!
//! The hint is a copy of the table's root word for the prefetch passes, which look without the
//! lock. It is taken away before the table can be changed and put back at the unlock. So tables are
//! plain data between locks, and what a table retires is never reachable from a hint.
//!
//! What must stay true: cells are reached through a guard of the right mode only, lock word and
//! hint aside; a hint leads to the lines of the cell's table or to none. `table/tests.rs` and
//! `slot/tests.rs` hold it.

#[cfg(test)]
mod tests;

use crate::epoch::Pin;
use crate::hash::{KeyHash, SLOTS, SlotId};
use crate::lock::{LockWord, Mode};
use crate::table::{self, Bucket, Table};
use crate::used::UsedSlots;
use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Who is told that a slot came free for which a command is parked.
pub trait Unpark: Send + Sync {
    /// Called after an unlock that found the slot marked; the mark is gone. Wakes the first that
    /// waits; if more wait, marks the slot again, and wakes the next too when
    /// [`SlotArray::mark_parked`] says that it is free.
    fn unpark(&self, database: u8, slot: SlotId);
}

/// The slots of one database, each with an `S` beside its table.
pub struct SlotArray<S> {
    cells: Box<[Cell<S>; SLOTS]>,
    used: UsedSlots,
    on_unlock: Arc<dyn Unpark>,
    database: u8,
}

#[repr(C, align(64))]
struct Cell<S> {
    lock: LockWord,
    /// The table's root word, or 0 while it may change.
    hint: AtomicU64,
    content: UnsafeCell<Content<S>>,
}

struct Content<S> {
    /// Journal number of the slot's last change.
    sequence: u64,
    side: S,
    table: Table,
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Cell<u64>>() == 64);

// SAFETY: contents are reached under the cell's lock only: exclusively, or together with other
// readers.
unsafe impl<S: Send + Sync> Sync for SlotArray<S> {}
// SAFETY: an array owns its contents, which may be sent.
unsafe impl<S: Send> Send for SlotArray<S> {}

impl<S: Default + Send + Sync> SlotArray<S> {
    /// Bytes of an array's cells.
    pub const BYTES: usize = SLOTS * size_of::<Cell<S>>() + size_of::<Self>();

    /// The empty slots of a database. 1 MiB, all touched.
    #[must_use]
    pub fn new(database: u8, on_unlock: Arc<dyn Unpark>) -> Box<Self> {
        let cell = || Cell {
            lock: LockWord::default(),
            hint: AtomicU64::new(0),
            content: UnsafeCell::new(Content {
                sequence: 0,
                side: S::default(),
                table: Table::default(),
            }),
        };
        let cells: Box<[Cell<S>]> = std::iter::repeat_with(cell).take(SLOTS).collect();
        let cells = cells.try_into().unwrap_or_else(|_| unreachable!("as many as there are slots"));
        Box::new(Self { cells, used: UsedSlots::default(), on_unlock, database })
    }
}

impl<S> SlotArray<S> {
    /// Number of the database.
    #[must_use]
    pub fn database(&self) -> u8 {
        self.database
    }

    /// Takes a slot, unless it is held in a mode that excludes this one, or a writer wants it.
    #[inline]
    #[must_use]
    pub fn try_lock(&self, slot: SlotId, mode: Mode) -> Option<Guard<'_, S>> {
        self.cell(slot).lock.try_lock(mode).then(|| self.guard(slot, mode))
    }

    /// Tries, and then again up to `spins` times. A writer keeps new readers out meanwhile.
    #[inline]
    #[must_use]
    pub fn lock_spinning(&self, slot: SlotId, mode: Mode, spins: u32) -> Option<Guard<'_, S>> {
        let lock = &self.cell(slot).lock;
        let is_locked = lock.try_lock(mode) || lock.spin(mode, spins);
        is_locked.then(|| self.guard(slot, mode))
    }

    /// The first slot from `from` on that may hold keys, as it looks without a lock: one that holds
    /// keys is never passed over.
    #[must_use]
    pub fn next_used(&self, from: SlotId) -> Option<SlotId> {
        self.used.next(from)
    }

    /// Asks for [`Unpark::unpark`] at the slot's next unlock. False: it came free, try again. The
    /// caller stands in its queue already, so that whoever is told finds it.
    #[must_use]
    pub fn mark_parked(&self, slot: SlotId) -> bool {
        self.cell(slot).lock.mark_parked()
    }

    /// Fetches the cell of a slot.
    #[inline]
    pub fn prefetch_slot(&self, slot: SlotId) {
        table::fetch(std::ptr::from_ref(self.cell(slot)).cast());
    }

    /// Fetches the bucket of a key: the first of the two passes over a batch. None: the slot looks
    /// empty.
    #[inline]
    #[must_use]
    pub fn prefetch_bucket<'p>(&self, hash: KeyHash, pin: &'p Pin) -> Option<Bucket<'p>> {
        let hint = self.cell(hash.slot()).hint.load(Acquire);
        table::prefetch_bucket(hint, hash.position(), pin)
    }

    /// The guard of a slot that was just locked.
    #[inline]
    fn guard(&self, slot: SlotId, mode: Mode) -> Guard<'_, S> {
        if mode == Mode::Exclusive {
            self.used.set(slot);
        }
        Guard { array: self, cell: self.cell(slot), slot, mode }
    }

    #[inline]
    fn cell(&self, slot: SlotId) -> &Cell<S> {
        &self.cells[usize::from(slot.0)]
    }
}

/// A slot that is held. Dropping it unlocks.
pub struct Guard<'a, S> {
    array: &'a SlotArray<S>,
    /// The array's at `slot`.
    cell: &'a Cell<S>,
    slot: SlotId,
    mode: Mode,
}

impl<S> Guard<'_, S> {
    /// The slot.
    #[inline]
    #[must_use]
    pub fn slot(&self) -> SlotId {
        self.slot
    }

    /// The database.
    #[inline]
    #[must_use]
    pub fn database(&self) -> u8 {
        self.array.database
    }

    /// How it is held.
    #[inline]
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Makes a shared hold exclusive, trying up to `spins` times more. False: others read the slot,
    /// and it stays held shared.
    pub fn upgrade(&mut self, spins: u32) -> bool {
        let lock = &self.cell.lock;
        if self.mode == Mode::Shared && (lock.try_upgrade() || lock.spin_upgrade(spins)) {
            self.mode = Mode::Exclusive;
        }
        self.mode == Mode::Exclusive
    }

    /// The keys.
    #[inline]
    #[must_use]
    pub fn table(&self) -> &Table {
        &self.content().table
    }

    /// The keys, to be changed. Panics if the slot is held shared.
    #[inline]
    #[must_use]
    pub fn table_mut(&mut self) -> &mut Table {
        &mut self.content_mut().table
    }

    /// What stands beside the table.
    #[inline]
    #[must_use]
    pub fn side(&self) -> &S {
        &self.content().side
    }

    /// What stands beside the table, to be changed. Panics if the slot is held shared.
    #[inline]
    #[must_use]
    pub fn side_mut(&mut self) -> &mut S {
        &mut self.content_mut().side
    }

    /// Table and side at once. Panics if the slot is held shared.
    #[inline]
    #[must_use]
    pub fn parts_mut(&mut self) -> (&mut Table, &mut S) {
        let content = self.content_mut();
        (&mut content.table, &mut content.side)
    }

    /// Journal number of the slot's last change.
    #[inline]
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.content().sequence
    }

    /// Notes the journal number of a change. Panics if the slot is held shared.
    #[inline]
    pub fn set_sequence(&mut self, sequence: u64) {
        self.content_mut().sequence = sequence;
    }

    #[inline]
    fn content(&self) -> &Content<S> {
        // SAFETY: the slot is held, so nobody changes the content while this guard is borrowed.
        unsafe { &*self.cell.content.get() }
    }

    #[inline]
    fn content_mut(&mut self) -> &mut Content<S> {
        assert!(self.mode == Mode::Exclusive, "a slot that is held shared is not changed");
        // Whoever looks for a hint from now on finds none; who found it before holds a pin.
        self.cell.hint.store(0, Relaxed);
        // SAFETY: the slot is held exclusively by this guard, which is borrowed exclusively.
        unsafe { &mut *self.cell.content.get() }
    }
}

impl<S> Drop for Guard<'_, S> {
    #[inline]
    fn drop(&mut self) {
        let cell = self.cell;
        if self.mode == Mode::Exclusive {
            let table = &self.content().table;
            cell.hint.store(table.hint(), Release);
            if table.is_empty() {
                self.array.used.clear(self.slot);
            }
        }
        if cell.lock.unlock(self.mode) {
            self.array.on_unlock.unpark(self.array.database, self.slot);
        }
    }
}
