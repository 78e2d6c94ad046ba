//! RANDOMKEY.

use crate::{Args, Context, DONE, Flow, Group, Outcome, Spec};

pub(crate) const SPEC: Spec = Spec::new("RANDOMKEY", "Returns the name of a key picked at random.")
    .group(Group::Generic)
    .arity(1)
    .readonly()
    .tips(&["request_policy:all_shards", "response_policy:special", "nondeterministic_output"]);

pub(crate) fn apply(context: &mut Context<'_, '_>, _: Args<'_>) -> Outcome {
    let keys = &context.keys;
    let place = (keys.database, keys.now);
    match keys.keyspace.random_key(place, || context.random.next_u64()) {
        Err(busy) => return Ok(Flow::Busy(busy)),
        Ok(None) => context.reply.null(),
        Ok(Some(key)) => context.reply.bulk(&key),
    }
    DONE
}
