//! Lock sets: the slots that one command may touch, locked together.
//!
//! What must stay true: the set is taken whole or not at all, and nobody waits for a lock while
//! holding one, but for the token's holder. `reach.rs` adds slots to a set that is held.

use crate::undo::Undo;
use crate::{Keyspace, side::Side};
use caudal_table::{Guard, Mode, SlotArray, SlotId};
use std::collections::HashMap;

/// How often a set is tried before the command parks: a slot's lock is held for microseconds.
const ATTEMPTS: u32 = 4;
/// Spins on a busy slot before it is given up.
pub(crate) const SPINS: u32 = 200;
/// Sets up to this size are searched front to back.
pub(crate) const LINEAR_MAX: usize = 8;

/// A slot of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The database's number.
    pub database: u8,
    /// The slot's number, below 16,384.
    pub slot: u16,
}

/// A slot to be locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Which.
    pub place: Place,
    /// How.
    pub mode: Mode,
}

/// The slot that could not be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy(pub Place);

/// Slots that are locked. Dropping it unlocks them.
#[derive(Default)]
pub struct Held<'k> {
    /// The first slot: most commands have no other.
    pub(crate) first: Option<Guard<'k, Side>>,
    /// The others, sorted by place unless `index` says where each stands. A database that was never
    /// written has no slots to lock, and none here.
    pub(crate) rest: Vec<Guard<'k, Side>>,
    /// Where each place stands in `rest`, if slots were added out of order.
    pub(crate) index: Option<HashMap<Place, usize>>,
    /// Whether slots that are added are waited for: the worker has the token.
    pub(crate) is_patient: bool,
    /// What the keys were before the commands under this set changed them, if that is kept.
    pub(crate) undo: Option<Box<Undo>>,
}

impl<'k> Held<'k> {
    /// Nothing locked.
    pub fn none() -> Held<'k> {
        Held::default()
    }

    /// Unlocks everything.
    #[inline(always)]
    pub fn release(&mut self) {
        self.first = None;
        if !self.rest.is_empty() {
            self.rest.clear();
            self.index = None;
        }
        debug_assert!(self.undo.is_none(), "changes are kept or undone before the unlocking");
    }

    /// Locks one slot.
    ///
    /// # Errors
    /// It is busy.
    pub fn one(keyspace: &'k Keyspace, wanted: Wanted) -> Result<Held<'k>, Busy> {
        let mut held = Held::none();
        held.lock_one(keyspace, wanted)?;
        Ok(held)
    }

    /// Unlocks everything and locks one slot: the common case.
    ///
    /// # Errors
    /// It is busy; nothing is locked then.
    #[inline(always)]
    pub fn lock_one(&mut self, keyspace: &'k Keyspace, wanted: Wanted) -> Result<(), Busy> {
        self.release();
        let Some(array) = keyspace.slots(wanted.place.database, wanted.mode) else { return Ok(()) };
        self.first = array.try_lock(SlotId(wanted.place.slot), wanted.mode);
        if self.first.is_none() { self.spin(array, wanted) } else { Ok(()) }
    }

    #[cold]
    fn spin(&mut self, array: &'k SlotArray<Side>, wanted: Wanted) -> Result<(), Busy> {
        self.first = array.lock_spinning(SlotId(wanted.place.slot), wanted.mode, SPINS);
        if self.first.is_none() { Err(Busy(wanted.place)) } else { Ok(()) }
    }

    /// Unlocks everything and locks `wanted`, which is sorted by place and names each place once.
    ///
    /// # Errors
    /// One is busy; nothing is locked then.
    pub fn lock_all(&mut self, keyspace: &'k Keyspace, wanted: &[Wanted]) -> Result<(), Busy> {
        if let [one] = wanted {
            return self.lock_one(keyspace, *one);
        }
        debug_assert!(wanted.is_sorted_by(|a, b| a.place < b.place));
        let mut busy = Busy(Place { database: 0, slot: 0 });
        for _ in 0..ATTEMPTS {
            match self.attempt(keyspace, wanted) {
                Ok(()) => return Ok(()),
                Err(at) => busy = at,
            }
            // Wait for the busy slot while holding nothing, then try the whole set again.
            self.release();
            if let Some(want) = wanted.iter().find(|want| want.place == busy.0) {
                drop(Held::one(keyspace, *want));
            }
        }
        Err(busy)
    }

    fn attempt(&mut self, keyspace: &'k Keyspace, wanted: &[Wanted]) -> Result<(), Busy> {
        self.release();
        for want in wanted {
            if let Some(array) = keyspace.slots(want.place.database, want.mode) {
                let guard = array.try_lock(SlotId(want.place.slot), want.mode);
                let guard = guard.ok_or(Busy(want.place))?;
                match self.first {
                    None => self.first = Some(guard),
                    Some(_) => self.rest.push(guard),
                }
            }
        }
        match self.appeared(keyspace, wanted) {
            Some(place) => Err(Busy(place)),
            None => Ok(()),
        }
    }

    /// A place that had no slot to lock when its turn came, and has one now: its database was first
    /// written meanwhile, and a reader that went on would see half of that write.
    fn appeared(&self, keyspace: &Keyspace, wanted: &[Wanted]) -> Option<Place> {
        if usize::from(self.first.is_some()) + self.rest.len() == wanted.len() {
            return None;
        }
        let has_slots = |place: &Place| keyspace.slots(place.database, Mode::Shared).is_some();
        let mut places = wanted.iter().map(|want| want.place);
        places.find(|place| self.at(*place).is_none() && has_slots(place))
    }

    /// Whether `place` is locked at least as `mode`, so that a command may run under this set.
    #[inline]
    pub fn covers(&self, wanted: &Wanted) -> bool {
        self.at(wanted.place)
            .is_some_and(|guard| wanted.mode == Mode::Shared || guard.mode() == Mode::Exclusive)
    }

    /// Whether nothing is locked.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// The slot at `place`, if it is locked.
    #[inline]
    pub(crate) fn at(&self, place: Place) -> Option<&Guard<'k, Side>> {
        match &self.first {
            Some(guard) if place_of(guard) == place => Some(guard),
            _ if self.rest.is_empty() => None,
            _ => self.index(place).map(|index| &self.rest[index]),
        }
    }

    /// The slot at `place`, if it is locked.
    #[inline]
    pub(crate) fn at_mut(&mut self, place: Place) -> Option<&mut Guard<'k, Side>> {
        let index = self.index(place);
        match &mut self.first {
            Some(guard) if place_of(guard) == place => Some(guard),
            _ => index.map(|index| &mut self.rest[index]),
        }
    }

    /// All slots that are locked.
    pub(crate) fn guards(&self) -> impl Iterator<Item = &Guard<'k, Side>> {
        self.first.iter().chain(&self.rest)
    }

    /// Where a place stands in `rest`.
    #[inline]
    fn index(&self, place: Place) -> Option<usize> {
        if self.rest.is_empty() {
            return None;
        }
        if self.rest.len() <= LINEAR_MAX {
            return self.rest.iter().position(|guard| place_of(guard) == place);
        }
        if let Some(index) = &self.index {
            return index.get(&place).copied();
        }
        self.rest.binary_search_by(|guard| place_of(guard).cmp(&place)).ok()
    }
}

/// Where a guard's slot is.
#[inline]
pub(crate) fn place_of(guard: &Guard<'_, Side>) -> Place {
    Place { database: guard.database(), slot: guard.slot().0 }
}
