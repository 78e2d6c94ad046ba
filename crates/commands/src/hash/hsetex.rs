//! HSETEX.

use super::fields;
use crate::string::Expiry;
use crate::{Args, Context, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::{Counters, Event, HashMut, Key, SetExpiry};
use caudal_text::integer::Decimal;

pub(crate) const SPEC: Spec =
    Spec::new("HSETEX", "Sets fields of a hash to values, and when they expire.")
        .syntax(
            "key [key-condition<NX|XX>] [fields-condition<FNX|FXX>] \
             [expiration<EX seconds:int|PX milliseconds:int|EXAT unix-time-seconds:time|\
             PXAT unix-time-milliseconds:time|KEEPTTL>] \
             FIELDS fields(numfields:int data(field value)...)",
        )
        .group(Group::Hash)
        .since("9.0.0")
        .arity(-6)
        .write()
        .deny_oom()
        .fast()
        .complexity("O(N) with N the number of fields given.")
        .key(1, KeyFlags::RW.and(KeyFlags::INSERT));

struct HSetEx<'a> {
    /// `XX` true, `NX` false: whether the key must exist.
    key_exists: Option<bool>,
    /// `FXX` true, `FNX` false: whether all fields must exist, or none may.
    fields_exist: Option<bool>,
    expiry: Expiry<'a>,
}

impl<'a> HSetEx<'a> {
    fn parse(options: Args<'a>) -> Result<HSetEx<'a>, Error> {
        let mut parsed = HSetEx { key_exists: None, fields_exist: None, expiry: Expiry::Clear };
        let mut cursor = options.cursor(2);
        while cursor.left() > 0 {
            let (condition, said) = if cursor.take("NX") {
                (&mut parsed.key_exists, false)
            } else if cursor.take("XX") {
                (&mut parsed.key_exists, true)
            } else if cursor.take("FNX") {
                (&mut parsed.fields_exist, false)
            } else if cursor.take("FXX") {
                (&mut parsed.fields_exist, true)
            } else if parsed.expiry.take(&mut cursor)? {
                continue;
            } else {
                return Err(Error::SYNTAX);
            };
            if condition.is_some_and(|before| before != said) {
                return Err(Error::SYNTAX);
            }
            *condition = Some(said);
        }
        Ok(parsed)
    }
}

/// The fields and values of a command.
struct Pairs<'a> {
    args: Args<'a>,
    first: usize,
}

impl<'a> Pairs<'a> {
    fn iter(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        let args = self.args;
        (self.first..args.len()).step_by(2).map(move |at| (args.at(at), args.at(at + 1)))
    }

    fn len(&self) -> usize {
        (self.args.len() - self.first) / 2
    }

    /// Whether they may be set: all exist in the hash, or none.
    fn meet(&self, hash: &mut HashMut<'_>, exist: Option<bool>) -> bool {
        exist.is_none_or(|exist| self.iter().all(|(field, _)| hash.contains(field) == exist))
    }
}

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    const NOT_SET: i64 = 0;
    const SET: i64 = 1;
    let at = fields::find(args, 2)?;
    let HSetEx { key_exists, fields_exist, expiry } = HSetEx::parse(args.until(at))?;
    let pairs = Pairs { args, first: fields::first(args, at, 2, fields::NUMBER)? };
    let (key, now) = (context.key(args, 1), context.keys.now);
    if let Some(must) = key_exists
        && context.keys.edit_hash(&key, |_| ())?.is_some() != must
    {
        return context.reply_integer(NOT_SET);
    }
    let expiry = match expiry.resolve_or_past(now, "hsetex") {
        Ok(expiry) => expiry,
        Err(error) => {
            // A key of another type is told before it.
            context.keys.edit_hash(&key, |_| ())?;
            return Err(error);
        }
    };
    let done = if matches!(expiry, SetExpiry::At(end) if end <= now) {
        remove(context, &key, &pairs, fields_exist)?
    } else {
        set(context, &key, &pairs, fields_exist, expiry)?
    };
    context.keys.drop_empty_hash(&key);
    context.reply_integer(if done { SET } else { NOT_SET })
}

/// Sets the fields if they meet the condition.
fn set(
    context: &mut Context<'_, '_>,
    key: &Key<'_>,
    pairs: &Pairs<'_>,
    exist: Option<bool>,
    expiry: SetExpiry,
) -> Result<bool, Error> {
    let done = context.keys.change_hash(key, |hash| {
        if !pairs.meet(hash, exist) {
            return false;
        }
        hash.anticipate(pairs.len());
        for (field, value) in pairs.iter() {
            let moment = match expiry {
                SetExpiry::Clear => None,
                SetExpiry::Keep => hash.get_timed(field).and_then(|(_, moment)| moment),
                SetExpiry::At(end) => Some(end),
            };
            hash.insert_until(field, value, moment);
        }
        true
    })?;
    if !done {
        return Ok(false);
    }
    context.keys.changed(key, Event::hash("hset"));
    let end = if let SetExpiry::At(end) = expiry { Some(Decimal::unsigned(end)) } else { None };
    if end.is_some() {
        context.keys.also(key, Event::hash("hexpire"));
    }
    if context.keys.effects.wanted() {
        let count = Decimal::unsigned(pairs.len() as u64);
        let mut words = vec![b"HSETEX".as_slice(), key.bytes];
        match (&end, expiry) {
            (Some(end), _) => words.extend([b"PXAT", &**end]),
            (None, SetExpiry::Keep) => words.push(b"KEEPTTL"),
            (None, _) => {}
        }
        words.extend([b"FIELDS", &*count]);
        words.extend(pairs.args.from(pairs.first));
        context.keys.effect(&words);
    }
    Ok(true)
}

/// Sets the fields to end in the past, if they meet the condition: they are gone at once.
fn remove(
    context: &mut Context<'_, '_>,
    key: &Key<'_>,
    pairs: &Pairs<'_>,
    exist: Option<bool>,
) -> Result<bool, Error> {
    let removed = context.keys.edit_hash(key, |hash| {
        let fields = pairs.iter().map(|(field, _)| field);
        pairs.meet(hash, exist).then(|| fields.filter(|field| hash.remove(field)).collect())
    })?;
    let is_new = removed.is_none();
    let removed: Vec<&[u8]> = match removed {
        Some(None) => return Ok(false),
        None if exist == Some(true) => return Ok(false),
        Some(Some(removed)) => removed,
        None => Vec::new(),
    };
    Counters::count(&context.keys.counters.expired_fields, pairs.len() as u64);
    let events = ["hset", "hexpire", "hexpired"].map(Event::hash);
    if removed.is_empty() {
        // Who watches the key has seen no change.
        let (new, gone) = (is_new.then_some(Event::NEW), is_new.then_some(Event::DEL));
        let events = new.into_iter().chain(events).chain(gone);
        events.for_each(|event| context.keys.tell(key, event));
    } else {
        let [set, expire, expired] = events;
        context.keys.changed(key, set);
        context.keys.also(key, expire);
        context.keys.also(key, expired);
        context.keys.effect(&[&[b"HDEL", key.bytes], &removed[..]].concat());
    }
    Ok(true)
}
