//! INCREX: a counter with bounds and a lifetime, as rate limits need it.
//!
//! A result outside of the bounds leaves everything as it is, or with SATURATE becomes the bound.

use super::lifetime::Lifetime;
use super::text::Text;
use crate::{Args, Context, Cursor, DONE, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::{Event, Key, Millis, SetExpiry};
use caudal_table::NewValue;
use caudal_text::float::Extended;
use caudal_text::integer::{self, Decimal};
use caudal_wire::Reply;

pub(crate) const SPEC: Spec =
    Spec::new("INCREX", "Adds to the number at a key within bounds, and lets the key expire.")
        .syntax(
            "key [increment<BYFLOAT float:double|BYINT integer:int>] [LBOUND lowerbound:double] \
             [UBOUND upperbound:double] [SATURATE] [expiration<EX seconds:int|PX milliseconds:int|\
             EXAT unix-time-seconds:time|PXAT unix-time-milliseconds:time|PERSIST>] [ENX]",
        )
        .group(Group::String)
        .since("8.8.0")
        .arity(-2)
        .write()
        .deny_oom()
        .fast()
        .key(1, KeyFlags::RW.and(KeyFlags::ACCESS).and(KeyFlags::UPDATE));

const OVERFLOW: Error = Error::text("ERR increment or decrement would overflow");
const NOT_FINITE: Error = Error::text("ERR increment would produce NaN or Infinity");
const BAD_BOUNDS: Error = Error::text("ERR LBOUND can't be greater than UBOUND");

/// What becomes of the key's expiry.
#[derive(Clone, Copy)]
enum Life<'a> {
    Keep,
    Persist,
    Expire(Lifetime<'a>),
}

struct IncrEx<'a> {
    /// What is added, none for one.
    by: Option<&'a [u8]>,
    /// BYFLOAT.
    is_float: bool,
    lower: Option<&'a [u8]>,
    upper: Option<&'a [u8]>,
    saturates: bool,
    life: Life<'a>,
    /// ENX: a key that expires already keeps its expiry.
    if_no_expiry: bool,
}

impl<'a> IncrEx<'a> {
    fn parse(args: Args<'a>) -> Result<IncrEx<'a>, Error> {
        const NEEDS_EXPIRY: Error = Error::text("ERR ENX flag requires an expiration");
        let mut cursor = args.cursor(2);
        let mut increx = IncrEx {
            by: None,
            is_float: false,
            lower: None,
            upper: None,
            saturates: false,
            life: Life::Keep,
            if_no_expiry: false,
        };
        while cursor.left() > 0 {
            if !increx.option(&mut cursor) {
                return Err(Error::SYNTAX);
            }
        }
        match (increx.if_no_expiry, increx.life) {
            (true, Life::Persist) => Err(Error::SYNTAX),
            (true, Life::Keep) => Err(NEEDS_EXPIRY),
            _ => Ok(increx),
        }
    }

    /// Takes an option, each of which may come once.
    fn option(&mut self, cursor: &mut Cursor<'a>) -> bool {
        let operand = |cursor: &mut Cursor<'a>, word: &str| {
            (cursor.left() > 1 && cursor.take(word)).then(|| cursor.next()).flatten()
        };
        if let Some(by) = operand(cursor, "BYINT") {
            return self.by.replace(by).is_none();
        }
        if let Some(by) = operand(cursor, "BYFLOAT") {
            self.is_float = true;
            return self.by.replace(by).is_none();
        }
        if let Some(bound) = operand(cursor, "LBOUND") {
            return self.lower.replace(bound).is_none();
        }
        if let Some(bound) = operand(cursor, "UBOUND") {
            return self.upper.replace(bound).is_none();
        }
        if cursor.take("SATURATE") {
            return !std::mem::replace(&mut self.saturates, true);
        }
        if cursor.take("ENX") {
            return !std::mem::replace(&mut self.if_no_expiry, true);
        }
        let life = if cursor.take("PERSIST") {
            Some(Life::Persist)
        } else {
            Lifetime::take(cursor).map(Life::Expire)
        };
        let is_first = matches!(self.life, Life::Keep);
        life.is_some_and(|life| {
            self.life = life;
            is_first
        })
    }
}

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let increx = IncrEx::parse(args)?;
    let end = match increx.life {
        Life::Expire(lifetime) => Some(lifetime.end(context.keys.now, "increx")?),
        Life::Keep | Life::Persist => None,
    };
    let key = context.key(args, 1);
    let expiry = match (increx.life, end) {
        (_, Some(end)) if !increx.if_no_expiry || !expires(context, &key) => SetExpiry::At(end),
        (Life::Persist, _) => SetExpiry::Clear,
        _ => SetExpiry::Keep,
    };
    if increx.is_float {
        add_float(context, &key, &increx, expiry)
    } else {
        add(context, &key, &increx, expiry)
    }
}

fn expires(context: &Context<'_, '_>, key: &Key<'_>) -> bool {
    context.keys.peek(key).is_some_and(|record| record.expiry().is_some())
}

fn add(
    context: &mut Context<'_, '_>,
    key: &Key<'_>,
    increx: &IncrEx<'_>,
    expiry: SetExpiry,
) -> Outcome {
    let read = |word: Option<&[u8]>, or: i64| match word {
        None => Ok(or),
        Some(word) => integer::parse_i64(word).ok_or(Error::NOT_INTEGER),
    };
    let by = read(increx.by, 1)?;
    let (lower, upper) = (read(increx.lower, i64::MIN)?, read(increx.upper, i64::MAX)?);
    if lower > upper {
        return Err(BAD_BOUNDS);
    }
    let old = context.keys.string(key)?.map(Text::of);
    let old = read(old.as_deref(), 0)?;
    let within = |total: i128| total.clamp(i128::from(lower), i128::from(upper));
    let wanted = i128::from(old) + i128::from(by);
    let total = if increx.saturates { within(wanted) } else { wanted };
    if total != within(total) {
        reply_integers(&mut context.reply, old, 0);
        return DONE;
    }
    let (Ok(total), Ok(added)) = (i64::try_from(total), i64::try_from(total - i128::from(old)))
    else {
        return Err(OVERFLOW);
    };
    store(context, key, &Decimal::new(total), NewValue::Integer(total), expiry);
    reply_integers(&mut context.reply, total, added);
    DONE
}

fn reply_integers(reply: &mut Reply<'_>, total: i64, added: i64) {
    reply.array(2);
    reply.integer(total);
    reply.integer(added);
}

fn add_float(
    context: &mut Context<'_, '_>,
    key: &Key<'_>,
    increx: &IncrEx<'_>,
    expiry: SetExpiry,
) -> Outcome {
    let read = |word: &[u8]| Extended::parse(word).ok_or(Error::NOT_FLOAT);
    let by = read(increx.by.unwrap_or(b"1"))?;
    let (lower, upper) = (increx.lower.map(read).transpose()?, increx.upper.map(read).transpose()?);
    if let (Some(lower), Some(upper)) = (lower, upper)
        && upper.is_below(lower)
    {
        return Err(BAD_BOUNDS);
    }
    let old = context.keys.string(key)?.map(Text::of);
    let old = read(old.as_deref().unwrap_or(b"0"))?;
    let wanted = old.add(by);
    let passed = lower.filter(|lower| wanted.is_below(*lower));
    let passed = passed.or(upper.filter(|upper| upper.is_below(wanted)));
    let total = match passed {
        None => wanted,
        Some(bound) if increx.saturates => bound,
        Some(_) => {
            reply_floats(&mut context.reply, old, Extended::ZERO);
            return DONE;
        }
    };
    let added = if passed.is_none() { by } else { total.add(old.negated()) };
    if !total.is_finite() || !added.is_finite() {
        return Err(NOT_FINITE);
    }
    let mut text = Vec::new();
    total.format(&mut text);
    store(context, key, &text, NewValue::Bytes(&text), expiry);
    reply_floats(&mut context.reply, total, added);
    DONE
}

fn reply_floats(reply: &mut Reply<'_>, total: Extended, added: Extended) {
    reply.array(2);
    for number in [total, added] {
        let mut text = Vec::new();
        number.format(&mut text);
        reply.double_text(&text);
    }
}

/// Stores the result, and hands it on as a SET.
fn store(
    context: &mut Context<'_, '_>,
    key: &Key<'_>,
    text: &[u8],
    value: NewValue<'_>,
    expiry: SetExpiry,
) {
    let now: Millis = context.keys.now;
    let event = if matches!(value, NewValue::Integer(_)) { "incrby" } else { "incrbyfloat" };
    let had_expiry = expires(context, key);
    context.keys.set(key, value, expiry);
    context.keys.changed(key, Event::string(event));
    match expiry {
        SetExpiry::At(at) if at <= now => context.remove_as_expired(key),
        SetExpiry::At(at) => {
            context.keys.also(key, Event::generic("expire"));
            let at = Decimal::unsigned(at);
            context.keys.effect(&[b"SET", key.bytes, text, b"PXAT", &at]);
        }
        SetExpiry::Keep => context.keys.effect(&[b"SET", key.bytes, text, b"KEEPTTL"]),
        SetExpiry::Clear => {
            if had_expiry {
                context.keys.also(key, Event::generic("persist"));
            }
            context.keys.effect(&[b"SET", key.bytes, text]);
        }
    }
}
