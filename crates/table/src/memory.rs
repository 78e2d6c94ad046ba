//! The process's allocator, and what it has given out.
//!
//! Everything that the process allocates from Rust comes from jemalloc. It counts, for each thread,
//! the bytes that the thread has allocated and freed, in true sizes; the sum over the threads is
//! what is in use. Threads are read while they run: the sum is exact once they rest, and off by
//! what they do meanwhile.
//!
//! What must stay true: every thread that allocates much is registered before it does, and a
//! thread's counters are folded into the total before the thread's storage goes.

#[cfg(not(any(miri, loom)))]
pub use jemalloc::{purge, register_thread, resident_bytes, statistics, used_bytes};
#[cfg(any(miri, loom))]
pub use plain::{purge, register_thread, resident_bytes, statistics, used_bytes};

/// What the allocator says of itself, in bytes.
#[derive(Debug, Copy, Clone, Default, Eq, PartialEq)]
pub struct Statistics {
    /// Given to the program.
    pub allocated: u64,
    /// Pages of which something was given to the program.
    pub active: u64,
    /// Pages that the kernel has given memory for.
    pub resident: u64,
    /// Address space that is kept without memory.
    pub retained: u64,
    /// The allocator's own.
    pub metadata: u64,
}

#[cfg(not(any(miri, loom)))]
mod jemalloc {
    use super::Statistics;
    use std::sync::atomic::AtomicU64;
    use std::sync::atomic::Ordering::Relaxed;
    use std::sync::{Mutex, PoisonError};
    use tikv_jemalloc_ctl::{epoch, raw, stats};
    use tikv_jemalloc_sys::mallctl;

    #[global_allocator]
    static GLOBAL: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

    /// Read by jemalloc at its start.
    ///
    /// * `cache_oblivious`: off, else every page of 16 KiB and more takes 4 KiB too many.
    /// * `narenas`: few, since each holds partly filled slabs of every class; threads have their
    ///   own caches.
    /// * `dirty_decay_ms`: freed pages go back to the kernel within seconds; a burst can use them
    ///   before.
    /// * `thp`: a random record costs a miss of the address translation less on pages of 2 MiB, and
    ///   there is no fork that would copy them. (1 M keys, GET at pipeline 64: 1.18 x the
    ///   operations a CPU second, SET 1.12 x; the same resident bytes. The kernel zeroes 2 MiB at
    ///   once where the heap grows.)
    /// * `slab_sizes`: slabs of these classes are one page else, with 128 bytes of metadata to
    ///   each: 4 bytes a record of 128. (1 M keys of 15 bytes, values of 100: resident 151.2 bytes
    ///   a record before, 148.8 after.)
    #[unsafe(export_name = "_rjem_malloc_conf")]
    static OPTIONS: Option<&'static u8> = Some(&OPTIONS_TEXT[0]);
    static OPTIONS_TEXT: &[u8] = concat!(
        "cache_oblivious:false,narenas:4,dirty_decay_ms:2000,muzzy_decay_ms:0,thp:always,",
        "slab_sizes:128-128:8\0",
    )
    .as_bytes();

    static THREADS: Mutex<Threads> = Mutex::new(Threads { running: Vec::new(), ended: 0 });

    struct Threads {
        running: Vec<Counters>,
        /// Allocated less freed by threads that have ended; negative if they freed what others
        /// allocated.
        ended: i64,
    }

    /// A thread's counters, in that thread's own storage.
    #[derive(Copy, Clone, Eq, PartialEq)]
    struct Counters {
        allocated: *mut u64,
        freed: *mut u64,
    }

    // SAFETY: the addresses stay good until the thread's registration is dropped, which takes them
    // off the list.
    unsafe impl Send for Counters {}

    impl Counters {
        fn of_this_thread() -> Option<Self> {
            // SAFETY: the type of this statistic is `uint64_t *`.
            let allocated = unsafe { raw::read::<*mut u64>(b"thread.allocatedp\0") }.ok()?;
            // SAFETY: as above.
            let freed = unsafe { raw::read::<*mut u64>(b"thread.deallocatedp\0") }.ok()?;
            Some(Self { allocated, freed })
        }

        /// Bytes that the thread holds; negative if it freed what others allocated.
        fn held(self) -> i64 {
            // SAFETY: listed, so its thread lives; aligned, and jemalloc writes it in one store.
            let allocated = unsafe { AtomicU64::from_ptr(self.allocated) }.load(Relaxed);
            // SAFETY: as above.
            let freed = unsafe { AtomicU64::from_ptr(self.freed) }.load(Relaxed);
            allocated.wrapping_sub(freed).cast_signed()
        }
    }

    /// Dropped at the thread's end, before the allocator's own storage of the thread.
    struct Registration(Option<Counters>);

    impl Drop for Registration {
        fn drop(&mut self) {
            let Some(counters) = self.0 else { return };
            let mut threads = lock();
            threads.running.retain(|&running| running != counters);
            threads.ended += counters.held();
        }
    }

    thread_local! {
        static REGISTRATION: Registration = {
            let counters = Counters::of_this_thread();
            lock().running.extend(counters);
            Registration(counters)
        };
    }

    fn lock() -> std::sync::MutexGuard<'static, Threads> {
        THREADS.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts this thread from now on, with all that it has allocated already. Once a thread; more
    /// do no harm.
    pub fn register_thread() {
        REGISTRATION.with(|_| ());
    }

    /// Bytes in use, in the allocator's sizes, by what the registered threads allocated.
    #[must_use]
    pub fn used_bytes() -> u64 {
        let threads = lock();
        let running: i64 = threads.running.iter().map(|counters| counters.held()).sum();
        // Below zero only while unregistered threads' memory is being freed by registered ones.
        u64::try_from(running + threads.ended).unwrap_or(0)
    }

    /// Memory that the kernel has given the allocator: the allocator's view of resident size.
    #[must_use]
    pub fn resident_bytes() -> u64 {
        refresh();
        stats::resident::read().map_or(0, |bytes| bytes as u64)
    }

    /// All figures of one instant. Some microseconds: for INFO, not for every command.
    #[must_use]
    pub fn statistics() -> Statistics {
        refresh();
        let bytes = |read: tikv_jemalloc_ctl::Result<usize>| read.map_or(0, |bytes| bytes as u64);
        Statistics {
            allocated: bytes(stats::allocated::read()),
            active: bytes(stats::active::read()),
            resident: bytes(stats::resident::read()),
            retained: bytes(stats::retained::read()),
            metadata: bytes(stats::metadata::read()),
        }
    }

    /// Gives freed pages back to the kernel at once, of all arenas: MEMORY PURGE.
    pub fn purge() {
        /// jemalloc's index for "all arenas".
        const ALL_ARENAS: &[u8] = b"arena.4096.purge\0";
        let (name, none) = (ALL_ARENAS.as_ptr().cast(), std::ptr::null_mut());
        // A control without value: it fails only if there are no arenas, and then nothing is to be
        // done.
        // SAFETY: the name ends with a zero, and nothing is read or written.
        let _ = unsafe { mallctl(name, none, std::ptr::null_mut(), none, 0) };
    }

    /// Statistics stand still until they are asked to move.
    fn refresh() {
        // It fails only if the allocator was built without statistics; then they read as 0.
        let _ = epoch::advance();
    }
}

#[cfg(any(miri, loom))]
mod plain {
    use super::Statistics;

    /// Nothing is counted under the interpreter.
    pub fn register_thread() {}

    /// Nothing is counted under the interpreter.
    pub fn used_bytes() -> u64 {
        0
    }

    /// Nothing is counted under the interpreter.
    pub fn resident_bytes() -> u64 {
        0
    }

    /// Nothing is counted under the interpreter.
    pub fn statistics() -> Statistics {
        Statistics::default()
    }

    /// Nothing is kept under the interpreter.
    pub fn purge() {}
}

#[cfg(all(test, not(any(miri, loom))))]
mod tests {
    use super::*;

    #[test]
    fn what_a_thread_holds_is_counted_and_stays_when_it_ends() {
        const BYTES: usize = 64 << 20;
        register_thread();
        let before = used_bytes();
        let held = std::thread::spawn(|| {
            register_thread();
            vec![1u8; BYTES]
        })
        .join()
        .expect("it does not panic");
        // Other tests run meanwhile: only the large block must be seen.
        let after = used_bytes();
        assert!(after >= before + BYTES as u64 / 2, "{before} -> {after}");
        assert!(statistics().allocated >= BYTES as u64 && resident_bytes() > 0);
        drop(held);
        assert!(used_bytes() < after - BYTES as u64 / 2);
    }
}
