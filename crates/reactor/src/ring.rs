//! An io_uring with memory of its own: buffers that the kernel fills, and bytes that it sends.
//!
//! Everything unsafe about io_uring stands here; [`uring`](crate::uring) is the logic above it.
//! What must stay true:
//! * the memory lives as long as the ring, wherever an operation may still be under way;
//! * a buffer belongs to the kernel from `give_back` to the completion that carries its number, and
//!   to us in between;
//! * with IORING_SETUP_DEFER_TASKRUN the kernel touches either memory only inside `enter`, on this
//!   thread, so that no borrow of ours is ever alive meanwhile.
//!
//! Backed by the tests of the crate, which run against the kernel; Miri knows no io_uring.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::io::{self, IoSlice};
use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use io_uring::types::{BufRingEntry, Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};

/// Operations queued before they are handed to the kernel. More are handed over in between.
const QUEUE_OPERATIONS: u32 = 256;
/// Completions that wait to be read; every connection may have one. The kernel keeps the rest.
const COMPLETIONS: u32 = 4096;
/// Receive buffers of a ring, a power of two: as many connections as one turn serves without the
/// kernel running out, which tells each of the others to ask again (512 ready: 4 to 20 % dearer).
const BUFFERS: u16 = 1024;
/// Size of one: what 25 pipelined SETs of 100 bytes need. Used in turn, so that all of them become
/// resident: 4 MiB.
const BUFFER_BYTES: usize = 4 * 1024;
/// Bytes that one turn can queue for sending. What does not fit is sent at once.
const OUTBOUND_BYTES: usize = 512 * 1024;
/// The group that all receive buffers belong to.
const GROUP: u16 = 0;

const _: () = assert!(BUFFERS.is_power_of_two());

/// An operation that ended, or a multishot one that has something.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Completion {
    /// What the operation was queued with.
    pub(crate) id: u64,
    /// A count of bytes or a mask of events; a negated error number.
    pub(crate) result: i32,
    /// Whether the same operation will complete again.
    pub(crate) more: bool,
    /// The buffer that was filled, ours until it is given back.
    pub(crate) buffer: Option<u16>,
}

/// A ring, its receive buffers, and its outbound bytes.
pub(crate) struct Ring {
    // First, so that it is closed before the memory below goes.
    ring: IoUring,
    inbound: Memory,
    entries: Memory,
    /// Entries ever offered, modulo 2^16.
    tail: u16,
    outbound: Memory,
    /// Bytes of `outbound` in use; <= OUTBOUND_BYTES.
    outbound_used: usize,
}

impl Ring {
    /// A ring of this thread.
    ///
    /// # Errors
    /// The kernel is older than 6.1, or forbids io_uring.
    pub(crate) fn new() -> io::Result<Self> {
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_taskrun_flag()
            .setup_submit_all()
            .setup_cqsize(COMPLETIONS)
            .build(QUEUE_OPERATIONS)?;
        if !ring.params().is_feature_ext_arg() || !ring.params().is_feature_skip_cqe_on_success() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let entries = Memory::new(usize::from(BUFFERS) * size_of::<BufRingEntry>());
        let inbound = Memory::new(usize::from(BUFFERS) * BUFFER_BYTES);
        let outbound = Memory::new(OUTBOUND_BYTES);
        let mut ring = Self { ring, inbound, entries, tail: 0, outbound, outbound_used: 0 };
        let start = ring.entries.start.as_ptr() as u64;
        // SAFETY: the entries are page-aligned, large enough, and live as long as the ring.
        unsafe { ring.ring.submitter().register_buf_ring_with_flags(start, BUFFERS, GROUP, 0)? };
        (0..BUFFERS).for_each(|buffer| ring.give_back(buffer));
        ring.offer_buffers();
        Ok(ring)
    }

    /// Receives into buffers of the ring, again and again, until the completion without `more`.
    pub(crate) fn receive(&mut self, fd: BorrowedFd<'_>, id: u64) -> io::Result<()> {
        self.push(opcode::RecvMulti::new(Fd(fd.as_raw_fd()), GROUP).build().user_data(id))
    }

    /// Completes once, when one of the poll(2) events of `mask` holds.
    pub(crate) fn poll(&mut self, fd: BorrowedFd<'_>, mask: i16, id: u64) -> io::Result<()> {
        let mask = u32::from(mask.cast_unsigned());
        self.push(opcode::PollAdd::new(Fd(fd.as_raw_fd()), mask).build().user_data(id))
    }

    /// Ends the operation that was queued with `target`. Completes with `id`.
    pub(crate) fn cancel(&mut self, target: u64, id: u64) -> io::Result<()> {
        self.push(opcode::AsyncCancel::new(target).build().user_data(id))
    }

    /// Queues a send of copied bytes. It happens inside the next `submit` or `enter`, as far as it
    /// can without waiting, and completes only if that was not all of it. Gives where the bytes
    /// stand until `forget_outbound`; nothing if there is no room for them.
    pub(crate) fn send(
        &mut self,
        fd: BorrowedFd<'_>,
        slices: &[IoSlice<'_>],
        id: u64,
    ) -> io::Result<Option<Range<usize>>> {
        let start = self.outbound_used;
        let bytes: usize = slices.iter().map(|slice| slice.len()).sum();
        if bytes > OUTBOUND_BYTES - start {
            return Ok(None);
        }
        for slice in slices {
            let range = self.outbound_used..self.outbound_used + slice.len();
            self.outbound.slice_mut(range.clone()).copy_from_slice(slice);
            self.outbound_used = range.end;
        }
        let range = start..self.outbound_used;
        let length = u32::try_from(bytes).expect("OUTBOUND_BYTES is below 2^32");
        let from = self.outbound.slice(range.clone()).as_ptr();
        // MSG_WAITALL makes a short send a failure, and failures do complete.
        let entry = opcode::Send::new(Fd(fd.as_raw_fd()), from, length)
            .flags(libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL | libc::MSG_WAITALL)
            .build()
            .flags(squeue::Flags::SKIP_SUCCESS)
            .user_data(id);
        self.push(entry)?;
        Ok(Some(range))
    }

    /// The bytes of a queued send.
    pub(crate) fn outbound(&self, range: Range<usize>) -> &[u8] {
        self.outbound.slice(range)
    }

    /// Forgets the bytes of all sends. They must have been submitted, and their completions read.
    pub(crate) fn forget_outbound(&mut self) {
        self.outbound_used = 0;
    }

    /// What stands in a buffer that a completion brought.
    pub(crate) fn inbound(&self, buffer: u16, range: Range<usize>) -> &[u8] {
        assert!(range.end <= BUFFER_BYTES);
        let start = usize::from(buffer) * BUFFER_BYTES;
        self.inbound.slice(start + range.start..start + range.end)
    }

    /// Takes a buffer back. The kernel sees it with the next `submit` or `enter`.
    pub(crate) fn give_back(&mut self, buffer: u16) {
        let entry = self.entry(self.tail & (BUFFERS - 1));
        let start = usize::from(buffer) * BUFFER_BYTES;
        let address = self.inbound.slice(start..start + BUFFER_BYTES).as_ptr() as u64;
        let length = u32::try_from(BUFFER_BYTES).expect("a small constant");
        // SAFETY: the pointer is to one of the entries, zeroed at first, and the kernel reads those
        // before the published tail only, inside `enter`.
        let entry = unsafe { &mut *entry };
        entry.set_addr(address);
        entry.set_len(length);
        entry.set_bid(buffer);
        self.tail = self.tail.wrapping_add(1);
    }

    /// Hands queued operations to the kernel without waiting for anything.
    pub(crate) fn submit(&mut self) -> io::Result<()> {
        self.offer_buffers();
        while !self.ring.submission().is_empty() {
            match self.ring.submit() {
                Ok(_) => {}
                Err(error) if is_passing(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Hands queued operations to the kernel, and waits until something completes or `timeout` has
    /// passed.
    pub(crate) fn enter(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        self.offer_buffers();
        let entered = match timeout {
            Some(Duration::ZERO) if self.has_nothing_to_enter_for() => return Ok(()),
            Some(Duration::ZERO) => self.ring.submit(),
            None => self.ring.submit_and_wait(1),
            Some(timeout) => {
                let timespec = Timespec::from(timeout);
                let args = SubmitArgs::new().timespec(&timespec);
                self.ring.submitter().submit_with_args(1, &args)
            }
        };
        match entered {
            Err(error) if is_passing(&error) => {}
            entered => {
                entered?;
            }
        }
        self.submit()
    }

    /// Whether the kernel has taken everything queued.
    pub(crate) fn is_submitted(&mut self) -> bool {
        self.ring.submission().is_empty()
    }

    /// Whether the kernel holds completions that found no room.
    pub(crate) fn is_overflown(&mut self) -> bool {
        self.ring.submission().cq_overflow()
    }

    fn has_nothing_to_enter_for(&mut self) -> bool {
        let queue = self.ring.submission();
        queue.is_empty() && !queue.taskrun() && !queue.cq_overflow()
    }

    /// The next completion.
    pub(crate) fn next(&mut self) -> Option<Completion> {
        let entry = self.ring.completion().next()?;
        Some(Completion {
            id: entry.user_data(),
            result: entry.result(),
            more: cqueue::more(entry.flags()),
            buffer: cqueue::buffer_select(entry.flags()),
        })
    }

    fn push(&mut self, entry: squeue::Entry) -> io::Result<()> {
        loop {
            // SAFETY: the memory that an entry names is the ring's own and lives as long as it;
            // a descriptor that was closed meanwhile is an error of the operation.
            let pushed = unsafe { self.ring.submission().push(&entry) };
            if pushed.is_ok() {
                return Ok(());
            }
            self.submit()?;
        }
    }

    /// Shows the kernel the buffers given back.
    fn offer_buffers(&self) {
        // SAFETY: the pointer is to the first entry of the registered ring.
        let tail = unsafe { BufRingEntry::tail(self.entry(0)) };
        // SAFETY: the tail is aligned and lives as long as the ring; both sides use it atomically.
        let tail = unsafe { AtomicU16::from_ptr(tail.cast_mut()) };
        tail.store(self.tail, Ordering::Release);
    }

    fn entry(&self, index: u16) -> *mut BufRingEntry {
        assert!(index < BUFFERS);
        let entries = self.entries.start.as_ptr().cast::<BufRingEntry>();
        // SAFETY: the index is below the number of entries.
        unsafe { entries.add(usize::from(index)) }
    }
}

/// Whether an enter failed for now only: its time ran out, a signal came, or completions must be
/// read first.
fn is_passing(error: &io::Error) -> bool {
    let number = error.raw_os_error();
    matches!(number, Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN))
}

/// Page-aligned memory that the kernel knows the address of.
struct Memory {
    start: NonNull<u8>,
    layout: Layout,
}

impl Memory {
    /// So many zeros.
    fn new(bytes: usize) -> Self {
        assert!(bytes > 0);
        let layout = Layout::from_size_align(bytes, 4096).expect("a small constant");
        // SAFETY: the layout's size is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        let start = NonNull::new(start).unwrap_or_else(|| handle_alloc_error(layout));
        Self { start, layout }
    }

    fn slice(&self, range: Range<usize>) -> &[u8] {
        assert!(range.start <= range.end && range.end <= self.layout.size());
        // SAFETY: the start of the range is inside the allocation or at its end.
        let start = unsafe { self.start.add(range.start) };
        // SAFETY: the range is inside the allocation, which is initialized; nobody writes to it
        // while `self` is borrowed (see the head of the file).
        unsafe { std::slice::from_raw_parts(start.as_ptr(), range.len()) }
    }

    fn slice_mut(&mut self, range: Range<usize>) -> &mut [u8] {
        assert!(range.start <= range.end && range.end <= self.layout.size());
        // SAFETY: the start of the range is inside the allocation or at its end.
        let start = unsafe { self.start.add(range.start) };
        // SAFETY: as in `slice`, and `self` is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), range.len()) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated by `new` with this layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}
