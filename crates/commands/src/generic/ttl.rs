//! TTL, PTTL, EXPIRETIME, PEXPIRETIME.

use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Millis;

const fn spec(name: &'static str, summary: &'static str, since: &'static str) -> Spec {
    Spec::new(name, summary)
        .group(Group::Generic)
        .since(since)
        .arity(2)
        .readonly()
        .fast()
        .key(1, KeyFlags::RO.and(KeyFlags::ACCESS))
}

const CHANGES: &[&str] = &["nondeterministic_output"];

pub(crate) const TTL: Spec =
    spec("TTL", "Returns the seconds until a key expires.", "1.0.0").syntax("key").tips(CHANGES);
pub(crate) const PTTL: Spec =
    spec("PTTL", "Returns the milliseconds until a key expires.", "2.6.0")
        .syntax("key")
        .tips(CHANGES);
pub(crate) const EXPIRETIME: Spec =
    spec("EXPIRETIME", "Returns when a key expires, in Unix seconds.", "7.0.0").syntax("key");
pub(crate) const PEXPIRETIME: Spec =
    spec("PEXPIRETIME", "Returns when a key expires, in Unix milliseconds.", "7.0.0").syntax("key");

pub(crate) fn ttl(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let now = context.keys.now;
    reply(context, args, |expiry| to_seconds(expiry - now))
}

pub(crate) fn pttl(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let now = context.keys.now;
    reply(context, args, |expiry| expiry - now)
}

pub(crate) fn expire_time(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    reply(context, args, to_seconds)
}

pub(crate) fn pexpire_time(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    reply(context, args, |expiry| expiry)
}

/// To the nearest second.
pub(crate) fn to_seconds(ms: Millis) -> u64 {
    (ms + 500) / 1000
}

/// Replies with what `tell` makes of the expiry, which is not before the turn's time.
fn reply(
    context: &mut Context<'_, '_>,
    args: Args<'_>,
    tell: impl FnOnce(Millis) -> u64,
) -> Outcome {
    const NO_KEY: i64 = -2;
    const NO_EXPIRY: i64 = -1;
    let key = context.key(args, 1);
    let answer = match context.keys.observe(&key).map(|record| record.expiry()) {
        None => NO_KEY,
        Some(None) => NO_EXPIRY,
        Some(Some(expiry)) => i64::try_from(tell(expiry)).expect("expiries fit 63 bits"),
    };
    context.reply_integer(answer)
}
