//! MSETEX.

use super::lifetime::Expiry;
use super::text::to_store;
use crate::{Args, Context, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::{Event, Millis, SetExpiry};
use caudal_text::integer::Decimal;

pub(crate) const SPEC: Spec =
    Spec::new("MSETEX", "Stores strings at several keys, which may expire together.")
        .syntax(
            "numkeys:int data(key value)... [condition<NX|XX>] [expiration<EX seconds:int|PX \
             milliseconds:int|EXAT unix-time-seconds:time|PXAT unix-time-milliseconds:time|\
             KEEPTTL>]",
        )
        .group(Group::String)
        .since("9.1.0")
        .arity(-4)
        .write()
        .deny_oom()
        .complexity("O(N) with N the number of keys.")
        .tips(&["request_policy:multi_shard", "response_policy:all_succeeded"])
        .key_count_pairs(1, KeyFlags::OW.and(KeyFlags::UPDATE));

/// Argument of the first key.
const FIRST: usize = 2;

struct MsetEx<'a> {
    /// Argument behind the last value.
    pairs_end: usize,
    /// Whether all keys must exist, or none.
    keys_exist: Option<bool>,
    expiry: Expiry<'a>,
    /// Argument of the amount of time that counts, if there is one.
    amount: usize,
}

impl<'a> MsetEx<'a> {
    fn parse(args: Args<'a>) -> Result<MsetEx<'a>, Error> {
        const BAD_COUNT: Error = Error::text("ERR invalid numkeys value or out of range");
        let count = args.integer(1).ok().and_then(|count| i32::try_from(count).ok());
        let count = count.and_then(|count| usize::try_from(count).ok()).filter(|it| *it > 0);
        let pairs_end = FIRST + 2 * count.ok_or(BAD_COUNT)?;
        if pairs_end > args.len() {
            return Err(Error::SYNTAX);
        }
        let mut cursor = args.cursor(pairs_end);
        let mut mset =
            MsetEx { pairs_end, keys_exist: None, expiry: Expiry::Clear, amount: usize::MAX };
        while cursor.left() > 0 {
            let wanted = if cursor.take("NX") {
                false
            } else if cursor.take("XX") {
                true
            } else if mset.expiry.take(&mut cursor)? {
                if let Expiry::After(_) = mset.expiry {
                    mset.amount = cursor.index() - 1;
                }
                continue;
            } else {
                return Err(Error::SYNTAX);
            };
            if mset.keys_exist.replace(wanted).is_some_and(|before| before != wanted) {
                return Err(Error::SYNTAX);
            }
        }
        Ok(mset)
    }
}

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let mset = MsetEx::parse(args)?;
    let expiry = mset.expiry.resolve(context.keys.now, "msetex")?;
    let pairs = || (FIRST..mset.pairs_end).step_by(2);
    if let Some(wanted) = mset.keys_exist {
        let exists = |index| context.keys.peek(&context.key(args, index)).is_some();
        if pairs().any(|index| exists(index) != wanted) {
            return context.reply_integer(0);
        }
    }
    for index in pairs() {
        let key = context.key(args, index);
        context.keys.set(&key, to_store(args.at(index + 1)), expiry);
        context.keys.changed(&key, Event::string("set"));
        if let SetExpiry::At(_) = expiry {
            context.keys.also(&key, Event::generic("expire"));
        }
    }
    if let SetExpiry::At(at) = expiry {
        give_effect(context, args, mset.amount, at);
    }
    context.reply_integer(1)
}

/// The command's own words with the moment in place of the lifetime.
fn give_effect(context: &mut Context<'_, '_>, args: Args<'_>, amount: usize, at: Millis) {
    if !context.keys.effects.wanted() {
        return;
    }
    let at = Decimal::unsigned(at);
    let mut words: Vec<&[u8]> = args.from(0).collect();
    words[amount - 1] = b"PXAT";
    words[amount] = &at;
    context.keys.effect(&words);
}
