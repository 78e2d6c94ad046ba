//! The expiry index of one slot: when to look at which volatile key.
//!
//! A heap of 8-byte entries (tick, position). What must stay true: every key of the slot that has
//! an expiry, or is a hash with a field that has a moment, has an entry whose tick is not later
//! than the first of these. Extending an expiry leaves the entry; popping it finds the key still
//! alive and puts it back with its true tick.

use crate::Millis;
use caudal_table::{NewValue, POSITION_BITS, POSITIONS, RecordRef, ValueRef};
use caudal_value::Object;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Stale entries allowed before the index is rebuilt: as many as live ones, and this many more.
const STALE_SLACK: usize = 64;

/// A tick is 16 ms: small beside the second in which the cycle sees every slot.
const TICK_SHIFT: u32 = 4;
/// The last tick that stands before a position in an entry; it comes in 2527.
const TICK_MAX: u64 = u64::MAX >> POSITION_BITS;

/// The index of one slot.
#[derive(Debug, Default)]
pub(crate) struct Expiry {
    heap: BinaryHeap<Reverse<u64>>,
    /// Keys of the slot that have an expiry. <= heap.len()
    volatile: usize,
    /// Hashes of the slot of which a field has a moment. <= heap.len()
    timed: usize,
}

/// When something of a key ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ends {
    /// The key's expiry.
    pub(crate) key: Option<Millis>,
    /// The first moment of a field, if it is a hash.
    pub(crate) fields: Option<Millis>,
}

impl Ends {
    /// Of a key that is in a table.
    #[inline]
    pub(crate) fn of(record: RecordRef<'_>) -> Ends {
        let fields = match record.value() {
            ValueRef::Object(Object::Hash(hash)) => hash.first_moment(),
            _ => None,
        };
        Ends { key: record.expiry(), fields }
    }

    /// Of a value on its way into a table.
    #[inline]
    pub(crate) fn of_new(value: &NewValue<'_>, key: Option<Millis>) -> Ends {
        let fields = match value {
            NewValue::Object(Object::Hash(hash)) => hash.first_moment(),
            _ => None,
        };
        Ends { key, fields }
    }

    /// When to look at the key.
    pub(crate) fn first(self) -> Option<Millis> {
        match (self.key, self.fields) {
            (Some(key), Some(fields)) => Some(key.min(fields)),
            (key, fields) => key.or(fields),
        }
    }
}

fn entry(expiry: Millis, position: u32) -> u64 {
    // What expires later is looked at then and put back.
    let tick = (expiry >> TICK_SHIFT).min(TICK_MAX);
    tick << POSITION_BITS | u64::from(position)
}

impl Expiry {
    /// Adds an entry for a key that expires at `expiry`.
    pub(crate) fn add(&mut self, expiry: Millis, position: u32) {
        self.heap.push(Reverse(entry(expiry, position)));
    }

    /// Takes the position of a key whose entry is due: its tick lies wholly before `now`.
    pub(crate) fn pop_due(&mut self, now: Millis) -> Option<u32> {
        let Reverse(first) = *self.heap.peek()?;
        if first >> POSITION_BITS >= now >> TICK_SHIFT {
            return None;
        }
        self.heap.pop();
        Some(u32::try_from(first & u64::from(POSITIONS - 1)).expect("24 bits"))
    }

    /// Number of keys of the slot that have an expiry.
    pub(crate) fn volatile(&self) -> usize {
        self.volatile
    }

    /// Number of hashes of the slot of which a field has a moment.
    pub(crate) fn timed(&self) -> usize {
        self.timed
    }

    /// A key got or lost its expiry, the first moment among its fields, or both.
    pub(crate) fn count(&mut self, volatile: i64, timed: i64) {
        let add = |count: &mut usize, change: i64| {
            *count = count
                .checked_add_signed(isize::try_from(change).expect("one at a time"))
                .expect("a key loses what it had");
        };
        add(&mut self.volatile, volatile);
        add(&mut self.timed, timed);
    }

    /// Whether dead entries outnumber live keys so far that a rebuild pays.
    pub(crate) fn is_stale(&self) -> bool {
        self.heap.len() > 2 * (self.volatile + self.timed) + STALE_SLACK
    }

    /// Replaces all entries.
    pub(crate) fn rebuild(&mut self, keys: impl Iterator<Item = (Millis, u32)>) {
        self.heap = keys.map(|(expiry, position)| Reverse(entry(expiry, position))).collect();
    }

    /// Whether there is nothing to remember.
    pub(crate) fn is_empty(&self) -> bool {
        self.heap.is_empty() && self.volatile == 0 && self.timed == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_when_their_tick_is_over() {
        let mut expiry = Expiry::default();
        expiry.add(5_400, 7);
        expiry.add(3_999, POSITIONS - 1);
        assert_eq!(expiry.pop_due(3_999), None);
        assert_eq!(expiry.pop_due(4_000), Some(POSITIONS - 1));
        assert_eq!(expiry.pop_due(5_400), None);
        assert_eq!(expiry.pop_due(5_416), Some(7));
        assert!(expiry.is_empty());
    }

    #[test]
    fn far_expiries_do_not_wrap() {
        let mut expiry = Expiry::default();
        expiry.add(Millis::MAX, 1);
        assert_eq!(expiry.pop_due(4_000_000_000_000), None);
    }

    #[test]
    fn many_stale_entries_ask_for_a_rebuild() {
        let mut expiry = Expiry::default();
        for second in 0..200 {
            expiry.add(second * 1000, 1);
        }
        expiry.count(1, 0);
        assert!(expiry.is_stale());
        expiry.rebuild([(199_000, 1)].into_iter());
        assert!(!expiry.is_stale());
    }
}
