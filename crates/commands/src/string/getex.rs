//! GETEX.

use super::lifetime::Lifetime;
use crate::context::reply_string;
use crate::{Args, Context, DONE, Error, Group, KeyFlags, Outcome, Spec};

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

/// What becomes of the key's expiry.
#[derive(Clone, Copy)]
enum Change<'a> {
    Nothing,
    Persist,
    Expire(Lifetime<'a>),
}

impl<'a> Change<'a> {
    fn parse(args: Args<'a>) -> Result<Change<'a>, Error> {
        let mut cursor = args.cursor(2);
        let mut change = Change::Nothing;
        while cursor.left() > 0 {
            let said = if cursor.take("PERSIST") {
                Change::Persist
            } else {
                Lifetime::take(&mut cursor).map(Change::Expire).ok_or(Error::SYNTAX)?
            };
            change = match (change, said) {
                (Change::Nothing, _) | (Change::Persist, Change::Persist) => said,
                (Change::Expire(one), Change::Expire(two)) if one.unit == two.unit => said,
                _ => return Err(Error::SYNTAX),
            };
        }
        Ok(change)
    }
}

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let change = Change::parse(args)?;
    let end = match change {
        Change::Expire(lifetime) => Some(lifetime.end(context.keys.now, "getex")?),
        Change::Nothing | Change::Persist => None,
    };
    let key = context.key(args, 1);
    let value = context.keys.string(&key)?;
    reply_string(&mut context.reply, value);
    if value.is_none() {
        return DONE;
    }
    match (change, end) {
        (_, Some(end)) => context.expire_at(&key, end, &[]),
        (Change::Persist, None) => {
            context.persist(&key);
        }
        _ => (),
    };
    DONE
}
