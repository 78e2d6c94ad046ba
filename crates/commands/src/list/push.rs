//! LPUSH, RPUSH, and LPUSHX, RPUSHX, which push only to a list that is there.

use super::End;
use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary)
        .group(Group::List)
        .arity(-3)
        .write()
        .deny_oom()
        .fast()
        .complexity("O(N) with N the number of elements pushed.")
        .key(1, KeyFlags::RW.and(KeyFlags::INSERT))
}

pub(crate) const LPUSH: Spec =
    spec("LPUSH", "Puts elements at the left end of a list.").syntax("key element...");
pub(crate) const RPUSH: Spec =
    spec("RPUSH", "Puts elements at the right end of a list.").syntax("key element...");
pub(crate) const LPUSHX: Spec =
    spec("LPUSHX", "Puts elements at the left end of a list that exists.")
        .syntax("key element...")
        .since("2.2.0");
pub(crate) const RPUSHX: Spec =
    spec("RPUSHX", "Puts elements at the right end of a list that exists.")
        .syntax("key element...")
        .since("2.2.0");

pub(crate) fn lpush(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    push(context, args, End::Left)
}

pub(crate) fn rpush(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    push(context, args, End::Right)
}

pub(crate) fn lpushx(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    push_if_exists(context, args, End::Left)
}

pub(crate) fn rpushx(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    push_if_exists(context, args, End::Right)
}

#[inline]
fn push(context: &mut Context<'_, '_>, args: Args<'_>, end: End) -> Outcome {
    let (key, limits) = (context.key(args, 1), context.keys.limits);
    let list = context.keys.list_or_new(&key)?;
    args.from(2).for_each(|element| end.push(list, element, limits));
    let len = list.len();
    context.keys.changed(&key, end.pushed());
    context.reply_count(len)
}

fn push_if_exists(context: &mut Context<'_, '_>, args: Args<'_>, end: End) -> Outcome {
    let key = context.key(args, 1);
    match context.keys.list_mut(&key)? {
        None => context.reply_integer(0),
        Some(_) => push(context, args, end),
    }
}
