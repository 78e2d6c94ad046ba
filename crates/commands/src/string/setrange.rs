//! SETRANGE.

use super::edit::{self, At};
use super::text::Text;
use crate::{Args, Context, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;

pub(crate) const SPEC: Spec =
    Spec::new("SETRANGE", "Overwrites a part of the string at a key, lengthening it if needed.")
        .syntax("key offset:int value")
        .group(Group::String)
        .since("2.2.0")
        .arity(4)
        .write()
        .deny_oom()
        .complexity("O(M) with M the length of the value, if the string need not be moved.")
        .key(1, KeyFlags::RW.and(KeyFlags::UPDATE));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    const BAD_OFFSET: Error = Error::text("ERR offset is out of range");
    let offset = usize::try_from(args.integer(2)?).map_err(|_| BAD_OFFSET)?;
    let (key, bytes) = (context.key(args, 1), args.at(3));
    if bytes.is_empty() {
        let length = context.keys.string(&key)?.map_or(0, |value| Text::of(value).len());
        return context.reply_count(length);
    }
    let length = match edit::write(context, &key, At::Offset(offset), bytes)? {
        Some(length) => length,
        None => edit::create(context, &key, offset, bytes)?,
    };
    context.keys.changed(&key, Event::string("setrange"));
    context.reply_count(length)
}
