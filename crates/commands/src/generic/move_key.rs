//! MOVE.

use super::copy::DATABASES_MAX;
use crate::{Args, Context, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;

pub(crate) const SPEC: Spec = Spec::new("MOVE", "Moves a key to another database.")
    .syntax("key db:int")
    .group(Group::Generic)
    .arity(3)
    .write()
    .fast()
    .key(1, KeyFlags::RW.and(KeyFlags::ACCESS).and(KeyFlags::UPDATE));

pub(crate) fn other_database(args: Args<'_>) -> Option<u8> {
    args.get(2)?;
    args.database(2, DATABASES_MAX).ok()
}

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let database = args.database(2, context.keys.keyspace.databases())?;
    if database == context.keys.database {
        return Err(Error::SAME_OBJECT);
    }
    let key = context.key(args, 1);
    if context.keys.peek_in(database, &key).is_some() {
        return context.reply_integer(0);
    }
    let Some((value, expiry)) = context.keys.take(&key) else { return context.reply_integer(0) };
    context.keys.put_in(database, &key, value, expiry);
    context.keys.changed(&key, Event::generic("move_from"));
    context.keys.changed_in(database, &key, Event::generic("move_to"));
    context.reply_integer(1)
}
