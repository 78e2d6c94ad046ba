//! GETSET.

use super::text::to_store;
use crate::context::reply_string;
use crate::{Args, Context, DONE, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::{Event, SetExpiry};

pub(crate) const SPEC: Spec =
    Spec::new("GETSET", "Stores a string at a key and returns the one that was there.")
        .syntax("key value")
        .group(Group::String)
        .arity(3)
        .write()
        .deny_oom()
        .fast()
        .key(1, KeyFlags::RW.and(KeyFlags::ACCESS).and(KeyFlags::UPDATE));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let (key, value) = (context.key(args, 1), args.at(2));
    reply_string(&mut context.reply, context.keys.string(&key)?);
    context.keys.set(&key, to_store(value), SetExpiry::Clear);
    context.keys.changed(&key, Event::string("set"));
    context.keys.effect(&[b"SET", key.bytes, value]);
    DONE
}
