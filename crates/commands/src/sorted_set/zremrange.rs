//! ZREMRANGEBYLEX, ZREMRANGEBYRANK, ZREMRANGEBYSCORE.

use super::bounds::{Bounds, By};
use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary)
        .group(Group::SortedSet)
        .arity(4)
        .write()
        .complexity("O(log(N)+M) with N members in the sorted set, M of them removed.")
        .key(1, KeyFlags::RW.and(KeyFlags::DELETE))
}

pub(crate) const ZREMRANGEBYLEX: Spec =
    spec("ZREMRANGEBYLEX", "Takes away the members between two, where all have one score.")
        .syntax("key min max")
        .since("2.8.9");
pub(crate) const ZREMRANGEBYRANK: Spec =
    spec("ZREMRANGEBYRANK", "Takes away the members between two ranks.")
        .syntax("key start:int stop:int")
        .since("2.0.0");
pub(crate) const ZREMRANGEBYSCORE: Spec =
    spec("ZREMRANGEBYSCORE", "Takes away the members with scores in a range.")
        .syntax("key min:double max:double")
        .since("1.2.0");

pub(crate) fn by_lex(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    remove(context, args, By::Lex, "zremrangebylex")
}

pub(crate) fn by_rank(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    remove(context, args, By::Rank, "zremrangebyrank")
}

pub(crate) fn by_score(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    remove(context, args, By::Score, "zremrangebyscore")
}

fn remove(context: &mut Context<'_, '_>, args: Args<'_>, by: By, event: &'static str) -> Outcome {
    let bounds = Bounds::parse(args, by, 2, 3)?;
    let key = context.key(args, 1);
    let Some(set) = context.keys.sorted_set_mut(&key)? else { return context.reply_count(0) };
    let removed = set.remove_ranks(bounds.ranks(set, false));
    if removed > 0 {
        context.keys.changed(&key, Event::sorted_set(event));
        context.keys.drop_empty_sorted_set(&key);
    }
    context.reply_count(removed)
}
