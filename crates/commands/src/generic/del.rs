//! DEL and UNLINK.

use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary)
        .group(Group::Generic)
        .arity(-2)
        .write()
        .complexity("O(N) with N the number of keys, and the size of the collections in them.")
        .tips(&["request_policy:multi_shard", "response_policy:agg_sum"])
        .key_range(1, -1, 1, KeyFlags::RM.and(KeyFlags::DELETE))
}

pub(crate) const DEL: Spec = spec("DEL", "Removes keys.").syntax("key...");
pub(crate) const UNLINK: Spec =
    spec("UNLINK", "Removes keys, as DEL does.").syntax("key...").since("4.0.0").fast();

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let mut removed = 0;
    for index in 1..args.len() {
        let key = context.key(args, index);
        if context.keys.remove(&key) {
            context.keys.changed(&key, Event::DEL);
            removed += 1;
        }
    }
    context.reply_count(removed)
}
