//! ZREM.

use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;

pub(crate) const SPEC: Spec = Spec::new("ZREM", "Takes members away from a sorted set.")
    .syntax("key member...")
    .group(Group::SortedSet)
    .since("1.2.0")
    .arity(-3)
    .write()
    .fast()
    .complexity("O(M*log(N)) with N members in the sorted set, M of them given.")
    .key(1, KeyFlags::RW.and(KeyFlags::DELETE));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    let Some(set) = context.keys.sorted_set_mut(&key)? else { return context.reply_count(0) };
    let removed = args.from(2).filter(|member| set.remove(member).is_some()).count();
    if removed > 0 {
        context.keys.changed(&key, Event::sorted_set("zrem"));
        context.keys.drop_empty_sorted_set(&key);
    }
    context.reply_count(removed)
}
