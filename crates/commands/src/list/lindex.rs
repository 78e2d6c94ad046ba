//! LINDEX.

use super::index_of;
use crate::context::reply_item;
use crate::{Args, Context, DONE, Group, KeyFlags, Outcome, Spec};

pub(crate) const SPEC: Spec = Spec::new("LINDEX", "Returns the element of a list at an index.")
    .syntax("key index:int")
    .group(Group::List)
    .arity(3)
    .readonly()
    .complexity("O(log N) with N the number of elements.")
    .key(1, KeyFlags::RO.and(KeyFlags::ACCESS));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    let Some(list) = context.keys.list(&key)? else { return context.reply_null() };
    let item = index_of(args.integer(2)?, list.len()).and_then(|index| list.get(index));
    match item {
        None => context.reply.null(),
        Some(item) => reply_item(&mut context.reply, item),
    }
    DONE
}
