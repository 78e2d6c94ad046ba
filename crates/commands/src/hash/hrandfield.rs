//! HRANDFIELD.

use crate::context::reply_item;
use crate::sample::Sample;
use crate::{Args, Context, DONE, Error, Group, KeyFlags, Outcome, Spec};
use caudal_wire::Protocol;

pub(crate) const SPEC: Spec = Spec::new("HRANDFIELD", "Returns random fields of a hash.")
    .syntax("key [options(count:int [WITHVALUES])]")
    .group(Group::Hash)
    .since("6.2.0")
    .arity(-2)
    .readonly()
    .complexity("O(N) with N the number of fields returned.")
    .tips(&["nondeterministic_output"])
    .key(1, KeyFlags::RO.and(KeyFlags::ACCESS));

/// The sample asked for, and whether values belong to it; none for a single field.
fn parse(args: Args<'_>) -> Result<Option<(Sample, bool)>, Error> {
    if args.len() == 2 {
        return Ok(None);
    }
    let sample = Sample::parse(args, 2)?;
    match args.len() {
        3 => Ok(Some((sample, false))),
        4 if args.is(3, "WITHVALUES") => Ok(Some((sample.in_pairs()?, true))),
        _ => Err(Error::SYNTAX),
    }
}

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let wanted = parse(args)?;
    let key = context.key(args, 1);
    let found = context.keys.hash(&key)?;
    let reply = &mut context.reply;
    // Those that are past their moment are soon taken away: until then all are looked at.
    let alive: Option<Vec<_>> =
        found.filter(|hash| hash.has_dead()).map(|hash| hash.iter().collect());
    let len = alive.as_ref().map(Vec::len).or(found.map(|hash| hash.len_with_dead()));
    let nth = |at: usize| match &alive {
        Some(alive) => alive.get(at).copied(),
        None => found.and_then(|hash| hash.whole().nth(at)),
    };
    let Some((sample, with_values)) = wanted else {
        let field = len.filter(|len| *len > 0).and_then(|len| nth(context.random.below(len)));
        match field {
            Some((field, _)) => reply_item(reply, field),
            None => reply.null(),
        }
        return DONE;
    };
    let (Some(hash), Some(len @ 1..)) = (found, len) else {
        reply.array(0);
        return DONE;
    };
    let count = sample.len(len, hash.whole().memory())?;
    let nested = with_values && reply.protocol() == Protocol::Resp3;
    reply.array(if with_values && !nested { 2 * count } else { count });
    sample.draw(context.random, len, hash.iter(), nth, |(field, value)| {
        if nested {
            reply.array(2);
        }
        reply_item(reply, field);
        if with_values {
            reply_item(reply, value);
        }
    });
    DONE
}
