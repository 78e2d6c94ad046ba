//! HGETDEL.

use crate::context::reply_item;
use crate::{Args, Context, DONE, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;

pub(crate) const SPEC: Spec =
    Spec::new("HGETDEL", "Takes fields away from a hash and returns their values.")
        .syntax("key FIELDS fields(numfields:int field...)")
        .group(Group::Hash)
        .since("9.1.0")
        .arity(-5)
        .write()
        .fast()
        .complexity("O(N) with N the number of fields given.")
        .key(1, KeyFlags::RW.and(KeyFlags::ACCESS).and(KeyFlags::DELETE));

/// Index of the first field: HGETDEL key FIELDS numfields field ...
const FIELDS: usize = 4;

fn check(args: Args<'_>) -> Result<(), Error> {
    if !args.is(2, "FIELDS") {
        return Err(Error::SYNTAX);
    }
    if usize::try_from(args.integer(3)?) != Ok(args.len() - FIELDS) {
        return Err(Error::text(
            "ERR numfields should be greater than 0 and match the provided number of fields",
        ));
    }
    Ok(())
}

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    check(args)?;
    let key = context.key(args, 1);
    let mut hash = context.keys.hash_mut(&key)?;
    let mut removed = false;
    context.reply.array(args.len() - FIELDS);
    for field in args.from(FIELDS) {
        match hash.as_ref().and_then(|hash| hash.get(field)) {
            Some(value) => reply_item(&mut context.reply, value),
            None => {
                context.reply.null();
                continue;
            }
        }
        removed |= hash.as_mut().is_some_and(|hash| hash.remove(field));
    }
    if removed {
        context.keys.changed(&key, Event::hash("hdel"));
        context.keys.drop_empty_hash(&key);
    }
    DONE
}
