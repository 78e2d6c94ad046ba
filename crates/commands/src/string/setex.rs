//! SETEX and PSETEX.

use super::lifetime::{Lifetime, Unit};
use super::text::to_store;
use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::{Event, SetExpiry};
use caudal_text::integer::Decimal;

const fn spec(name: &'static str, summary: &'static str, since: &'static str) -> Spec {
    Spec::new(name, summary)
        .group(Group::String)
        .since(since)
        .arity(4)
        .write()
        .deny_oom()
        .key(1, KeyFlags::OW.and(KeyFlags::UPDATE))
}

pub(crate) const SETEX: Spec =
    spec("SETEX", "Stores a string at a key that expires after some seconds.", "2.0.0")
        .syntax("key seconds:int value");
pub(crate) const PSETEX: Spec =
    spec("PSETEX", "Stores a string at a key that expires after some milliseconds.", "2.6.0")
        .syntax("key milliseconds:int value");

pub(crate) fn set_ex(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    store(context, args, Unit::Seconds, "setex")
}

pub(crate) fn pset_ex(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    store(context, args, Unit::Millis, "psetex")
}

fn store(context: &mut Context<'_, '_>, args: Args<'_>, unit: Unit, name: &str) -> Outcome {
    let end = Lifetime { unit, amount: args.at(2) }.end(context.keys.now, name)?;
    let (key, value) = (context.key(args, 1), args.at(3));
    context.keys.set(&key, to_store(value), SetExpiry::At(end));
    context.keys.changed(&key, Event::string("set"));
    context.keys.also(&key, Event::generic("expire"));
    context.keys.effect(&[b"SET", key.bytes, value, b"PXAT", &Decimal::unsigned(end)]);
    context.reply_ok()
}
