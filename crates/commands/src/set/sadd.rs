//! SADD.

use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;

pub(crate) const SPEC: Spec = Spec::new("SADD", "Adds members to a set.")
    .syntax("key member...")
    .group(Group::Set)
    .arity(-3)
    .write()
    .deny_oom()
    .fast()
    .complexity("O(N) with N the number of members given.")
    .key(1, KeyFlags::RW.and(KeyFlags::INSERT));

#[inline]
pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let (key, limits) = (context.key(args, 1), context.keys.limits);
    let set = context.keys.set_or_new(&key)?;
    set.anticipate(args.at(2), args.len() - 2, limits);
    let added = args.from(2).filter(|member| set.insert(member, limits)).count();
    if added > 0 {
        context.keys.changed(&key, Event::set("sadd"));
    }
    context.reply_count(added)
}
