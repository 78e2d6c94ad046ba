//! PING, ECHO, SELECT.

use crate::session::{ALL_SHARDS_SUCCEED, DONE, Outcome, Session, SessionCommand};
use caudal_commands::{Args, Error, Flags, Group, Spec};
use caudal_wire::Protocol;

const PING: Spec = Spec::new("PING", "Answers PONG, or what it was given.")
    .flag(Flags::REPEATABLE)
    .flag(Flags::FOR_SUBSCRIBERS)
    .syntax("[message]")
    .group(Group::Connection)
    .arity(-1)
    .tips(ALL_SHARDS_SUCCEED)
    .fast();
const ECHO: Spec = Spec::new("ECHO", "Answers what it was given.")
    .flag(Flags::REPEATABLE)
    .syntax("message")
    .group(Group::Connection)
    .arity(2)
    .loading_stale()
    .fast();
const SELECT: Spec = Spec::new("SELECT", "Changes the database of this connection.")
    .flag(Flags::REPEATABLE)
    .syntax("index:int")
    .group(Group::Connection)
    .arity(2)
    .loading_stale()
    .fast()
    .flag(Flags::ALLOW_BUSY);

/// The family.
pub(super) const COMMANDS: &[SessionCommand] = &[
    SessionCommand::new(ECHO, echo),
    SessionCommand::new(PING, ping),
    SessionCommand::new(SELECT, select),
];

fn ping(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let connection = &*session.connection;
    if connection.subscriptions.is_some() && connection.protocol == Protocol::Resp2 {
        return ping_of_subscriber(session, args);
    }
    match args.len() {
        1 => session.reply().status("PONG"),
        2 => session.reply().bulk(args.at(1)),
        _ => return Err(Error::arity("ping")),
    }
    DONE
}

/// In RESP2 a subscriber gets nothing but messages.
fn ping_of_subscriber(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    if args.len() > 2 {
        return Err(Error::arity("ping"));
    }
    let mut reply = session.reply();
    reply.array(2);
    reply.bulk(b"pong");
    reply.bulk(args.get(1).unwrap_or_default());
    DONE
}

fn echo(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    session.reply().bulk(args.at(1));
    DONE
}

fn select(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let database = args.database(1, session.engine.keyspace.databases())?;
    session.connection.select(database);
    session.reply_ok()
}
