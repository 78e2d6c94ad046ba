//! HSETNX.

use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;

pub(crate) const SPEC: Spec = Spec::new("HSETNX", "Sets a field that does not exist.")
    .syntax("key field value")
    .group(Group::Hash)
    .since("2.0.0")
    .arity(4)
    .write()
    .deny_oom()
    .fast()
    .key(1, KeyFlags::RW.and(KeyFlags::INSERT));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    let added = context.keys.change_hash(&key, |hash| {
        !hash.contains(args.at(2)) && hash.insert(args.at(2), args.at(3))
    })?;
    if added {
        context.keys.changed(&key, Event::hash("hset"));
    }
    context.reply_integer(i64::from(added))
}
