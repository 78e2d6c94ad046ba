//! INCRBYFLOAT.

use super::text::Text;
use crate::{Args, Context, DONE, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::{Event, SetExpiry};
use caudal_table::NewValue;
use caudal_text::float::Extended;

pub(crate) const SPEC: Spec = Spec::new("INCRBYFLOAT", "Adds to the number at a key.")
    .syntax("key increment:double")
    .group(Group::String)
    .since("2.6.0")
    .arity(3)
    .write()
    .deny_oom()
    .fast()
    .key(1, KeyFlags::RW.and(KeyFlags::ACCESS).and(KeyFlags::UPDATE));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    let value = match context.keys.string(&key)?.map(Text::of) {
        None => Extended::parse(b"0"),
        Some(text) => Extended::parse(&text),
    };
    let value = value.ok_or(Error::NOT_FLOAT)?;
    let total = value.add(Extended::parse(args.at(2)).ok_or(Error::NOT_FLOAT)?);
    if !total.is_finite() {
        return Err(Error::text("ERR increment would produce NaN or Infinity"));
    }
    let mut text = Vec::new();
    total.format(&mut text);
    // Even a whole number stays text here, as in Redis: OBJECT ENCODING tells.
    context.keys.set(&key, NewValue::Bytes(&text), SetExpiry::Keep);
    context.keys.changed(&key, Event::string("incrbyfloat"));
    context.keys.effect(&[b"SET", key.bytes, &text, b"KEEPTTL"]);
    context.reply.bulk(&text);
    DONE
}
