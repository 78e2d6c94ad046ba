//! DEBUG: for tests of the server and of clients.
//!
//! Its spec is at the gate, so that inside EXEC too it finds no slot locked. What a subcommand of
//! Redis would do to something that Caudal has not got (a save file, an encoding's private
//! threshold) is answered only if doing nothing is the truth; the others are unknown.

mod digest;
mod keys;
mod protocol;
mod switches;

use crate::session::{DONE, Outcome, Session, SessionCommand, help, on_server};
use caudal_commands::{Args, Error, Flags, Spec};
use caudal_text::{float, glob};
use std::time::Duration;

/// The longest DEBUG SLEEP: more is a mistake.
const SLEEP_SECONDS_MAX: f64 = 3600.0;

const DEBUG: Spec = on_server("DEBUG", "Does what tests need.")
    .internal()
    .arity(-2)
    .complexity("Depends on subcommand.")
    .flag(Flags::PROTECTED)
    .at_gate();

/// The family.
pub(super) const COMMANDS: &[SessionCommand] = &[SessionCommand::new(DEBUG, debug)];

/// Subcommands: name, least and most words (both of DEBUG's included), what it does, code.
struct Subcommand {
    name: &'static str,
    words: (usize, usize),
    help: &'static str,
    apply: fn(&mut Session<'_, '_>, Args<'_>) -> Outcome,
}

const fn subcommand(
    name: &'static str,
    words: (usize, usize),
    help: &'static str,
    apply: fn(&mut Session<'_, '_>, Args<'_>) -> Outcome,
) -> Subcommand {
    Subcommand { name, words, help, apply }
}

const SUBCOMMANDS: &[Subcommand] = &[
    subcommand("CHANGE-REPL-ID", (2, 2), "Nothing replicates: nothing changes.", ok),
    subcommand("CLIENT-EVICTION", (2, 2), "Clients are not evicted: says so.", client_eviction),
    subcommand("DIGEST", (2, 2), "Returns a digest of all data.", keys::digest),
    subcommand("DIGEST-VALUE", (2, MANY), "Returns digests of keys' values.", keys::digest_value),
    subcommand("ERROR", (3, 3), "Replies with this error.", error),
    subcommand("HELP", (2, 2), "Prints this help.", help),
    subcommand("HTSTATS", (3, 4), "Tells how many keys a database has.", keys::table_stats),
    subcommand("HTSTATS-KEY", (3, 4), "Describes a key's large value.", keys::key_table_stats),
    subcommand("LISTPACK", (3, 3), "Tells the size of a key's small value.", keys::listpack),
    subcommand("OBJECT", (3, 4), "Describes a key's value.", keys::object),
    subcommand("POPULATE", (3, 5), "Makes a number of keys: [prefix] [bytes].", keys::populate),
    subcommand("PROTOCOL", (3, 3), "Replies with a value of that type.", protocol::reply),
    subcommand("RELOAD", (2, MANY), "There is no file to go through: the data stays.", ok),
    subcommand("SDSLEN", (3, 3), "Tells the lengths of a key and its string.", keys::lengths),
    subcommand("SLEEP", (3, 3), "Keeps this worker busy for some seconds.", sleep),
    subcommand("STRINGMATCH-LEN", (4, 4), "Whether so many letters a match.", string_match),
];

/// Any number of words.
const MANY: usize = usize::MAX;

/// All subcommands.
fn all() -> impl Iterator<Item = &'static Subcommand> {
    SUBCOMMANDS.iter().chain(switches::SUBCOMMANDS)
}

fn debug(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let fits =
        |at: &&Subcommand| args.is(1, at.name) && (at.words.0..=at.words.1).contains(&args.len());
    let Some(subcommand) = all().find(fits) else {
        let before = "ERR unknown subcommand or wrong number of arguments for '";
        return Err(Error::quoting(before, args.at(1), "'. Try DEBUG HELP."));
    };
    (subcommand.apply)(session, args)
}

fn help(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    let mut lines = Vec::new();
    for at in all() {
        lines.push(at.name.to_owned());
        lines.push(format!("    {}", at.help));
    }
    help::reply(session, "DEBUG", &lines)
}

fn ok(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    session.reply_ok()
}

fn error(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    session.reply().error_bytes(args.at(2));
    DONE
}

/// As in Redis, what is no number is no time.
fn sleep(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let seconds = float::parse_f64(args.at(2)).unwrap_or(0.0);
    let seconds = if seconds.is_nan() { 0.0 } else { seconds.clamp(0.0, SLEEP_SECONDS_MAX) };
    (session.engine.environment.sleep)(Duration::from_secs_f64(seconds));
    session.reply_ok()
}

fn string_match(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let length = usize::try_from(args.positive(2)?).map_err(|_| Error::NOT_POSITIVE)?;
    if length > session.worker.tuning.config.clients.bulk_bytes_max {
        return Err(Error::TOO_LONG);
    }
    let text = vec![b'a'; length];
    let matched = glob::matches(args.at(3), &text, glob::Case::Sensitive);
    session.reply_count(usize::from(matched))
}

fn whole_digest(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
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
            clock: None,
        };
        with(&mut keys, key)
    }
}

fn digest_value(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
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

/// The line that tests look into: encoding, length, idle time.
fn object(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let Session { engine, worker, connection, .. } = session;
    let engine = *engine;
    let now = worker.now.unix_ms;
    let mut found = None;
    let progress = worker.alone(engine, connection, |worker, connection| {
        let database = connection.database;
        found = Some(worker.with_key(engine, database, args.at(2), |keys, key| {
            keys.peek(&key).map(|record| describe(record, now))
        }));
    });
    match found {
        None => return Ok(progress),
        Some(None) => return Err(Error::NO_SUCH_KEY),
        Some(Some(text)) => session.reply().status(&text),
    }
    Ok(Progress::Done)
}

fn describe(record: RecordRef<'_>, now_ms: u64) -> String {
    let clock = record.clock();
    let idle = access_clock(now_ms).wrapping_sub(clock) & caudal_table::CLOCK_MASK;
    format!(
        // Where a record lies is nobody's business.
        "Value at:0x0 refcount:1 encoding:{} serializedlength:{} lru:{clock} \
         lru_seconds_idle:{idle}",
        encoding(record.value()),
        record.memory(),
    )
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
fn populate(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
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
fn client_eviction(_: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    Err(Error::text("ERR maxmemory-clients is disabled."))
}
