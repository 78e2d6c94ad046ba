//! SMEMBERS.

use super::reply_members;
use crate::{Args, Context, DONE, Group, KeyFlags, Outcome, Spec};

pub(crate) const SPEC: Spec = Spec::new("SMEMBERS", "Returns all members of a set.")
    .syntax("key")
    .group(Group::Set)
    .arity(2)
    .readonly()
    .tips(&["nondeterministic_output_order"])
    .complexity("O(N) with N the number of members.")
    .key(1, KeyFlags::RO.and(KeyFlags::ACCESS));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    match context.keys.set_of(&key)? {
        None => context.reply.set(0),
        Some(set) => reply_members(&mut context.reply, set),
    }
    DONE
}
