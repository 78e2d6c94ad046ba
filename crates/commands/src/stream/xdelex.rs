//! XDELEX: XDEL that minds what is still to be read or acknowledged.

use super::named_ids::{Fate, NamedIds};
use crate::{Args, Context, DONE, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;
use caudal_value::{References, Stream, StreamId};

pub(crate) const SPEC: Spec =
    Spec::new("XDELEX", "Takes entries out of a stream, with or without their deliveries.")
        .syntax("key [condition<KEEPREF|DELREF|ACKED>] IDS ids(numids:int id...)")
        .group(Group::Stream)
        .since("8.2.0")
        .arity(-5)
        .write()
        .fast()
        .complexity("O(1) for each id, O(G) with G the number of groups but for KEEPREF.")
        .key(1, KeyFlags::RW.and(KeyFlags::DELETE));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let named = NamedIds::parse(args, 2)?;
    let key = context.key(args, 1);
    let Context { keys, reply, .. } = context;
    let Some(stream) = keys.stream_mut(&key)? else {
        reply.array(named.len());
        (0..named.len()).for_each(|_| reply.integer(Fate::Missing.number()));
        return DONE;
    };
    let ids = named.read(args)?;
    reply.array(ids.len());
    let mut deleted = 0;
    for id in ids {
        let exists = stream.contains(id);
        let fate = match delete(stream, id, named.references) {
            Fate::Deleted if !exists => Fate::Missing,
            fate => fate,
        };
        deleted += usize::from(fate == Fate::Deleted);
        reply.integer(fate.number());
    }
    if deleted > 0 {
        keys.changed(&key, Event::stream("xdel"));
    }
    DONE
}

/// Deletes an entry, if what refers to it allows that. As in Redis, one that is not there, or not
/// yet, is referred to like any other.
pub(super) fn delete(stream: &mut Stream, id: StreamId, references: References) -> Fate {
    match references {
        References::Acknowledged if stream.is_referenced(id) => return Fate::Referenced,
        References::Drop => stream.drop_references(id),
        References::Keep | References::Acknowledged => {}
    }
    stream.delete(id);
    Fate::Deleted
}
