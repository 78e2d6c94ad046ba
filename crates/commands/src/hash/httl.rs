//! HTTL, HPTTL, HEXPIRETIME, HPEXPIRETIME.

use super::fields;
use crate::generic::to_seconds;
use crate::{Args, Context, DONE, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Millis;

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary)
        .syntax("key FIELDS fields(numfields:int field...)")
        .group(Group::Hash)
        .since("9.0.0")
        .arity(-5)
        .readonly()
        .fast()
        .complexity("O(N) with N the number of fields given.")
        .key(1, KeyFlags::RO.and(KeyFlags::ACCESS))
}

pub(crate) const HEXPIRETIME: Spec =
    spec("HEXPIRETIME", "Returns when fields of a hash expire, in Unix seconds.");
pub(crate) const HPEXPIRETIME: Spec =
    spec("HPEXPIRETIME", "Returns when fields of a hash expire, in Unix milliseconds.");
pub(crate) const HPTTL: Spec =
    spec("HPTTL", "Returns the milliseconds until fields of a hash expire.");
pub(crate) const HTTL: Spec = spec("HTTL", "Returns the seconds until fields of a hash expire.");

pub(crate) fn httl(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let now = context.keys.now;
    reply(context, args, |moment| to_seconds(moment - now))
}

pub(crate) fn hpttl(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let now = context.keys.now;
    reply(context, args, |moment| moment - now)
}

pub(crate) fn hexpire_time(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    reply(context, args, to_seconds)
}

pub(crate) fn hpexpire_time(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    reply(context, args, |moment| moment)
}

/// Replies with what `tell` makes of each field's moment, which is not before the turn's time.
fn reply(context: &mut Context<'_, '_>, args: Args<'_>, tell: impl Fn(Millis) -> u64) -> Outcome {
    if !args.is(2, "FIELDS") {
        return Err(Error::SYNTAX);
    }
    let first = fields::first(args, 2, 1, Error::SYNTAX)?;
    let key = context.key(args, 1);
    let hash = context.keys.hash(&key)?;
    context.reply.array(args.len() - first);
    for field in args.from(first) {
        context.reply.integer(match hash.and_then(|hash| hash.get_timed(field)) {
            None => fields::NO_FIELD,
            Some((_, None)) => fields::NO_EXPIRY,
            Some((_, Some(moment))) => i64::try_from(tell(moment)).expect("moments fit 63 bits"),
        });
    }
    DONE
}
