//! The directory of a slot with more than one page: pages by the first bits of the position.
//!
//! Most slots have none: up to 2,048 keys the root word leads to the one page itself. Beyond, a
//! page is split by the next bit of the position; the directory has a child for every prefix of as
//! many bits as the deepest page, and a page that is less deep stands in all the children of its
//! prefix.
//!
//! What must stay true: all children of a page are equal but for `len`, which only the first one
//! keeps. Children are atomic because the prefetch passes read them; a replaced directory is freed
//! by the epoch.

use super::page::{DEPTH_MAX, Page};
use crate::hash::{POSITION_BITS, POSITIONS};
use crate::{epoch, heap};
use std::alloc::Layout;
use std::ptr::NonNull;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Set in a root word that leads to a directory.
pub(super) const DIRECTORY: u64 = 1;

#[repr(C)]
struct Child {
    page: AtomicU64,
    stash: AtomicU32,
    /// Keys of the page; kept in its first child only.
    len: AtomicU32,
}

const _: () = assert!(size_of::<Child>() == 16);

/// The children of a root. A copy is the same directory.
#[derive(Copy, Clone)]
pub(super) struct Directory {
    base: NonNull<Child>,
    /// Children are 2 to the power of it; <= DEPTH_MAX.
    depth: u32,
}

impl Directory {
    pub(super) fn allocate(depth: u32) -> Self {
        assert!(depth <= DEPTH_MAX);
        Self { base: heap::allocate_zeroed(layout(depth)).cast(), depth }
    }

    /// Frees the children, not their pages, once no prefetch pass can look at them.
    ///
    /// # Safety
    ///
    /// The directory is no longer reachable, from a hint either, and is used no more.
    pub(super) unsafe fn retire(self) {
        // SAFETY: allocated with this layout, and given up by the caller.
        unsafe { epoch::retire(self.base.cast(), layout(self.depth)) }
    }

    /// The root word: 63..48 depth | 47..6 address | 0 set.
    pub(super) fn pack(self) -> u64 {
        let address = self.base.as_ptr().expose_provenance() as u64;
        assert!(address >> 48 == 0 && address & 63 == 0);
        u64::from(self.depth) << 48 | address | DIRECTORY
    }

    #[inline]
    pub(super) fn unpack(word: u64) -> Self {
        debug_assert!(word & DIRECTORY != 0);
        let address = word & 0x0000_ffff_ffff_ffc0;
        let base = NonNull::new(heap::pointer_at(address)).expect("a directory has children");
        Self { base, depth: u32::try_from(word >> 48).expect("16 bits") }
    }

    pub(super) fn depth(self) -> u32 {
        self.depth
    }

    /// The page of a position.
    #[inline]
    pub(super) fn page(self, position: u32) -> Page {
        let child = self.child(self.index(position));
        Page::unpack(child.page.load(Acquire), child.stash.load(Relaxed))
    }

    /// Keys of a page.
    pub(super) fn len(self, page: Page, position: u32) -> u32 {
        self.child(self.index(page.first(position))).len.load(Relaxed)
    }

    /// Notes the keys of a page.
    pub(super) fn put_len(self, page: Page, position: u32, len: u32) {
        self.child(self.index(page.first(position))).len.store(len, Relaxed);
    }

    /// Puts a page at all the children of its prefix.
    pub(super) fn put(self, page: Page, position: u32, len: u32) {
        assert!(page.depth() <= self.depth);
        let first = self.index(page.first(position));
        for index in first..first + (1 << (self.depth - page.depth())) {
            let child = self.child(index);
            child.stash.store(page.stash(), Relaxed);
            child.page.store(page.pack(), Release);
        }
        self.put_len(page, position, len);
    }

    /// A copy for one bit more or less; less only if no page is as deep as the directory.
    pub(super) fn with_depth(self, depth: u32) -> Self {
        let copy = Self::allocate(depth);
        for (first, page, len) in self.pages() {
            copy.put(page, first, len);
        }
        copy
    }

    pub(super) fn is_deepest_depth_used(self) -> bool {
        self.pages().any(|(_, page, _)| page.depth() == self.depth)
    }

    /// Every page with its first position and its number of keys.
    pub(super) fn pages(self) -> impl Iterator<Item = (u32, Page, u32)> {
        let mut next = 0;
        std::iter::from_fn(move || {
            if next == POSITIONS {
                return None;
            }
            let first = next;
            let page = self.page(first);
            next = first + page.positions();
            Some((first, page, self.len(page, first)))
        })
    }

    pub(super) fn memory(self) -> usize {
        layout(self.depth).size()
    }

    #[inline]
    fn index(self, position: u32) -> u32 {
        position >> (POSITION_BITS - self.depth)
    }

    #[inline]
    fn child<'a>(self, index: u32) -> &'a Child {
        debug_assert!(index < 1 << self.depth);
        // SAFETY: within the children, which live while a lock or a pin protects their readers.
        unsafe { self.base.add(index as usize).as_ref() }
    }
}

fn layout(depth: u32) -> Layout {
    let children = Layout::array::<Child>(1 << depth).expect("256 KiB at most");
    // The root word has no bits for less than a cache line.
    children.align_to(64).expect("a power of two").pad_to_align()
}
