//! PING, ECHO, SELECT.

use crate::execute::Progress;
use crate::session::{Session, SessionCommand};
use crate::transaction::selected;
use caudal_commands::{Args, Error, Flags, Group, Spec};

const PING: Spec = Spec::new("PING", "Answers PONG, or what it was given.")
    .group(Group::Connection)
    .arity(-1)
    .fast();
const ECHO: Spec = Spec::new("ECHO", "Answers what it was given.")
    .group(Group::Connection)
    .arity(2)
    .loading_stale()
    .fast();
const SELECT: Spec = Spec::new("SELECT", "Changes the database of this connection.")
    .group(Group::Connection)
    .arity(2)
    .loading_stale()
    .fast()
    .flag(Flags::ALLOW_BUSY);

/// The family.
pub(crate) const COMMANDS: &[SessionCommand] = &[
    SessionCommand::new(ECHO, echo),
    SessionCommand::new(PING, ping),
    SessionCommand::new(SELECT, select),
];

fn ping(session: &mut Session<'_, '_>, args: Args<'_>) -> Result<Progress, Error> {
    match args.len() {
        1 => session.reply().status("PONG"),
        2 => session.reply().bulk(args.at(1)),
        _ => return Err(Error::arity("ping")),
    }
    Ok(Progress::Done)
}

fn echo(session: &mut Session<'_, '_>, args: Args<'_>) -> Result<Progress, Error> {
    session.reply().bulk(args.at(1));
    Ok(Progress::Done)
}

fn select(session: &mut Session<'_, '_>, args: Args<'_>) -> Result<Progress, Error> {
    args.integer(1).map_err(|_| Error::text("ERR value is not an integer or out of range"))?;
    let database = selected(session.engine, args).ok_or(Error::DATABASE_RANGE)?;
    session.connection.select(database);
    session.reply_ok()
}
