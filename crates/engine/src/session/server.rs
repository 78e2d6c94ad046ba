//! Commands on the server as a whole: DBSIZE, TIME, SHUTDOWN, and those that wait for
//! replicas or files.

use crate::connection::Close;
use crate::session::{DONE, Outcome, Session, SessionCommand, on_server};
use caudal_commands::{Args, Error, Flags, Group, Spec};
use caudal_text::integer;
use std::sync::atomic::Ordering::Relaxed;

const DBSIZE: Spec = Spec::new("DBSIZE", "Returns the number of keys in the selected database.")
    .group(Group::Server)
    .readonly()
    .fast()
    .categories(&["keyspace"])
    .tips(&["request_policy:all_shards", "response_policy:agg_sum"]);
const TIME: Spec = Spec::new("TIME", "Returns the server's time: seconds, and microseconds.")
    .flag(Flags::REPEATABLE)
    .group(Group::Server)
    .since("2.6.0")
    .loading_stale()
    .fast()
    .tips(&["nondeterministic_output"]);
const LASTSAVE: Spec = Spec::new("LASTSAVE", "Returns when the data was last saved.")
    .group(Group::Server)
    .loading_stale()
    .fast()
    .categories(&["admin", "dangerous"])
    .tips(&["nondeterministic_output"]);
const SHUTDOWN: Spec = on_server("SHUTDOWN", "Ends the server.")
    .syntax(
        "[abort-selector<save-selector-block([save-selector<NOSAVE|SAVE>] [NOW@7.0.0] \
         [FORCE@7.0.0] [SAFE@9.0.0] [FAILOVER@9.0.0])|ABORT@7.0.0>]",
    )
    .arity(-1)
    .complexity(
        "O(N) when saving, where N is the total number of keys in all databases when saving data, \
         otherwise O(1)",
    )
    .flag(Flags::NO_MULTI)
    .flag(Flags::ALLOW_BUSY);
const WAIT: Spec = Spec::new("WAIT", "Waits until replicas have this connection's writes.")
    .syntax("numreplicas:int timeout:int")
    .group(Group::Generic)
    .since("3.0.0")
    .arity(3)
    .blocking()
    .categories(&["connection"])
    .tips(&["request_policy:all_shards", "response_policy:agg_min"]);
const WAITAOF: Spec = Spec::new("WAITAOF", "Waits until this connection's writes are on disk.")
    .syntax("numlocal:int numreplicas:int timeout:int")
    .group(Group::Generic)
    .since("7.2.0")
    .arity(4)
    .blocking()
    .categories(&["connection"])
    .tips(&["request_policy:all_shards", "response_policy:agg_min"]);

const fn of_files(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary).group(Group::Server).admin().no_script().flag(Flags::NO_ASYNC_LOADING)
}

const SAVE: Spec = of_files("SAVE", "Saves the data, and keeps everybody waiting.")
    .complexity("O(N) where N is the total number of keys in all databases")
    .flag(Flags::NO_MULTI);
const BGSAVE: Spec = of_files("BGSAVE", "Saves the data beside everything else.")
    .syntax("[operation<SCHEDULE@3.2.2|CANCEL@8.1.0>]")
    .arity(-1);
const BGREWRITEAOF: Spec = of_files("BGREWRITEAOF", "Makes the append-only file short.");
/// The family.
pub(super) const COMMANDS: &[SessionCommand] = &[
    SessionCommand::new(BGREWRITEAOF, no_append_only_file),
    SessionCommand::new(BGSAVE, no_snapshot),
    SessionCommand::new(DBSIZE, dbsize),
    SessionCommand::new(LASTSAVE, last_save),
    SessionCommand::new(SAVE, no_snapshot),
    SessionCommand::new(SHUTDOWN, shutdown),
    SessionCommand::new(TIME, time),
    SessionCommand::new(WAIT, wait),
    SessionCommand::new(WAITAOF, wait_append_only_file),
];

fn dbsize(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    let keys = session.engine.totals(session.connection.database).keys;
    session.reply().integer(i64::try_from(keys).unwrap_or(i64::MAX));
    DONE
}

fn time(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    let now = session.worker.now;
    let micros = now.unix_ms % 1000 * 1000 + u64::from(now.unix_us_rest);
    let mut reply = session.reply();
    reply.array(2);
    reply.bulk((now.unix_ms / 1000).to_string().as_bytes());
    reply.bulk(micros.to_string().as_bytes());
    DONE
}

/// As in Redis, a server that never saved names its start.
fn last_save(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    let started = session.engine.environment.started_ms / 1000;
    session.reply().integer(i64::try_from(started).unwrap_or(i64::MAX));
    DONE
}

/// What SHUTDOWN is to do.
#[derive(Default)]
struct Shutdown {
    save: bool,
    no_save: bool,
    abort: bool,
    others: usize,
}

impl Shutdown {
    fn parse(args: Args<'_>) -> Result<Shutdown, Error> {
        let mut shutdown = Shutdown::default();
        for at in 1..args.len() {
            match () {
                () if args.is(at, "SAVE") => shutdown.save = true,
                () if args.is(at, "NOSAVE") => shutdown.no_save = true,
                () if args.is(at, "ABORT") => shutdown.abort = true,
                () if args.is(at, "NOW") || args.is(at, "FORCE") || args.is(at, "SAFE") => {
                    shutdown.others += 1;
                }
                () => return Err(Error::SYNTAX),
            }
        }
        let Shutdown { save, no_save, abort, others } = shutdown;
        if save && no_save || abort && (save || no_save || others > 0) {
            return Err(Error::SYNTAX);
        }
        Ok(shutdown)
    }
}

/// The connection ends without a reply, as Redis's does.
fn shutdown(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let shutdown = Shutdown::parse(args)?;
    if shutdown.abort {
        return Err(Error::text("ERR No shutdown in progress."));
    }
    if shutdown.save {
        return Err(Error::text(NO_SNAPSHOT));
    }
    session.connection.close = Close::AfterFlush;
    (session.engine.environment.shutdown)();
    DONE
}

/// There are no replicas: whoever waits for one would wait for ever, so all get the answer at once.
fn wait(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    args.integer(1)?;
    check_timeout(args.at(2))?;
    session.reply().integer(0);
    DONE
}

fn wait_append_only_file(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let local = args.integer_within(1, 0, 1)?;
    args.positive(2)?;
    check_timeout(args.at(3))?;
    if local > 0 {
        return Err(Error::text(
            "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.",
        ));
    }
    let mut reply = session.reply();
    reply.array(2);
    reply.integer(0);
    reply.integer(0);
    DONE
}

fn check_timeout(word: &[u8]) -> Result<(), Error> {
    match integer::parse_i64(word) {
        None => Err(Error::text("ERR timeout is not an integer or out of range")),
        Some(timeout) if timeout < 0 => Err(Error::NEGATIVE_TIMEOUT),
        Some(_) => Ok(()),
    }
}

const NO_SNAPSHOT: &str =
    "ERR saving is not there yet: this version of Caudal keeps its data in memory only";
const NO_FILE: &str = "ERR the append-only file is not there yet: this version of Caudal keeps \
    its data in memory only";

fn no_snapshot(_: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    Err(Error::text(NO_SNAPSHOT))
}

fn no_append_only_file(_: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    Err(Error::text(NO_FILE))
}

/// For INFO: changes that no file has.
pub(super) fn changes(session: &Session<'_, '_>) -> u64 {
    session.engine.workers.iter().map(|worker| worker.stats.changes.load(Relaxed)).sum()
}
