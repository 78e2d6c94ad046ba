//! HLEN.

use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};

pub(crate) const SPEC: Spec = Spec::new("HLEN", "Returns how many fields a hash has.")
    .syntax("key")
    .group(Group::Hash)
    .since("2.0.0")
    .arity(2)
    .readonly()
    .fast()
    .key(1, KeyFlags::RO);

/// Fields that are past their moment count until they are taken away, as in Valkey.
pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    let len = context.keys.hash(&key)?.map_or(0, |hash| hash.len_with_dead());
    context.reply_count(len)
}
