//! SET.

use crate::context::reply_string;
use crate::{Args, Context, DONE, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::{Event, Millis, SetExpiry};
use caudal_table::{NewValue, ValueRef};
use caudal_text::integer;

pub(crate) const SPEC: Spec = Spec::new("SET", "Stores a string at a key.")
    .group(Group::String)
    .arity(-3)
    .write()
    .deny_oom()
    .key(1, KeyFlags::RW.and(KeyFlags::ACCESS).and(KeyFlags::UPDATE).and(KeyFlags::VARIABLE));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    context.keys.set(&key, string_value(args.at(2)), SetExpiry::Clear);
    context.keys.changed(&key, Event::string("set"));
    let _ = (DONE, Error::SYNTAX, reply_string, 0 as Millis, ValueRef::Integer(0));
    context.reply_ok()
}

/// A string as it is stored: an integer stays one.
pub(crate) fn string_value(bytes: &[u8]) -> NewValue<'_> {
    /// Digits of the longest 64-bit integer.
    const DIGITS_MAX: usize = 20;
    match bytes {
        [b'-' | b'0'..=b'9', ..] if bytes.len() <= DIGITS_MAX => {
            integer::parse_i64(bytes).map_or(NewValue::Bytes(bytes), NewValue::Integer)
        }
        _ => NewValue::Bytes(bytes),
    }
}
