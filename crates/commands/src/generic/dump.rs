//! DUMP.

use crate::{Args, Context, DONE, Group, KeyFlags, Outcome, Spec};
use caudal_rdb::{Source, payload};
use caudal_table::ValueRef;

pub(crate) const SPEC: Spec = Spec::new("DUMP", "Returns a value as bytes that RESTORE takes.")
    .syntax("key")
    .group(Group::Generic)
    .since("2.6.0")
    .arity(2)
    .readonly()
    .tips(&["nondeterministic_output"])
    .complexity("O(N) with N the bytes of the value.")
    .key(1, KeyFlags::RO.and(KeyFlags::ACCESS));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    match context.keys.find(&key) {
        None => context.reply.null(),
        Some(record) => context.reply.bulk(&payload::dump(source(record.value()))),
    }
    DONE
}

fn source(value: ValueRef<'_>) -> Source<'_> {
    match value {
        ValueRef::Integer(integer) => Source::Integer(integer),
        ValueRef::Bytes(bytes) => Source::Bytes(bytes),
        ValueRef::Blob(blob) => Source::Bytes(blob),
        ValueRef::Object(object) => Source::Object(object),
    }
}
