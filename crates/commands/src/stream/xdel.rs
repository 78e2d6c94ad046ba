//! XDEL.

use super::id;
use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;
use caudal_value::StreamId;

pub(crate) const SPEC: Spec = Spec::new("XDEL", "Takes entries out of a stream by their ids.")
    .syntax("key id...")
    .group(Group::Stream)
    .since("5.0.0")
    .arity(-3)
    .write()
    .fast()
    .complexity("O(1) for each id.")
    .key(1, KeyFlags::RW.and(KeyFlags::DELETE));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    let Some(stream) = context.keys.stream_mut(&key)? else { return context.reply_integer(0) };
    let ids = args.from(2).map(|word| id::exact(word, 0));
    let ids: Vec<StreamId> = ids.collect::<Result<_, _>>()?;
    let deleted = ids.into_iter().filter(|id| stream.delete(*id)).count();
    if deleted > 0 {
        context.keys.changed(&key, Event::stream("xdel"));
    }
    context.reply_count(deleted)
}
