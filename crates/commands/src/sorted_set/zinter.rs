//! ZINTER, ZINTERSTORE, ZINTERCARD.

use super::combine::{self, Aggregate, Grammar, Input, Members, Options, Sources};
use crate::{Args, Context, DONE, Group, KeyFlags, Outcome, Spec};

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary)
        .group(Group::SortedSet)
        .arity(-3)
        .complexity("O(N*K)+O(M*log(M)) with K inputs, N members in the smallest, M in the result.")
}

pub(crate) const ZINTER: Spec =
    spec("ZINTER", "Returns the members that several sorted sets have in common.")
        .syntax(
            "numkeys:int key... [WEIGHTS weight:int...] \
             [AGGREGATE aggregate<SUM|MIN|MAX|COUNT@8.8.0>] [WITHSCORES]",
        )
        .since("6.2.0")
        .readonly()
        .key_count(1, KeyFlags::RO.and(KeyFlags::ACCESS));
pub(crate) const ZINTERCARD: Spec =
    spec("ZINTERCARD", "Counts the members that several sorted sets have in common.")
        .syntax("numkeys:int key... [LIMIT limit:int]")
        .since("7.0.0")
        .readonly()
        .complexity("O(N*K) with K inputs, N members in the smallest.")
        .key_count(1, KeyFlags::RO.and(KeyFlags::ACCESS));
pub(crate) const ZINTERSTORE: Spec =
    spec("ZINTERSTORE", "Stores the members that several sorted sets have in common.")
        .syntax(
            "destination:key numkeys:int key... [WEIGHTS weight:int...] \
             [AGGREGATE aggregate<SUM|MIN|MAX|COUNT@8.8.0>]",
        )
        .since("2.0.0")
        .arity(-4)
        .write()
        .deny_oom()
        .key(1, KeyFlags::OW.and(KeyFlags::UPDATE))
        .key_count(2, KeyFlags::RO.and(KeyFlags::ACCESS));

pub(crate) fn zinter(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let sources = Sources::parse(args, 1, "zinter")?;
    let mut inputs = sources.inputs(&context.keys, args)?;
    let options = Options::parse(args, sources, Grammar::WEIGHTED, &mut inputs)?;
    intersect(inputs, options.aggregate).reply(&mut context.reply, options.with_scores);
    DONE
}

pub(crate) fn zinterstore(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let sources = Sources::parse(args, 2, "zinterstore")?;
    let mut inputs = sources.inputs(&context.keys, args)?;
    let options = Options::parse(args, sources, Grammar::STORED, &mut inputs)?;
    let result = intersect(inputs, options.aggregate).collect(context.keys.limits);
    let target = context.key(args, 1);
    combine::store_aggregate(context, &target, result, options.aggregate, "zinterstore")
}

pub(crate) fn zintercard(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let grammar = Grammar { weighted: false, scores: false, limit: true };
    let sources = Sources::parse(args, 1, "zintercard")?;
    let mut inputs = sources.inputs(&context.keys, args)?;
    let options = Options::parse(args, sources, grammar, &mut inputs)?;
    let limit = if options.limit == 0 { usize::MAX } else { options.limit };
    combine::smallest_first(&mut inputs);
    let common = inputs.split_first().map_or(0, |(smallest, others)| {
        let in_all = |member: &[u8]| others.iter().all(|other| other.contains(member));
        smallest.members().filter(|(member, _)| member.with(in_all)).take(limit).count()
    });
    context.reply_count(common)
}

fn intersect(mut inputs: Vec<Input<'_>>, aggregate: Aggregate) -> Members<'_> {
    combine::smallest_first(&mut inputs);
    let Some((smallest, others)) = inputs.split_first() else { return Members::default() };
    let common = smallest.members().filter_map(|(member, score)| {
        let total = member.with(|bytes| {
            let mut scores = others.iter().map(|other| other.score(bytes));
            scores.try_fold(score, |total, score| Some(aggregate.of(total, score?)))
        });
        Some((member, total?))
    });
    Members(common.collect())
}
