//! ZDIFF, ZDIFFSTORE.

use super::combine::{self, Grammar, Input, Members, Options, Sources};
use crate::{Args, Context, DONE, Group, KeyFlags, Outcome, Spec};

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary)
        .group(Group::SortedSet)
        .since("6.2.0")
        .complexity("O(N*K)+O(M*log(M)) with K inputs, N members in the first, M in the result.")
}

pub(crate) const ZDIFF: Spec =
    spec("ZDIFF", "Returns the members of a sorted set that others do not have.")
        .syntax("numkeys:int key... [WITHSCORES]")
        .arity(-3)
        .readonly()
        .key_count(1, KeyFlags::RO.and(KeyFlags::ACCESS));
pub(crate) const ZDIFFSTORE: Spec =
    spec("ZDIFFSTORE", "Stores the members of a sorted set that others do not have.")
        .syntax("destination:key numkeys:int key...")
        .arity(-4)
        .write()
        .deny_oom()
        .key(1, KeyFlags::OW.and(KeyFlags::UPDATE))
        .key_count(2, KeyFlags::RO.and(KeyFlags::ACCESS));

pub(crate) fn zdiff(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let grammar = Grammar { weighted: false, scores: true, limit: false };
    let sources = Sources::parse(args, 1, "zdiff")?;
    let mut inputs = sources.inputs(&context.keys, args)?;
    let options = Options::parse(args, sources, grammar, &mut inputs)?;
    subtract(&inputs).reply(&mut context.reply, options.with_scores);
    DONE
}

pub(crate) fn zdiffstore(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let grammar = Grammar { weighted: false, scores: false, limit: false };
    let sources = Sources::parse(args, 2, "zdiffstore")?;
    let mut inputs = sources.inputs(&context.keys, args)?;
    Options::parse(args, sources, grammar, &mut inputs)?;
    let result = subtract(&inputs).collect(context.keys.limits);
    let target = context.key(args, 1);
    combine::store(context, &target, result, "zdiffstore")
}

fn subtract<'c>(inputs: &[Input<'c>]) -> Members<'c> {
    let Some((first, others)) = inputs.split_first() else { return Members::default() };
    let in_none = |bytes: &[u8]| !others.iter().any(|other| other.contains(bytes));
    Members(first.members().filter(|(member, _)| member.with(in_none)).collect())
}
