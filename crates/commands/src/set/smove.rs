//! SMOVE.

use crate::{Args, Context, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;
use caudal_table::Kind;

pub(crate) const SPEC: Spec = Spec::new("SMOVE", "Moves a member from one set to another.")
    .syntax("source:key destination:key member")
    .group(Group::Set)
    .arity(4)
    .write()
    .fast()
    .key(1, KeyFlags::RW.and(KeyFlags::ACCESS).and(KeyFlags::DELETE))
    .key(2, KeyFlags::RW.and(KeyFlags::INSERT));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let (source, target, member) = (context.key(args, 1), context.key(args, 2), args.at(3));
    let limits = context.keys.limits;
    if context.keys.set_mut(&source)?.is_none() {
        return context.reply_integer(0);
    }
    if context.keys.kind_mut(&target).is_some_and(|kind| kind != Kind::Set) {
        return Err(Error::WRONG_TYPE);
    }
    let set = context.keys.set_mut(&source)?.expect("it was there");
    if source.bytes == target.bytes {
        let is_member = set.contains(member);
        return context.reply_integer(i64::from(is_member));
    }
    if !set.remove(member) {
        return context.reply_integer(0);
    }
    context.keys.changed(&source, Event::set("srem"));
    context.keys.drop_empty_set(&source);
    if context.keys.set_or_new(&target)?.insert(member, limits) {
        context.keys.changed(&target, Event::set("sadd"));
    }
    context.reply_integer(1)
}
