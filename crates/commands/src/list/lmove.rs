//! LMOVE, RPOPLPUSH, and BLMOVE, BRPOPLPUSH, which wait for an element to move.
//!
//! The target's type is looked at only when there is an element: without one its type does not
//! matter.

use super::{End, popped};
use crate::{Args, Context, DONE, Error, Group, KeyFlags, Outcome, Spec};
use caudal_table::Kind;

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary)
        .group(Group::List)
        .write()
        .deny_oom()
        .key(1, KeyFlags::RW.and(KeyFlags::ACCESS).and(KeyFlags::DELETE))
        .key(2, KeyFlags::RW.and(KeyFlags::INSERT))
}

pub(crate) const LMOVE: Spec =
    spec("LMOVE", "Moves an element from one end of a list to an end of another.")
        .syntax("source:key destination:key wherefrom<LEFT|RIGHT> whereto<LEFT|RIGHT>")
        .since("6.2.0")
        .arity(5);
pub(crate) const RPOPLPUSH: Spec =
    spec("RPOPLPUSH", "Moves the rightmost element of a list to the left end of another.")
        .syntax("source:key destination:key")
        .since("1.2.0")
        .arity(3);
pub(crate) const BLMOVE: Spec =
    spec("BLMOVE", "LMOVE that waits until there is an element to move.")
        .syntax(
            "source:key destination:key wherefrom<LEFT|RIGHT> whereto<LEFT|RIGHT> timeout:double",
        )
        .since("6.2.0")
        .arity(6)
        .blocking();
pub(crate) const BRPOPLPUSH: Spec =
    spec("BRPOPLPUSH", "RPOPLPUSH that waits until there is an element to move.")
        .syntax("source:key destination:key timeout:double")
        .since("2.2.0")
        .arity(4)
        .blocking();

/// From which end of the source to which of the target.
#[derive(Clone, Copy)]
struct Ends {
    from: End,
    to: End,
}

impl Ends {
    const RIGHT_TO_LEFT: Ends = Ends { from: End::Right, to: End::Left };

    fn parse(args: Args<'_>) -> Result<Ends, Error> {
        Ok(Ends { from: End::parse(args, 3)?, to: End::parse(args, 4)? })
    }
}

pub(crate) fn lmove(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let ends = Ends::parse(args)?;
    if transfer(context, args, ends)? { DONE } else { context.reply_null() }
}

pub(crate) fn rpoplpush(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    if transfer(context, args, Ends::RIGHT_TO_LEFT)? { DONE } else { context.reply_null() }
}

pub(crate) fn blmove(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let ends = Ends::parse(args)?;
    let timeout_ms = args.timeout(5)?;
    if !transfer(context, args, ends)? {
        return wait(context, timeout_ms);
    }
    let [from, to] = [ends.from, ends.to].map(|end| end.word().as_bytes());
    context.keys.effect(&[b"LMOVE", args.at(1), args.at(2), from, to]);
    DONE
}

pub(crate) fn brpoplpush(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let timeout_ms = args.timeout(3)?;
    if !transfer(context, args, Ends::RIGHT_TO_LEFT)? {
        return wait(context, timeout_ms);
    }
    context.keys.effect(&[b"RPOPLPUSH", args.at(1), args.at(2)]);
    DONE
}

/// Where waiting is not allowed the reply is no string, after a timeout no array.
fn wait(context: &mut Context<'_, '_>, timeout_ms: Option<u64>) -> Outcome {
    if !context.may_wait {
        return context.reply_null();
    }
    context.wait(timeout_ms, Kind::List)
}

/// Moves an element and replies with it. False, and no reply: there is none.
fn transfer(context: &mut Context<'_, '_>, args: Args<'_>, ends: Ends) -> Result<bool, Error> {
    let (source, target) = (context.key(args, 1), context.key(args, 2));
    let limits = context.keys.limits;
    let Some(list) = context.keys.list_mut(&source)? else { return Ok(false) };
    let element = ends.from.item(list).expect("a list that is there has elements").to_bytes();
    if source.bytes == target.bytes {
        ends.from.remove(list, 1, limits);
        ends.to.push(list, &element, limits);
        context.keys.changed(&source, ends.to.pushed());
        context.keys.changed(&source, ends.from.popped());
    } else {
        ends.to.push(context.keys.list_or_new(&target)?, &element, limits);
        context.keys.changed(&target, ends.to.pushed());
        let list = context.keys.list_mut(&source)?.expect("it was there");
        ends.from.remove(list, 1, limits);
        let is_empty = list.is_empty();
        popped(context, &source, ends.from, is_empty);
    }
    context.reply.bulk(&element);
    Ok(true)
}
