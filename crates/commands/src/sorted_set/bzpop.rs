//! BZPOPMIN, BZPOPMAX, BZMPOP.

use super::pop::{End, ManyPop, pop};
use super::scored::Scored;
use crate::{Args, Context, DONE, Group, KeyFlags, Outcome, Spec};
use caudal_table::Kind;

const KEY: KeyFlags = KeyFlags::RW.and(KeyFlags::ACCESS).and(KeyFlags::DELETE);

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary)
        .group(Group::SortedSet)
        .since("5.0.0")
        .arity(-3)
        .write()
        .blocking()
        .fast()
        .complexity("O(log(N)) with N the number of members in the sorted set.")
        .key_range(1, -2, 1, KEY)
}

pub(crate) const BZMPOP: Spec =
    Spec::new("BZMPOP", "Takes members away from a sorted set, waiting until one has some.")
        .syntax("timeout:double numkeys:int key... where<MIN|MAX> [COUNT count:int]")
        .group(Group::SortedSet)
        .since("7.0.0")
        .arity(-5)
        .write()
        .blocking()
        .complexity("O(K) + O(M*log(N)) with K keys, N members in the set, M of them taken.")
        .key_count(2, KEY);
pub(crate) const BZPOPMAX: Spec =
    spec("BZPOPMAX", "Takes the member with the highest score away, waiting until there is one.")
        .syntax("key... timeout:double");
pub(crate) const BZPOPMIN: Spec =
    spec("BZPOPMIN", "Takes the member with the lowest score away, waiting until there is one.")
        .syntax("key... timeout:double");

pub(crate) fn bzpopmax(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    pop_or_wait(context, args, End::Max)
}

pub(crate) fn bzpopmin(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    pop_or_wait(context, args, End::Min)
}

fn pop_or_wait(context: &mut Context<'_, '_>, args: Args<'_>, end: End) -> Outcome {
    let last = args.len() - 1;
    let timeout = args.timeout(last)?;
    for index in 1..last {
        let key = context.key(args, index);
        let popped = pop(context, &key, (end, 1), Scored::Inside, |reply| {
            reply.array(3);
            reply.bulk(key.bytes);
        })?;
        if popped.is_some() {
            context.keys.effect(&[end.command(), key.bytes]);
            return DONE;
        }
    }
    context.wait(timeout, Kind::SortedSet)
}

pub(crate) fn bzmpop(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let pop = ManyPop::parse(args, 2)?;
    let timeout = args.timeout(1)?;
    if pop.apply(context, args)? {
        return DONE;
    }
    context.wait(timeout, Kind::SortedSet)
}
