//! SETNX.

use super::text::to_store;
use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::{Event, SetExpiry};

pub(crate) const SPEC: Spec = Spec::new("SETNX", "Stores a string at a key that does not exist.")
    .syntax("key value")
    .group(Group::String)
    .arity(3)
    .write()
    .deny_oom()
    .fast()
    .key(1, KeyFlags::OW.and(KeyFlags::INSERT));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    if context.keys.peek(&key).is_some() {
        return context.reply_integer(0);
    }
    context.keys.set(&key, to_store(args.at(2)), SetExpiry::Clear);
    context.keys.changed(&key, Event::string("set"));
    context.reply_integer(1)
}
