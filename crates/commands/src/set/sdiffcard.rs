//! SDIFFCARD.

use super::cardinality::Cardinality;
use super::{sources, there};
use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};

pub(crate) const SPEC: Spec = Spec::new(
    "SDIFFCARD",
    "Returns how many members of the first set no other set has, or that they are many.",
)
.syntax("numkeys:int key... [LIMIT limit:int]")
.group(Group::Set)
.since("8.10.0")
.arity(-3)
.readonly()
.complexity("O(N*M) with N the members of the first set and M the number of sets.")
.key_count(1, KeyFlags::RO.and(KeyFlags::ACCESS));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let Cardinality { keys, limit, .. } = Cardinality::parse(args, false)?;
    let count = match sources(&context.keys, args, keys)?.split_first() {
        Some((Some(first), others)) => {
            let others = there(others);
            let is_left = |member: &[u8]| !others.iter().any(|set| set.contains(member));
            first.iter().filter(|item| item.with(is_left)).take(limit).count()
        }
        _ => 0,
    };
    context.reply_count(count)
}
