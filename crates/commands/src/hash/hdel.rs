//! HDEL.

use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;

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
    let Some(hash) = context.keys.hash_mut(&key)? else { return context.reply_count(0) };
    let removed = args.from(2).filter(|field| hash.remove(field)).count();
    if removed > 0 {
        context.keys.changed(&key, Event::hash("hdel"));
        context.keys.drop_empty_hash(&key);
    }
    context.reply_count(removed)
}
