//! ACL LOG: what was denied lately, to whom, and how often.

use super::user::Reason;
use std::collections::VecDeque;

/// Denials of the same thing within so many milliseconds are one entry.
const GROUP_MS: u64 = 60_000;
/// Entries, of the newest, among which the same thing is looked for.
const GROUP_ENTRIES: usize = 10;
/// Bytes of what was denied that an entry keeps: a key can be of any size.
const OBJECT_BYTES_MAX: usize = 4096;

/// Where a command came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scene {
    /// The connection.
    TopLevel,
    /// EXEC.
    Transaction,
    /// A script.
    Script,
}

/// A denial.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Grows by one from entry to entry.
    pub(crate) id: u64,
    pub(crate) count: u64,
    pub(crate) reason: Reason,
    pub(crate) scene: Scene,
    /// The command, key, channel or database.
    pub(crate) object: Vec<u8>,
    pub(crate) user: Box<[u8]>,
    /// The connection, as a line of CLIENT LIST.
    pub(crate) client: Vec<u8>,
    /// Unix milliseconds.
    pub(crate) created_ms: u64,
    /// Of the last time that it was counted. >= created_ms
    pub(crate) updated_ms: u64,
}

/// The log.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// The newest in front.
    pub(crate) entries: VecDeque<Entry>,
    next_id: u64,
}

impl Log {
    /// Counts a denial: in an entry about the same, or in a new one. Its `id`, `count` and
    /// `created_ms` are given here.
    pub(crate) fn add(&mut self, mut entry: Entry, entries_max: usize) {
        entry.object.truncate(OBJECT_BYTES_MAX);
        let same = |at: &Entry| {
            at.reason == entry.reason
                && at.scene == entry.scene
                && entry.updated_ms.saturating_sub(at.updated_ms) <= GROUP_MS
                && at.object == entry.object
                && at.user == entry.user
        };
        let known = self.entries.iter().take(GROUP_ENTRIES).position(same);
        if let Some(known) = known.and_then(|at| self.entries.remove(at)) {
            let Entry { id, count, created_ms, .. } = known;
            self.entries.push_front(Entry { id, count: count + 1, created_ms, ..entry });
        } else {
            let id = self.next_id;
            self.next_id += 1;
            self.entries.push_front(Entry { id, count: 1, created_ms: entry.updated_ms, ..entry });
        }
        self.entries.truncate(entries_max);
    }
}
