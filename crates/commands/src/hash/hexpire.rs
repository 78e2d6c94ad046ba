//! HEXPIRE, HPEXPIRE, HEXPIREAT, HPEXPIREAT.

use super::fields;
use crate::generic::{Condition, Scale};
use crate::{Args, Context, DONE, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::{Counters, Event, Key, Millis};
use caudal_text::integer::Decimal;

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary)
        .group(Group::Hash)
        .since("9.0.0")
        .arity(-6)
        .write()
        .fast()
        .complexity("O(N) with N the number of fields given.")
        .key(1, KeyFlags::RW.and(KeyFlags::UPDATE))
}

pub(crate) const HEXPIRE: Spec =
    spec("HEXPIRE", "Lets fields of a hash expire after some seconds.").syntax(
        "key seconds:int [condition<NX|XX|GT|LT>@9.0.0] FIELDS fields(numfields:int field...)",
    );
pub(crate) const HEXPIREAT: Spec =
    spec("HEXPIREAT", "Lets fields of a hash expire at a moment told in Unix seconds.").syntax(
        "key unix-time-seconds:int [condition<NX|XX|GT|LT>@9.0.0] \
             FIELDS fields(numfields:int field...)",
    );
pub(crate) const HPEXPIRE: Spec =
    spec("HPEXPIRE", "Lets fields of a hash expire after some milliseconds.").syntax(
        "key milliseconds:int [condition<NX|XX|GT|LT>@9.0.0] FIELDS fields(numfields:int field...)",
    );
pub(crate) const HPEXPIREAT: Spec =
    spec("HPEXPIREAT", "Lets fields of a hash expire at a moment told in Unix milliseconds.")
        .syntax(
            "key unix-time-milliseconds:int [condition<NX|XX|GT|LT>@9.0.0] \
             FIELDS fields(numfields:int field...)",
        );

/// What is replied for a field that exists.
const UNMET: i64 = 0;
const SET: i64 = 1;
const DELETED: i64 = 2;

pub(crate) fn hexpire(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let now = context.keys.now;
    change(context, args, &Scale { unit_ms: 1000, from: now, name: "hexpire" })
}

pub(crate) fn hpexpire(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let now = context.keys.now;
    change(context, args, &Scale { unit_ms: 1, from: now, name: "hpexpire" })
}

pub(crate) fn hexpire_at(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    change(context, args, &Scale { unit_ms: 1000, from: 0, name: "hexpireat" })
}

pub(crate) fn hpexpire_at(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    change(context, args, &Scale { unit_ms: 1, from: 0, name: "hpexpireat" })
}

fn change(context: &mut Context<'_, '_>, args: Args<'_>, scale: &Scale) -> Outcome {
    let at = fields::find(args, 3)?;
    let condition = Condition::parse(args.until(at), 3)?;
    let first = fields::first(args, at, 1, fields::NUMBER)?;
    let amount = args.integer(2)?;
    if amount < 0 {
        return Err(Error::expire_time(scale.name));
    }
    let moment = scale.moment(amount)?;
    let end = Millis::try_from(moment).expect("neither summand is negative");
    let is_over = end <= context.keys.now;
    let key = context.key(args, 1);
    let results = context.keys.edit_hash(&key, |hash| {
        let mut change = |field: &[u8]| {
            let Some((_, before)) = hash.get_timed(field) else { return fields::NO_FIELD };
            if !condition.allows(before, moment) {
                return UNMET;
            }
            if is_over {
                hash.remove(field);
                return DELETED;
            }
            hash.set_moment(field, Some(end));
            SET
        };
        args.from(first).map(&mut change).collect::<Vec<_>>()
    })?;
    let results = fields::reply_each(context, results, args.len() - first);
    if results.contains(&SET) {
        context.keys.changed(&key, Event::hash("hexpire"));
        let end = Decimal::unsigned(end);
        let words: Vec<&[u8]> =
            [b"HPEXPIREAT", key.bytes, &end].into_iter().chain(args.from(3)).collect();
        context.keys.effect(&words);
    }
    let deleted = args.from(first).zip(results).filter(|(_, result)| *result == DELETED);
    let deleted: Vec<&[u8]> = deleted.map(|(field, _)| field).collect();
    context.removed_as_expired(&key, &deleted);
    DONE
}

impl Context<'_, '_> {
    /// Tells that fields of a hash were taken away because they were given a moment that is over;
    /// removes the key if none is left.
    pub(crate) fn removed_as_expired(&mut self, key: &Key<'_>, fields: &[&[u8]]) {
        if !fields.is_empty() {
            Counters::count(&self.keys.counters.expired_fields, fields.len() as u64);
            self.keys.changed(key, Event::hash("hexpired"));
            self.keys.effect(&[&[b"HDEL", key.bytes], fields].concat());
        }
        self.keys.drop_empty_hash(key);
    }
}
