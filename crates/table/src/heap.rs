//! Where records live: blocks of a size class, aligned to 16 bytes.
//!
//! The one interface between the table and whatever allocates. A block's size is always a whole
//! size class of jemalloc (16 bytes apart up to 128, then four a doubling), so a record knows its
//! true extent.
//!
//! What must stay true: a block is freed with the extent that it was allocated with.

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// Alignment of records, and the unit of their extents.
pub(crate) const UNIT: usize = 16;

/// Extent in bytes of the smallest block that holds this many bytes.
#[inline]
pub(crate) const fn size_class(bytes: usize) -> usize {
    if bytes <= 128 {
        return if bytes <= UNIT { UNIT } else { bytes.next_multiple_of(UNIT) };
    }
    // 2^k < bytes <= 2^(k+1) is cut in four steps.
    let step = 1 << (usize::BITS - 1 - (bytes - 1).leading_zeros() - 2);
    bytes.next_multiple_of(step)
}

/// A block of `extent` bytes, not initialised.
#[inline]
pub(crate) fn allocate(extent: usize) -> NonNull<u8> {
    let layout = layout(extent);
    // SAFETY: an extent is never zero.
    let block = unsafe { alloc(layout) };
    NonNull::new(block).unwrap_or_else(|| handle_alloc_error(layout))
}

/// Gives a block back.
///
/// # Safety
///
/// The block came from [`allocate`] with the same extent, and nobody reads it any more.
#[inline]
pub(crate) unsafe fn free(block: NonNull<u8>, extent: usize) {
    // SAFETY: as the caller promises.
    unsafe { dealloc(block.as_ptr(), layout(extent)) }
}

/// The pointer that was exposed as this address.
#[inline]
pub(crate) fn pointer_at<T>(address: u64) -> *mut T {
    std::ptr::with_exposed_provenance_mut(usize::try_from(address).expect("64-bit targets only"))
}

/// A zeroed block that is not a record: lines of buckets, directories.
pub(crate) fn allocate_zeroed(layout: Layout) -> NonNull<u8> {
    assert!(layout.size() > 0);
    // SAFETY: the size was just found not to be zero.
    let block = unsafe { alloc_zeroed(layout) };
    NonNull::new(block).unwrap_or_else(|| handle_alloc_error(layout))
}

#[inline]
fn layout(extent: usize) -> Layout {
    debug_assert!(extent > 0 && extent.is_multiple_of(UNIT));
    Layout::from_size_align(extent, UNIT).expect("an extent is at most some tens of KiB")
}

#[cfg(test)]
mod tests {
    use super::size_class;

    #[test]
    fn classes_are_jemallocs() {
        let wanted = [(1, 16), (16, 16), (43, 48), (127, 128), (128, 128), (129, 160), (160, 160)];
        let larger = [(161, 192), (257, 320), (1050, 1280), (14_336, 14_336), (14_337, 16_384)];
        for (bytes, class) in wanted.into_iter().chain(larger) {
            assert_eq!(size_class(bytes), class, "class of {bytes}");
        }
    }
}
