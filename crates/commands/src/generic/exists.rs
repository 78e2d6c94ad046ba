//! EXISTS and TOUCH.

use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};

const fn spec(name: &'static str, summary: &'static str, since: &'static str) -> Spec {
    Spec::new(name, summary)
        .group(Group::Generic)
        .since(since)
        .arity(-2)
        .readonly()
        .fast()
        .complexity("O(N) with N the number of keys.")
        .tips(&["request_policy:multi_shard", "response_policy:agg_sum"])
        .key_range(1, -1, 1, KeyFlags::RO)
}

pub(crate) const EXISTS: Spec =
    spec("EXISTS", "Counts those of the named keys that exist.", "1.0.0").syntax("key...");
pub(crate) const TOUCH: Spec =
    spec("TOUCH", "Counts those of the named keys that exist, as used now.", "3.2.1")
        .syntax("key...");

pub(crate) fn exists(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let found = (1..args.len()).filter(|at| context.keys.exists(&context.key(args, *at))).count();
    context.reply_count(found)
}

pub(crate) fn touch(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let keys = &context.keys;
    // It touches even for a client with CLIENT NO-TOUCH.
    let is_found = |index: &usize| {
        let record = keys.observe(&context.key(args, *index));
        record
            .inspect(|record| record.set_clock(keys.usage.used(record.clock(), keys.now)))
            .is_some()
    };
    let found = (1..args.len()).filter(is_found).count();
    context.reply_count(found)
}
