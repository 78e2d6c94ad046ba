//! The commands of replication, on a server that has no replicas and is none: who asks is told the
//! truth, who wants more is refused in words.

use crate::session::{DONE, Outcome, Session, SessionCommand, on_server};
use caudal_commands::{Args, Error, Flags, Group, Spec};
use caudal_text::integer;

const ROLE: Spec = Spec::new("ROLE", "Returns the replication role.")
    .group(Group::Server)
    .since("2.8.12")
    .no_script()
    .loading_stale()
    .fast()
    .categories(&["admin", "dangerous"]);

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary).group(Group::Server).admin().no_script()
}

const fn of_streams(name: &'static str, summary: &'static str) -> Spec {
    spec(name, summary).flag(Flags::NO_ASYNC_LOADING)
}

const REPLICAOF: Spec =
    of_streams("REPLICAOF", "Makes this server a replica, or (NO ONE) a master.")
        .syntax("args<host-port(host port:int)|no-one(NO ONE)>")
        .since("5.0.0")
        .arity(3)
        .flag(Flags::STALE);
const SLAVEOF: Spec = of_streams("SLAVEOF", "Does what REPLICAOF does.")
    .syntax("args<host-port(host port:int)|no-one(NO ONE)>")
    .deprecated("5.0.0", "REPLICAOF")
    .arity(3)
    .flag(Flags::STALE);
const PSYNC: Spec = of_streams("PSYNC", "Asks a master for its changes, for replicas.")
    .syntax("replicationid offset:int")
    .since("2.8.0")
    .arity(-3)
    .flag(Flags::NO_MULTI);
const SYNC: Spec =
    of_streams("SYNC", "Asks a master for its data, for old replicas.").flag(Flags::NO_MULTI);
const REPLCONF: Spec = on_server("REPLCONF", "Agrees on a stream of changes, for replicas.")
    .since("3.0.0")
    .internal()
    .arity(-1)
    .flag(Flags::ALLOW_BUSY);
const FAILOVER: Spec = spec("FAILOVER", "Changes places with a replica.")
    .syntax("[TO target(host port:int [FORCE])] [ABORT] [TIMEOUT milliseconds:int]")
    .since("6.2.0")
    .arity(-1)
    .flag(Flags::STALE);
/// The family.
pub(super) const COMMANDS: &[SessionCommand] = &[
    SessionCommand::new(FAILOVER, failover),
    SessionCommand::new(PSYNC, refuse),
    SessionCommand::new(REPLCONF, agree),
    SessionCommand::new(REPLICAOF, replica_of),
    SessionCommand::new(ROLE, role),
    SessionCommand::new(SLAVEOF, replica_of),
    SessionCommand::new(SYNC, refuse),
];

const NOT_THERE: &str =
    "ERR replication is not there yet: this version of Caudal is always a master, without replicas";

/// A master without replicas, at offset 0: there is no stream yet.
fn role(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    let mut reply = session.reply();
    reply.array(3);
    reply.bulk(b"master");
    reply.integer(0);
    reply.array(0);
    DONE
}

fn replica_of(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    if args.is(1, "NO") && args.is(2, "ONE") {
        return session.reply_ok();
    }
    if integer::parse_i64(args.at(2)).is_none_or(|port| !(0..=65_535).contains(&port)) {
        return Err(Error::text("ERR Invalid master port"));
    }
    Err(Error::text(NOT_THERE))
}

fn refuse(_: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    Err(Error::text(NOT_THERE))
}

/// What a replica tells of itself is agreed to; PSYNC, which it says next, is refused.
fn agree(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    const NAMED: [&str; 7] = [
        "listening-port",
        "ip-address",
        "capa",
        "version",
        "rdb-only",
        "rdb-filter-only",
        "rdb-channel",
    ];
    if args.len().is_multiple_of(2) {
        return Err(Error::SYNTAX);
    }
    for at in (1..args.len()).step_by(2) {
        if args.is(at, "ack") || args.is(at, "getack") {
            // As in Redis, these have no reply.
            return DONE;
        }
        if !NAMED.iter().any(|name| args.is(at, name)) {
            return Err(Error::quoting("ERR Unrecognized REPLCONF option: ", args.at(at), ""));
        }
    }
    session.reply_ok()
}

/// What FAILOVER is to do.
#[derive(Default)]
struct Failover {
    aborts: bool,
    forces: bool,
    has_target: bool,
    has_timeout: bool,
}

impl Failover {
    fn parse(args: Args<'_>) -> Result<Failover, Error> {
        let mut failover = Failover::default();
        let mut words = args.cursor(1);
        while words.left() > 0 {
            if args.len() == 2 && words.take("ABORT") {
                failover.aborts = true;
            } else if !failover.has_timeout && words.left() > 1 && words.take("TIMEOUT") {
                if args.integer(words.index())? <= 0 {
                    return Err(Error::text("ERR FAILOVER timeout must be greater than 0"));
                }
                words.next();
                failover.has_timeout = true;
            } else if !failover.has_target && words.left() > 2 && words.take("TO") {
                words.next();
                args.integer(words.index())?;
                words.next();
                failover.has_target = true;
            } else if !failover.forces && words.take("FORCE") {
                failover.forces = true;
            } else {
                return Err(Error::SYNTAX);
            }
        }
        Ok(failover)
    }
}

fn failover(_: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let failover = Failover::parse(args)?;
    Err(Error::text(if failover.aborts {
        "ERR No failover in progress."
    } else {
        "ERR FAILOVER requires connected replicas."
    }))
}
