//! ZRANDMEMBER.

use super::scored::Scored;
use crate::context::reply_item;
use crate::sample::Sample;
use crate::{Args, Context, DONE, Error, Group, KeyFlags, Outcome, Spec};

pub(crate) const SPEC: Spec = Spec::new("ZRANDMEMBER", "Returns random members of a sorted set.")
    .syntax("key [options(count:int [WITHSCORES])]")
    .group(Group::SortedSet)
    .since("6.2.0")
    .arity(-2)
    .readonly()
    .complexity("O(N) with N the number of members returned.")
    .tips(&["nondeterministic_output"])
    .key(1, KeyFlags::RO.and(KeyFlags::ACCESS));

/// The sample asked for, and how it is spelled; none for a single member.
fn parse(args: Args<'_>) -> Result<Option<(Sample, Scored)>, Error> {
    if args.len() == 2 {
        return Ok(None);
    }
    let sample = Sample::parse(args, 2)?;
    match args.len() {
        3 => Ok(Some((sample, Scored::Bare))),
        4 if args.is(3, "WITHSCORES") => Ok(Some((sample.in_pairs()?, Scored::WithScores))),
        _ => Err(Error::SYNTAX),
    }
}

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let wanted = parse(args)?;
    let key = context.key(args, 1);
    let found = context.keys.sorted_set(&key)?;
    let reply = &mut context.reply;
    let Some((sample, scored)) = wanted else {
        match found.and_then(|set| set.nth(context.random.below(set.len()))) {
            Some((member, _)) => reply_item(reply, member),
            None => reply.null(),
        }
        return DONE;
    };
    let Some(set) = found else {
        reply.array(0);
        return DONE;
    };
    let count = sample.len(set.len(), set.memory())?;
    scored.open(reply, count);
    sample.draw(
        context.random,
        set.len(),
        set.iter(),
        |at| set.nth(at),
        |(member, score)| {
            scored.member(reply, member, score);
        },
    );
    DONE
}
