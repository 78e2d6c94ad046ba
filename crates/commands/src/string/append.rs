//! APPEND.

use super::edit::{self, At};
use super::text::to_store;
use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::{Event, SetExpiry};

pub(crate) const SPEC: Spec = Spec::new("APPEND", "Adds bytes to the end of the string at a key.")
    .syntax("key value")
    .group(Group::String)
    .since("2.0.0")
    .arity(3)
    .write()
    .deny_oom()
    .fast()
    .complexity("O(1) a byte that is added, on average.")
    .key(1, KeyFlags::RW.and(KeyFlags::INSERT));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let (key, tail) = (context.key(args, 1), args.at(2));
    let length = match edit::write(context, &key, At::End, tail)? {
        Some(length) => length,
        None => {
            context.keys.set(&key, to_store(tail), SetExpiry::Clear);
            tail.len()
        }
    };
    context.keys.changed(&key, Event::string("append"));
    context.reply_count(length)
}
