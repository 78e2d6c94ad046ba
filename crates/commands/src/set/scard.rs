//! SCARD.

use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};
use caudal_value::Set;

pub(crate) const SPEC: Spec = Spec::new("SCARD", "Returns the number of members of a set.")
    .syntax("key")
    .group(Group::Set)
    .arity(2)
    .readonly()
    .fast()
    .key(1, KeyFlags::RO);

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    let len = context.keys.set_of(&key)?.map_or(0, Set::len);
    context.reply_count(len)
}
