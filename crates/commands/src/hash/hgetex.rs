//! HGETEX.

use super::fields;
use crate::context::reply_item;
use crate::string::{Lifetime, LifetimeChange};
use crate::{Args, Context, DONE, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::{Event, Millis};
use caudal_text::integer::Decimal;

pub(crate) const SPEC: Spec =
    Spec::new("HGETEX", "Returns the values of fields and changes when they expire.")
        .syntax(
            "key [expiration<EX seconds:int|PX milliseconds:int|EXAT unix-time-seconds:time|\
             PXAT unix-time-milliseconds:time|PERSIST>] \
             FIELDS fields(numfields:int field...)",
        )
        .group(Group::Hash)
        .since("9.0.0")
        .arity(-5)
        .write()
        .fast()
        .complexity("O(N) with N the number of fields given.")
        .key(1, KeyFlags::RW.and(KeyFlags::ACCESS).and(KeyFlags::UPDATE));

/// What becomes of the fields' moments.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Nothing,
    Persist,
    Remove,
    Expire(Millis),
}

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let at = fields::find(args, 2)?;
    let asked = LifetimeChange::parse(args.until(at), 2)?;
    let first = fields::first(args, at, 1, fields::NUMBER)?;
    let (key, now) = (context.key(args, 1), context.keys.now);
    // A key of another type is told before a bad amount of time.
    let change = match asked {
        LifetimeChange::Nothing => Ok(Change::Nothing),
        LifetimeChange::Persist => Ok(Change::Persist),
        LifetimeChange::Expire(lifetime) => end_of(lifetime, now),
    };
    let Context { keys, reply, .. } = context;
    let changed = keys.edit_hash(&key, |hash| {
        let change = change.clone()?;
        reply.array(args.len() - first);
        let mut changed: Vec<&[u8]> = Vec::new();
        for field in args.from(first) {
            let Some((value, moment)) = hash.get_timed(field) else {
                reply.null();
                continue;
            };
            reply_item(reply, value);
            let did = match change {
                Change::Nothing => false,
                Change::Persist => moment.is_some() && hash.set_moment(field, None),
                Change::Remove => hash.remove(field),
                Change::Expire(end) => hash.set_moment(field, Some(end)),
            };
            if did {
                changed.push(field);
            }
        }
        Ok::<_, crate::Error>((change, changed))
    })?;
    let Some(changed) = changed else {
        change?;
        // Counted and told as a miss: it reads.
        context.keys.find(&key);
        context.reply.array(args.len() - first);
        args.from(first).for_each(|_| context.reply.null());
        return DONE;
    };
    let (change, changed) = changed?;
    let count = Decimal::unsigned(changed.len() as u64);
    match change {
        _ if changed.is_empty() => {}
        Change::Nothing | Change::Remove => {}
        Change::Persist => {
            context.keys.changed(&key, Event::hash("hpersist"));
            let words = [&[b"HPERSIST", key.bytes, b"FIELDS", &count], &changed[..]].concat();
            context.keys.effect(&words);
        }
        Change::Expire(end) => {
            context.keys.changed(&key, Event::hash("hexpire"));
            let end = Decimal::unsigned(end);
            let words = [b"HPEXPIREAT", key.bytes, &end, b"FIELDS", &count];
            context.keys.effect(&[&words, &changed[..]].concat());
        }
    }
    let removed = if change == Change::Remove { &changed[..] } else { &[] };
    context.removed_as_expired(&key, removed);
    DONE
}

fn end_of(lifetime: Lifetime<'_>, now: Millis) -> Result<Change, crate::Error> {
    let end = lifetime.end_or_past(now, "hgetex")?;
    Ok(if end <= now { Change::Remove } else { Change::Expire(end) })
}
