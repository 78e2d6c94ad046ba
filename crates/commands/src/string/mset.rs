//! MSET and MSETNX.

use super::text::to_store;
use crate::{Args, Context, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::{Event, SetExpiry};

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary)
        .group(Group::String)
        .since("1.0.1")
        .arity(-3)
        .write()
        .deny_oom()
        .complexity("O(N) with N the number of keys.")
}

pub(crate) const MSET: Spec = spec("MSET", "Stores strings at several keys.")
    .syntax("data(key value)...")
    .tips(&["request_policy:multi_shard", "response_policy:all_succeeded"])
    .key_range(1, -1, 2, KeyFlags::OW.and(KeyFlags::UPDATE));
pub(crate) const MSETNX: Spec =
    spec("MSETNX", "Stores strings at several keys if none of them exists.")
        .syntax("data(key value)...")
        .key_range(1, -1, 2, KeyFlags::OW.and(KeyFlags::INSERT));

pub(crate) fn mset(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    check_pairs(args, "mset")?;
    store(context, args);
    context.reply_ok()
}

pub(crate) fn mset_nx(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    check_pairs(args, "msetnx")?;
    for index in (1..args.len()).step_by(2) {
        let key = context.key(args, index);
        if context.keys.peek(&key).is_some() {
            return context.reply_integer(0);
        }
    }
    store(context, args);
    context.reply_integer(1)
}

fn check_pairs(args: Args<'_>, name: &str) -> Result<(), Error> {
    if args.len() % 2 == 1 { Ok(()) } else { Err(Error::arity(name)) }
}

fn store(context: &mut Context<'_, '_>, args: Args<'_>) {
    for index in (1..args.len()).step_by(2) {
        let key = context.key(args, index);
        context.keys.set(&key, to_store(args.at(index + 1)), SetExpiry::Clear);
        context.keys.changed(&key, Event::string("set"));
    }
}
