//! How a table grows and shrinks: one page at a time, from the entry words alone.
//!
//! Runs inside the insertion or removal that makes it due, under the slot's lock; so a step is
//! small. Line counts are whole size classes of the allocator (four a doubling): the memory would
//! be taken anyway.
//!
//! What must stay true: a step moves at most [`KEYS_MAX`] keys, unless positions do not tell the
//! keys apart.

use super::Table;
use super::directory::Directory;
use super::line::{ENTRIES, Entry, Line};
use super::page::{DEPTH_MAX, KEYS_MAX, Page};
use crate::hash::POSITION_BITS;
use crate::heap;

/// Greatest load before a page grows, in percent of its places. Higher, and look-ups leave their
/// pair too often.
const LOAD_MAX: usize = 80;
/// Load below which a removal makes a page shrink.
const LOAD_MIN: usize = 45;
/// Load of a page that has just shrunk, at most: far enough from both limits that it does not
/// swing.
const LOAD_SHRUNK: usize = 65;
/// Keys of two neighbouring pages that are made one again.
const MERGED_MAX: u32 = KEYS_MAX / 2;
const _: () = assert!(LOAD_MIN < LOAD_SHRUNK && LOAD_SHRUNK < LOAD_MAX);
// A step's bound: a split or a rebuild moves a page, a merger half of one. At 10 ns a key 20 us.
const _: () = assert!(KEYS_MAX <= 2048 && MERGED_MAX < KEYS_MAX);

impl Table {
    /// Adds an entry, and makes room first if need be.
    pub(super) fn insert_entry(&mut self, entry: Entry) {
        let position = entry.position();
        while self.split_if_due(position) {}
        let mut page = self.page(position);
        let len = self.page_len(page, position);
        while len as usize >= keys_max(page.lines()) || !page.insert(entry) {
            let larger = grown(page, len);
            self.put_page(larger, position, len);
            // SAFETY: no entry is reached through the old lines now; the slot's hint is off (see
            // `slot`).
            unsafe { page.retire() };
            page = larger;
        }
        self.len = self.len.checked_add(1).expect("a slot holds less than 2^32 keys");
        self.put_page_len(page, position, len + 1);
    }

    /// Counts an entry less, and gives memory back if much of the page is empty.
    pub(super) fn note_removal(&mut self, position: u32, page: Page) {
        let len = self.page_len(page, position) - 1;
        self.len -= 1;
        self.put_page_len(page, position, len);
        let places = page.lines() * ENTRIES;
        if (len as usize * 100) < places * LOAD_MIN {
            self.shrink(position, page, len);
        }
    }

    fn shrink(&mut self, position: u32, page: Page, len: u32) {
        if self.merge_if_small(position, page, len) {
            return;
        }
        let smaller = if len == 0 {
            Page::empty(page.depth())
        } else {
            let lines = lines_for(len as usize + 1, LOAD_SHRUNK);
            if lines >= page.lines() {
                return;
            }
            build(page.entries(), shape(lines), page.depth())
        };
        self.put_page(smaller, position, len);
        // SAFETY: replaced just now; the slot's hint is off.
        unsafe { page.retire() };
    }

    /// Splits the page of a position if it is full in keys and the next bit tells its keys apart.
    fn split_if_due(&mut self, position: u32) -> bool {
        let page = self.page(position);
        let len = self.page_len(page, position);
        // Multiples only: a page of equal positions is not looked through at every insertion.
        if len < KEYS_MAX || !len.is_multiple_of(KEYS_MAX) || page.depth() == DEPTH_MAX {
            return false;
        }
        let depth = page.depth() + 1;
        let is_upper = move |entry: &Entry| entry.position() >> (POSITION_BITS - depth) & 1 == 1;
        let upper_len = u32::try_from(page.entries().filter(is_upper).count()).expect("<= len");
        let lower_len = len - upper_len;
        if upper_len.min(lower_len) < len / 16 {
            return false;
        }
        let lower_entries = page.entries().filter(move |entry| !is_upper(entry));
        let lower = build(lower_entries, shape_for(lower_len), depth);
        let upper = build(page.entries().filter(is_upper), shape_for(upper_len), depth);
        self.deepen(depth);
        let first = page.first(position);
        self.put_page(lower, first, lower_len);
        self.put_page(upper, first + lower.positions(), upper_len);
        // SAFETY: replaced just now; the slot's hint is off.
        unsafe { page.retire() };
        true
    }

    /// Makes two neighbours one page if both are small.
    fn merge_if_small(&mut self, position: u32, page: Page, len: u32) -> bool {
        let Some(directory) = self.directory() else { return false };
        let first = page.first(position);
        let neighbour_first = first ^ page.positions();
        let neighbour = self.page(neighbour_first);
        if neighbour.depth() != page.depth() {
            return false;
        }
        let merged_len = len + directory.len(neighbour, neighbour_first);
        if merged_len > MERGED_MAX {
            return false;
        }
        let (lower, upper) =
            if first < neighbour_first { (page, neighbour) } else { (neighbour, page) };
        let depth = page.depth() - 1;
        let entries = lower.entries().chain(upper.entries());
        let merged = build(entries, shape_for(merged_len), depth);
        self.put_page(merged, position, merged_len);
        for old in [lower, upper] {
            // SAFETY: replaced just now; the slot's hint is off.
            unsafe { old.retire() };
        }
        self.flatten();
        true
    }

    /// Makes the directory at least so deep.
    fn deepen(&mut self, depth: u32) {
        match self.directory() {
            None => {
                let directory = Directory::allocate(depth);
                directory.put(self.page(0), 0, self.len);
                self.root = directory.pack();
                self.stash = 0;
            }
            Some(directory) if directory.depth() < depth => {
                self.root = directory.with_depth(depth).pack();
                // SAFETY: replaced just now; the slot's hint is off.
                unsafe { directory.retire() };
            }
            Some(_) => (),
        }
    }

    /// Takes away bits of the directory that no page needs, and the directory of a single page.
    fn flatten(&mut self) {
        while let Some(directory) = self.directory() {
            if directory.is_deepest_depth_used() && directory.depth() > 0 {
                return;
            }
            if directory.depth() <= 1 {
                let page = directory.page(0);
                self.root = page.pack();
                self.stash = page.stash();
            } else {
                self.root = directory.with_depth(directory.depth() - 1).pack();
            }
            // SAFETY: replaced just now; the slot's hint is off.
            unsafe { directory.retire() };
        }
    }

    fn put_page(&mut self, page: Page, position: u32, len: u32) {
        match self.directory() {
            None => {
                self.root = page.pack();
                self.stash = page.stash();
            }
            Some(directory) => directory.put(page, position, len),
        }
    }

    fn page_len(&self, page: Page, position: u32) -> u32 {
        self.directory().map_or(self.len, |directory| directory.len(page, position))
    }

    fn put_page_len(&mut self, page: Page, position: u32, len: u32) {
        if let Some(directory) = self.directory() {
            directory.put_len(page, position, len);
        }
    }
}

/// The page with room for one more key than its `len`.
fn grown(page: Page, len: u32) -> Page {
    let wanted = lines_for(len as usize + 1, LOAD_MAX);
    let shape = if wanted > page.lines() {
        shape(wanted)
    } else if len as usize * 2 > page.lines() * ENTRIES {
        // The keys fell so that a pair and the stash are full before the page is.
        shape(lines_up(page.lines() + 1))
    } else {
        // Equal positions: more buckets would not tell them apart, only more stash takes them.
        let (buckets, _) = shape(wanted);
        let stash = page.stash() as usize;
        (buckets, stash + stash / 8 + 1)
    };
    build(page.entries(), shape, page.depth())
}

/// A page of all the entries, with so many buckets, and as much more stash as they turn out to
/// need.
fn build(
    entries: impl Iterator<Item = Entry> + Clone,
    (buckets, mut stash): (usize, usize),
    depth: u32,
) -> Page {
    loop {
        let page = Page::allocate(buckets, stash, depth);
        let homeless = entries.clone().filter(|&entry| !page.insert(entry)).count();
        if homeless == 0 {
            return page;
        }
        // SAFETY: nobody has seen the page.
        unsafe { page.retire() };
        stash = lines_up(buckets + stash + homeless.div_ceil(ENTRIES)) - buckets;
    }
}

/// Keys that so many lines take before the page grows.
fn keys_max(lines: usize) -> usize {
    lines * ENTRIES * LOAD_MAX / 100
}

fn shape_for(len: u32) -> (usize, usize) {
    shape(lines_for(len as usize + 1, LOAD_MAX))
}

/// Lines for so many keys at most at this load, filling their size class.
fn lines_for(keys: usize, load: usize) -> usize {
    lines_up((keys * 100).div_ceil(ENTRIES * load)).max(2)
}

/// The same lines or more, up to a whole size class.
fn lines_up(lines: usize) -> usize {
    heap::size_class(lines * size_of::<Line>()) / size_of::<Line>()
}

/// Divides lines into an even number of buckets and some stash.
fn shape(lines: usize) -> (usize, usize) {
    let stash = if lines < 8 { lines % 2 } else { 2 * (lines / 24).max(1) };
    (lines - stash, stash)
}
