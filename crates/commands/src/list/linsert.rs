//! LINSERT.

use crate::{Args, Context, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;

pub(crate) const SPEC: Spec =
    Spec::new("LINSERT", "Puts an element before or behind another of a list.")
        .syntax("key where<BEFORE|AFTER> pivot element")
        .group(Group::List)
        .since("2.2.0")
        .arity(5)
        .write()
        .deny_oom()
        .complexity("O(N) with N the number of elements before the one that is looked for.")
        .key(1, KeyFlags::RW.and(KeyFlags::INSERT));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let is_before = args.is(2, "BEFORE");
    if !is_before && !args.is(2, "AFTER") {
        return Err(Error::SYNTAX);
    }
    let (key, limits) = (context.key(args, 1), context.keys.limits);
    let Some(list) = context.keys.list_mut(&key)? else { return context.reply_integer(0) };
    let Some(index) = list.position(args.at(3)) else { return context.reply_integer(-1) };
    if is_before {
        list.insert_before(index, args.at(4), limits);
    } else {
        list.insert_after(index, args.at(4), limits);
    }
    let len = list.len();
    context.keys.changed(&key, Event::list("linsert"));
    context.reply_count(len)
}
