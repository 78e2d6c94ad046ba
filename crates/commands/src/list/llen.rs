//! LLEN.

use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};
use caudal_value::List;

pub(crate) const SPEC: Spec = Spec::new("LLEN", "Returns the number of elements of a list.")
    .syntax("key")
    .group(Group::List)
    .arity(2)
    .readonly()
    .fast()
    .key(1, KeyFlags::RO);

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    let len = context.keys.list(&key)?.map_or(0, List::len);
    context.reply_count(len)
}
