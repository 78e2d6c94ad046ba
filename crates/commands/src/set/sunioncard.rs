//! SUNIONCARD.

use super::cardinality::Cardinality;
use super::{sources, there};
use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};
use caudal_value::Set;
use caudal_value::hll::Registers;

pub(crate) const SPEC: Spec =
    Spec::new("SUNIONCARD", "Returns how many members any of sets has, or that they are many.")
        .syntax("numkeys:int key... [APPROX] [LIMIT limit:int]")
        .group(Group::Set)
        .since("8.10.0")
        .arity(-3)
        .readonly()
        .complexity("O(N*M) with N the members of all sets and M their number, O(N) to estimate.")
        .key_count(1, KeyFlags::RO.and(KeyFlags::ACCESS));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let Cardinality { keys, limit, approximate } = Cardinality::parse(args, true)?;
    let mut sets = there(&sources(&context.keys, args, keys)?);
    // The first one's members need not be looked for anywhere.
    sets.sort_by_key(|set| std::cmp::Reverse(set.len()));
    let count = if approximate { estimate(&sets) } else { count(&sets, limit) };
    context.reply_count(count.min(limit))
}

/// Counts each member in the first set that has it.
fn count(sets: &[&Set], limit: usize) -> usize {
    let mut total = 0;
    for (index, set) in sets.iter().enumerate() {
        if index == 0 {
            total = set.len();
            continue;
        }
        for item in set.iter() {
            if total >= limit {
                return total;
            }
            let before = &sets[..index];
            total += usize::from(!item.with(|member| before.iter().any(|it| it.contains(member))));
        }
    }
    total
}

fn estimate(sets: &[&Set]) -> usize {
    let mut registers = Registers::default();
    for item in sets.iter().flat_map(|set| set.iter()) {
        item.with(|member| registers.add(member));
    }
    usize::try_from(registers.count()).unwrap_or(usize::MAX)
}
