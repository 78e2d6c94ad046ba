//! ZCARD.

use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};

pub(crate) const SPEC: Spec = Spec::new("ZCARD", "Returns how many members a sorted set has.")
    .syntax("key")
    .group(Group::SortedSet)
    .since("1.2.0")
    .arity(2)
    .readonly()
    .fast()
    .key(1, KeyFlags::RO);

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    let len = context.keys.sorted_set(&key)?.map_or(0, |set| set.len());
    context.reply_count(len)
}
