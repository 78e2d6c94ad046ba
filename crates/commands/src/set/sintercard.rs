//! SINTERCARD.

use super::cardinality::Cardinality;
use super::{sinter::each_common, sources};
use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};
use std::ops::ControlFlow;

pub(crate) const SPEC: Spec =
    Spec::new("SINTERCARD", "Returns how many members all sets have, or that they are many.")
        .syntax("numkeys:int key... [LIMIT limit:int]")
        .group(Group::Set)
        .since("7.0.0")
        .arity(-3)
        .readonly()
        .complexity("O(N*M) with N the members of the smallest set and M the number of sets.")
        .key_count(1, KeyFlags::RO.and(KeyFlags::ACCESS));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let Cardinality { keys, limit, .. } = Cardinality::parse(args, false)?;
    let mut count = 0;
    each_common(sources(&context.keys, args, keys)?, |_, _| {
        count += 1;
        if count < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    context.reply_count(count)
}
