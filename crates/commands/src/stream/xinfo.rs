//! XINFO: what a stream holds, its groups and their consumers. HELP is the session's.

use super::xgroup::no_such_group;
use super::{READ, reply_entry, reply_id};
use crate::{Args, Context, DONE, Error, Outcome, Spec};
use caudal_value::{Consumer, ConsumerId, Entry, Group, Pending, Stream, StreamId};
use caudal_wire::Reply;

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary)
        .of("XINFO")
        .group(crate::Group::Stream)
        .since("5.0.0")
        .readonly()
        .key(2, READ)
}

pub(crate) const CONSUMERS: Spec = spec("CONSUMERS", "Lists the consumers of a group.")
    .syntax("key group")
    .arity(4)
    .tips(&["nondeterministic_output"]);
pub(crate) const GROUPS: Spec =
    spec("GROUPS", "Lists the consumer groups of a stream.").syntax("key").arity(3);
pub(crate) const STREAM: Spec =
    spec("STREAM", "Tells what a stream holds; FULL tells all, with the groups.")
        .syntax("key [full-block(FULL [COUNT count:int])]")
        .arity(-3);

/// Entries of each kind that FULL shows if COUNT says nothing.
const FULL_COUNT: usize = 10;

pub(crate) fn stream(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 2);
    let Context { keys, reply, .. } = context;
    let stream = keys.stream(&key)?.ok_or(Error::NO_SUCH_KEY)?;
    let full = match args.len() {
        3 => None,
        4 if args.is(3, "FULL") => Some(FULL_COUNT),
        6 if args.is(3, "FULL") && args.is(4, "COUNT") => {
            let count = args.integer(5)?;
            let count = usize::try_from(count).unwrap_or(FULL_COUNT);
            Some(if count == 0 { usize::MAX } else { count })
        }
        _ => {
            let text = "ERR unknown subcommand or wrong number of arguments for '";
            return Err(Error::quoting(text, args.at(1), "'. Try XINFO HELP."));
        }
    };
    reply.map(if full.is_some() { 9 } else { 10 });
    describe(reply, stream);
    match full {
        None => ends(reply, stream),
        Some(count) => contents(reply, stream, count),
    }
    DONE
}

/// What both forms tell.
fn describe(reply: &mut Reply<'_>, stream: &Stream) {
    count_field(reply, "length", stream.len());
    count_field(reply, "radix-tree-keys", stream.blocks());
    // A tree of one more than that, as Valkey counts those of a small one.
    count_field(reply, "radix-tree-nodes", stream.blocks() + 1);
    id_field(reply, "last-generated-id", stream.last_id());
    id_field(reply, "max-deleted-entry-id", stream.max_deleted_id());
    reply.bulk(b"entries-added");
    reply.integer(stream.entries_added().cast_signed());
    id_field(reply, "recorded-first-entry-id", stream.first_id());
}

fn ends(reply: &mut Reply<'_>, stream: &Stream) {
    count_field(reply, "groups", stream.groups().len());
    for (name, entry) in [("first-entry", stream.first()), ("last-entry", stream.last())] {
        reply.bulk(name.as_bytes());
        match entry {
            Some(entry) => reply_entry(reply, &entry),
            None => reply.null(),
        }
    }
}

fn contents(reply: &mut Reply<'_>, stream: &Stream, count: usize) {
    reply.bulk(b"entries");
    let entries: Vec<Entry<'_>> = stream.range(StreamId::MIN, StreamId::MAX).take(count).collect();
    reply.array(entries.len());
    entries.iter().for_each(|entry| reply_entry(reply, entry));
    reply.bulk(b"groups");
    reply.array(stream.groups().len());
    for (name, group) in stream.groups() {
        // Valkey has no such field; whoever gives back can tell.
        let unowned = group.unowned();
        reply.map(7 + usize::from(unowned > 0));
        reply.bulk(b"name");
        reply.bulk(name);
        progress(reply, stream, group);
        count_field(reply, "pel-count", group.len());
        if unowned > 0 {
            count_field(reply, "nacked-count", unowned);
        }
        reply.bulk(b"pending");
        let pending = group.pending_from(StreamId::MIN).take(count);
        let mark = reply.deferred_array();
        let len = pending.map(|it| delivery(reply, Some(group), it)).count();
        reply.close_array(mark, len);
        reply.bulk(b"consumers");
        reply.array(group.consumers().len());
        for consumer in group.consumers() {
            full_consumer(reply, group, consumer, count);
        }
    }
}

/// An entry that is pending, with its consumer where that is not plain.
fn delivery(reply: &mut Reply<'_>, of: Option<&Group>, (id, pending): (StreamId, &Pending)) {
    reply.array(if of.is_some() { 4 } else { 3 });
    reply_id(reply, id);
    if let Some(group) = of {
        let name = |at: ConsumerId| group.consumer(at).name();
        reply.bulk(pending.consumer.map(name).unwrap_or_default());
    }
    reply.integer(pending.delivered_ms().cast_signed());
    reply.integer(i64::try_from(pending.deliveries).unwrap_or(i64::MAX));
}

fn full_consumer(reply: &mut Reply<'_>, group: &Group, consumer: &Consumer, count: usize) {
    reply.map(5);
    reply.bulk(b"name");
    reply.bulk(consumer.name());
    reply.bulk(b"seen-time");
    reply.integer(consumer.seen_ms.cast_signed());
    reply.bulk(b"active-time");
    reply.integer(consumer.active_ms.map_or(-1, u64::cast_signed));
    count_field(reply, "pel-count", consumer.len());
    reply.bulk(b"pending");
    let id = group.find_consumer(consumer.name()).expect("it is the group's");
    let mark = reply.deferred_array();
    let pending = group.pending_with(id, StreamId::MIN).take(count);
    let len = pending.map(|it| delivery(reply, None, it)).count();
    reply.close_array(mark, len);
}

pub(crate) fn groups(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 2);
    let Context { keys, reply, .. } = context;
    let stream = keys.stream(&key)?.ok_or(Error::NO_SUCH_KEY)?;
    reply.array(stream.groups().len());
    for (name, group) in stream.groups() {
        reply.map(6);
        reply.bulk(b"name");
        reply.bulk(name);
        count_field(reply, "consumers", group.consumers().len());
        count_field(reply, "pending", group.len());
        progress(reply, stream, group);
    }
    DONE
}

/// How far a group has read, and how many entries it has before it.
fn progress(reply: &mut Reply<'_>, stream: &Stream, group: &Group) {
    id_field(reply, "last-delivered-id", group.last_id);
    for (name, count) in [("entries-read", group.entries_read), ("lag", stream.lag(group))] {
        reply.bulk(name.as_bytes());
        match count {
            Some(count) => reply.integer(count.cast_signed()),
            None => reply.null(),
        }
    }
}

pub(crate) fn consumers(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 2);
    let Context { keys, reply, .. } = context;
    let stream = keys.stream(&key)?.ok_or(Error::NO_SUCH_KEY)?;
    let group = stream.group(args.at(3)).ok_or_else(|| no_such_group(key.bytes, args.at(3)))?;
    let since = |at: u64| keys.now.saturating_sub(at).cast_signed();
    reply.array(group.consumers().len());
    for consumer in group.consumers() {
        reply.map(4);
        reply.bulk(b"name");
        reply.bulk(consumer.name());
        count_field(reply, "pending", consumer.len());
        reply.bulk(b"idle");
        reply.integer(since(consumer.seen_ms));
        reply.bulk(b"inactive");
        reply.integer(consumer.active_ms.map_or(-1, since));
    }
    DONE
}

fn count_field(reply: &mut Reply<'_>, name: &str, count: usize) {
    reply.bulk(name.as_bytes());
    reply.integer(i64::try_from(count).expect("counts stay below 2^63"));
}

fn id_field(reply: &mut Reply<'_>, name: &str, id: StreamId) {
    reply.bulk(name.as_bytes());
    reply_id(reply, id);
}
