//! Lock sets: the slots that one command may touch, locked together.
//!
//! What must stay true: the set is taken whole or not at all, and nobody waits for a lock while holding one.

use crate::{Keyspace, side::Side};
use caudal_table::{Guard, Mode, SlotId};
use smallvec::SmallVec;

/// How often a set is tried before the command parks: a slot's lock is held for microseconds.
const ATTEMPTS: u32 = 4;
/// Spins on a busy slot before it is given up.
const SPINS: u32 = 200;
/// Sets up to this size are searched front to back.
const LINEAR_MAX: usize = 8;

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
    /// Sorted by place. A database that was never written has no slots to lock, and none here.
    guards: SmallVec<[Guard<'k, Side>; 2]>,
}

impl<'k> Held<'k> {
    /// Nothing locked.
    pub fn none() -> Held<'k> {
        Held::default()
    }

    /// Locks one slot: the common case.
    #[inline]
    pub fn one(keyspace: &'k Keyspace, wanted: Wanted) -> Result<Held<'k>, Busy> {
        let mut held = Held::none();
        if let Some(array) = keyspace.slots(wanted.place.database, wanted.mode) {
            let slot = SlotId(wanted.place.slot);
            let guard = array
                .try_lock(slot, wanted.mode)
                .or_else(|| array.lock_spinning(slot, wanted.mode, SPINS));
            held.guards.push(guard.ok_or(Busy(wanted.place))?);
        }
        Ok(held)
    }

    /// Locks `wanted`, which is sorted by place and names each place once.
    pub fn all(keyspace: &'k Keyspace, wanted: &[Wanted]) -> Result<Held<'k>, Busy> {
        if let [one] = wanted {
            return Held::one(keyspace, *one);
        }
        debug_assert!(wanted.is_sorted_by(|a, b| a.place < b.place));
        let mut busy = Busy(Place { database: 0, slot: 0 });
        for _ in 0..ATTEMPTS {
            match Held::attempt(keyspace, wanted) {
                Ok(held) => return Ok(held),
                Err(at) => busy = at,
            }
            // Wait for the busy slot while holding nothing, then try the whole set again.
            let mode = wanted.iter().find(|want| want.place == busy.0).map(|want| want.mode);
            if let Some(mode) = mode {
                drop(Held::one(keyspace, Wanted { place: busy.0, mode }));
            }
        }
        Err(busy)
    }

    fn attempt(keyspace: &'k Keyspace, wanted: &[Wanted]) -> Result<Held<'k>, Busy> {
        let mut held = Held::none();
        for want in wanted {
            if let Some(array) = keyspace.slots(want.place.database, want.mode) {
                let guard = array.try_lock(SlotId(want.place.slot), want.mode);
                held.guards.push(guard.ok_or(Busy(want.place))?);
            }
        }
        Ok(held)
    }

    /// Whether `place` is locked at least as `mode`, so that a command may run under this set.
    #[inline]
    pub fn covers(&self, wanted: &Wanted) -> bool {
        self.at(wanted.place)
            .is_some_and(|guard| wanted.mode == Mode::Shared || guard.mode() == Mode::Exclusive)
    }

    /// Whether nothing is locked.
    pub fn is_empty(&self) -> bool {
        self.guards.is_empty()
    }

    /// The slot at `place`, if it is locked.
    #[inline]
    pub(crate) fn at(&self, place: Place) -> Option<&Guard<'k, Side>> {
        self.index(place).map(|index| &self.guards[index])
    }

    /// The slot at `place`, if it is locked.
    #[inline]
    pub(crate) fn at_mut(&mut self, place: Place) -> Option<&mut Guard<'k, Side>> {
        self.index(place).map(|index| &mut self.guards[index])
    }

    /// All slots that are locked.
    pub(crate) fn guards(&self) -> impl Iterator<Item = &Guard<'k, Side>> {
        self.guards.iter()
    }

    #[inline]
    fn index(&self, place: Place) -> Option<usize> {
        if self.guards.len() <= LINEAR_MAX {
            return self.guards.iter().position(|guard| place_of(guard) == place);
        }
        self.guards.binary_search_by(|guard| place_of(guard).cmp(&place)).ok()
    }
}

/// Where a guard's slot is.
#[inline]
pub(crate) fn place_of(guard: &Guard<'_, Side>) -> Place {
    Place { database: guard.database(), slot: guard.slot().0 }
}
