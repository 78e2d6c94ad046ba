//! SUNION and SUNIONSTORE.

use super::{Sources, reply_members, sources, store};
use crate::{Args, Context, DONE, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;
use caudal_value::{Limits, Set};

const COMPLEXITY: &str = "O(N) with N the number of members of all sets.";

pub(crate) const SUNION: Spec = Spec::new("SUNION", "Returns the members that any of sets has.")
    .syntax("key...")
    .group(Group::Set)
    .arity(-2)
    .readonly()
    .tips(&["nondeterministic_output_order"])
    .complexity(COMPLEXITY)
    .key_range(1, -1, 1, KeyFlags::RO.and(KeyFlags::ACCESS));
pub(crate) const SUNIONSTORE: Spec =
    Spec::new("SUNIONSTORE", "Stores the members that any of sets has.")
        .syntax("destination:key key...")
        .group(Group::Set)
        .arity(-3)
        .write()
        .deny_oom()
        .complexity(COMPLEXITY)
        .key(1, KeyFlags::OW.and(KeyFlags::UPDATE))
        .key_range(2, -1, 1, KeyFlags::RO.and(KeyFlags::ACCESS));

pub(crate) fn sunion(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let sets = sources(&context.keys, args, 1..args.len())?;
    let mut there = sets.iter().flatten();
    match (there.next(), there.next()) {
        (None, _) => context.reply.set(0),
        (Some(only), None) => reply_members(&mut context.reply, only),
        _ => {
            let union = union(&sets, context.keys.limits);
            reply_members(&mut context.reply, &union);
        }
    }
    DONE
}

pub(crate) fn sunionstore(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let limits = context.keys.limits;
    let result = union(&sources(&context.keys, args, 2..args.len())?, limits);
    store(context, args, result, Event::set("sunionstore"))
}

/// A set that is large whatever is added to it is taken over as an image; only the others' members
/// are inserted.
fn union(sets: &Sources<'_>, limits: &Limits) -> Set {
    let small_members_max = limits.set_integers_max.max(limits.set_packed_entries_max);
    let largest = sets.iter().flatten().max_by_key(|set| set.len());
    let image = largest.filter(|set| set.len() > small_members_max);
    let mut result = image.map_or_else(Set::new, |set| Set::clone(set));
    for set in sets.iter().flatten() {
        if image.is_some_and(|image| std::ptr::eq(*image, *set)) {
            continue;
        }
        for item in set.iter() {
            item.with(|member| result.insert(member, limits));
        }
    }
    result
}
