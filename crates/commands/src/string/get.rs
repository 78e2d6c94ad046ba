//! GET.

use crate::context::reply_string;
use crate::{Args, Context, DONE, Group, KeyFlags, Outcome, Spec};

pub(crate) const SPEC: Spec = Spec::new("GET", "Returns the string at a key.")
    .syntax("key")
    .group(Group::String)
    .arity(2)
    .readonly()
    .fast()
    .key(1, KeyFlags::RO.and(KeyFlags::ACCESS));

#[inline]
pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    reply_string(&mut context.reply, context.keys.string(&key)?);
    DONE
}
