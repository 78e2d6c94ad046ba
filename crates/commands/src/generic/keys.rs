//! KEYS.

use crate::{Args, Context, DONE, Flow, Group, Outcome, Spec};
use caudal_keyspace::Cursor;
use caudal_text::glob::{self, Case};
use caudal_wire::{Output, Reply};

pub(crate) const SPEC: Spec = Spec::new("KEYS", "Returns all keys whose names match a pattern.")
    .syntax("pattern:pattern")
    .group(Group::Generic)
    .arity(2)
    .readonly()
    .complexity("O(N) with N the number of keys in the database.")
    .categories(&["dangerous"])
    .tips(&["request_policy:all_shards", "nondeterministic_output_order"]);

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let pattern = args.at(1);
    // Nothing may be replied before the last slot was visited: the walk begins anew after a busy
    // one.
    let mut found = Output::default();
    let (mut names, mut count) = (Reply::new(&mut found, context.reply.protocol()), 0);
    let keys = &context.keys;
    let mut visit = |record: caudal_table::RecordRef<'_>| {
        if glob::matches(pattern, record.key(), Case::Sensitive) {
            names.bulk(record.key());
            count += 1;
        }
    };
    let mut at = Some(Cursor::START);
    while let Some(from) = at {
        at = match keys.keyspace.scan((keys.database, keys.now), from, usize::MAX, &mut visit) {
            Ok(next) => next,
            Err(busy) => return Ok(Flow::Busy(busy)),
        };
    }
    context.reply.array(count);
    context.reply.output().append(found);
    DONE
}
