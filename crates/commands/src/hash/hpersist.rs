//! HPERSIST.

use super::fields;
use crate::{Args, Context, DONE, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;

pub(crate) const SPEC: Spec = Spec::new("HPERSIST", "Lets fields of a hash expire no more.")
    .syntax("key FIELDS fields(numfields:int field...)")
    .group(Group::Hash)
    .since("9.0.0")
    .arity(-5)
    .write()
    .fast()
    .complexity("O(N) with N the number of fields given.")
    .key(1, KeyFlags::RW.and(KeyFlags::UPDATE));

/// What is replied for a field that expires no more.
const PERSISTED: i64 = 1;

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    if !args.is(2, "FIELDS") {
        return Err(Error::SYNTAX);
    }
    let first = fields::first(args, 2, 1, fields::NUMBER)?;
    let key = context.key(args, 1);
    let results = context.keys.edit_hash(&key, |hash| {
        let mut persist = |field: &[u8]| match hash.get_timed(field) {
            None => fields::NO_FIELD,
            Some((_, None)) => fields::NO_EXPIRY,
            Some((_, Some(_))) => {
                hash.set_moment(field, None);
                PERSISTED
            }
        };
        args.from(first).map(&mut persist).collect::<Vec<_>>()
    })?;
    let results = fields::reply_each(context, results, args.len() - first);
    if results.contains(&PERSISTED) {
        context.keys.changed(&key, Event::hash("hpersist"));
    }
    context.keys.drop_empty_hash(&key);
    DONE
}
