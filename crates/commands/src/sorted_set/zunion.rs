//! ZUNION, ZUNIONSTORE.

use super::combine::{self, Aggregate, Grammar, Input, Members, Options, Sources};
use crate::{Args, Context, DONE, Group, KeyFlags, Outcome, Spec};
use caudal_value::Item;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary)
        .group(Group::SortedSet)
        .complexity("O(N)+O(M*log(M)) with N members in all inputs together, M in the result.")
}

pub(crate) const ZUNION: Spec =
    spec("ZUNION", "Returns the members that any of several sorted sets has.")
        .syntax(
            "numkeys:int key... [WEIGHTS weight:int...] \
             [AGGREGATE aggregate<SUM|MIN|MAX|COUNT@8.8.0>] [WITHSCORES]",
        )
        .since("6.2.0")
        .arity(-3)
        .readonly()
        .key_count(1, KeyFlags::RO.and(KeyFlags::ACCESS));
pub(crate) const ZUNIONSTORE: Spec =
    spec("ZUNIONSTORE", "Stores the members that any of several sorted sets has.")
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

pub(crate) fn zunion(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let sources = Sources::parse(args, 1, "zunion")?;
    let mut inputs = sources.inputs(&context.keys, args)?;
    let options = Options::parse(args, sources, Grammar::WEIGHTED, &mut inputs)?;
    unite(inputs, options.aggregate).reply(&mut context.reply, options.with_scores);
    DONE
}

pub(crate) fn zunionstore(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let sources = Sources::parse(args, 2, "zunionstore")?;
    let mut inputs = sources.inputs(&context.keys, args)?;
    let options = Options::parse(args, sources, Grammar::STORED, &mut inputs)?;
    let result = unite(inputs, options.aggregate).collect(context.keys.limits);
    let target = context.key(args, 1);
    combine::store_aggregate(context, &target, result, options.aggregate, "zunionstore")
}

/// A member as it is told from others: an integer by its value, however it is kept.
#[derive(PartialEq, Eq, Hash)]
enum Name<'c> {
    Integer(i64),
    Bytes(&'c [u8]),
}

fn unite(mut inputs: Vec<Input<'_>>, aggregate: Aggregate) -> Members<'_> {
    inputs.retain(|input| input.len() > 0);
    combine::smallest_first(&mut inputs);
    if let [only] = inputs[..] {
        return Members(only.members().collect());
    }
    let mut members = Vec::with_capacity(inputs.last().map_or(0, |largest| largest.len()));
    let mut known: HashMap<Name<'_>, usize> = HashMap::with_capacity(members.capacity());
    for (member, score) in inputs.into_iter().flat_map(Input::members) {
        let name = match (member, member.integer()) {
            (_, Some(integer)) => Name::Integer(integer),
            (Item::Bytes(bytes), None) => Name::Bytes(bytes),
            (Item::Integer(_), None) => unreachable!("an integer is one"),
        };
        match known.entry(name) {
            Entry::Vacant(vacant) => {
                vacant.insert(members.len());
                members.push((member, score));
            }
            Entry::Occupied(at) => {
                let (_, total) = &mut members[*at.get()];
                *total = aggregate.of(*total, score);
            }
        }
    }
    Members(members)
}
