//! GETDEL.

use crate::context::reply_string;
use crate::{Args, Context, DONE, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;

pub(crate) const SPEC: Spec =
    Spec::new("GETDEL", "Returns the string at a key and removes the key.")
        .syntax("key")
        .group(Group::String)
        .since("6.2.0")
        .arity(2)
        .write()
        .fast()
        .key(1, KeyFlags::RW.and(KeyFlags::ACCESS).and(KeyFlags::DELETE));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    reply_string(&mut context.reply, context.keys.string(&key)?);
    if context.keys.remove(&key) {
        context.keys.changed(&key, Event::DEL);
        context.keys.effect(&[b"DEL", key.bytes]);
    }
    DONE
}
