//! PERSIST.

use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::{Event, Key};

pub(crate) const SPEC: Spec = Spec::new("PERSIST", "Takes the expiry of a key away.")
    .syntax("key")
    .group(Group::Generic)
    .since("2.2.0")
    .arity(2)
    .write()
    .fast()
    .key(1, KeyFlags::RW.and(KeyFlags::UPDATE));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    let changed = context.persist(&key);
    context.reply_integer(i64::from(changed))
}

impl Context<'_, '_> {
    /// Takes the expiry of a key away. False if it has none.
    pub(crate) fn persist(&mut self, key: &Key<'_>) -> bool {
        if self.keys.peek(key).and_then(|record| record.expiry()).is_none() {
            return false;
        }
        self.keys.set_expiry(key, None);
        self.keys.changed(key, Event::generic("persist"));
        self.keys.effect(&[b"PERSIST", key.bytes]);
        true
    }
}
