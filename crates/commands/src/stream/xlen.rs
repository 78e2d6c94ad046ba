//! XLEN.

use crate::{Args, Context, Group, Outcome, Spec};
use caudal_value::Stream;

pub(crate) const SPEC: Spec = Spec::new("XLEN", "Returns the number of entries of a stream.")
    .syntax("key")
    .group(Group::Stream)
    .since("5.0.0")
    .arity(2)
    .readonly()
    .fast()
    .key(1, crate::KeyFlags::RO);

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    let len = context.keys.stream(&key)?.map_or(0, Stream::len);
    context.reply_count(len)
}
