//! Signals as something to read, so that none ever interrupts a worker.
//!
//! Read by the [`Acceptor`](crate::Acceptor) on the main thread. What must stay true: `catch` runs
//! before any other thread starts, because threads inherit the mask that it sets.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;

/// A signal that asks the server to do something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// SIGINT.
    Interrupt,
    /// SIGTERM.
    Terminate,
}

/// The signals of this process, as a descriptor.
#[derive(Debug)]
pub struct Signals {
    fd: OwnedFd,
}

impl Signals {
    /// Blocks SIGINT, SIGTERM and SIGHUP for this thread and those it starts, and collects the
    /// first two; a hang-up of the terminal is ignored, as a server should.
    ///
    /// # Errors
    /// What the system says; there is no reason that it should.
    pub fn catch() -> io::Result<Self> {
        let mut set = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: the pointer is to writable memory of the right type, which the call initializes.
        unsafe { libc::sigemptyset(set.as_mut_ptr()) };
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            // SAFETY: sigemptyset initialized the set, and the number is one of a signal.
            unsafe { libc::sigaddset(set.as_mut_ptr(), signal) };
        }
        // SAFETY: sigemptyset initialized it.
        let set = unsafe { set.assume_init() };
        // SAFETY: the set is initialized and outlives the call; the old mask is not asked for.
        let failed =
            unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, ptr::null_mut()) };
        if failed != 0 {
            return Err(io::Error::from_raw_os_error(failed));
        }
        // SAFETY: the set is initialized and outlives the call.
        let fd =
            unsafe { libc::signalfd(-1, &raw const set, libc::SFD_NONBLOCK | libc::SFD_CLOEXEC) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the call above made this descriptor, and nobody else has it.
        Ok(Self { fd: unsafe { OwnedFd::from_raw_fd(fd) } })
    }

    /// The next signal that waits, if any.
    pub fn next(&self) -> Option<Signal> {
        loop {
            let mut record = [0_u8; size_of::<libc::signalfd_siginfo>()];
            let n = rustix::io::read(&self.fd, &mut record).ok()?;
            debug_assert_eq!(n, record.len());
            // The number is the first field of the record.
            let number = u32::from_ne_bytes(*record.first_chunk()?);
            match i32::try_from(number) {
                Ok(libc::SIGINT) => return Some(Signal::Interrupt),
                Ok(libc::SIGTERM) => return Some(Signal::Terminate),
                _ => {}
            }
        }
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl AsRawFd for Signals {
    fn as_raw_fd(&self) -> i32 {
        self.fd.as_raw_fd()
    }
}
