//! ZPOPMIN, ZPOPMAX, ZMPOP.

use super::pop::{End, ManyPop, pop};
use super::scored::Scored;
use crate::{Args, Context, DONE, Error, Group, KeyFlags, Outcome, Spec};

const KEY: KeyFlags = KeyFlags::RW.and(KeyFlags::ACCESS).and(KeyFlags::DELETE);

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary)
        .group(Group::SortedSet)
        .since("5.0.0")
        .arity(-2)
        .write()
        .fast()
        .complexity("O(M*log(N)) with N members in the sorted set, M of them taken.")
        .key(1, KEY)
}

pub(crate) const ZPOPMAX: Spec =
    spec("ZPOPMAX", "Takes the members with the highest scores away and returns them.")
        .syntax("key [count:int]");
pub(crate) const ZPOPMIN: Spec =
    spec("ZPOPMIN", "Takes the members with the lowest scores away and returns them.")
        .syntax("key [count:int]");
pub(crate) const ZMPOP: Spec =
    Spec::new("ZMPOP", "Takes members away from the first sorted set that has some.")
        .syntax("numkeys:int key... where<MIN|MAX> [COUNT count:int]")
        .group(Group::SortedSet)
        .since("7.0.0")
        .arity(-4)
        .write()
        .complexity("O(K) + O(M*log(N)) with K keys, N members in the set, M of them taken.")
        .key_count(1, KEY);

pub(crate) fn zpopmax(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    pop_one_key(context, args, End::Max)
}

pub(crate) fn zpopmin(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    pop_one_key(context, args, End::Min)
}

fn pop_one_key(context: &mut Context<'_, '_>, args: Args<'_>, end: End) -> Outcome {
    let count = match args.len() {
        2 => None,
        3 => Some(usize::try_from(args.positive(2)?).map_err(|_| Error::NOT_POSITIVE)?),
        _ => return Err(Error::SYNTAX),
    };
    let key = context.key(args, 1);
    let popped = match count {
        None => pop(context, &key, (end, 1), Scored::Inside, |reply| reply.array(2))?,
        Some(count) => pop(context, &key, (end, count), Scored::WithScores, |_| ())?,
    };
    if popped.is_none() {
        context.reply.array(0);
    }
    DONE
}

pub(crate) fn zmpop(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    if !ManyPop::parse(args, 1)?.apply(context, args)? {
        context.reply.null_array();
    }
    DONE
}
