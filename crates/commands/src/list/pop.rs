//! LPOP and RPOP.

use super::{End, pop_array, popped};
use crate::context::reply_item;
use crate::{Args, Context, DONE, Error, Group, KeyFlags, Outcome, Spec};

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary)
        .group(Group::List)
        .arity(-2)
        .write()
        .fast()
        .complexity("O(N) with N the number of elements returned.")
        .key(1, KeyFlags::RW.and(KeyFlags::ACCESS).and(KeyFlags::DELETE))
}

pub(crate) const LPOP: Spec =
    spec("LPOP", "Takes elements from the left end of a list.").syntax("key [count:int@6.2.0]");
pub(crate) const RPOP: Spec =
    spec("RPOP", "Takes elements from the right end of a list.").syntax("key [count:int@6.2.0]");

pub(crate) fn lpop(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    pop(context, args, End::Left)
}

pub(crate) fn rpop(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    pop(context, args, End::Right)
}

#[inline]
fn pop(context: &mut Context<'_, '_>, args: Args<'_>, end: End) -> Outcome {
    if args.len() > 2 {
        return pop_counted(context, args, end);
    }
    let (key, limits) = (context.key(args, 1), context.keys.limits);
    let Some(list) = context.keys.list_mut(&key)? else { return context.reply_null() };
    let item = end.item(list).expect("a list that is there has elements");
    reply_item(&mut context.reply, item);
    end.remove(list, 1, limits);
    let is_empty = list.is_empty();
    popped(context, &key, end, is_empty);
    DONE
}

fn pop_counted(context: &mut Context<'_, '_>, args: Args<'_>, end: End) -> Outcome {
    if args.len() > 3 {
        return Err(Error::arity(if end == End::Left { "lpop" } else { "rpop" }));
    }
    let count = usize::try_from(args.positive(2)?).map_err(|_| Error::NOT_POSITIVE)?;
    let key = context.key(args, 1);
    if pop_array(context, &key, end, count)?.is_none() {
        context.reply.null_array();
    }
    DONE
}
