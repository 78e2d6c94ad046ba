//! DELIFEQ: the release of a lock by its owner.

use super::text::Text;
use crate::{Args, Context, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;
use caudal_table::ValueRef;

pub(crate) const SPEC: Spec =
    Spec::new("DELIFEQ", "Removes a key if it holds exactly this string.")
        .syntax("key value")
        .group(Group::String)
        .since("9.0.0")
        .arity(3)
        .write()
        .fast()
        .key(1, KeyFlags::RM.and(KeyFlags::DELETE));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    let value = context.keys.peek(&key).map(|record| record.value());
    if let Some(ValueRef::Object(_)) = value {
        return Err(Error::WRONG_TYPE);
    }
    if value.is_none_or(|value| *Text::of(value) != *args.at(2)) {
        return context.reply_integer(0);
    }
    context.keys.remove(&key);
    context.keys.changed(&key, Event::DEL);
    context.keys.effect(&[b"DEL", key.bytes]);
    context.reply_integer(1)
}
