//! BLPOP and BRPOP: one element of the first list that has any, or that comes to have one.

use super::{End, popped};
use crate::context::reply_item;
use crate::{Args, Context, DONE, Group, KeyFlags, Outcome, Spec};
use caudal_table::Kind;

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary)
        .group(Group::List)
        .since("2.0.0")
        .arity(-3)
        .write()
        .blocking()
        .complexity("O(N) with N the number of keys.")
        .key_range(1, -2, 1, KeyFlags::RW.and(KeyFlags::ACCESS).and(KeyFlags::DELETE))
}

pub(crate) const BLPOP: Spec =
    spec("BLPOP", "Takes the leftmost element of the first list that has one, or waits for it.")
        .syntax("key... timeout:double");
pub(crate) const BRPOP: Spec =
    spec("BRPOP", "Takes the rightmost element of the first list that has one, or waits for it.")
        .syntax("key... timeout:double");

pub(crate) fn blpop(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    pop(context, args, End::Left)
}

pub(crate) fn brpop(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    pop(context, args, End::Right)
}

fn pop(context: &mut Context<'_, '_>, args: Args<'_>, end: End) -> Outcome {
    let last = args.len() - 1;
    let (timeout_ms, limits) = (args.timeout(last)?, context.keys.limits);
    for index in 1..last {
        let key = context.key(args, index);
        let Some(list) = context.keys.list_mut(&key)? else { continue };
        let item = end.item(list).expect("a list that is there has elements");
        context.reply.array(2);
        context.reply.bulk(key.bytes);
        reply_item(&mut context.reply, item);
        end.remove(list, 1, limits);
        let is_empty = list.is_empty();
        popped(context, &key, end, is_empty);
        context.keys.effect(&[end.pop_command().as_bytes(), key.bytes]);
        return DONE;
    }
    context.wait(timeout_ms, Kind::List)
}
