//! Commands set aside until a busy slot is unlocked.

use crate::Place;
use caudal_table::{SlotId, Unpark};
use std::collections::HashMap;
use std::sync::Mutex;

/// Shards of the table of parked commands: a power of two, so that unlocking different slots seldom
/// meets.
const SHARDS: usize = 64;

/// A connection whose next command waits for a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parked {
    /// The worker that owns it.
    pub worker: u16,
    /// Its id.
    pub connection: u64,
}

/// What tells a worker that a connection may try again.
pub(crate) type Resume = Box<dyn Fn(Parked) + Send + Sync>;

/// Who waits where. The mutexes are held for a push or a removal, by commands that found a slot
/// busy, only.
pub(crate) struct Parking {
    shards: [Mutex<HashMap<Place, Vec<Parked>>>; SHARDS],
    resume: Resume,
}

impl Parking {
    pub(crate) fn new(resume: Resume) -> Parking {
        Parking { shards: std::array::from_fn(|_| Mutex::new(HashMap::new())), resume }
    }

    /// Adds `parked` at `place` if `still_locked` says, after it was added, that an unlock is still
    /// to come.
    pub(crate) fn park(
        &self,
        place: Place,
        parked: Parked,
        still_locked: impl FnOnce() -> bool,
    ) -> bool {
        let mut shard = self.shard(place).lock().unwrap_or_else(|poison| poison.into_inner());
        shard.entry(place).or_default().push(parked);
        if still_locked() {
            return true;
        }
        if let Some(queue) = shard.get_mut(&place) {
            queue.pop();
        }
        false
    }

    fn shard(&self, place: Place) -> &Mutex<HashMap<Place, Vec<Parked>>> {
        &self.shards[usize::from(place.slot) % SHARDS]
    }
}

impl Unpark for Parking {
    fn unpark(&self, database: u8, slot: SlotId) {
        let place = Place { database, slot: slot.0 };
        let waiting = {
            let mut shard = self.shard(place).lock().unwrap_or_else(|poison| poison.into_inner());
            shard.remove(&place).unwrap_or_default()
        };
        for parked in waiting {
            (self.resume)(parked);
        }
    }
}
