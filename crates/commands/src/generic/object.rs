//! OBJECT: how a key's value is stored and used. Looking does not count as a use.

use crate::{Args, Context, DONE, Error, Flags, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::idle_seconds;
use caudal_table::{RecordRef, ValueRef};
use caudal_value::Object;

const fn spec(name: &'static str, summary: &'static str, since: &'static str) -> Spec {
    Spec::new(name, summary).of("OBJECT").group(Group::Generic).since(since)
}

const fn on_key(name: &'static str, summary: &'static str, since: &'static str) -> Spec {
    spec(name, summary, since)
        .arity(3)
        .readonly()
        .tips(&["nondeterministic_output"])
        .key(2, KeyFlags::RO)
}

pub(crate) const ENCODING: Spec =
    on_key("ENCODING", "Names the form in which a value is stored.", "2.2.3").syntax("key");
pub(crate) const FREQ: Spec =
    on_key("FREQ", "Returns how often a key is used, as LFU policies count.", "4.0.0")
        .syntax("key");
pub(crate) const IDLETIME: Spec =
    on_key("IDLETIME", "Returns the seconds since a key was last used.", "2.2.3").syntax("key");
pub(crate) const REFCOUNT: Spec =
    on_key("REFCOUNT", "Returns how many references a value has: one.", "2.2.3").syntax("key");
pub(crate) const HELP: Spec = spec("HELP", "Tells what OBJECT can do.", "6.2.0")
    .arity(2)
    .flag(Flags::LOADING)
    .flag(Flags::STALE);

pub(crate) fn encoding(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 2);
    match context.keys.peek(&key) {
        None => context.reply.null(),
        Some(record) => context.reply.bulk(encoding_of(record).as_bytes()),
    }
    DONE
}

pub(crate) fn freq(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    const NOT_LFU: Error = Error::text(
        "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note \
         that when switching between policies at runtime LRU and LFU data will take some time to \
         adjust.",
    );
    let key = context.key(args, 2);
    let clock = context.keys.peek(&key).map(|record| record.clock());
    match clock {
        None => context.reply_null(),
        Some(clock) => {
            let frequency = context.keys.usage.frequency.ok_or(NOT_LFU)?;
            context.reply_integer(i64::from(frequency.count(clock, context.keys.now)))
        }
    }
}

pub(crate) fn idle_time(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    const LFU: Error = Error::text(
        "ERR An LFU maxmemory policy is selected, idle time not tracked. Please note that when \
         switching between policies at runtime LRU and LFU data will take some time to adjust.",
    );
    let key = context.key(args, 2);
    let clock = context.keys.peek(&key).map(|record| record.clock());
    match clock {
        None => context.reply_null(),
        Some(_) if context.keys.usage.frequency.is_some() => Err(LFU),
        Some(clock) => context.reply_integer(i64::from(idle_seconds(clock, context.keys.now))),
    }
}

pub(crate) fn ref_count(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 2);
    match context.keys.peek(&key) {
        None => context.reply_null(),
        Some(_) => context.reply_integer(1),
    }
}

pub(crate) fn help(context: &mut Context<'_, '_>, _: Args<'_>) -> Outcome {
    const LINES: [&str; 11] = [
        "OBJECT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
        "ENCODING <key>",
        "    Name the form in which the value of <key> is stored.",
        "FREQ <key>",
        "    Tell how often <key> is used, on a logarithmic scale. Needs an LFU policy.",
        "IDLETIME <key>",
        "    Tell for how many seconds <key> has not been used. Needs a policy other than LFU.",
        "REFCOUNT <key>",
        "    Tell how many references the value of <key> has.",
        "HELP",
        "    Print this help.",
    ];
    context.reply.array(LINES.len());
    LINES.iter().for_each(|line| context.reply.status(line));
    DONE
}

/// Redis's name for the form of a value.
fn encoding_of(record: RecordRef<'_>) -> &'static str {
    match record.value() {
        ValueRef::Integer(_) => "int",
        ValueRef::Bytes(text) if !record.is_edited() && is_embedded(record.key(), text) => "embstr",
        ValueRef::Bytes(_) | ValueRef::Blob(_) => "raw",
        ValueRef::Object(Object::List(list)) => list.encoding(),
        ValueRef::Object(Object::Set(set)) => set.encoding(),
        ValueRef::Object(Object::Hash(hash)) => hash.encoding(),
        ValueRef::Object(Object::SortedSet(sorted_set)) => sorted_set.encoding(),
        ValueRef::Object(Object::Stream(stream)) => stream.encoding(),
    }
}

/// Whether Valkey 9 would keep key and value in one allocation of two cache lines, its `embstr`.
fn is_embedded(key: &[u8], text: &[u8]) -> bool {
    const LINES_BYTES: usize = 128;
    /// What stands there beside the bytes of key and value; a key from 32 bytes on has a longer
    /// header.
    const SHORT_KEY_OVERHEAD: usize = 15;
    const LONG_KEY_OVERHEAD: usize = 17;
    const SHORT_KEY_BYTES_MAX: usize = 31;
    let overhead =
        if key.len() > SHORT_KEY_BYTES_MAX { LONG_KEY_OVERHEAD } else { SHORT_KEY_OVERHEAD };
    key.len() + text.len() + overhead <= LINES_BYTES
}
