//! From a key to its place: slot and position.
//!
//! A command hashes each key once; everything below works on the [`KeyHash`]. Sixty-four bits are
//! cut as
//!
//! ```text
//! 63          50 49                       26 25            0
//! +-------------+---------------------------+--------------+
//! | slot (14)   | position (24)             | unused       |
//! +-------------+---------------------------+--------------+
//! ```
//!
//! The position orders the keys of a slot: pages are split by it, and SCAN walks in its order.
//!
//! What must stay true: a key's hash never changes while the process runs.

use rapidhash::v3::{RapidSecrets, rapidhash_v3_inline};

/// Slots of a keyspace: Redis Cluster's number, used in standalone mode too.
pub const SLOTS: usize = 1 << SLOT_BITS;
/// Bits of a position: what an entry keeps of the hash (16 bits in the word, 8 in the tag).
pub const POSITION_BITS: u32 = 24;
/// One more than the greatest position.
pub const POSITIONS: u32 = 1 << POSITION_BITS;

const SLOT_BITS: u32 = 14;
const SLOT_SHIFT: u32 = 64 - SLOT_BITS;
const POSITION_SHIFT: u32 = SLOT_SHIFT - POSITION_BITS;

/// Number of a slot, below [`SLOTS`].
#[derive(Debug, Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub struct SlotId(pub u16);

/// Where a key lives: its slot, and its position inside the slot.
#[derive(Debug, Copy, Clone, Eq, PartialEq, Hash)]
pub struct KeyHash {
    bits: u64,
}

impl KeyHash {
    /// The slot of the key.
    #[inline]
    #[must_use]
    pub const fn slot(self) -> SlotId {
        SlotId((self.bits >> SLOT_SHIFT) as u16)
    }

    /// The key's place in the order of its slot, below [`POSITIONS`].
    #[inline]
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "the mask leaves 24 bits")]
    pub const fn position(self) -> u32 {
        (self.bits >> POSITION_SHIFT) as u32 & (POSITIONS - 1)
    }

    /// The same position in another slot: in cluster mode the slot is the CRC16 of the key or of
    /// its hash tag.
    #[inline]
    #[must_use]
    pub const fn with_slot(self, slot: SlotId) -> Self {
        assert!((slot.0 as usize) < SLOTS);
        let below = self.bits & ((1 << SLOT_SHIFT) - 1);
        Self { bits: (slot.0 as u64) << SLOT_SHIFT | below }
    }

    /// A hash with this slot and position, for walks that start from a cursor.
    #[must_use]
    pub const fn new(slot: SlotId, position: u32) -> Self {
        assert!(position < POSITIONS);
        Self { bits: (position as u64) << POSITION_SHIFT }.with_slot(slot)
    }
}

/// Hashes keys with a secret seed, so that nobody outside can choose keys that fall on one place.
#[derive(Clone)]
pub struct KeyHasher {
    secrets: RapidSecrets,
}

impl KeyHasher {
    /// A hasher whose hashes depend on all bits of the seed. One a process.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { secrets: RapidSecrets::seed(seed) }
    }

    /// Slot and position of a key in standalone mode.
    #[inline]
    #[must_use]
    pub fn hash(&self, key: &[u8]) -> KeyHash {
        KeyHash { bits: rapidhash_v3_inline::<true, false, false>(key, &self.secrets) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_hash_are_kept_apart() {
        let hash = KeyHash::new(SlotId(16_383), 0xabcdef);
        assert_eq!((hash.slot(), hash.position()), (SlotId(16_383), 0xabcdef));
        let moved = hash.with_slot(SlotId(5));
        assert_eq!((moved.slot(), moved.position()), (SlotId(5), 0xabcdef));
    }

    #[test]
    fn the_seed_moves_the_keys_and_equal_keys_meet() {
        let (one, two) = (KeyHasher::new(1), KeyHasher::new(2));
        assert!(one.hash(b"key") == one.hash(b"key"));
        assert!(one.hash(b"key") != two.hash(b"key"));
    }

    #[test]
    fn slots_fill_evenly() {
        let hasher = KeyHasher::new(7);
        let mut counts = vec![0u32; SLOTS];
        for number in 0..1_000_000u32 {
            counts[usize::from(hasher.hash(format!("key:{number:011}").as_bytes()).slot().0)] += 1;
        }
        // 61 expected, standard deviation 7.8: nine of them are out of reach of chance.
        assert!(counts.iter().all(|count| (1..132).contains(count)));
    }
}
