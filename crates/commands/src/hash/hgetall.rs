//! HGETALL, HKEYS, HVALS: a whole hash.

use crate::context::reply_item;
use crate::{Args, Context, DONE, Group, KeyFlags, Outcome, Spec};
use caudal_value::Alive;

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary)
        .group(Group::Hash)
        .since("2.0.0")
        .arity(2)
        .readonly()
        .complexity("O(N) with N the number of fields.")
        .tips(&["nondeterministic_output_order"])
        .key(1, KeyFlags::RO.and(KeyFlags::ACCESS))
}

pub(crate) const HGETALL: Spec =
    spec("HGETALL", "Returns all fields with their values.").syntax("key");
pub(crate) const HKEYS: Spec = spec("HKEYS", "Returns all fields of a hash.").syntax("key");
pub(crate) const HVALS: Spec = spec("HVALS", "Returns the values of all fields.").syntax("key");

pub(crate) fn hgetall(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    let Some(hash) = context.keys.hash(&key)? else {
        context.reply.map(0);
        return DONE;
    };
    context.reply.map(hash.count());
    for (field, value) in hash.iter() {
        reply_item(&mut context.reply, field);
        reply_item(&mut context.reply, value);
    }
    DONE
}

pub(crate) fn hkeys(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    let hash = context.keys.hash(&key)?;
    context.reply.array(hash.map_or(0, |hash| hash.count()));
    for (field, _) in hash.iter().flat_map(Alive::iter) {
        reply_item(&mut context.reply, field);
    }
    DONE
}

pub(crate) fn hvals(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    let hash = context.keys.hash(&key)?;
    context.reply.array(hash.map_or(0, |hash| hash.count()));
    for (_, value) in hash.iter().flat_map(Alive::iter) {
        reply_item(&mut context.reply, value);
    }
    DONE
}
