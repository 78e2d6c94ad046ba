//! The prefetch passes: a look ahead at the table without its lock.
//!
//! Before the commands of a batch run, one pass fetches their buckets into the cache, a second
//! their records. It all starts from the hint that the slot's last writer left; what it finds may
//! be out of date, and then the wrong line is fetched. Nothing found here is ever used for anything
//! else.
//!
//! What must stay true: lines and directories reached from a hint live while a pin does; records
//! may not, and are not read.

use super::directory::{DIRECTORY, Directory};
use super::line::Line;
use super::page::Page;
use crate::epoch::Pin;

/// A bucket that was asked for, and the position that is looked for in it.
#[derive(Clone, Copy)]
pub struct Bucket<'p> {
    line: &'p Line,
    position: u32,
}

/// Fetches the bucket of a position.
#[inline]
pub(crate) fn prefetch_bucket(hint: u64, position: u32, pin: &Pin) -> Option<Bucket<'_>> {
    let page = page_of(hint, position, pin)?;
    let line = page.line(page.home(position));
    fetch(std::ptr::from_ref(line).cast());
    Some(Bucket { line, position })
}

impl Bucket<'_> {
    /// Fetches the first two lines of the record at the position, if the bucket, which should have
    /// arrived, has it: the second pass.
    #[inline]
    pub fn prefetch_record(self) {
        if let Some((_, entry)) = self.line.matches(self.position).next() {
            let record = crate::heap::pointer_at::<u8>(entry.address()).cast_const();
            fetch(record);
            fetch(record.wrapping_add(64));
        }
    }
}

/// The page that a hint leads to. The pin keeps it.
#[inline]
fn page_of(hint: u64, position: u32, _: &Pin) -> Option<Page> {
    let page = if hint & DIRECTORY == 0 {
        Page::unpack(hint, 0)
    } else {
        Directory::unpack(hint).page(position)
    };
    (!page.is_empty()).then_some(page)
}

/// Brings a cache line near. Any address will do: fetching never faults.
#[inline]
pub(crate) fn fetch(address: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the instruction exists on every x86-64 and ignores bad addresses.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }
    #[cfg(any(not(target_arch = "x86_64"), miri))]
    let _ = address;
}
