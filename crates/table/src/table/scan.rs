//! Walks over a table: SCAN, all records, a random one.

use super::line::ENTRIES;
use super::page::Page;
use super::{Table, record_of};
use crate::hash::POSITIONS;
use crate::record::RecordRef;

impl Table {
    /// Calls `f` for records at `from` and later positions, until at least `budget` were met at the
    /// end of a pair of buckets. Returns the position to go on from; None: the slot is done.
    ///
    /// A key that is there from the first call of a walk to the last is met, and met once, however
    /// the table grows and shrinks in between: its position never changes, and all positions below
    /// the cursor are done.
    pub fn scan(&self, from: u32, budget: usize, f: &mut dyn FnMut(RecordRef<'_>)) -> Option<u32> {
        let mut met = 0;
        let mut position = from;
        while position < POSITIONS {
            let page = self.page(position);
            let first = page.first(position);
            let first_pair = if page.is_empty() { 0 } else { page.pair_of(position) };
            for pair in first_pair..page.pairs() {
                for entry in page.entries_of_pair(pair) {
                    if entry.position() >= from {
                        met += 1;
                        // SAFETY: the table is borrowed for the call.
                        f(unsafe { RecordRef::new(record_of(entry)) });
                    }
                }
                if met >= budget.max(1) {
                    let next = first + page.pair_start(pair + 1);
                    return (next < POSITIONS).then_some(next);
                }
            }
            position = first + page.positions();
        }
        None
    }

    /// Calls `f` for the records at `position`: one, but for collisions.
    pub fn at_position(&self, position: u32, f: &mut dyn FnMut(RecordRef<'_>)) {
        let page = self.page(position);
        if page.is_empty() {
            return;
        }
        for entry in page.entries_of_pair(page.pair_of(position)) {
            if entry.position() == position {
                // SAFETY: the table is borrowed for the call.
                f(unsafe { RecordRef::new(record_of(entry)) });
            }
        }
    }

    /// A record chosen by 64 random bits: every record of a page with the same chance, and pages by
    /// their share of the positions. None only if there are no records.
    #[must_use]
    pub fn nth_random(&self, random: u64) -> Option<RecordRef<'_>> {
        /// At the least load of 0.45 all fail once in 10^8; then neighbours decide.
        const TRIES: usize = 32;
        if self.is_empty() {
            return None;
        }
        let position = u32::try_from(random >> 40).expect("24 bits");
        let page = self.page(position);
        let mut bits = random;
        for _ in 0..TRIES {
            // A step of SplitMix64.
            bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            if let Some(entry) = page.entry_at_random(mixed ^ mixed >> 31) {
                // SAFETY: the table is borrowed.
                return Some(unsafe { RecordRef::new(record_of(entry)) });
            }
        }
        page.entries().next().map_or_else(
            || self.iter().next(),
            // SAFETY: the table is borrowed.
            |entry| Some(unsafe { RecordRef::new(record_of(entry)) }),
        )
    }

    /// All records, nearly in the order of positions.
    #[must_use]
    pub fn iter(&self) -> Iter<'_> {
        Iter { table: self, page: self.page(0), first: 0, line: 0, index: 0 }
    }
}

impl<'a> IntoIterator for &'a Table {
    type Item = RecordRef<'a>;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// Iterator over the records of a table.
pub struct Iter<'a> {
    table: &'a Table,
    page: Page,
    /// First position of `page`.
    first: u32,
    line: u32,
    /// < ENTRIES
    index: usize,
}

impl<'a> Iterator for Iter<'a> {
    type Item = RecordRef<'a>;

    fn next(&mut self) -> Option<RecordRef<'a>> {
        loop {
            if self.line as usize == self.page.lines() {
                let next = self.first + self.page.positions();
                if next == POSITIONS {
                    return None;
                }
                (self.page, self.first, self.line) = (self.table.page(next), next, 0);
                continue;
            }
            let line = self.page.line(self.line);
            if self.index == line.count() {
                (self.line, self.index) = (self.line + 1, 0);
                continue;
            }
            debug_assert!(self.index < ENTRIES);
            let entry = line.entry(self.index);
            self.index += 1;
            // SAFETY: the table is borrowed for 'a.
            return Some(unsafe { RecordRef::new(record_of(entry)) });
        }
    }
}
