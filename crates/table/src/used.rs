//! Which slots of a database may hold keys: a bit each, so that walks pass over empty slots.
//!
//! Beside the lock: who takes a slot exclusively sets its bit, who gives it back empty clears it. A
//! walk reads the bits without any lock. What must stay true: a slot that holds keys, or is held
//! exclusively, has its bit set. A set bit promises nothing.

use crate::hash::{SLOTS, SlotId};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

const BITS: usize = u64::BITS as usize;
const WORDS: usize = SLOTS / BITS;

/// The bits. Once keys are everywhere they are only read, and stay in every core's cache; on lines
/// of their own, for others are read all the time.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct UsedSlots([AtomicU64; WORDS]);

impl Default for UsedSlots {
    fn default() -> Self {
        Self([const { AtomicU64::new(0) }; WORDS])
    }
}

impl UsedSlots {
    /// The slot is held exclusively, and may get keys.
    #[inline]
    pub(crate) fn set(&self, slot: SlotId) {
        let (word, bit) = self.place(slot);
        if word.load(Relaxed) & bit == 0 {
            word.fetch_or(bit, Release);
        }
    }

    /// The slot is held exclusively, holds no keys and is about to be given back.
    #[inline]
    pub(crate) fn clear(&self, slot: SlotId) {
        let (word, bit) = self.place(slot);
        word.fetch_and(!bit, Release);
    }

    /// The first slot from `from` on whose bit is set.
    pub(crate) fn next(&self, from: SlotId) -> Option<SlotId> {
        let (first, shift) = (usize::from(from.0) / BITS, u32::from(from.0) % u64::BITS);
        let mut mask = u64::MAX << shift;
        for index in first..WORDS {
            let word = self.0[index].load(Acquire) & mask;
            if word != 0 {
                let slot = index * BITS + word.trailing_zeros() as usize;
                return Some(SlotId(u16::try_from(slot).expect("there are 16,384 slots")));
            }
            mask = u64::MAX;
        }
        None
    }

    #[inline]
    fn place(&self, slot: SlotId) -> (&AtomicU64, u64) {
        let slot = usize::from(slot.0);
        (&self.0[slot / BITS], 1 << (slot % BITS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_used_slot_is_found_from_anywhere() {
        let used = UsedSlots::default();
        assert_eq!(used.next(SlotId(0)), None);
        for slot in [0, 63, 64, 200, 16_383] {
            used.set(SlotId(slot));
            used.set(SlotId(slot));
        }
        let mut found = Vec::new();
        let mut next = used.next(SlotId(0));
        while let Some(slot) = next {
            found.push(slot.0);
            next = if slot.0 == 16_383 { None } else { used.next(SlotId(slot.0 + 1)) };
        }
        assert_eq!(found, [0, 63, 64, 200, 16_383]);
        used.clear(SlotId(16_383));
        used.clear(SlotId(64));
        assert_eq!(used.next(SlotId(64)), Some(SlotId(200)));
        assert_eq!(used.next(SlotId(201)), None);
    }
}
