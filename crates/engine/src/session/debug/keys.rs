//! DEBUG on data: digests, what a value looks like inside, many keys at once.

use super::digest::Digest;
use crate::engine::Engine;
use crate::execute::Progress;
use crate::session::{Outcome, Session};
use crate::worker::Worker;
use caudal_commands::{Args, Error};
use caudal_keyspace::{
    Cursor, Event, Held, Key, Keys, Place, SetExpiry, Usage, Wanted, access_clock,
};
use caudal_rdb::{Source, encode};
use caudal_table::{Mode, NewValue, RecordRef, ValueRef};
use caudal_text::integer;
use caudal_value::Object;

/// Records that a walk visits at a time.
const WALK_BUDGET: usize = 4096;

pub(super) fn digest(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    let Session { engine, worker, connection, .. } = session;
    let engine = *engine;
    let now = worker.now.unix_ms;
    Ok(worker.alone(engine, connection, |_, connection| {
        let mut digest = Digest::default();
        walk(engine, now, &mut |database, record| digest.mix(Digest::of_key(database, record)));
        connection.reply().status(&digest.hex());
    }))
}

/// Visits all keys of all databases. At the gate.
fn walk(engine: &Engine, now: u64, visit: &mut dyn FnMut(u8, RecordRef<'_>)) {
    for database in 0..engine.keyspace.databases() {
        let database = u8::try_from(database).expect("at most 256 databases");
        let mut from = Some(Cursor::START);
        while let Some(cursor) = from {
            let step = engine.keyspace.scan((database, now), cursor, WALK_BUDGET, &mut |record| {
                visit(database, record);
            });
            from = step.expect("nobody holds a slot while the gate is complete");
        }
    }
}

impl Worker {
    /// Calls `with` with the keys of a database, one key's slot locked. At the gate.
    fn with_key<R>(
        &mut self,
        engine: &Engine,
        database: u8,
        key: &[u8],
        with: impl FnOnce(&mut Keys<'_, '_>, Key<'_>) -> R,
    ) -> R {
        let key = Key { bytes: key, hash: engine.keyspace.hash(key) };
        let place = Place { database, slot: key.hash.slot().0 };
        let held = Held::one(&engine.keyspace, Wanted { place, mode: Mode::Exclusive });
        let mut held = held.expect("nobody holds a slot while the gate is complete");
        let mut keys = Keys {
            held: &mut held,
            keyspace: &engine.keyspace,
            database,
            now: self.now.unix_ms,
            limits: &self.tuning.limits,
            counters: &engine.workers[self.id].counters,
            effects: &mut self.effects,
            ready: &mut self.ready_keys,
            stale: &self.stale,
            changes: 0,
            explained: false,
            usage: Usage::new(false, self.now.unix_ms, self.tuning.frequency.as_ref()),
        };
        with(&mut keys, key)
    }
}

pub(super) fn digest_value(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let Session { engine, worker, connection, .. } = session;
    let engine = *engine;
    Ok(worker.alone(engine, connection, |worker, connection| {
        let database = connection.database;
        connection.reply().array(args.len() - 2);
        for key in args.from(2) {
            let digest = worker.with_key(engine, database, key, |keys, key| {
                keys.peek(&key).map_or(Digest::default(), |at| Digest::of_value(at.value()))
            });
            connection.reply().status(&digest.hex());
        }
    }))
}

/// Calls `describe` with the record of the key at argument 2, and replies with its text.
fn describe_key(
    session: &mut Session<'_, '_>,
    args: Args<'_>,
    describe: impl FnOnce(RecordRef<'_>) -> Result<String, Error>,
) -> Outcome {
    let Session { engine, worker, connection, .. } = session;
    let engine = *engine;
    let mut found = None;
    let progress = worker.alone(engine, connection, |worker, connection| {
        let database = connection.database;
        found = Some(worker.with_key(engine, database, args.at(2), |keys, key| {
            keys.peek(&key).ok_or(Error::NO_SUCH_KEY).and_then(describe)
        }));
    });
    match found {
        None => return Ok(progress),
        Some(text) => session.reply().status(&text?),
    }
    Ok(Progress::Done)
}

/// The line that tests look into: encoding, length, idle time.
pub(super) fn object(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let now = access_clock(session.worker.now.unix_ms);
    describe_key(session, args, |record| {
        let clock = record.clock();
        let idle = now.wrapping_sub(clock) & caudal_table::CLOCK_MASK;
        Ok(format!(
            // Where a record lies is nobody's business.
            "Value at:0x0 refcount:1 encoding:{} serializedlength:{} lru:{clock} \
             lru_seconds_idle:{idle}",
            encoding(record.value()),
            serialized_len(record.value()),
        ))
    })
}

/// Bytes of the value in an RDB file, its type's byte left out.
fn serialized_len(value: ValueRef<'_>) -> usize {
    let mut bytes = Vec::new();
    let source = match value {
        ValueRef::Integer(integer) => Source::Integer(integer),
        ValueRef::Bytes(text) => Source::Bytes(text),
        ValueRef::Blob(blob) => Source::Bytes(blob),
        ValueRef::Object(object) => Source::Object(object),
    };
    encode(source, &mut bytes);
    bytes.len() - 1
}

pub(super) fn lengths(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    describe_key(session, args, |record| {
        let value = match record.value() {
            ValueRef::Bytes(text) => text.len(),
            ValueRef::Blob(blob) => blob.len(),
            ValueRef::Integer(_) | ValueRef::Object(_) => {
                return Err(Error::text("ERR Not an sds encoded string."));
            }
        };
        Ok(format!(
            "key_sds_len:{} key_sds_avail:0 obj_alloc:{} val_sds_len:{value} val_sds_avail:0 \
             val_alloc:0",
            record.key().len(),
            record.memory(),
        ))
    })
}

pub(super) fn listpack(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    describe_key(session, args, |record| match (encoding(record.value()), record.value()) {
        ("listpack", ValueRef::Object(object)) => {
            Ok(format!("listpack elements:{} bytes:{}", len_of(object), record.memory()))
        }
        _ => Err(Error::text("ERR Not a listpack encoded object.")),
    })
}

pub(super) fn key_table_stats(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    describe_key(session, args, |record| match (encoding(record.value()), record.value()) {
        ("hashtable" | "skiplist", ValueRef::Object(object)) => Ok(format!(
            "Tree stats (main tree): number of entries: {} bytes: {}",
            len_of(object),
            record.memory()
        )),
        _ => Err(Error::text(
            "ERR The value stored at the specified key is not represented using an hash table",
        )),
    })
}

/// Keys, and those that expire, of a database.
pub(super) fn table_stats(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    const OUT_OF_RANGE: Error = Error::text("ERR Out of range database");
    let number = usize::try_from(args.integer(2)?).map_err(|_| OUT_OF_RANGE)?;
    if number >= session.engine.keyspace.databases() {
        return Err(OUT_OF_RANGE);
    }
    let totals = session.engine.totals(u8::try_from(number).map_err(|_| OUT_OF_RANGE)?);
    let text = format!(
        "[Dictionary HT]\n number of entries: {}\n[Expires HT]\n number of entries: {}\n",
        totals.keys, totals.volatile
    );
    session.reply_text(&text)
}

fn len_of(object: &Object) -> usize {
    match object {
        Object::List(list) => list.len(),
        Object::Set(set) => set.len(),
        Object::Hash(hash) => hash.len(),
        Object::SortedSet(set) => set.len(),
        Object::Stream(stream) => stream.len(),
    }
}

/// OBJECT ENCODING's name.
fn encoding(value: ValueRef<'_>) -> &'static str {
    /// Longest string that Redis stores with its object.
    const EMBEDDED_BYTES_MAX: usize = 44;
    match value {
        ValueRef::Integer(_) => "int",
        ValueRef::Bytes(bytes) if bytes.len() <= EMBEDDED_BYTES_MAX => "embstr",
        ValueRef::Bytes(_) | ValueRef::Blob(_) => "raw",
        ValueRef::Object(Object::List(list)) => list.encoding(),
        ValueRef::Object(Object::Set(set)) => set.encoding(),
        ValueRef::Object(Object::Hash(hash)) => hash.encoding(),
        ValueRef::Object(Object::SortedSet(set)) => set.encoding(),
        ValueRef::Object(Object::Stream(stream)) => stream.encoding(),
    }
}

/// `prefix:0` .. with `value:0` .., as in Redis; keys that are there stay.
pub(super) fn populate(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let count = integer::parse_u64(args.at(2)).ok_or(Error::NOT_POSITIVE)?;
    let prefix = args.get(3).unwrap_or(b"key");
    let bytes = args.get(4).map(|word| integer::parse_u64(word).ok_or(Error::NOT_POSITIVE));
    let bytes = bytes.transpose()?.unwrap_or(0);
    let bytes = usize::try_from(bytes).map_err(|_| Error::NOT_POSITIVE)?;
    if bytes > session.worker.tuning.config.clients.bulk_bytes_max {
        return Err(Error::TOO_LONG);
    }
    let Session { engine, worker, connection, .. } = session;
    let engine = *engine;
    Ok(worker.alone(engine, connection, |worker, connection| {
        for index in 0..count {
            let key = [prefix, b":", index.to_string().as_bytes()].concat();
            let mut value = format!("value:{index}").into_bytes();
            if bytes > 0 {
                value.resize(bytes, 0);
            }
            worker.with_key(engine, connection.database, &key, |keys, key| {
                if keys.kind_mut(&key).is_none() {
                    keys.set(&key, NewValue::Bytes(&value), SetExpiry::Clear);
                    keys.changed(&key, Event::string("set"));
                    keys.effect(&[b"SET", key.bytes, &value]);
                }
            });
        }
        connection.reply().ok();
    }))
}
