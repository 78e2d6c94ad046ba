//! SET.

use super::comparison::Comparison;
use super::lifetime::Expiry;
use super::text::to_store;
use crate::context::reply_string;
use crate::{Args, Context, DONE, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::{Event, Key, SetExpiry, WrongType};
use caudal_text::integer::Decimal;

pub(crate) const SPEC: Spec = Spec::new("SET", "Stores a string at a key.")
    .syntax(
        "key value [condition<NX@2.6.12|XX@2.6.12|IFEQ comparison-value@8.1.0|IFNE \
         different-value@8.4.0|IFDEQ digest@8.4.0|IFDNE different-digest@8.4.0>] [GET@6.2.0] \
         [expiration<EX seconds:int@2.6.12|PX milliseconds:int@2.6.12|EXAT \
         unix-time-seconds:time@6.2.0|PXAT unix-time-milliseconds:time@6.2.0|KEEPTTL@6.0.0>]",
    )
    .group(Group::String)
    .arity(-3)
    .write()
    .deny_oom()
    .key(1, KeyFlags::RW.and(KeyFlags::ACCESS).and(KeyFlags::UPDATE).and(KeyFlags::VARIABLE))
    .key_note("it is read only for GET");

/// Words of a SET without options.
const PLAIN: usize = 3;

#[inline]
pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    if args.len() > PLAIN {
        return apply_options(context, args);
    }
    let key = context.key(args, 1);
    context.keys.set(&key, to_store(args.at(2)), SetExpiry::Clear);
    context.keys.changed(&key, Event::string("set"));
    context.reply_ok()
}

/// When the string is stored.
#[derive(Clone, Copy)]
enum Condition<'a> {
    Always,
    IfAbsent,
    IfPresent,
    If(Comparison<'a>),
}

struct Set<'a> {
    condition: Condition<'a>,
    expiry: Expiry<'a>,
    /// `GET`: the reply is the old string.
    returns_old: bool,
}

impl<'a> Set<'a> {
    fn parse(args: Args<'a>) -> Result<Set<'a>, Error> {
        let mut cursor = args.cursor(PLAIN);
        let mut set =
            Set { condition: Condition::Always, expiry: Expiry::Clear, returns_old: false };
        while cursor.left() > 0 {
            if cursor.take("GET") {
                set.returns_old = true;
                continue;
            }
            let said = if cursor.take("NX") {
                Condition::IfAbsent
            } else if cursor.take("XX") {
                Condition::IfPresent
            } else if let Some(comparison) = Comparison::take(&mut cursor)? {
                Condition::If(comparison)
            } else if set.expiry.take(&mut cursor)? {
                continue;
            } else {
                return Err(Error::SYNTAX);
            };
            // NX and XX may be said twice, but only one condition at all.
            set.condition = match (set.condition, said) {
                (Condition::Always, _)
                | (Condition::IfAbsent, Condition::IfAbsent)
                | (Condition::IfPresent, Condition::IfPresent) => said,
                _ => return Err(Error::SYNTAX),
            };
        }
        Ok(set)
    }

    /// Whether the condition holds. The old value must be a string if it is returned or compared.
    fn is_met(&self, context: &Context<'_, '_>, key: &Key<'_>) -> Result<bool, WrongType> {
        let is_present = |context: &Context<'_, '_>| match self.returns_old {
            true => context.keys.string(key).map(|old| old.is_some()),
            false => Ok(context.keys.peek(key).is_some()),
        };
        match self.condition {
            Condition::Always if !self.returns_old => Ok(true),
            Condition::Always => context.keys.string(key).map(|_| true),
            Condition::IfAbsent => is_present(context).map(|found| !found),
            Condition::IfPresent => is_present(context),
            Condition::If(comparison) => Ok(comparison.holds(context.keys.string(key)?)),
        }
    }
}

fn apply_options(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let set = Set::parse(args)?;
    let expiry = set.expiry.resolve(context.keys.now, "set")?;
    let (key, value) = (context.key(args, 1), args.at(2));
    let is_met = set.is_met(context, &key)?;
    if set.returns_old {
        let old = context.keys.peek(&key).map(|record| record.value());
        reply_string(&mut context.reply, old);
    } else if is_met {
        context.reply.ok();
    } else {
        context.reply.null();
    }
    if !is_met {
        return DONE;
    }
    match expiry {
        SetExpiry::At(at) if at <= context.keys.now => {
            context.remove_as_expired(&key);
        }
        SetExpiry::At(at) => {
            context.keys.set(&key, to_store(value), expiry);
            context.keys.changed(&key, Event::string("set"));
            context.keys.also(&key, Event::generic("expire"));
            context.keys.effect(&[b"SET", key.bytes, value, b"PXAT", &Decimal::unsigned(at)]);
        }
        SetExpiry::Clear | SetExpiry::Keep => {
            context.keys.set(&key, to_store(value), expiry);
            context.keys.changed(&key, Event::string("set"));
            match set.condition {
                // Replicas and other servers may not know the word, and the condition held.
                Condition::If(_) if expiry == SetExpiry::Keep => {
                    context.keys.effect(&[b"SET", key.bytes, value, b"KEEPTTL"]);
                }
                Condition::If(_) => context.keys.effect(&[b"SET", key.bytes, value]),
                _ if set.returns_old => give_effect_without_get(context, args),
                _ => {}
            }
        }
    }
    DONE
}

fn give_effect_without_get(context: &mut Context<'_, '_>, args: Args<'_>) {
    if !context.keys.effects.wanted() {
        return;
    }
    let kept = (0..args.len()).filter(|index| *index < PLAIN || !args.is(*index, "GET"));
    let words: Vec<&[u8]> = kept.map(|index| args.at(index)).collect();
    context.keys.effect(&words);
}
