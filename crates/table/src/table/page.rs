//! A page: the lines of up to 2,048 keys that stand next to each other in the order of positions.
//!
//! A look-up comes here from the table's root word or its directory, and leaves with an entry.
//!
//! ```text
//! +--------+--------+--------+--------+- - - -+--------+--------+
//! | bucket | bucket | bucket | bucket |       | stash  | stash  |     lines of 64 bytes
//! +--------+--------+--------+--------+- - - -+--------+--------+
//! '---- pair 0 -----'---- pair 1 -----'
//! ```
//!
//! The home of a position is the bucket at its scaled place (position times buckets, high part), so
//! that buckets are in the order of positions whatever their number. What does not fit at home goes
//! to the other line of the pair, then to the stash; each pair begins its search in the stash at
//! its own scaled place.
//!
//! What must stay true: every entry is at its home, in its pair, or in the stash; in the latter
//! cases a flag of its home line says so. Lines are freed through the epoch.

use super::line::{ENTRIES, Entry, Line, ONWARD, PAIR, STASH};
use crate::hash::{POSITION_BITS, POSITIONS};
use crate::{epoch, heap};
use std::alloc::Layout;
use std::ptr::NonNull;

/// Keys of a page before it is split: so no step of growth moves more.
pub(super) const KEYS_MAX: u32 = 2048;
/// Halvings of the positions, at most: 16,384 pages. Beyond (33 M keys in a slot) pages outgrow
/// their limit.
pub(super) const DEPTH_MAX: u32 = 14;
/// Buckets that the packed word can tell.
const BUCKETS_MAX: usize = 2 * 0xffff;

/// The lines of a page: where, how many, and which positions. A copy is the same page.
#[derive(Copy, Clone)]
pub(crate) struct Page {
    /// Dangling if there are no lines.
    base: NonNull<Line>,
    /// Even, 0 in the empty page.
    buckets: u32,
    stash: u32,
    /// Bits of the position that all its keys share; <= DEPTH_MAX.
    depth: u32,
}

/// Where an entry stands.
#[derive(Copy, Clone)]
pub(super) struct Place {
    line: u32,
    index: u32,
}

impl Page {
    /// The page of no keys.
    pub(super) fn empty(depth: u32) -> Self {
        Self { base: NonNull::dangling(), buckets: 0, stash: 0, depth }
    }

    /// A page of empty lines.
    pub(super) fn allocate(buckets: usize, stash: usize, depth: u32) -> Self {
        assert!(buckets.is_multiple_of(2) && buckets <= BUCKETS_MAX && buckets > 0);
        let base = heap::allocate_zeroed(layout(buckets + stash)).cast();
        Self { base, buckets: narrow(buckets), stash: narrow(stash), depth }
    }

    /// Frees the lines once no prefetch pass can look at them.
    ///
    /// # Safety
    ///
    /// The page is no longer reachable, from a hint either, and is used no more.
    pub(super) unsafe fn retire(self) {
        if self.buckets > 0 {
            // SAFETY: the lines were allocated with this layout, and the caller gives them up.
            unsafe { epoch::retire(self.base.cast(), layout(self.lines())) }
        }
    }

    /// Address, buckets and depth in one word, for the root, the directory and the slot's hint:
    ///
    /// ```text
    /// 63..48 pairs of buckets | 47..6 address | 5..1 depth | 0 always 0 (1: a directory)
    /// ```
    pub(super) fn pack(self) -> u64 {
        if self.buckets == 0 {
            return u64::from(self.depth) << 1;
        }
        let address = self.base.as_ptr().expose_provenance() as u64;
        assert!(address >> 48 == 0 && address & 63 == 0);
        u64::from(self.buckets / 2) << 48 | address | u64::from(self.depth) << 1
    }

    /// The page of a word. The stash is not part of the word: prefetching does without.
    #[inline]
    pub(super) fn unpack(word: u64, stash: u32) -> Self {
        let buckets = u32::try_from(word >> 48).expect("16 bits") * 2;
        let address = word & 0x0000_ffff_ffff_ffc0;
        let base = NonNull::new(heap::pointer_at(address)).unwrap_or(NonNull::dangling());
        Self { base, buckets, stash, depth: u32::try_from(word >> 1 & 31).expect("5 bits") }
    }

    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.buckets == 0
    }

    #[inline]
    pub(super) fn depth(self) -> u32 {
        self.depth
    }

    #[inline]
    pub(super) fn stash(self) -> u32 {
        self.stash
    }

    /// All lines, buckets and stash.
    #[inline]
    pub(super) fn lines(self) -> usize {
        self.buckets as usize + self.stash as usize
    }

    /// Bytes of the lines.
    pub(super) fn memory(self) -> usize {
        self.lines() * size_of::<Line>()
    }

    pub(super) fn pairs(self) -> u32 {
        self.buckets / 2
    }

    /// First position of the page that holds this position.
    pub(super) fn first(self, position: u32) -> u32 {
        position & !(self.positions() - 1)
    }

    /// How many positions fall on the page.
    pub(super) fn positions(self) -> u32 {
        POSITIONS >> self.depth
    }

    /// The pair of a position.
    #[inline]
    pub(super) fn pair_of(self, position: u32) -> u32 {
        self.home(position) / 2
    }

    /// The first position, counted from the page's first, whose pair is `pair` or a later one.
    pub(super) fn pair_start(self, pair: u32) -> u32 {
        let within = u64::from(self.positions());
        let start = (u64::from(pair) * 2 * within).div_ceil(u64::from(self.buckets));
        u32::try_from(start).expect("at most the number of positions")
    }

    /// The bucket that an entry belongs to. The page must have lines.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "less than the buckets")]
    pub(super) fn home(self, position: u32) -> u32 {
        let within = position & (self.positions() - 1);
        let scaled = u64::from(within) * u64::from(self.buckets);
        (scaled >> (POSITION_BITS - self.depth)) as u32
    }

    #[inline]
    pub(super) fn line<'a>(self, number: u32) -> &'a Line {
        debug_assert!((number as usize) < self.lines() || number < self.buckets);
        // SAFETY: within the allocated lines, which outlive every use under a lock or a pin.
        unsafe { self.base.add(number as usize).as_ref() }
    }

    #[inline]
    pub(super) fn entry(self, place: Place) -> Entry {
        self.line(place.line).entry(place.index as usize)
    }

    #[inline]
    pub(super) fn replace(self, place: Place, entry: Entry) {
        self.line(place.line).replace(place.index as usize, entry);
    }

    /// The entry at a position that `is_it` accepts: positions may be equal where keys are not.
    #[inline]
    pub(super) fn find(
        self,
        position: u32,
        is_it: impl Fn(Entry) -> bool,
    ) -> Option<(Place, Entry)> {
        if self.is_empty() {
            return None;
        }
        let home = self.home(position);
        let line = self.line(home);
        if let Some((index, entry)) = line.matches(position).find(|&(_, entry)| is_it(entry)) {
            return Some((Place { line: home, index: narrow(index) }, entry));
        }
        if !line.has(PAIR | STASH) {
            return None;
        }
        self.find_away(position, home, is_it)
    }

    #[cold]
    fn find_away(
        self,
        position: u32,
        home: u32,
        is_it: impl Fn(Entry) -> bool,
    ) -> Option<(Place, Entry)> {
        let line = self.line(home);
        let other = line.has(PAIR).then_some(home ^ 1);
        let stash = line.has(STASH).then(|| self.stash_lines(home / 2)).into_iter().flatten();
        for number in other.into_iter().chain(stash) {
            let mut matches = self.line(number).matches(position);
            if let Some((index, entry)) = matches.find(|&(_, entry)| is_it(entry)) {
                return Some((Place { line: number, index: narrow(index) }, entry));
            }
        }
        None
    }

    /// Adds an entry. False: neither its pair nor the stash has a free place.
    pub(super) fn insert(self, entry: Entry) -> bool {
        let home = self.home(entry.position());
        if self.line(home).push(entry) {
            return true;
        }
        if self.line(home ^ 1).push(entry) {
            self.line(home).put_flag(PAIR, true);
            return true;
        }
        self.insert_in_stash(home, entry)
    }

    fn insert_in_stash(self, home: u32, entry: Entry) -> bool {
        let mut number = self.stash_start(home / 2);
        for _ in 0..self.stash {
            let line = self.line(number);
            if line.push(entry) {
                self.line(home).put_flag(STASH, true);
                return true;
            }
            line.put_flag(ONWARD, true);
            number = self.stash_next(number);
        }
        false
    }

    /// Takes an entry out, and brings home what stood elsewhere for want of its place.
    pub(super) fn remove(self, place: Place) {
        let entry = self.line(place.line).take(place.index as usize);
        let home = self.home(entry.position()) & !1;
        if self.line(home).has(PAIR | STASH) || self.line(home + 1).has(PAIR | STASH) {
            self.settle(home);
        }
    }

    /// Moves entries of a pair nearer to their home while there are free places, and sets the flags
    /// anew.
    #[cold]
    fn settle(self, even: u32) {
        for home in [even, even + 1] {
            while self.line(home).has(PAIR) && self.line(home).count() < ENTRIES {
                let Some(place) = self.first_of(home, home ^ 1) else { break };
                let entry = self.line(place.line).take(place.index as usize);
                assert!(self.line(home).push(entry), "a place was free");
            }
        }
        for home in [even, even + 1] {
            while self.line(home).has(STASH)
                && (self.line(home).count() < ENTRIES || self.line(home ^ 1).count() < ENTRIES)
            {
                let Some(place) = self.first_in_stash(home) else { break };
                let entry = self.line(place.line).take(place.index as usize);
                assert!(self.insert(entry), "a place was free");
            }
        }
        for home in [even, even + 1] {
            let line = self.line(home);
            line.put_flag(PAIR, self.first_of(home, home ^ 1).is_some());
            line.put_flag(STASH, line.has(STASH) && self.first_in_stash(home).is_some());
        }
    }

    /// The first entry of a home in some line.
    fn first_of(self, home: u32, line: u32) -> Option<Place> {
        let index =
            self.line(line).entries().position(|entry| self.home(entry.position()) == home)?;
        Some(Place { line, index: narrow(index) })
    }

    fn first_in_stash(self, home: u32) -> Option<Place> {
        self.stash_lines(home / 2).find_map(|line| self.first_of(home, line))
    }

    /// The stash lines that may hold entries of a pair, nearest first.
    pub(super) fn stash_lines(self, pair: u32) -> impl Iterator<Item = u32> {
        let first = (self.stash > 0).then(|| self.stash_start(pair));
        let onward =
            move |&number: &u32| self.line(number).has(ONWARD).then(|| self.stash_next(number));
        // A full round at most: every line may point onward.
        std::iter::successors(first, onward).take(self.stash as usize)
    }

    fn stash_start(self, pair: u32) -> u32 {
        let scaled = u64::from(pair) * u64::from(self.stash) / u64::from(self.pairs().max(1));
        self.buckets + u32::try_from(scaled).expect("less than the stash")
    }

    fn stash_next(self, number: u32) -> u32 {
        if number + 1 < self.buckets + self.stash { number + 1 } else { self.buckets }
    }

    /// All entries, nearly in the order of positions.
    pub(super) fn entries<'a>(self) -> impl Iterator<Item = Entry> + Clone + 'a {
        (0..narrow(self.lines())).flat_map(move |number| self.line(number).entries())
    }

    /// Entries whose home is in the pair.
    pub(super) fn entries_of_pair<'a>(self, pair: u32) -> impl Iterator<Item = Entry> + 'a {
        let lines = [2 * pair, 2 * pair + 1];
        let has_stashed = lines.iter().any(|&number| self.line(number).has(STASH));
        let stash = has_stashed.then(|| self.stash_lines(pair)).into_iter().flatten();
        let stashed = stash
            .flat_map(move |number| self.line(number).entries())
            .filter(move |entry| self.pair_of(entry.position()) == pair);
        lines.into_iter().flat_map(move |number| self.line(number).entries()).chain(stashed)
    }

    /// An entry at a random place, if one stands there. `random` has 64 bits.
    pub(super) fn entry_at_random(self, random: u64) -> Option<Entry> {
        if self.is_empty() {
            return None;
        }
        let places = (self.lines() * ENTRIES) as u128;
        let place = usize::try_from((u128::from(random) * places) >> 64).expect("below the places");
        let line = self.line(narrow(place / ENTRIES));
        let index = place % ENTRIES;
        (index < line.count()).then(|| line.entry(index))
    }
}

fn layout(lines: usize) -> Layout {
    Layout::array::<Line>(lines).expect("lines of a page take some MiB at most")
}

#[inline]
fn narrow(number: usize) -> u32 {
    u32::try_from(number).expect("numbers of lines and entries are small")
}
