//! Scripts that run long enough for others to ask after them: BUSY, SCRIPT KILL, FUNCTION STATS.
//!
//! A script enters the table when it has run some ten thousand instructions, so a short one never
//! pays for it. What must stay true: a script is either killed or writes, and whoever is first
//! decides.

use caudal_commands::Error;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// It has neither written nor been killed.
const CLEAN: u8 = 0;
/// It has written: it cannot be killed.
const WROTE: u8 = 1;
/// It is to end.
const KILLED: u8 = 2;

/// A script of the table.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) is_function: bool,
    /// The function's name; empty for a script.
    pub(crate) name: Vec<u8>,
    /// The command that runs it.
    pub(crate) words: Vec<Box<[u8]>>,
    /// Nanoseconds of the engine's clock.
    pub(crate) started_ns: u64,
    state: AtomicU8,
}

impl Entry {
    /// A script that has run for a while; whether it has written by now.
    pub(crate) fn new(
        name: Option<&[u8]>,
        words: Vec<Box<[u8]>>,
        started_ns: u64,
        wrote: bool,
    ) -> Entry {
        Entry {
            is_function: name.is_some(),
            name: name.unwrap_or_default().to_vec(),
            words,
            started_ns,
            state: AtomicU8::new(if wrote { WROTE } else { CLEAN }),
        }
    }

    /// Whether it is to end.
    pub(crate) fn is_killed(&self) -> bool {
        self.state.load(Ordering::Acquire) == KILLED
    }

    fn has_written(&self) -> bool {
        self.state.load(Ordering::Acquire) == WROTE
    }

    /// It is about to write. False: it was killed before.
    pub(crate) fn may_write(&self) -> bool {
        self.become_state(WROTE)
    }

    fn become_state(&self, state: u8) -> bool {
        let changed =
            self.state.compare_exchange(CLEAN, state, Ordering::AcqRel, Ordering::Acquire);
        changed.map_or_else(|now| now == state, |_| true)
    }
}

/// All long scripts of the process.
#[derive(Debug, Default)]
pub(crate) struct Running {
    entries: Mutex<Vec<Arc<Entry>>>,
    /// How many have passed `busy-reply-threshold`.
    busy: AtomicUsize,
    /// How many of them are functions.
    busy_functions: AtomicUsize,
    /// Whether the process ends: all scripts are to end, whatever they have written.
    is_ending: AtomicBool,
}

impl Running {
    /// Adds a script.
    pub(crate) fn add(&self, entry: &Arc<Entry>) {
        self.lock().push(Arc::clone(entry));
    }

    /// A script of the table has run longer than others are made to wait for.
    pub(crate) fn became_busy(&self, entry: &Entry) {
        self.busy.fetch_add(1, Ordering::AcqRel);
        self.busy_functions.fetch_add(usize::from(entry.is_function), Ordering::AcqRel);
    }

    /// Removes a script that has ended.
    pub(crate) fn remove(&self, entry: &Arc<Entry>, was_busy: bool) {
        self.lock().retain(|other| !Arc::ptr_eq(other, entry));
        if was_busy {
            self.busy.fetch_sub(1, Ordering::AcqRel);
            self.busy_functions.fetch_sub(usize::from(entry.is_function), Ordering::AcqRel);
        }
    }

    /// What a command that would wait for a long script is told; none: it waits.
    #[inline]
    pub(crate) fn refusal(&self) -> Option<Error> {
        if self.busy.load(Ordering::Acquire) == 0 {
            return None;
        }
        Some(busy(self.busy_functions.load(Ordering::Acquire) > 0))
    }

    /// Has the longest script, or function, end that can.
    ///
    /// # Errors
    /// There is none, there are only others, or it has written.
    pub(crate) fn kill(&self, functions: bool) -> Result<(), Error> {
        let entries = self.lock();
        let mut live = entries.iter().filter(|entry| !entry.is_killed()).peekable();
        let Some(first) = live.peek() else {
            return Err(Error::text("NOTBUSY No scripts in execution right now."));
        };
        let others = busy(first.is_function);
        let mut is_other = false;
        for entry in live {
            if entry.is_function == functions && entry.become_state(KILLED) {
                return Ok(());
            }
            is_other |= entry.is_function != functions && !entry.has_written();
        }
        if is_other {
            return Err(others);
        }
        Err(Error::text(
            "UNKILLABLE Sorry the script already executed write commands against the dataset. You \
             can either wait the script termination or kill the server in a hard way using the \
             SHUTDOWN NOSAVE command.",
        ))
    }

    /// Has all scripts end: the process does.
    pub(crate) fn end_all(&self) {
        self.is_ending.store(true, Ordering::Release);
    }

    /// Whether all scripts are to end.
    pub(crate) fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Acquire)
    }

    /// The script that runs longest.
    pub(crate) fn longest(&self) -> Option<Arc<Entry>> {
        self.lock().first().cloned()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Entry>>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is told while a script, or a function, runs too long.
pub(crate) fn busy(is_function: bool) -> Error {
    Error::text(if is_function {
        "BUSY Valkey is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE."
    } else {
        "BUSY Valkey is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."
    })
}
