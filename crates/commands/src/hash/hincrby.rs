//! HINCRBY.

use crate::{Args, Context, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;
use caudal_text::integer::Decimal;

pub(crate) const SPEC: Spec = Spec::new("HINCRBY", "Adds to the integer in a field.")
    .syntax("key field increment:int")
    .group(Group::Hash)
    .since("2.0.0")
    .arity(4)
    .write()
    .deny_oom()
    .fast()
    .key(1, KeyFlags::RW.and(KeyFlags::ACCESS).and(KeyFlags::UPDATE));

const NOT_INTEGER: Error = Error::text("ERR hash value is not an integer");
const OVERFLOW: Error = Error::text("ERR increment or decrement would overflow");

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let (field, delta) = (args.at(2), args.integer(3)?);
    let key = context.key(args, 1);
    let total = context.keys.change_hash(&key, |hash| {
        let (value, moment) = match hash.get_timed(field) {
            None => (0, None),
            Some((value, moment)) => (value.integer().ok_or(NOT_INTEGER)?, moment),
        };
        let total = value.checked_add(delta).ok_or(OVERFLOW)?;
        hash.insert_until(field, &Decimal::new(total), moment);
        Ok::<i64, Error>(total)
    })??;
    context.keys.changed(&key, Event::hash("hincrby"));
    context.reply_integer(total)
}
