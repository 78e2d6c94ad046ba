//! ZCOUNT, ZLEXCOUNT.

use super::bounds::{Bounds, By};
use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary)
        .group(Group::SortedSet)
        .arity(4)
        .readonly()
        .fast()
        .complexity("O(log(N)) with N the number of members in the sorted set.")
        .key(1, KeyFlags::RO.and(KeyFlags::ACCESS))
}

pub(crate) const ZCOUNT: Spec = spec("ZCOUNT", "Counts the members with scores in a range.")
    .syntax("key min:double max:double")
    .since("2.0.0");
pub(crate) const ZLEXCOUNT: Spec =
    spec("ZLEXCOUNT", "Counts the members between two, where all have one score.")
        .syntax("key min max")
        .since("2.8.9");

pub(crate) fn zcount(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    count(context, args, By::Score)
}

pub(crate) fn zlexcount(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    count(context, args, By::Lex)
}

fn count(context: &mut Context<'_, '_>, args: Args<'_>, by: By) -> Outcome {
    let bounds = Bounds::parse(args, by, 2, 3)?;
    let key = context.key(args, 1);
    let set = context.keys.sorted_set(&key)?;
    let count = set.map_or(0, |set| bounds.ranks(set, false).len());
    context.reply_count(count)
}
