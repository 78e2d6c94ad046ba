//! MGET.

use crate::context::reply_string;
use crate::{Args, Context, DONE, Group, KeyFlags, Outcome, Spec};

pub(crate) const SPEC: Spec = Spec::new("MGET", "Returns the strings at several keys.")
    .syntax("key...")
    .group(Group::String)
    .arity(-2)
    .readonly()
    .fast()
    .complexity("O(N) with N the number of keys.")
    .tips(&["request_policy:multi_shard"])
    .key_range(1, -1, 1, KeyFlags::RO.and(KeyFlags::ACCESS));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    context.reply.array(args.len() - 1);
    for index in 1..args.len() {
        let key = context.key(args, index);
        // A key of another type reads as none.
        reply_string(&mut context.reply, context.keys.string(&key).unwrap_or(None));
    }
    DONE
}
