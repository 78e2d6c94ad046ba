//! The command logs: commands that took long, were large, or had a large reply. SLOWLOG and
//! COMMANDLOG show them.
//!
//! Beside the path of a command: `dispatch` compares each with the thresholds, and only what passes
//! one comes here. What must stay true: an entry is bounded, however large its command was; secrets
//! are not in it.

use crate::config::CommandLog as Setting;
use caudal_commands::Args;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Words of a command that are kept; the last place then says how many more there were.
const WORDS_MAX: usize = 32;
/// Bytes of a word that are kept.
const WORD_BYTES_MAX: usize = 128;

/// Why a command is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// It took long: microseconds.
    Slow,
    /// Its words were large: bytes.
    LargeRequest,
    /// Its reply was large: bytes.
    LargeReply,
}

impl Cause {
    /// The name that COMMANDLOG has for it.
    pub(crate) fn named(name: &[u8]) -> Option<Cause> {
        let causes = [Cause::Slow, Cause::LargeRequest, Cause::LargeReply];
        let names = ["slow", "large-request", "large-reply"];
        let at = names.iter().position(|at| name.eq_ignore_ascii_case(at.as_bytes()))?;
        Some(causes[at])
    }
}

/// A logged command.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Grows by one from entry to entry.
    pub(crate) id: u64,
    /// Unix seconds.
    pub(crate) at: u64,
    /// Microseconds or bytes.
    pub(crate) cost: u64,
    /// The words, cut.
    pub(crate) words: Vec<Vec<u8>>,
    pub(crate) address: String,
    pub(crate) name: Vec<u8>,
}

/// One log.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// The newest in front.
    pub(crate) entries: VecDeque<Entry>,
    next_id: u64,
}

/// The three logs of the process.
#[derive(Debug, Default)]
pub(crate) struct CommandLogs {
    logs: [Mutex<Log>; 3],
}

impl CommandLogs {
    /// The log of one cause.
    pub(crate) fn of(&self, cause: Cause) -> MutexGuard<'_, Log> {
        self.logs[cause as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an entry, and drops the oldest ones beyond the setting's number.
    pub(crate) fn add(&self, cause: Cause, setting: Setting, entry: impl FnOnce(u64) -> Entry) {
        let mut log = self.of(cause);
        let id = log.next_id;
        log.next_id += 1;
        log.entries.push_front(entry(id));
        log.entries.truncate(setting.entries_max);
    }
}

/// A command's words as a log keeps them; `secret` words are hidden.
pub(crate) fn cut(args: Args<'_>, secret: impl Fn(usize) -> bool) -> Vec<Vec<u8>> {
    let kept = if args.len() > WORDS_MAX { WORDS_MAX - 1 } else { args.len() };
    let word = |(at, word): (usize, &[u8])| {
        if secret(at) {
            return b"(redacted)".to_vec();
        }
        let mut cut = word[..word.len().min(WORD_BYTES_MAX)].to_vec();
        if word.len() > WORD_BYTES_MAX {
            let more = word.len() - WORD_BYTES_MAX;
            cut.extend_from_slice(format!("... ({more} more bytes)").as_bytes());
        }
        cut
    };
    let mut words: Vec<Vec<u8>> = args.from(0).enumerate().take(kept).map(word).collect();
    if args.len() > kept {
        words.push(format!("... ({} more arguments)", args.len() - kept).into_bytes());
    }
    words
}
