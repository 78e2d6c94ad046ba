//! XACK.

use super::id;
use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};
use caudal_value::StreamId;

pub(crate) const SPEC: Spec =
    Spec::new("XACK", "Acknowledges entries: they are no longer pending in their group.")
        .syntax("key group id...")
        .group(Group::Stream)
        .since("5.0.0")
        .arity(-4)
        .write()
        .fast()
        .complexity("O(1) for each id.")
        .key(1, KeyFlags::RW.and(KeyFlags::UPDATE));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    let stream = context.keys.stream_mut(&key)?;
    let Some(group) = stream.and_then(|stream| stream.group_mut(args.at(2))) else {
        return context.reply_integer(0);
    };
    let ids = args.from(3).map(|word| id::exact(word, 0));
    let ids: Vec<StreamId> = ids.collect::<Result<_, _>>()?;
    let released = ids.into_iter().filter(|id| group.release(*id)).count();
    context.keys.changes += released as u64;
    context.reply_count(released)
}
