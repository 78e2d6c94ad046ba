//! TYPE, and the names of the types.

use crate::{Args, Context, DONE, Group, KeyFlags, Outcome, Spec};
use caudal_table::Kind;

pub(crate) const SPEC: Spec = Spec::new("TYPE", "Names the type of the value at a key.")
    .syntax("key")
    .group(Group::Generic)
    .arity(2)
    .readonly()
    .fast()
    .key(1, KeyFlags::RO);

/// All that [`name`] can answer for a key that exists; SCAN refuses others.
pub(super) const NAMES: [&str; 6] = ["string", "list", "set", "zset", "hash", "stream"];

/// Redis's name for a type.
pub(super) fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::String => "string",
        Kind::List => "list",
        Kind::Set => "set",
        Kind::Hash => "hash",
        Kind::SortedSet => "zset",
        Kind::Stream => "stream",
    }
}

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    let kind = context.keys.observe(&key).map(|record| record.kind());
    context.reply.status(kind.map_or("none", name));
    DONE
}
