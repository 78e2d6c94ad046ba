//! The kinds of tree: what an entry is sorted by and where its bytes stand in a leaf.
//!
//! An entry has a word (a hash, or a score as an ordered integer), a key that decides between equal
//! words, and perhaps a value and a moment. A kind says how wide the word is, and whether the key
//! stands in the slot itself.

use std::fmt::Debug;

/// What sets kinds of tree apart.
pub(crate) trait Kind: Debug + Clone + 'static {
    /// Sorted by this first.
    type Word: Word;
    /// Bytes of a key that stands in its slot; 0 when keys vary and stand in the leaf's arena.
    const KEY_INLINE: usize;
    /// Entries have a value behind their key.
    const VALUED: bool;
    /// Entries may have a moment, which costs those that have none nothing.
    const TIMED: bool = false;
    /// Bytes of a slot: the word, then the key or the entry's distance from the leaf's end.
    const SLOT: usize = Self::Word::BYTES + if Self::KEY_INLINE > 0 { Self::KEY_INLINE } else { 2 };
}

/// Fields of a hash with their values, by the field's hash.
#[derive(Debug, Clone)]
pub(crate) enum Fields {}

impl Kind for Fields {
    type Word = u32;
    const KEY_INLINE: usize = 0;
    const VALUED: bool = true;
    const TIMED: bool = true;
}

/// Hashes of fields (as the key, big-endian), by the moment at which a field with that hash ends.
#[derive(Debug, Clone)]
pub(crate) enum Due {}

impl Kind for Due {
    type Word = u64;
    const KEY_INLINE: usize = 4;
    const VALUED: bool = false;
}

/// Members of a set, by their hash.
#[derive(Debug, Clone)]
pub(crate) enum Members {}

impl Kind for Members {
    type Word = u32;
    const KEY_INLINE: usize = 0;
    const VALUED: bool = false;
}

/// Members of a sorted set, by their score.
#[derive(Debug, Clone)]
pub(crate) enum Scored {}

impl Kind for Scored {
    type Word = u64;
    const KEY_INLINE: usize = 0;
    const VALUED: bool = false;
}

/// Scores of a sorted set (as the key: a word of [`Scored`], then a byte that tells members with
/// one hash and one score apart), by the member's hash.
#[derive(Debug, Clone)]
pub(crate) enum Scores {}

impl Kind for Scores {
    type Word = u32;
    const KEY_INLINE: usize = 9;
    const VALUED: bool = false;
}

/// An unsigned integer that entries are sorted by.
pub(crate) trait Word: Copy + Ord + Debug + 'static {
    /// Its bytes in a slot.
    const BYTES: usize;
    /// The lowest word.
    const MIN: Self;
    /// The highest word.
    const MAX: Self;

    /// The word that stands at `at`.
    fn read(bytes: &[u8], at: usize) -> Self;

    /// Puts the word at `at`.
    fn write(self, bytes: &mut [u8], at: usize);

    /// Where this word would stand among `count` words spread evenly over `low..=high`: below
    /// `count`, or 0 when there are none. A guess: nothing but speed may depend on it.
    fn guess(self, low: Self, high: Self, count: usize) -> usize;
}

impl Word for u32 {
    const BYTES: usize = 4;
    const MIN: u32 = u32::MIN;
    const MAX: u32 = u32::MAX;

    #[inline]
    fn read(bytes: &[u8], at: usize) -> u32 {
        u32::from_le_bytes(*bytes[at..].first_chunk().expect("a slot holds its word"))
    }

    #[inline]
    fn write(self, bytes: &mut [u8], at: usize) {
        bytes[at..at + Self::BYTES].copy_from_slice(&self.to_le_bytes());
    }

    #[inline]
    fn guess(self, low: u32, high: u32, count: usize) -> usize {
        let span = u64::from(high.saturating_sub(low)) + 1;
        let offset = u64::from(self.saturating_sub(low));
        below(offset * count as u64 / span, count)
    }
}

impl Word for u64 {
    const BYTES: usize = 8;
    const MIN: u64 = u64::MIN;
    const MAX: u64 = u64::MAX;

    #[inline]
    fn read(bytes: &[u8], at: usize) -> u64 {
        u64::from_le_bytes(*bytes[at..].first_chunk().expect("a slot holds its word"))
    }

    #[inline]
    fn write(self, bytes: &mut [u8], at: usize) {
        bytes[at..at + Self::BYTES].copy_from_slice(&self.to_le_bytes());
    }

    #[inline]
    fn guess(self, low: u64, high: u64, count: usize) -> usize {
        // Scores are not spread evenly, but in one leaf's small range often nearly so.
        let span = high.saturating_sub(low);
        let offset = self.saturating_sub(low);
        let shift = 16u32.saturating_sub(span.leading_zeros());
        let place = (offset >> shift) * count as u64 / ((span >> shift) + 1);
        if span == 0 { count / 2 } else { below(place, count) }
    }
}

/// The index `place`, or the last one of `count`.
#[inline]
fn below(place: u64, count: usize) -> usize {
    usize::try_from(place).map_or(count, |place| place.min(count.saturating_sub(1)))
}
