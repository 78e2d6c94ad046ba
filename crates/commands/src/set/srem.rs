//! SREM.

use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;

pub(crate) const SPEC: Spec = Spec::new("SREM", "Takes members out of a set.")
    .syntax("key member...")
    .group(Group::Set)
    .arity(-3)
    .write()
    .fast()
    .complexity("O(N) with N the number of members given.")
    .key(1, KeyFlags::RW.and(KeyFlags::DELETE));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    let Some(set) = context.keys.set_mut(&key)? else { return context.reply_integer(0) };
    let removed = args.from(2).filter(|member| set.remove(member)).count();
    if removed > 0 {
        context.keys.changed(&key, Event::set("srem"));
        context.keys.drop_empty_set(&key);
    }
    context.reply_count(removed)
}
