//! XACKDEL: XACK and then XDELEX of what was acknowledged.

use super::named_ids::{Fate, NamedIds};
use super::xdelex::delete;
use crate::{Args, Context, DONE, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;

pub(crate) const SPEC: Spec =
    Spec::new("XACKDEL", "Acknowledges entries for a group and takes them out of the stream.")
        .syntax("key group [condition<KEEPREF|DELREF|ACKED>] IDS ids(numids:int id...)")
        .group(Group::Stream)
        .since("8.2.0")
        .arity(-6)
        .write()
        .fast()
        .complexity("O(1) for each id, O(G) with G the number of groups but for KEEPREF.")
        .key(1, KeyFlags::RW.and(KeyFlags::UPDATE).and(KeyFlags::DELETE));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let named = NamedIds::parse(args, 3)?;
    let (key, group) = (context.key(args, 1), args.at(2));
    let Context { keys, reply, .. } = context;
    let stream = keys.stream_mut(&key)?;
    let Some(stream) = stream.filter(|stream| stream.group(group).is_some()) else {
        reply.array(named.len());
        (0..named.len()).for_each(|_| reply.integer(Fate::Missing.number()));
        return DONE;
    };
    let ids = named.read(args)?;
    reply.array(ids.len());
    let (mut released, len) = (0, stream.len());
    for id in ids {
        let fate = match stream.group_mut(group).is_some_and(|group| group.release(id)) {
            true => {
                released += 1;
                delete(stream, id, named.references)
            }
            false => Fate::Missing,
        };
        reply.integer(fate.number());
    }
    let is_shorter = stream.len() < len;
    keys.changes += released;
    if is_shorter {
        keys.changed(&key, Event::stream("xdel"));
    }
    DONE
}
