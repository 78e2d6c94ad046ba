//! EXPIRE, PEXPIRE, EXPIREAT, PEXPIREAT.

use crate::{Args, Context, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::{Event, Key, Millis};
use caudal_text::integer::Decimal;
use std::cmp::Ordering;

const fn spec(name: &'static str, summary: &'static str, since: &'static str) -> Spec {
    Spec::new(name, summary)
        .group(Group::Generic)
        .since(since)
        .arity(-3)
        .write()
        .fast()
        .key(1, KeyFlags::RW.and(KeyFlags::UPDATE))
}

pub(crate) const EXPIRE: Spec = spec("EXPIRE", "Lets a key expire after some seconds.", "1.0.0")
    .syntax("key seconds:int [condition<NX|XX|GT|LT>@7.0.0]");
pub(crate) const PEXPIRE: Spec =
    spec("PEXPIRE", "Lets a key expire after some milliseconds.", "2.6.0")
        .syntax("key milliseconds:int [condition<NX|XX|GT|LT>@7.0.0]");
pub(crate) const EXPIREAT: Spec =
    spec("EXPIREAT", "Lets a key expire at a moment told in Unix seconds.", "1.2.0")
        .syntax("key unix-time-seconds:time [condition<NX|XX|GT|LT>@7.0.0]");
pub(crate) const PEXPIREAT: Spec =
    spec("PEXPIREAT", "Lets a key expire at a moment told in Unix milliseconds.", "2.6.0")
        .syntax("key unix-time-milliseconds:time [condition<NX|XX|GT|LT>@7.0.0]");

pub(crate) fn expire(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let now = context.keys.now;
    change(context, args, Scale { unit_ms: 1000, from: now, name: "expire" })
}

pub(crate) fn pexpire(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let now = context.keys.now;
    change(context, args, Scale { unit_ms: 1, from: now, name: "pexpire" })
}

pub(crate) fn expire_at(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    change(context, args, Scale { unit_ms: 1000, from: 0, name: "expireat" })
}

pub(crate) fn pexpire_at(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    change(context, args, Scale { unit_ms: 1, from: 0, name: "pexpireat" })
}

/// How a command tells a moment.
pub(crate) struct Scale {
    pub(crate) unit_ms: i64,
    /// What the amount is added to.
    pub(crate) from: Millis,
    /// The command's, for its error.
    pub(crate) name: &'static str,
}

impl Scale {
    /// The moment in Unix milliseconds; may lie before 1970.
    pub(crate) fn moment(&self, amount: i64) -> Result<i64, Error> {
        let from = i64::try_from(self.from).expect("the clock is before the year 292,000,000");
        let moment = amount.checked_mul(self.unit_ms).and_then(|after| after.checked_add(from));
        moment.ok_or_else(|| Error::expire_time(self.name))
    }
}

/// When the expiry is changed.
#[derive(Default)]
pub(crate) struct Condition {
    /// `XX` true, `NX` false: whether the key must have an expiry.
    has_expiry: Option<bool>,
    /// `GT`, `LT`: how the new expiry must compare to the old one, where none counts as never.
    order: Option<Ordering>,
}

impl Condition {
    /// Reads the words from `first` on.
    pub(crate) fn parse(args: Args<'_>, first: usize) -> Result<Condition, Error> {
        let mut cursor = args.cursor(first);
        let (mut nx, mut xx, mut gt, mut lt) = (false, false, false, false);
        while cursor.left() > 0 {
            let said = if cursor.take("NX") {
                &mut nx
            } else if cursor.take("XX") {
                &mut xx
            } else if cursor.take("GT") {
                &mut gt
            } else if cursor.take("LT") {
                &mut lt
            } else {
                let word = args.at(cursor.index());
                return Err(Error::quoting("ERR Unsupported option ", word, ""));
            };
            *said = true;
        }
        if nx && (xx || gt || lt) {
            return Err(Error::text(
                "ERR NX and XX, GT or LT options at the same time are not compatible",
            ));
        }
        let order = match (gt, lt) {
            (true, true) => {
                let text = "ERR GT and LT options at the same time are not compatible";
                return Err(Error::text(text));
            }
            (true, false) => Some(Ordering::Greater),
            (false, true) => Some(Ordering::Less),
            (false, false) => None,
        };
        Ok(Condition { has_expiry: (nx || xx).then_some(xx), order })
    }

    /// Whether an expiry `before` (none: never) may become `moment`.
    pub(crate) fn allows(&self, before: Option<Millis>, moment: i64) -> bool {
        let compared = before.map_or(Ordering::Less, |before| {
            moment.cmp(&i64::try_from(before).unwrap_or(i64::MAX))
        });
        self.has_expiry.is_none_or(|has| has == before.is_some())
            && self.order.is_none_or(|order| order == compared)
    }
}

fn change(context: &mut Context<'_, '_>, args: Args<'_>, scale: Scale) -> Outcome {
    let condition = Condition::parse(args, 3)?;
    let moment = scale.moment(args.integer(2)?)?;
    let key = context.key(args, 1);
    let allowed =
        context.keys.peek(&key).is_some_and(|record| condition.allows(record.expiry(), moment));
    if !allowed {
        return context.reply_integer(0);
    }
    let options: Vec<&[u8]> = args.from(3).collect();
    context.expire_at(&key, u64::try_from(moment).unwrap_or(0), &options);
    context.reply_integer(1)
}

impl Context<'_, '_> {
    /// Lets a key that exists expire at a moment, at once if that is over. `options` are repeated
    /// in the effect.
    pub(crate) fn expire_at(&mut self, key: &Key<'_>, moment: Millis, options: &[&[u8]]) {
        if moment <= self.keys.now {
            self.remove_as_expired(key);
            return;
        }
        self.keys.set_expiry(key, Some(moment));
        self.keys.changed(key, Event::generic("expire"));
        let moment = Decimal::unsigned(moment);
        if options.is_empty() {
            self.keys.effect(&[b"PEXPIREAT", key.bytes, &moment]);
        } else {
            let words = [&[b"PEXPIREAT", key.bytes, &moment], options].concat();
            self.keys.effect(&words);
        }
    }

    /// Removes a key, if it is there, because it was given an expiry that is over.
    pub(crate) fn remove_as_expired(&mut self, key: &Key<'_>) {
        if self.keys.remove(key) {
            self.keys.changed(key, Event::EXPIRED);
            self.keys.effect(&[b"UNLINK", key.bytes]);
        }
    }
}
