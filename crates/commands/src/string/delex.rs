//! DELEX: the release of a lock by its owner, in Redis's words. Valkey's are DELIFEQ.

use super::comparison::Comparison;
use crate::{Args, Context, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;

pub(crate) const SPEC: Spec =
    Spec::new("DELEX", "Removes a key, if its string or its string's hash is as it must be.")
        .syntax(
            "key \
             [condition<IFEQ ifeq-value|IFNE ifne-value|IFDEQ ifdeq-digest|IFDNE ifdne-digest>]",
        )
        .group(Group::String)
        .since("8.4.0")
        .arity(-2)
        .write()
        .fast()
        .complexity("O(1) to compare strings, O(N) for the hash of a string of length N.")
        .key(1, KeyFlags::RW.and(KeyFlags::DELETE).and(KeyFlags::VARIABLE));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    const UNKNOWN: Error = Error::text("ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE");
    let comparison = match args.len() {
        2 => None,
        4 => Some(Comparison::take(&mut args.cursor(2))?.ok_or(UNKNOWN)?),
        _ => return Err(Error::arity("delex")),
    };
    let key = context.key(args, 1);
    if let Some(comparison) = comparison {
        let old = context.keys.string(&key)?;
        if old.is_none() || !comparison.holds(old) {
            return context.reply_integer(0);
        }
    }
    if !context.keys.remove(&key) {
        return context.reply_integer(0);
    }
    context.keys.changed(&key, Event::DEL);
    context.keys.effect(&[b"DEL", key.bytes]);
    context.reply_integer(1)
}
