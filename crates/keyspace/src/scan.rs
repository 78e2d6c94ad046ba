//! Walks over whole databases, slot by slot: SCAN, KEYS, RANDOMKEY, the expiry cycle.
//!
//! Each slot is locked alone and shortly, so a walk is not one instant. SCAN's cursor is slot and
//! hash position, which survive every change of a table's size.

use crate::expiry::Ends;
use crate::fields::lapse;
use crate::held::{Busy, Held, Wanted};
use crate::keys::Key;
use crate::keyspace::{expire_key, tidy};
use crate::{Counters, Effects, Keyspace, Millis, Place, Ready};
use caudal_table::{Mode, RecordRef, SLOTS, SlotId};

/// Bits of a hash position in a cursor.
const POSITION_BITS: u32 = 24;

/// Where a SCAN goes on: slot and position, below 2^38 so that clients with doubles keep it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    slot: u16,
    position: u32,
}

impl Cursor {
    /// The beginning of a database.
    pub const START: Cursor = Cursor { slot: 0, position: 0 };

    /// From SCAN's number; a number that no SCAN gave is the end.
    pub fn from_number(number: u64) -> Option<Cursor> {
        let slot = u16::try_from(number >> POSITION_BITS).ok()?;
        let position = (number & ((1 << POSITION_BITS) - 1)) as u32;
        (usize::from(slot) < SLOTS).then_some(Cursor { slot, position })
    }

    /// SCAN's number.
    pub fn number(self) -> u64 {
        u64::from(self.slot) << POSITION_BITS | u64::from(self.position)
    }
}

/// What a walk tells its visitor after each slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// Go on.
    More,
    /// Enough.
    Stop,
}

/// A slot for 64 random bits.
fn random_slot(random: u64) -> u16 {
    u16::try_from(random % SLOTS as u64).expect("there are 16,384 slots")
}

impl Keyspace {
    /// Visits at least `budget` records (expired ones are skipped but count) from `from` on.
    /// `None`: the end. Empty slots cost nothing: clients that ask once want to see the few keys of
    /// a small database at the first call.
    ///
    /// # Errors
    /// A slot could not be locked; nothing is lost, try again from the start of this step.
    pub fn scan(
        &self,
        (database, now): (u8, Millis),
        from: Cursor,
        budget: usize,
        visit: &mut dyn FnMut(RecordRef<'_>),
    ) -> Result<Option<Cursor>, Busy> {
        let Some(slots) = self.slots(database, Mode::Shared) else { return Ok(None) };
        let (mut seen, mut at) = (0, from);
        loop {
            let Some(used) = slots.next_used(SlotId(at.slot)) else { return Ok(None) };
            if used.0 != at.slot {
                at = Cursor { slot: used.0, position: 0 };
            }
            if seen >= budget {
                return Ok(Some(at));
            }
            let place = Place { database, slot: at.slot };
            let held = Held::one(self, Wanted { place, mode: Mode::Shared })?;
            let Some(guard) = held.at(place) else { return Ok(None) };
            let next = guard.table().scan(at.position, budget - seen, &mut |record| {
                seen += 1;
                if record.expiry().is_none_or(|expiry| expiry >= now) {
                    visit(record);
                }
            });
            at = match next {
                Some(position) => Cursor { position, ..at },
                None if usize::from(at.slot) + 1 == SLOTS => return Ok(None),
                None => Cursor { slot: at.slot + 1, position: 0 },
            };
        }
    }

    /// A key of a database, picked at random, that is not past its expiry.
    ///
    /// # Errors
    /// A slot could not be locked.
    pub fn random_key(
        &self,
        (database, now): (u8, Millis),
        mut random: impl FnMut() -> u64,
    ) -> Result<Option<Vec<u8>>, Busy> {
        /// Draws before a walk settles it: most slots may be empty, or most keys expired.
        const DRAWS: usize = 64;
        for _ in 0..DRAWS {
            let slot = random_slot(random());
            let place = Place { database, slot };
            let held = Held::one(self, Wanted { place, mode: Mode::Shared })?;
            let Some(guard) = held.at(place) else { return Ok(None) };
            if let Some(record) = guard.table().nth_random(random())
                && record.expiry().is_none_or(|expiry| expiry >= now)
            {
                return Ok(Some(record.key().to_vec()));
            }
        }
        let start = Cursor { slot: random_slot(random()), position: 0 };
        for from in [start, Cursor::START] {
            let (mut found, mut at) = (None, Some(from));
            while let (None, Some(from)) = (&found, at) {
                at = self.scan((database, now), from, 1, &mut |record| {
                    found = Some(record.key().to_vec());
                })?;
            }
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Removes keys and fields of one slot whose time is over, at most `budget` of them; streams
    /// that somebody reads go to `lost`. Returns how many it looked at; less than `budget` means
    /// that the slot is done. A busy slot is left for the next round.
    pub fn expire(
        &self,
        place: Place,
        now: Millis,
        budget: usize,
        counters: &Counters,
        (effects, lost): (&mut Effects, &mut Vec<Ready>),
    ) -> usize {
        if self.slots(place.database, Mode::Shared).is_none() {
            return 0;
        }
        let Ok(mut held) = Held::one(self, Wanted { place, mode: Mode::Exclusive }) else {
            return 0;
        };
        let Some(guard) = held.at_mut(place) else { return 0 };
        let mut looked = 0;
        while looked < budget {
            let Some(side) = guard.side_mut() else { break };
            let Some(position) = side.expiry.pop_due(now) else { break };
            looked += 1;
            let (mut dead, mut lapsed) = (Vec::new(), Vec::new());
            guard.table().at_position(position, &mut |record| {
                let ends = Ends::of(record);
                if ends.key.is_some_and(|expiry| expiry < now) {
                    dead.push(record.key().to_vec());
                } else if ends.fields.is_some_and(|moment| moment < now) {
                    lapsed.push(record.key().to_vec());
                }
            });
            for key in dead {
                expire_key(guard, (self.hash(&key), &key), counters, effects, lost);
            }
            for key in lapsed {
                let key = Key { bytes: &key, hash: self.hash(&key) };
                let max = budget.saturating_sub(looked);
                looked += lapse(guard, &key, (now, max), self, (counters, effects));
            }
            // One entry serves all keys of a position: it is not later than any of them.
            let mut first: Option<Millis> = None;
            guard.table().at_position(position, &mut |record| {
                if let Some(end) = Ends::of(record).first() {
                    first = Some(first.map_or(end, |first| first.min(end)));
                }
            });
            if let (Some(first), Some(side)) = (first, guard.side_mut()) {
                side.expiry.add(first, position);
            }
        }
        tidy(guard.side_mut());
        looked
    }

    /// Whether a slot may hold volatile keys, without waiting for its lock.
    pub fn has_database(&self, database: u8) -> bool {
        self.slots(database, Mode::Shared).is_some()
    }
}
