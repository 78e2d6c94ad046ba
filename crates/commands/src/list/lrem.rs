//! LREM.

use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;

pub(crate) const SPEC: Spec = Spec::new("LREM", "Takes elements that equal a value out of a list.")
    .syntax("key count:int element")
    .group(Group::List)
    .arity(4)
    .write()
    .complexity("O(N) with N the number of elements.")
    .key(1, KeyFlags::RW.and(KeyFlags::DELETE));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let count = args.signed_count(2)?;
    let (key, limits) = (context.key(args, 1), context.keys.limits);
    let Some(list) = context.keys.list_mut(&key)? else { return context.reply_integer(0) };
    let removed = list.remove_matching(args.at(3), count, limits);
    if removed > 0 {
        context.keys.changed(&key, Event::list("lrem"));
        context.keys.drop_empty_list(&key);
    }
    context.reply_count(removed)
}
