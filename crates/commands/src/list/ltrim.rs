//! LTRIM.

use crate::numbers::index_range;
use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;

pub(crate) const SPEC: Spec = Spec::new("LTRIM", "Keeps only the elements of a list in a range.")
    .syntax("key start:int stop:int")
    .group(Group::List)
    .arity(4)
    .write()
    .complexity("O(N) with N the number of elements taken away.")
    .key(1, KeyFlags::RW.and(KeyFlags::DELETE));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let (start, stop) = (args.integer(2)?, args.integer(3)?);
    let (key, limits) = (context.key(args, 1), context.keys.limits);
    if let Some(list) = context.keys.list_mut(&key)? {
        list.trim(index_range(start, stop, list.len()), limits);
        // Valkey tells watchers and listeners even when nothing was taken away.
        context.keys.changed(&key, Event::list("ltrim"));
        context.keys.drop_empty_list(&key);
    }
    context.reply_ok()
}
