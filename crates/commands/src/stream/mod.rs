//! Commands on streams.
//!
//! A stream that has lost its last entry stays a stream. What groups do with entries changes the
//! value, but not for WATCH.

mod claiming;
mod id;
mod named_ids;
mod reading;
mod trimming;
mod xack;
mod xackdel;
mod xadd;
mod xautoclaim;
mod xclaim;
mod xdel;
mod xdelex;
mod xgroup;
mod xinfo;
mod xlen;
mod xnack;
mod xpending;
mod xrange;
mod xread;
mod xreadgroup;
mod xsetid;
mod xtrim;

use crate::context::reply_item;
use crate::{Command, KeyFlags, Reads};
use caudal_value::{Entry, StreamId};
use caudal_wire::Reply;

/// The family, in the order of the reference.
pub(crate) const COMMANDS: &[Command] = &[
    Command::new(xack::SPEC, xack::apply),
    Command::new(xackdel::SPEC, xackdel::apply),
    Command::new(xadd::SPEC, xadd::apply),
    Command::new(xautoclaim::SPEC, xautoclaim::apply),
    Command::new(xclaim::SPEC, xclaim::apply),
    Command::new(xdel::SPEC, xdel::apply),
    Command::new(xdelex::SPEC, xdelex::apply),
    Command::new(xgroup::CREATE, xgroup::create),
    Command::new(xgroup::CREATECONSUMER, xgroup::create_consumer),
    Command::new(xgroup::DELCONSUMER, xgroup::delete_consumer),
    Command::new(xgroup::DESTROY, xgroup::destroy),
    Command::new(xgroup::SETID, xgroup::set_id),
    Command::new(xinfo::CONSUMERS, xinfo::consumers),
    Command::new(xinfo::GROUPS, xinfo::groups),
    Command::new(xinfo::STREAM, xinfo::stream),
    Command::new(xlen::SPEC, xlen::apply),
    Command::new(xnack::SPEC, xnack::apply),
    Command::new(xpending::SPEC, xpending::apply),
    Command::new(xrange::XRANGE, xrange::xrange),
    Command::new(xread::SPEC, xread::apply)
        .reading(Reads { keys: reading::keys, exclusive: reading::may_wait }),
    Command::new(xreadgroup::SPEC, xreadgroup::apply)
        .reading(Reads { keys: reading::keys, exclusive: |_| true }),
    Command::new(xrange::XREVRANGE, xrange::xrevrange),
    Command::new(xsetid::SPEC, xsetid::apply),
    Command::new(xtrim::SPEC, xtrim::apply),
];

/// A key that is read.
const READ: KeyFlags = KeyFlags::RO.and(KeyFlags::ACCESS);

/// Writes an entry: its id, and its fields with their values.
fn reply_entry(reply: &mut Reply<'_>, entry: &Entry<'_>) {
    reply.array(2);
    reply_parts(reply, entry);
}

/// Writes an entry's id and fields as parts of an array that is already open.
fn reply_parts(reply: &mut Reply<'_>, entry: &Entry<'_>) {
    reply_id(reply, entry.id);
    reply.array(2 * entry.len());
    for (field, value) in entry {
        reply_item(reply, field);
        reply_item(reply, value);
    }
}

/// Writes an id.
fn reply_id(reply: &mut Reply<'_>, id: StreamId) {
    reply.bulk(&id.text());
}
