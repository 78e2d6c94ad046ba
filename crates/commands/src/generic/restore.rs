//! RESTORE, and RESTORE-ASKING of cluster migrations, which is the same.

use crate::string::to_store;
use crate::{Args, Context, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::{Event, Frequency, Key, Millis, SetExpiry, access_clock};
use caudal_rdb::{Decoded, Decoding, payload};
use caudal_table::{CLOCK_MASK, INLINE_BYTES_MAX, NewValue};
use caudal_text::integer::Decimal;
use caudal_value::Blob;

const fn spec(name: &'static str, summary: &'static str, since: &'static str) -> Spec {
    Spec::new(name, summary)
        .since(since)
        .arity(-4)
        .write()
        .deny_oom()
        .categories(&["dangerous"])
        .complexity("O(N) with N the bytes of the value; O(N*log(N)) for a sorted set.")
        .key(1, KeyFlags::OW.and(KeyFlags::UPDATE))
}

pub(crate) const RESTORE: Spec = spec("RESTORE", "Makes a key of what DUMP returned.", "2.6.0")
    .syntax(
        "key ttl:int serialized-value [REPLACE@3.0.0] [ABSTTL@5.0.0] [IDLETIME seconds:int@5.0.0] \
         [FREQ frequency:int@5.0.0]",
    )
    .group(Group::Generic);
pub(crate) const RESTORE_ASKING: Spec =
    spec("RESTORE-ASKING", "Does what RESTORE does, for cluster migrations.", "3.0.0")
        .syntax(
            "key ttl:int serialized-value [REPLACE@3.0.0] [ABSTTL@5.0.0] \
             [IDLETIME seconds:int@5.0.0] [FREQ frequency:int@5.0.0]",
        )
        .group(Group::Server)
        .categories(&["keyspace", "dangerous"])
        .internal()
        .flag(crate::Flags::ASKING);

/// How a key is said to have been used.
#[derive(Clone, Copy)]
enum Used {
    Now,
    /// `IDLETIME`: seconds ago.
    Ago(u64),
    /// `FREQ`: an LFU policy's counter.
    Counted(u8),
}

struct Restore {
    replaces: bool,
    /// `ABSTTL`: the expiry is a Unix time.
    is_absolute: bool,
    used: Used,
}

impl Restore {
    fn parse(args: Args<'_>) -> Result<Restore, Error> {
        const BAD_IDLE_TIME: Error = Error::text("ERR Invalid IDLETIME value, must be >= 0");
        const BAD_FREQUENCY: Error = Error::text("ERR Invalid FREQ value, must be >= 0 and <= 255");
        let mut cursor = args.cursor(4);
        let mut restore = Restore { replaces: false, is_absolute: false, used: Used::Now };
        while cursor.left() > 0 {
            if cursor.take("REPLACE") {
                restore.replaces = true;
            } else if cursor.take("ABSTTL") {
                restore.is_absolute = true;
            } else if cursor.left() > 1
                && !matches!(restore.used, Used::Counted(_))
                && cursor.take("IDLETIME")
            {
                let seconds = args.integer(cursor.index())?;
                restore.used = Used::Ago(u64::try_from(seconds).map_err(|_| BAD_IDLE_TIME)?);
                cursor.next();
            } else if cursor.left() > 1
                && !matches!(restore.used, Used::Ago(_))
                && cursor.take("FREQ")
            {
                let count = args.integer(cursor.index())?;
                restore.used = Used::Counted(u8::try_from(count).map_err(|_| BAD_FREQUENCY)?);
                cursor.next();
            } else {
                return Err(Error::SYNTAX);
            }
        }
        Ok(restore)
    }

    /// The moment that the word after the key names; none for 0.
    fn expiry(&self, args: Args<'_>, now: Millis) -> Result<Option<Millis>, Error> {
        const BAD_TTL: Error = Error::text("ERR Invalid TTL value, must be >= 0");
        const LATEST: Millis = i64::MAX as Millis;
        let ttl = u64::try_from(args.integer(2)?).map_err(|_| BAD_TTL)?;
        let from = if self.is_absolute { 0 } else { now };
        Ok((ttl > 0).then(|| ttl.saturating_add(from).min(LATEST)))
    }
}

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    const BUSY: Error = Error::text("BUSYKEY Target key name already exists.");
    let restore = Restore::parse(args)?;
    let key = context.key(args, 1);
    if !restore.replaces && context.keys.kind_mut(&key).is_some() {
        return Err(BUSY);
    }
    let now = context.keys.now;
    let expiry = restore.expiry(args, now)?;
    let value = read(context, args.at(3))?;
    if expiry.is_some_and(|at| at <= now) {
        remove_instead(context, &key);
        return context.reply_ok();
    }
    store(context, &key, value, expiry.map_or(SetExpiry::Clear, SetExpiry::At));
    stamp(context, &key, restore.used);
    context.keys.changed(&key, Event::generic("restore"));
    if let Some(at) = expiry {
        give_effect(context, args, at);
    }
    context.reply_ok()
}

fn read(context: &Context<'_, '_>, payload: &[u8]) -> Result<Decoded, Error> {
    const BAD_FOOTER: Error = Error::text("ERR DUMP payload version or checksum are wrong");
    const BAD_DATA: Error = Error::text("ERR Bad data format");
    let trusting = context.settings.trusts_checksums;
    let (body, version) = payload::open(payload, trusting).map_err(|_| BAD_FOOTER)?;
    let decoding = Decoding {
        limits: context.keys.limits,
        string_bytes_max: usize::try_from(context.settings.string_bytes_max).unwrap_or(usize::MAX),
        version,
    };
    payload::value(body, &decoding).map_err(|_| BAD_DATA)
}

/// Stores it as SET would have: a string that spells an integer is one.
fn store(context: &mut Context<'_, '_>, key: &Key<'_>, value: Decoded, expiry: SetExpiry) {
    let value = match value {
        Decoded::Integer(integer) => NewValue::Integer(integer),
        Decoded::Object(object) => NewValue::Object(object),
        Decoded::Bytes(bytes) if bytes.len() > INLINE_BYTES_MAX => NewValue::Blob(Blob::new(bytes)),
        Decoded::Bytes(bytes) => return context.keys.set(key, to_store(&bytes), expiry),
    };
    context.keys.set(key, value, expiry);
}

/// The key is over before it begins: what it would have replaced is gone.
fn remove_instead(context: &mut Context<'_, '_>, key: &Key<'_>) {
    if context.keys.remove(key) {
        context.keys.changed(key, Event::DEL);
        context.keys.effect(&[b"UNLINK", key.bytes]);
    }
}

#[allow(clippy::cast_possible_truncation, reason = "what is masked fits the clock")]
fn stamp(context: &Context<'_, '_>, key: &Key<'_>, used: Used) {
    let Some(record) = context.keys.peek(key) else { return };
    let (usage, now) = (context.keys.usage, context.keys.now);
    match (used, usage.frequency) {
        (Used::Now, _) => record.set_clock(usage.born(now)),
        (Used::Ago(seconds), None) => {
            record.set_clock(access_clock(now).wrapping_sub(seconds as u32) & CLOCK_MASK);
        }
        (Used::Counted(count), Some(_)) => record.set_clock(Frequency::clock(count, now)),
        (Used::Ago(_), Some(_)) | (Used::Counted(_), None) => {}
    }
}

/// The same command with the expiry's moment.
fn give_effect(context: &mut Context<'_, '_>, args: Args<'_>, at: Millis) {
    if !context.keys.effects.wanted() {
        return;
    }
    let moment = Decimal::unsigned(at);
    let mut words: Vec<&[u8]> = args.from(0).collect();
    words[2] = &moment;
    if !args.from(4).any(|word| word.eq_ignore_ascii_case(b"ABSTTL")) {
        words.push(b"ABSTTL");
    }
    context.keys.effect(&words);
}
