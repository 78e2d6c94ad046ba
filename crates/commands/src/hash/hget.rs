//! HGET, HEXISTS, HSTRLEN: one field.

use crate::context::reply_item;
use crate::{Args, Context, DONE, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::WrongType;
use caudal_value::Item;

const fn spec(name: &'static str, summary: &'static str, flags: KeyFlags) -> Spec {
    Spec::new(name, summary)
        .group(Group::Hash)
        .since("2.0.0")
        .arity(3)
        .readonly()
        .fast()
        .key(1, flags)
}

pub(crate) const HEXISTS: Spec =
    spec("HEXISTS", "Tells whether a hash has a field.", KeyFlags::RO).syntax("key field");
pub(crate) const HGET: Spec =
    spec("HGET", "Returns the value of a field.", KeyFlags::RO.and(KeyFlags::ACCESS))
        .syntax("key field");
pub(crate) const HSTRLEN: Spec =
    spec("HSTRLEN", "Returns how many bytes the value of a field has.", KeyFlags::RO)
        .syntax("key field")
        .since("3.2.0");

pub(crate) fn hget(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    let hash = context.keys.hash(&key)?;
    match hash.and_then(|hash| hash.get(args.at(2))) {
        Some(value) => reply_item(&mut context.reply, value),
        None => context.reply.null(),
    }
    DONE
}

pub(crate) fn hexists(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let exists = value(context, args)?.is_some();
    context.reply_integer(i64::from(exists))
}

pub(crate) fn hstrlen(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let len = value(context, args)?.map_or(0, |value| value.len());
    context.reply_count(len)
}

fn value<'c>(context: &'c Context<'_, '_>, args: Args<'_>) -> Result<Option<Item<'c>>, WrongType> {
    let key = context.key(args, 1);
    Ok(context.keys.hash(&key)?.and_then(|hash| hash.get(args.at(2))))
}
