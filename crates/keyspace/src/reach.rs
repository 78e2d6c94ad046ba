//! Adding slots to a lock set while its command runs: for keys that cannot be known before.
//!
//! What must stay true: who waits here with slots in hand has the token, so of two that need each
//! other's slots one at most waits, and the other gives up.

use crate::Keyspace;
use crate::held::{Busy, Held, LINEAR_MAX, Place, SPINS, Wanted, place_of};
use crate::side::Side;
use caudal_table::{Guard, Mode, SlotId};
use std::collections::HashMap;

/// Rounds of spinning on a busy slot, with the processor offered to others in between, that the
/// token's holder takes: about a millisecond. Who holds a slot longer runs a long command, and
/// a worker does better to look after its other connections meanwhile.
const ROUNDS: u32 = 64;

impl<'k> Held<'k> {
    /// Whether slots that are added from now on are waited for: only whoever has the token may.
    pub fn set_patient(&mut self, is_patient: bool) {
        self.is_patient = is_patient;
    }

    /// Whether slots that are added are waited for.
    pub fn is_patient(&self) -> bool {
        self.is_patient
    }

    /// Makes the set cover one slot more. What it holds stays held, also on failure.
    ///
    /// # Errors
    /// The slot is busy: undo what was done, release the set, and begin again.
    #[inline]
    pub fn reach(&mut self, keyspace: &'k Keyspace, wanted: Wanted) -> Result<(), Busy> {
        if self.covers(&wanted) { Ok(()) } else { self.add(keyspace, wanted) }
    }

    #[inline(never)]
    fn add(&mut self, keyspace: &'k Keyspace, Wanted { place, mode }: Wanted) -> Result<(), Busy> {
        // One that only reads gets the database's slots too: if another created them between two
        // of its reads, it would see half of that one's writes.
        let slots = keyspace.slots(place.database, Mode::Exclusive);
        let slots = slots.expect("an exclusive lock allocates the database");
        let rounds = if self.is_patient { ROUNDS } else { 1 };
        for round in 0..rounds {
            if round > 0 {
                std::thread::yield_now();
            }
            if let Some(guard) = self.at_mut(place) {
                if guard.upgrade(SPINS) {
                    return Ok(());
                }
            } else if let Some(guard) = slots.lock_spinning(SlotId(place.slot), mode, SPINS) {
                self.push(guard);
                return Ok(());
            }
        }
        Err(Busy(place))
    }

    fn push(&mut self, guard: Guard<'k, Side>) {
        if self.first.is_none() {
            self.first = Some(guard);
            return;
        }
        let (at, place) = (self.rest.len(), place_of(&guard));
        let in_order = self.rest.last().is_none_or(|last| place_of(last) < place);
        self.rest.push(guard);
        match &mut self.index {
            Some(index) => drop(index.insert(place, at)),
            // Sets up to this size are searched front to back, in any order.
            None if at < LINEAR_MAX => {}
            None if in_order && (at > LINEAR_MAX || self.rest.is_sorted_by_key(place_of)) => {}
            None => self.index = Some(self.indexed()),
        }
    }

    fn indexed(&self) -> HashMap<Place, usize> {
        self.rest.iter().enumerate().map(|(at, guard)| (place_of(guard), at)).collect()
    }
}
