//! GETEX.

use super::lifetime::LifetimeChange;
use crate::context::reply_string;
use crate::{Args, Context, DONE, Group, KeyFlags, Outcome, Spec};

pub(crate) const SPEC: Spec =
    Spec::new("GETEX", "Returns the string at a key and changes when the key expires.")
        .syntax(
            "key [expiration<EX seconds:int|PX milliseconds:int|EXAT unix-time-seconds:time|PXAT \
             unix-time-milliseconds:time|PERSIST>]",
        )
        .group(Group::String)
        .since("6.2.0")
        .arity(-2)
        .write()
        .fast()
        .key(1, KeyFlags::RW.and(KeyFlags::ACCESS).and(KeyFlags::UPDATE))
        .key_note("changes when the key expires");

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let change = LifetimeChange::parse(args, 2)?;
    let end = match change {
        LifetimeChange::Expire(lifetime) => Some(lifetime.end(context.keys.now, "getex")?),
        LifetimeChange::Nothing | LifetimeChange::Persist => None,
    };
    let key = context.key(args, 1);
    let value = context.keys.string(&key)?;
    reply_string(&mut context.reply, value);
    if value.is_none() {
        return DONE;
    }
    match (change, end) {
        (_, Some(end)) => context.expire_at(&key, end, &[]),
        (LifetimeChange::Persist, None) => {
            context.persist(&key);
        }
        _ => (),
    };
    DONE
}
