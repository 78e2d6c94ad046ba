//! What a slot keeps beside its table: expiry index, waiters, watches. Guarded by the slot's lock.

use crate::expiry::Expiry;
use crate::trackers::Trackers;
use crate::waiters::Waiters;
use crate::watches::Watches;

/// Most slots have none of it, and pay one word.
pub type Side = Option<Box<SlotSide>>;

/// The rarer belongings of a slot.
#[derive(Default)]
pub struct SlotSide {
    /// When to look at which volatile key. Belongs to the contents: SWAPDB swaps it.
    pub(crate) expiry: Expiry,
    /// Clients that block on keys. Belong to (database, slot), and stay.
    pub(crate) waiters: Waiters,
    /// Clients that watch keys. Belong to (database, slot), and stay.
    pub(crate) watches: Watches,
    /// Clients that read keys and are to be told of changes. Belong to (database, slot), and stay.
    pub(crate) trackers: Trackers,
}
