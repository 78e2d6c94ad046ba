//! HMGET.

use crate::context::reply_item;
use crate::{Args, Context, DONE, Group, KeyFlags, Outcome, Spec};

pub(crate) const SPEC: Spec = Spec::new("HMGET", "Returns the values of several fields.")
    .syntax("key field...")
    .group(Group::Hash)
    .since("2.0.0")
    .arity(-3)
    .readonly()
    .fast()
    .complexity("O(N) with N the number of fields given.")
    .key(1, KeyFlags::RO.and(KeyFlags::ACCESS));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    let hash = context.keys.hash(&key)?;
    context.reply.array(args.len() - 2);
    for field in args.from(2) {
        match hash.and_then(|hash| hash.get(field)) {
            Some(value) => reply_item(&mut context.reply, value),
            None => context.reply.null(),
        }
    }
    DONE
}
