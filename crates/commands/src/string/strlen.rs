//! STRLEN.

use super::text::Text;
use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};

pub(crate) const SPEC: Spec = Spec::new("STRLEN", "Returns the length of the string at a key.")
    .syntax("key")
    .group(Group::String)
    .since("2.2.0")
    .arity(2)
    .readonly()
    .fast()
    .key(1, KeyFlags::RO);

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    let length = context.keys.string(&key)?.map_or(0, |value| Text::of(value).len());
    context.reply_count(length)
}
