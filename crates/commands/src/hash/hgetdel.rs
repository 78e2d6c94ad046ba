//! HGETDEL.

use super::fields;
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

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    if !args.is(2, "FIELDS") {
        return Err(Error::SYNTAX);
    }
    let first = fields::first(args, 2, 1, fields::NUMBER)?;
    let key = context.key(args, 1);
    let Context { keys, reply, .. } = context;
    let removed = keys.edit_hash(&key, |hash| {
        reply.array(args.len() - first);
        let mut removed = false;
        for field in args.from(first) {
            match hash.get(field) {
                Some(value) => reply_item(reply, value),
                None => {
                    reply.null();
                    continue;
                }
            }
            removed |= hash.remove(field);
        }
        removed
    })?;
    match removed {
        None => {
            reply.array(args.len() - first);
            args.from(first).for_each(|_| reply.null());
        }
        Some(removed) => {
            if removed {
                keys.changed(&key, Event::hash("hdel"));
            }
            keys.drop_empty_hash(&key);
        }
    }
    DONE
}
