//! Waking a reactor from another thread, without a system call when it is awake.
//!
//! Stands beside the path: whoever leaves something in a worker's mailbox calls `wake` afterwards.
//! What must stay true: a `wake` that comes after the owner last looked at its mailbox makes the
//! next `turn` return at once. The state word carries that: the sleeper announces its sleep by
//! AWAKE -> ASLEEP, which fails if a waker was there first, and a waker always leaves WOKEN behind.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::event::{EventfdFlags, eventfd};

const AWAKE: u32 = 0;
const ASLEEP: u32 = 1;
const WOKEN: u32 = 2;

/// Wakes one reactor from any thread. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Waker(Arc<Bell>);

#[derive(Debug)]
struct Bell {
    /// AWAKE, ASLEEP or WOKEN.
    state: AtomicU32,
    event: OwnedFd,
}

impl Waker {
    /// A waker for a reactor that is awake.
    pub(crate) fn new() -> io::Result<Self> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self(Arc::new(Bell { state: AtomicU32::new(AWAKE), event })))
    }

    /// Makes the reactor's current or next blocking turn return. Costs a load when somebody else
    /// did so already, an exchange when the reactor is awake, a system call only when it sleeps.
    pub fn wake(&self) {
        if self.0.state.load(Ordering::SeqCst) == WOKEN {
            return;
        }
        if self.0.state.swap(WOKEN, Ordering::SeqCst) == ASLEEP {
            // The only failure is a full counter (EAGAIN), and a full counter is readable.
            let _ = rustix::io::write(&self.0.event, &1_u64.to_ne_bytes());
        }
    }

    /// Announces a sleep. False if somebody woke the reactor since it last woke up: don't sleep.
    pub(crate) fn fall_asleep(&self) -> bool {
        self.0.state.compare_exchange(AWAKE, ASLEEP, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// Ends a sleep, and takes back every wake so far. What was left before them is visible now.
    pub(crate) fn wake_up(&self) {
        if self.0.state.load(Ordering::Relaxed) != AWAKE {
            self.0.state.swap(AWAKE, Ordering::SeqCst);
        }
    }

    /// Empties the counter behind [`Self::event`].
    pub(crate) fn drain(&self) {
        let mut count = [0; 8];
        // EAGAIN means that it is empty already.
        let _ = rustix::io::read(&self.0.event, &mut count);
    }

    /// Readable when a sleeping reactor was woken.
    pub(crate) fn event(&self) -> BorrowedFd<'_> {
        self.0.event.as_fd()
    }
}
