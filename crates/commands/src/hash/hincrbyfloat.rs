//! HINCRBYFLOAT.

use crate::{Args, Context, DONE, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;
use caudal_text::float::Extended;
use caudal_text::integer::Decimal;

pub(crate) const SPEC: Spec = Spec::new("HINCRBYFLOAT", "Adds to the number in a field.")
    .syntax("key field increment:double")
    .group(Group::Hash)
    .since("2.6.0")
    .arity(4)
    .write()
    .deny_oom()
    .fast()
    .key(1, KeyFlags::RW.and(KeyFlags::ACCESS).and(KeyFlags::UPDATE));

const NOT_FLOAT: Error = Error::text("ERR hash value is not a float");
const INFINITE_DELTA: Error = Error::text("ERR value is NaN or Infinity");
const INFINITE_TOTAL: Error = Error::text("ERR increment would produce NaN or Infinity");

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let (field, delta) = (args.at(2), Extended::parse(args.at(3)).ok_or(Error::NOT_FLOAT)?);
    if !delta.is_finite() {
        return Err(INFINITE_DELTA);
    }
    let key = context.key(args, 1);
    let (total, moment) = context.keys.change_hash(&key, |hash| {
        let (mut total, mut moment) = (delta, None);
        if let Some((value, until)) = hash.get_timed(field) {
            total = value.with(Extended::parse).ok_or(NOT_FLOAT)?.add(delta);
            moment = until;
        }
        if !total.is_finite() {
            return Err(INFINITE_TOTAL);
        }
        let mut text = Vec::new();
        total.format(&mut text);
        hash.insert_until(field, &text, moment);
        Ok((text, moment))
    })??;
    context.keys.changed(&key, Event::hash("hincrbyfloat"));
    if context.keys.effects.wanted() {
        // Another machine's sum could differ in its last digit.
        match moment.map(Decimal::unsigned) {
            None => context.keys.effect(&[b"HSET", key.bytes, field, &total]),
            Some(until) => {
                let words = [b"HSETEX", key.bytes, b"PXAT", &until, b"FIELDS", b"1", field, &total];
                context.keys.effect(&words);
            }
        }
    }
    context.reply.bulk(&total);
    DONE
}
