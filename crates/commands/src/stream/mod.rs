//! Commands on streams.
//!
//! A stream that has lost its last entry stays a stream. What groups do with entries changes the
//! value, but not for WATCH: [`touched`] counts it.

mod id;
mod reading;
mod trimming;
mod xadd;
mod xdel;
mod xlen;
mod xrange;
mod xread;
mod xtrim;

use crate::context::reply_item;
use crate::{Command, KeyFlags, Reads};
use caudal_value::{Entry, StreamId};
use caudal_wire::Reply;

/// The family, in the order of the reference.
pub(crate) const COMMANDS: &[Command] = &[
    Command::new(xadd::SPEC, xadd::apply),
    Command::new(xdel::SPEC, xdel::apply),
    Command::new(xlen::SPEC, xlen::apply),
    Command::new(xrange::XRANGE, xrange::xrange),
    Command::new(xread::SPEC, xread::apply)
        .reading(Reads { keys: reading::keys, exclusive: reading::may_wait }),
    Command::new(xrange::XREVRANGE, xrange::xrevrange),
    Command::new(xtrim::SPEC, xtrim::apply),
];

/// A key that is read.
const READ: KeyFlags = KeyFlags::RO.and(KeyFlags::ACCESS);

/// Writes an entry: its id, and its fields with their values.
fn reply_entry(reply: &mut Reply<'_>, entry: &Entry<'_>) {
    reply.array(2);
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
