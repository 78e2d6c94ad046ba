//! COPY.

use crate::{Args, Context, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;

/// As many databases as a number of one can tell.
pub(super) const DATABASES_MAX: usize = 256;

pub(crate) const SPEC: Spec = Spec::new("COPY", "Copies the value of a key to another key.")
    .syntax("source:key destination:key [DB destination-db:int] [REPLACE]")
    .group(Group::Generic)
    .since("6.2.0")
    .arity(-3)
    .write()
    .deny_oom()
    .complexity("O(1) for long collections and strings, else O(N) with N the value's size.")
    .key(1, KeyFlags::RO.and(KeyFlags::ACCESS))
    .key(2, KeyFlags::OW.and(KeyFlags::UPDATE));

struct Copy {
    /// The target's database, if one is named.
    database: Option<u8>,
    replaces: bool,
}

impl Copy {
    fn parse(args: Args<'_>, databases: usize) -> Result<Copy, Error> {
        let mut cursor = args.cursor(3);
        let mut copy = Copy { database: None, replaces: false };
        while cursor.left() > 0 {
            if cursor.take("REPLACE") {
                copy.replaces = true;
            } else if cursor.left() > 1 && cursor.take("DB") {
                copy.database = Some(args.database(cursor.index(), databases)?);
                cursor.next();
            } else {
                return Err(Error::SYNTAX);
            }
        }
        Ok(copy)
    }
}

pub(crate) fn other_database(args: Args<'_>) -> Option<u8> {
    Copy::parse(args, DATABASES_MAX).ok()?.database
}

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let copy = Copy::parse(args, context.keys.keyspace.databases())?;
    let database = copy.database.unwrap_or(context.keys.database);
    let (source, target) = (context.key(args, 1), context.key(args, 2));
    if database == context.keys.database && source.bytes == target.bytes {
        return Err(Error::SAME_OBJECT);
    }
    let Some(record) = context.keys.find(&source) else { return context.reply_integer(0) };
    if !copy.replaces && context.keys.peek_in(database, &target).is_some() {
        return context.reply_integer(0);
    }
    let (value, expiry) = (record.to_owned_value(), record.expiry());
    context.keys.put_in(database, &target, value, expiry);
    context.keys.changed_in(database, &target, Event::generic("copy_to"));
    context.reply_integer(1)
}
