//! LRANGE.

use crate::context::reply_item;
use crate::numbers::index_range;
use crate::{Args, Context, DONE, Group, KeyFlags, Outcome, Spec};
use caudal_value::List;

pub(crate) const SPEC: Spec = Spec::new("LRANGE", "Returns the elements of a list in a range.")
    .syntax("key start:int stop:int")
    .group(Group::List)
    .arity(4)
    .readonly()
    .complexity("O(log N + M) with N the number of elements and M the number returned.")
    .key(1, KeyFlags::RO.and(KeyFlags::ACCESS));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let (start, stop) = (args.integer(2)?, args.integer(3)?);
    let key = context.key(args, 1);
    let list = context.keys.list(&key)?;
    let range = index_range(start, stop, list.map_or(0, List::len));
    let reply = &mut context.reply;
    reply.array(range.len());
    if let Some(list) = list {
        let items = list.iter_from(range.start).take(range.len());
        items.for_each(|item| reply_item(reply, item));
    }
    DONE
}
