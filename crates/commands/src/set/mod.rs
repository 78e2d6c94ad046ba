//! Commands on sets.
//!
//! SINTER, SUNION and SDIFF share what is here: [`sources`] looks at all keys before anything is
//! done, so that a key of another type is refused wherever it stands, and [`store`] is how their
//! STORE forms end.

mod cardinality;
mod sadd;
mod scard;
mod sdiff;
mod sdiffcard;
mod sinter;
mod sintercard;
mod sismember;
mod smembers;
mod smove;
mod spop;
mod srandmember;
mod srem;
mod sscan;
mod sunion;
mod sunioncard;

use crate::context::reply_item;
use crate::{Args, Command, Context, Error, Outcome};
use caudal_keyspace::{Event, Keys, SetExpiry};
use caudal_table::NewValue;
use caudal_value::{Object, Set};
use caudal_wire::Reply;
use smallvec::SmallVec;
use std::ops::Range;

/// The family, in the order of the reference.
pub(crate) const COMMANDS: &[Command] = &[
    Command::new(sadd::SPEC, sadd::apply),
    Command::new(scard::SPEC, scard::apply),
    Command::new(sdiff::SDIFF, sdiff::sdiff),
    Command::new(sdiffcard::SPEC, sdiffcard::apply),
    Command::new(sdiff::SDIFFSTORE, sdiff::sdiffstore),
    Command::new(sinter::SINTER, sinter::sinter),
    Command::new(sintercard::SPEC, sintercard::apply),
    Command::new(sinter::SINTERSTORE, sinter::sinterstore),
    Command::new(sismember::SISMEMBER, sismember::sismember),
    Command::new(smembers::SPEC, smembers::apply),
    Command::new(sismember::SMISMEMBER, sismember::smismember),
    Command::new(smove::SPEC, smove::apply),
    Command::new(spop::SPEC, spop::apply),
    Command::new(srandmember::SPEC, srandmember::apply),
    Command::new(srem::SPEC, srem::apply),
    Command::new(sscan::SPEC, sscan::apply),
    Command::new(sunion::SUNION, sunion::sunion),
    Command::new(sunioncard::SPEC, sunioncard::apply),
    Command::new(sunion::SUNIONSTORE, sunion::sunionstore),
];

/// The sets of several keys, in their order; none for a key that is not there.
type Sources<'k> = SmallVec<[Option<&'k Set>; 8]>;

/// The sets at the arguments `range`.
fn sources<'k>(
    keys: &'k Keys<'_, '_>,
    args: Args<'_>,
    range: Range<usize>,
) -> Result<Sources<'k>, Error> {
    range.map(|index| Ok(keys.set_of(&keys.key(args.at(index)))?)).collect()
}

/// The sets of the keys that are there.
fn there<'k>(sets: &[Option<&'k Set>]) -> Vec<&'k Set> {
    sets.iter().flatten().copied().collect()
}

/// Replies with all members.
fn reply_members(reply: &mut Reply<'_>, set: &Set) {
    reply.set(set.len());
    set.iter().for_each(|item| reply_item(reply, item));
}

/// Puts `result` at the key of argument 1, or removes that if there is nothing to put, and replies
/// with the size.
fn store(context: &mut Context<'_, '_>, args: Args<'_>, result: Set, event: Event) -> Outcome {
    let (key, len) = (context.key(args, 1), result.len());
    if len > 0 {
        context.keys.set(&key, NewValue::Object(Object::Set(result)), SetExpiry::Clear);
        context.keys.changed(&key, event);
    } else if context.keys.remove(&key) {
        context.keys.changed(&key, Event::DEL);
    }
    context.reply_count(len)
}
