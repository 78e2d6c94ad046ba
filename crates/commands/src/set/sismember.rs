//! SISMEMBER and SMISMEMBER.

use crate::{Args, Context, DONE, Group, KeyFlags, Outcome, Spec};

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary).group(Group::Set).readonly().fast()
}

pub(crate) const SISMEMBER: Spec = spec("SISMEMBER", "Says whether a set has a member.")
    .syntax("key member")
    .arity(3)
    .key(1, KeyFlags::RO);
pub(crate) const SMISMEMBER: Spec = spec("SMISMEMBER", "Says of each member whether a set has it.")
    .syntax("key member...")
    .since("6.2.0")
    .arity(-3)
    .complexity("O(N) with N the number of members given.")
    .key(1, KeyFlags::RO.and(KeyFlags::ACCESS));

pub(crate) fn sismember(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    let is_member = context.keys.set_of(&key)?.is_some_and(|set| set.contains(args.at(2)));
    context.reply_integer(i64::from(is_member))
}

pub(crate) fn smismember(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    let set = context.keys.set_of(&key)?;
    context.reply.array(args.len() - 2);
    for member in args.from(2) {
        let is_member = set.is_some_and(|set| set.contains(member));
        context.reply.integer(i64::from(is_member));
    }
    DONE
}
