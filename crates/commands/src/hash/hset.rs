//! HSET, HMSET.

use crate::{Args, Context, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary)
        .group(Group::Hash)
        .since("2.0.0")
        .arity(-4)
        .write()
        .deny_oom()
        .fast()
        .complexity("O(N) with N the number of fields given.")
        .key(1, KeyFlags::RW.and(KeyFlags::UPDATE))
}

pub(crate) const HMSET: Spec = spec("HMSET", "Sets fields of a hash; HSET counts them too.")
    .syntax("key data(field value)...");
pub(crate) const HSET: Spec =
    spec("HSET", "Sets fields of a hash to values.").syntax("key data(field value)...");

pub(crate) fn hset(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let added = set(context, args, "hset")?;
    context.reply_count(added)
}

pub(crate) fn hmset(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    set(context, args, "hmset")?;
    context.reply_ok()
}

/// Sets the fields; returns how many are new.
fn set(context: &mut Context<'_, '_>, args: Args<'_>, name: &str) -> Result<usize, Error> {
    if args.len() % 2 == 1 {
        return Err(Error::arity(name));
    }
    let key = context.key(args, 1);
    let added = context.keys.change_hash(&key, |hash| {
        hash.anticipate(args.len() / 2 - 1);
        let pairs = (2..args.len()).step_by(2);
        pairs.filter(|&at| hash.insert(args.at(at), args.at(at + 1))).count()
    })?;
    context.keys.changed(&key, Event::hash("hset"));
    Ok(added)
}
