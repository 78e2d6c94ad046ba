//! SDIFF and SDIFFSTORE.

use super::{Sources, reply_members, sources, store};
use crate::{Args, Context, DONE, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;
use caudal_value::{Limits, Set};

const COMPLEXITY: &str = "O(N) with N the number of members of all sets.";

pub(crate) const SDIFF: Spec =
    Spec::new("SDIFF", "Returns the members of the first set that no other set has.")
        .syntax("key...")
        .group(Group::Set)
        .arity(-2)
        .readonly()
        .tips(&["nondeterministic_output_order"])
        .complexity(COMPLEXITY)
        .key_range(1, -1, 1, KeyFlags::RO.and(KeyFlags::ACCESS));
pub(crate) const SDIFFSTORE: Spec =
    Spec::new("SDIFFSTORE", "Stores the members of the first set that no other set has.")
        .syntax("destination:key key...")
        .group(Group::Set)
        .arity(-3)
        .write()
        .deny_oom()
        .complexity(COMPLEXITY)
        .key(1, KeyFlags::OW.and(KeyFlags::UPDATE))
        .key_range(2, -1, 1, KeyFlags::RO.and(KeyFlags::ACCESS));

pub(crate) fn sdiff(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let sets = sources(&context.keys, args, 1..args.len())?;
    let result = difference(&sets, context.keys.limits);
    reply_members(&mut context.reply, &result);
    DONE
}

pub(crate) fn sdiffstore(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let limits = context.keys.limits;
    let result = difference(&sources(&context.keys, args, 2..args.len())?, limits);
    store(context, args, result, Event::set("sdiffstore"))
}

fn difference(sets: &Sources<'_>, limits: &Limits) -> Set {
    let mut result = Set::new();
    let Some((Some(first), others)) = sets.split_first() else { return result };
    let mut others: Vec<&Set> = others.iter().flatten().copied().collect();
    if others.iter().any(|set| std::ptr::eq(*set, *first)) {
        return result;
    }
    // What another set has is found out soonest in a large one.
    others.sort_by_key(|set| std::cmp::Reverse(set.len()));
    let members: usize = others.iter().map(|set| set.len()).sum();
    if members < first.len() && !others.is_empty() {
        // Fewer members to look for than to walk over.
        let mut left = Set::clone(first);
        for set in others {
            for item in set.iter() {
                item.with(|member| left.remove(member));
            }
        }
        return rebuilt(left, limits);
    }
    for item in first.iter() {
        item.with(|member| {
            if !others.iter().any(|set| set.contains(member)) {
                result.insert(member, limits);
            }
        });
    }
    result
}

/// A set never goes back to a smaller form, but a result begins anew.
fn rebuilt(set: Set, limits: &Limits) -> Set {
    if set.len() > limits.set_integers_max.max(limits.set_packed_entries_max) {
        return set;
    }
    let mut result = Set::new();
    for item in set.iter() {
        item.with(|member| result.insert(member, limits));
    }
    result
}
