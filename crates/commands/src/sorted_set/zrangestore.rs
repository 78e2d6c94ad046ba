//! ZRANGESTORE.

use super::combine::store;
use super::zrange::{Grammar, ZRange};
use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};
use caudal_value::SortedSet;

pub(crate) const SPEC: Spec =
    Spec::new("ZRANGESTORE", "Stores a range of a sorted set at another key.")
        .syntax(
            "dst:key src:key min max [sortby<BYSCORE|BYLEX>] [REV] \
             [LIMIT limit(offset:int count:int)]",
        )
        .group(Group::SortedSet)
        .since("6.2.0")
        .arity(-5)
        .write()
        .deny_oom()
        .complexity("O(log(N)+M) with N members in the source, M of them stored.")
        .key(1, KeyFlags::OW.and(KeyFlags::UPDATE))
        .key(2, KeyFlags::RO.and(KeyFlags::ACCESS));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let grammar = Grammar { by: None, reverse: None, scores: false, first: 3 };
    let range = ZRange::parse(args, grammar)?;
    let (target, source) = (context.key(args, 1), context.key(args, 2));
    let mut result = SortedSet::new();
    if let Some(set) = context.keys.sorted_set(&source)? {
        let (stretch, limits) = (range.within(set), context.keys.limits);
        result.anticipate(stretch.len, limits);
        stretch.each(set, |member, score| {
            member.with(|member| result.insert(member, score, limits));
        });
    }
    store(context, &target, result, "zrangestore")
}
