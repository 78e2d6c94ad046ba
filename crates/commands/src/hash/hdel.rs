//! HDEL.

use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::{Event, HashMut};

pub(crate) const SPEC: Spec = Spec::new("HDEL", "Takes fields away from a hash.")
    .syntax("key field...")
    .group(Group::Hash)
    .since("2.0.0")
    .arity(-3)
    .write()
    .fast()
    .complexity("O(N) with N the number of fields given.")
    .key(1, KeyFlags::RW.and(KeyFlags::DELETE));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    let remove = |hash: &mut HashMut<'_>| args.from(2).filter(|field| hash.remove(field)).count();
    let removed = context.keys.edit_hash(&key, remove)?.unwrap_or(0);
    if removed > 0 {
        context.keys.changed(&key, Event::hash("hdel"));
    }
    // None removed and none left: those that were named were past their moment.
    context.keys.drop_empty_hash(&key);
    context.reply_count(removed)
}
