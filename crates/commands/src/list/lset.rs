//! LSET.

use super::index_of;
use crate::{Args, Context, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;

pub(crate) const SPEC: Spec = Spec::new("LSET", "Replaces the element of a list at an index.")
    .syntax("key index:int element")
    .group(Group::List)
    .arity(4)
    .write()
    .deny_oom()
    .complexity("O(log N) with N the number of elements.")
    .key(1, KeyFlags::RW.and(KeyFlags::UPDATE));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let (key, limits) = (context.key(args, 1), context.keys.limits);
    let Some(list) = context.keys.list_mut(&key)? else { return Err(Error::NO_SUCH_KEY) };
    let index = index_of(args.integer(2)?, list.len()).ok_or(Error::INDEX_RANGE)?;
    list.set(index, args.at(3), limits);
    context.keys.changed(&key, Event::list("lset"));
    context.reply_ok()
}
