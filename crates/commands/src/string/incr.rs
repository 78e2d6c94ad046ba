//! INCR, INCRBY, DECR, DECRBY.

use crate::{Args, Context, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::{Event, SetExpiry};
use caudal_table::{NewValue, ValueRef};
use caudal_text::integer;

const fn spec(name: &'static str, summary: &'static str, arity: i16) -> Spec {
    Spec::new(name, summary)
        .group(Group::String)
        .arity(arity)
        .write()
        .deny_oom()
        .fast()
        .key(1, KeyFlags::RW.and(KeyFlags::ACCESS).and(KeyFlags::UPDATE))
}

pub(crate) const INCR: Spec = spec("INCR", "Adds one to the integer at a key.", 2).syntax("key");
pub(crate) const DECR: Spec = spec("DECR", "Takes one from the integer at a key.", 2).syntax("key");
pub(crate) const INCRBY: Spec =
    spec("INCRBY", "Adds to the integer at a key.", 3).syntax("key increment:int");
pub(crate) const DECRBY: Spec =
    spec("DECRBY", "Takes from the integer at a key.", 3).syntax("key decrement:int");

pub(crate) fn incr(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    add(context, args, 1)
}

pub(crate) fn decr(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    add(context, args, -1)
}

pub(crate) fn incr_by(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    add(context, args, args.integer(2)?)
}

pub(crate) fn decr_by(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let delta = args.integer(2)?.checked_neg();
    add(context, args, delta.ok_or(Error::text("ERR decrement would overflow"))?)
}

fn add(context: &mut Context<'_, '_>, args: Args<'_>, delta: i64) -> Outcome {
    const OVERFLOW: Error = Error::text("ERR increment or decrement would overflow");
    let key = context.key(args, 1);
    let value = match context.keys.record_mut(&key) {
        None => 0,
        Some(mut record) => match record.value() {
            ValueRef::Integer(value) => {
                let total = value.checked_add(delta).ok_or(OVERFLOW)?;
                record.set_integer(total);
                context.keys.changed(&key, Event::string("incrby"));
                return context.reply_integer(total);
            }
            ValueRef::Bytes(text) => integer::parse_i64(text).ok_or(Error::NOT_INTEGER)?,
            ValueRef::Blob(_) => return Err(Error::NOT_INTEGER),
            ValueRef::Object(_) => return Err(Error::WRONG_TYPE),
        },
    };
    let total = value.checked_add(delta).ok_or(OVERFLOW)?;
    context.keys.set(&key, NewValue::Integer(total), SetExpiry::Keep);
    context.keys.changed(&key, Event::string("incrby"));
    context.reply_integer(total)
}
