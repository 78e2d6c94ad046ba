//! When memory that is read without a lock may be freed.
//!
//! The prefetch passes of a batch read bucket lines and directories with no lock held. Each pass
//! runs under a [`Pin`]; a replaced page is retired here and freed once every pin that could have
//! seen it is gone.
//!
//! What must stay true: whatever is retired is no longer reachable from a slot's hint.

use std::alloc::{Layout, dealloc};
use std::ptr::NonNull;

/// While it lives, nothing that its thread can reach through a slot's hint is freed. Take one a
/// batch, not one a command: it costs some nanoseconds. A pin held for long keeps retired pages
/// from being freed.
pub struct Pin(crossbeam_epoch::Guard);

/// Pins the current thread.
#[must_use]
#[inline]
pub fn pin() -> Pin {
    Pin(crossbeam_epoch::pin())
}

impl Pin {
    /// Hands what this thread has retired to the collector, and frees what nobody can see any more.
    /// For idle moments and tests: the ordinary course of pins does it too.
    pub fn flush(&self) {
        self.0.flush();
    }
}

/// Frees the block when no pin can see it any more.
///
/// # Safety
///
/// The block came from the global allocator with this layout, is no longer reachable by new
/// readers, and is not freed elsewhere.
pub(crate) unsafe fn retire(block: NonNull<u8>, layout: Layout) {
    let guard = crossbeam_epoch::pin();
    let free = move || {
        // SAFETY: the caller gave up the block, and the epoch has passed all its readers.
        unsafe { dealloc(block.as_ptr(), layout) }
    };
    // SAFETY: the closure owns what it captures and may run on any thread: a block has no thread of
    // its own.
    unsafe { guard.defer_unchecked(free) }
}
