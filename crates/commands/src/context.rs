//! What a command is given, and what it gives back.

use crate::{Args, Error, OwnedArgs};
use caudal_keyspace::{Busy, Key, Keys};
use caudal_table::{KeyHash, Kind, ValueRef};
use caudal_value::Item;
use caudal_wire::Reply;

/// How a command ended: it replied, it must wait, or its error is the reply.
pub type Outcome = Result<Flow, Error>;

/// A command that has replied.
pub const DONE: Outcome = Ok(Flow::Done);

/// What is to be done with a command that ran without error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flow {
    /// It replied.
    Done,
    /// It waits for one of its keys, and has changed nothing.
    Wait(Wait),
    /// It walks the keyspace and met a busy slot; it has replied nothing and runs again.
    Busy(Busy),
}

/// What a blocking command waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Milliseconds; none: for ever.
    pub timeout_ms: Option<u64>,
    /// The type that one of its keys must get.
    pub kind: Kind,
    /// Whether it runs again too when a key loses that type, or goes.
    pub minds_loss: bool,
    /// After how many milliseconds it runs again although nothing happened.
    pub again_ms: Option<u64>,
    /// The words to run it again with, if not its own: XREAD's `$` is the id of the moment.
    pub words: Option<Box<OwnedArgs>>,
}

/// Limits that commands need, besides those of collections.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// `proto-max-bulk-len`: a string's length, in bytes.
    pub string_bytes_max: u64,
    /// Whether RESTORE takes payloads without looking at their checksum.
    pub trusts_checksums: bool,
}

/// All that a command may touch.
pub struct Context<'a, 'k> {
    /// The keys, in slots that are locked.
    pub keys: Keys<'a, 'k>,
    /// Where the reply goes.
    pub reply: Reply<'a>,
    /// Random numbers.
    pub random: &'a mut Random,
    /// Limits.
    pub settings: &'a Settings,
    /// False in a transaction or a script, where a blocking command gets nothing at once.
    pub may_wait: bool,
    /// Whether a script calls: what has no order gets one where Redis gives it one.
    pub in_script: bool,
    /// Whether the user may read every key: what a command that finds its keys while it runs asks.
    pub may_read_all: bool,
    /// The hash of the first key, which dispatch has computed: (argument, hash).
    pub first_key: Option<(usize, KeyHash)>,
}

impl<'a, 'k> Context<'a, 'k> {
    /// The key at argument `index`.
    #[inline(always)]
    pub fn key<'b>(&self, args: Args<'b>, index: usize) -> Key<'b> {
        let bytes = args.at(index);
        match self.first_key {
            Some((first, hash)) if first == index => Key { bytes, hash },
            _ => self.keys.key(bytes),
        }
    }

    /// Replies with an integer.
    #[inline]
    pub fn reply_integer(&mut self, value: i64) -> Outcome {
        self.reply.integer(value);
        DONE
    }

    /// Replies with a count.
    #[inline]
    pub fn reply_count(&mut self, count: usize) -> Outcome {
        self.reply.integer(i64::try_from(count).expect("counts stay below 2^63"));
        DONE
    }

    /// Replies `+OK`.
    #[inline]
    pub fn reply_ok(&mut self) -> Outcome {
        self.reply.ok();
        DONE
    }

    /// Replies with a null.
    pub fn reply_null(&mut self) -> Outcome {
        self.reply.null();
        DONE
    }

    /// Waits for `kind` to appear at one of the command's keys; where waiting is not allowed it
    /// replies as when the time is over.
    pub fn wait(&mut self, timeout_ms: Option<u64>, kind: Kind) -> Outcome {
        if !self.may_wait {
            self.reply.null_array();
            return DONE;
        }
        let (minds_loss, again_ms, words) = (false, None, None);
        Ok(Flow::Wait(Wait { timeout_ms, kind, minds_loss, again_ms, words }))
    }
}

/// Writes a string's value as a bulk string.
#[inline]
pub(crate) fn reply_string(reply: &mut Reply<'_>, value: Option<ValueRef<'_>>) {
    match value {
        None => reply.null(),
        Some(ValueRef::Bytes(bytes)) => reply.bulk(bytes),
        Some(ValueRef::Integer(value)) => reply.bulk_integer(value),
        Some(ValueRef::Blob(blob)) => reply.bulk_blob(blob),
        Some(ValueRef::Object(_)) => unreachable!("the type was checked"),
    }
}

/// Writes a collection's element as a bulk string.
#[inline]
pub(crate) fn reply_item(reply: &mut Reply<'_>, item: Item<'_>) {
    match item {
        Item::Integer(value) => reply.bulk_integer(value),
        Item::Bytes(bytes) => reply.bulk(bytes),
    }
}

/// A small generator for sampling: SRANDMEMBER, SPOP, RANDOMKEY. Not for secrets. (xoshiro's
/// splitmix64.)
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence that belongs to `seed`.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Uniform over 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform below `bound` (which is not zero), but for a bias under 2^-64 times the bound.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the product's high half is below the bound"
    )]
    pub fn below(&mut self, bound: usize) -> usize {
        debug_assert!(bound > 0);
        ((u128::from(self.next_u64()) * bound as u128) >> 64) as usize
    }
}
