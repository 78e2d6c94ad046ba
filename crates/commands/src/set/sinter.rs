//! SINTER and SINTERSTORE.

use super::{Sources, sources, store};
use crate::context::reply_item;
use crate::{Args, Context, DONE, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;
use caudal_value::{Item, Set};
use std::ops::ControlFlow;

const COMPLEXITY: &str = "O(N*M) with N the members of the smallest set and M the number of sets.";

pub(crate) const SINTER: Spec = Spec::new("SINTER", "Returns the members that all sets have.")
    .syntax("key...")
    .group(Group::Set)
    .arity(-2)
    .readonly()
    .tips(&["nondeterministic_output_order"])
    .complexity(COMPLEXITY)
    .key_range(1, -1, 1, KeyFlags::RO.and(KeyFlags::ACCESS));
pub(crate) const SINTERSTORE: Spec =
    Spec::new("SINTERSTORE", "Stores the members that all sets have.")
        .syntax("destination:key key...")
        .group(Group::Set)
        .arity(-3)
        .write()
        .deny_oom()
        .complexity(COMPLEXITY)
        .key(1, KeyFlags::OW.and(KeyFlags::UPDATE))
        .key_range(2, -1, 1, KeyFlags::RO.and(KeyFlags::ACCESS));

/// Walks over the smallest set and calls `f` with what all the others have too, until it breaks
/// off.
pub(super) fn each_common(
    sets: Sources<'_>,
    mut f: impl FnMut(Item<'_>, &[u8]) -> ControlFlow<()>,
) {
    let Some(mut sets) = sets.into_iter().collect::<Option<Vec<&Set>>>() else { return };
    // What is not there is found out soonest in a small set.
    sets.sort_by_key(|set| set.len());
    let Some((smallest, others)) = sets.split_first() else { return };
    for item in smallest.iter() {
        let flow = item.with(|member| {
            let is_common = others.iter().all(|set| set.contains(member));
            if is_common { f(item, member) } else { ControlFlow::Continue(()) }
        });
        if flow.is_break() {
            return;
        }
    }
}

pub(crate) fn sinter(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let sets = sources(&context.keys, args, 1..args.len())?;
    let reply = &mut context.reply;
    let (mark, mut count) = (reply.deferred_array(), 0);
    each_common(sets, |item, _| {
        reply_item(reply, item);
        count += 1;
        ControlFlow::Continue(())
    });
    reply.close_set(mark, count);
    DONE
}

pub(crate) fn sinterstore(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let (mut result, limits) = (Set::new(), context.keys.limits);
    each_common(sources(&context.keys, args, 2..args.len())?, |_, member| {
        result.insert(member, limits);
        ControlFlow::Continue(())
    });
    store(context, args, result, Event::set("sinterstore"))
}
