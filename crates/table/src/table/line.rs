//! A line: seven entries in one cache line.
//!
//! ```text
//!  byte 0..6   byte 7         bytes 8..63
//! +-----------+--------------+---------------------+
//! | 7 tags    | state        | 7 entry words       |
//! +-----------+--------------+---------------------+
//!               |  count (3 bits): entries 0..count are in use, the others are free
//!               |  PAIR:   an entry of this line stands in the other line of its pair
//!               |  STASH:  an entry of this line stands in the stash
//!               |  ONWARD: (stash lines) an entry that begins its search here stands further on
//! ```
//!
//! ```text
//! entry word:  63..48 position, high 16 bits | 47..4 record's address | 3..0 flags
//!              flags: 1 has an expiry; 0, 2 and 3 spare (cold records, snapshots)
//! ```
//!
//! The tag is the low 8 bits of the position, so tag and word hold all of it: pages are rebuilt and
//! split without a look at the records. All is atomic because the prefetch passes look without a
//! lock; whoever changes a line holds its slot exclusively, so no order is needed between the
//! words.

use crate::record::Record;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Entries of a line.
pub(super) const ENTRIES: usize = 7;

#[repr(C, align(64))]
pub(crate) struct Line {
    control: AtomicU64,
    words: [AtomicU64; ENTRIES],
}

const _: () = assert!(size_of::<Line>() == 64);

pub(super) const PAIR: u64 = 1 << 59;
pub(super) const STASH: u64 = 1 << 60;
pub(super) const ONWARD: u64 = 1 << 61;
const COUNT_SHIFT: u32 = 56;
const COUNT_ONE: u64 = 1 << COUNT_SHIFT;
const COUNT_MASK: u64 = 7 << COUNT_SHIFT;

const TAG_BITS: u32 = 8;
const TAG_MASK: u32 = (1 << TAG_BITS) - 1;
const HIGH_SHIFT: u32 = 48;
const ADDRESS_MASK: u64 = ((1 << HIGH_SHIFT) - 1) & !0xf;

/// The record has an expiry.
const HAS_EXPIRY: u64 = 1 << 1;
/// What a table keeps of one key: position, address of the record, flags.
#[derive(Copy, Clone)]
pub(super) struct Entry {
    word: u64,
    tag: u8,
}

impl Entry {
    #[inline]
    pub(super) fn new(position: u32, record: Record) -> Self {
        let address = record.address();
        assert!(address & !ADDRESS_MASK == 0, "addresses of user space have 47 bits");
        let flags = if record.expires() { HAS_EXPIRY } else { 0 };
        let high = u64::from(position >> TAG_BITS) << HIGH_SHIFT;
        Self { word: high | address | flags, tag: (position & TAG_MASK) as u8 }
    }

    #[inline]
    pub(super) fn position(self) -> u32 {
        let high = u32::try_from(self.word >> HIGH_SHIFT).expect("16 bits");
        high << TAG_BITS | u32::from(self.tag)
    }

    /// # Safety
    ///
    /// The entry was read with the slot held, and its record was not removed since.
    #[inline]
    pub(super) unsafe fn record(self) -> Record {
        // SAFETY: an entry in use leads to a live record.
        unsafe { Record::from_address(self.address()) }
    }

    #[inline]
    pub(super) fn address(self) -> u64 {
        self.word & ADDRESS_MASK
    }
}

/// Indices of a line: the high bits of some bytes.
#[derive(Copy, Clone)]
struct Matches(u64);

impl Iterator for Matches {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let index = self.0.trailing_zeros() as usize / 8;
        self.0 &= self.0 - 1;
        Some(index)
    }
}

impl Line {
    #[inline]
    pub(super) fn count(&self) -> usize {
        (self.control.load(Relaxed) >> COUNT_SHIFT) as usize & ENTRIES
    }

    #[inline]
    pub(super) fn has(&self, flag: u64) -> bool {
        self.control.load(Relaxed) & flag != 0
    }

    pub(super) fn put_flag(&self, flag: u64, on: bool) {
        let control = self.control.load(Relaxed) & !flag;
        self.control.store(control | if on { flag } else { 0 }, Relaxed);
    }

    #[inline]
    pub(super) fn entry(&self, index: usize) -> Entry {
        let tag = self.control.load(Relaxed).to_le_bytes()[index];
        Entry { word: self.words[index].load(Relaxed), tag }
    }

    /// Entries with this very position: those whose tag fits, and then whose word fits.
    #[inline]
    pub(super) fn matches(&self, position: u32) -> impl Iterator<Item = (usize, Entry)> + '_ {
        let control = self.control.load(Relaxed);
        let tag = (position & TAG_MASK) as u8;
        let used = (1u64 << (8 * ((control & COUNT_MASK) >> COUNT_SHIFT))) - 1;
        let high = u64::from(position >> TAG_BITS);
        Matches(equal_bytes(control, tag) & used).filter_map(move |index| {
            let word = self.words[index].load(Relaxed);
            (word >> HIGH_SHIFT == high).then_some((index, Entry { word, tag }))
        })
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = Entry> + Clone + '_ {
        (0..self.count()).map(|index| self.entry(index))
    }

    /// Adds an entry. False: the line is full.
    #[inline]
    pub(super) fn push(&self, entry: Entry) -> bool {
        let count = self.count();
        if count == ENTRIES {
            return false;
        }
        self.words[count].store(entry.word, Relaxed);
        self.write_tag(count, entry.tag, COUNT_ONE);
        true
    }

    /// Takes an entry out; the last one takes its place.
    pub(super) fn take(&self, index: usize) -> Entry {
        let last = self.count() - 1;
        assert!(index <= last);
        let (taken, moved) = (self.entry(index), self.entry(last));
        self.words[index].store(moved.word, Relaxed);
        self.words[last].store(0, Relaxed);
        self.write_tag(index, moved.tag, COUNT_ONE.wrapping_neg());
        taken
    }

    /// Puts another entry of the same position in the place of one.
    #[inline]
    pub(super) fn replace(&self, index: usize, entry: Entry) {
        debug_assert!(self.entry(index).position() == entry.position());
        self.words[index].store(entry.word, Relaxed);
    }

    #[inline]
    fn write_tag(&self, index: usize, tag: u8, count_change: u64) {
        let shift = 8 * index;
        let control = self.control.load(Relaxed) & !(0xff << shift) | u64::from(tag) << shift;
        self.control.store(control.wrapping_add(count_change), Relaxed);
    }
}

/// The high bit of each byte of `bytes` that equals `tag`.
#[inline]
fn equal_bytes(bytes: u64, tag: u8) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let difference = bytes ^ (u64::from(tag) * 0x0101_0101_0101_0101);
    // Bit 7 is set by a carry out of the lower bits or by itself, and no carry leaves its byte:
    // exact.
    !(((difference & LOW) + LOW) | difference | LOW)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_tags_are_found_exactly() {
        let mut random = 0x9e37_79b9_7f4a_7c15u64;
        for _ in 0..20_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
            // Few values, so that many are equal and neighbours of equal ones differ by one bit.
            let bytes = random & 0x8181_8181_8181_8181;
            for tag in [0, 1, 0x80, 0x81, 0x7f] {
                let wanted = bytes.to_le_bytes().map(|byte| if byte == tag { 0x80 } else { 0 });
                assert_eq!(equal_bytes(bytes, tag), u64::from_le_bytes(wanted));
            }
        }
    }

    #[test]
    fn a_line_fills_and_empties() {
        let line = Line { control: AtomicU64::new(0), words: Default::default() };
        let entry = |position: u32| Entry {
            word: (u64::from(position >> TAG_BITS) << HIGH_SHIFT) | (16 * u64::from(position)),
            tag: position.to_le_bytes()[0],
        };
        let positions = [0, 1, 0x100, 0xffffff, 1, 0x1ff, 0x80];
        assert!(positions.iter().all(|&position| line.push(entry(position))));
        assert!(!line.push(entry(5)));
        assert_eq!(line.matches(1).map(|(index, _)| index).collect::<Vec<_>>(), [1, 4]);
        assert_eq!(
            line.matches(0xffffff).next().map(|(_, found)| found.position()),
            Some(0xffffff)
        );
        line.put_flag(STASH, true);
        assert_eq!(line.take(1).position(), 1);
        assert_eq!((line.count(), line.has(STASH), line.has(PAIR)), (6, true, false));
        let left: Vec<u32> = line.entries().map(Entry::position).collect();
        assert_eq!(left, [0, 0x80, 0x100, 0xffffff, 1, 0x1ff]);
    }
}
