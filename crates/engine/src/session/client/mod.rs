//! CLIENT: what a connection says of itself, and what it may learn of and do to others.

mod filter;
mod hold;
mod line;
mod list;
mod tracking;

pub(crate) use line::line;

use crate::connection::ReplyMode;
use crate::session::{
    ALL_NODES_SUCCEED, DONE, Outcome, Session, SessionCommand, help, on_connection,
};
use caudal_commands::{Args, Error, Flags, Group, Spec};
use std::sync::atomic::Ordering::Relaxed;

/// A subcommand of CLIENT.
const fn spec(name: &'static str, summary: &'static str) -> Spec {
    on_connection(name, summary).of("CLIENT")
}

/// A subcommand that is answered while a script runs too long.
const fn always(name: &'static str, summary: &'static str) -> Spec {
    spec(name, summary).flag(Flags::ALLOW_BUSY)
}

const CAPA: Spec = always("CAPA", "Says what this client can do: REDIRECT.")
    .syntax("capability...")
    .since("8.0.0")
    .arity(-3);
const GETNAME: Spec = always("GETNAME", "Returns this connection's name.").since("2.6.9").arity(2);
const ID: Spec = always("ID", "Returns this connection's id.").since("5.0.0").arity(2);
const IMPORT_SOURCE: Spec =
    spec("IMPORT-SOURCE", "Marks this connection as one that imports data: refused.")
        .syntax("enabled<ON|OFF>")
        .since("8.1.0")
        .arity(3);
const INFO: Spec = spec("INFO", "Describes this connection.")
    .since("6.2.0")
    .arity(2)
    .tips(&["nondeterministic_output"]);
const NO_EVICT: Spec =
    always("NO-EVICT", "Spares this connection when memory is short: ON or OFF.")
        .syntax("enabled<ON|OFF>")
        .since("7.0.0")
        .arity(3)
        .admin();
const NO_TOUCH: Spec =
    always("NO-TOUCH", "Keeps this connection's reads from counting as use: ON or OFF.")
        .syntax("enabled<ON|OFF>")
        .since("7.2.0")
        .arity(3);
const REPLY: Spec = always("REPLY", "Whether commands are replied to: ON, OFF or SKIP the next.")
    .syntax("action<ON|OFF|SKIP>")
    .since("3.2.0")
    .arity(3)
    .flag(Flags::NO_MULTI);
const SETINFO: Spec = always("SETINFO", "Names the client library: LIB-NAME or LIB-VER.")
    .syntax("attr<LIB-NAME libname|LIB-VER libver>")
    .since("7.2.0")
    .arity(4)
    .tips(ALL_NODES_SUCCEED);
const SETNAME: Spec = always("SETNAME", "Names this connection.")
    .syntax("connection-name")
    .since("2.6.9")
    .arity(3)
    .tips(ALL_NODES_SUCCEED);
/// The family.
pub(super) const COMMANDS: &[SessionCommand] = &[
    tracking::CACHING,
    SessionCommand::new(CAPA, capa),
    SessionCommand::new(GETNAME, get_name),
    tracking::GETREDIR,
    help::help("CLIENT", Group::Connection, "5.0.0"),
    SessionCommand::new(ID, id),
    SessionCommand::new(IMPORT_SOURCE, import_source),
    SessionCommand::new(INFO, info),
    list::KILL,
    list::LIST,
    SessionCommand::new(NO_EVICT, no_evict),
    SessionCommand::new(NO_TOUCH, no_touch),
    hold::PAUSE,
    SessionCommand::new(REPLY, reply),
    SessionCommand::new(SETINFO, set_info),
    SessionCommand::new(SETNAME, set_name),
    tracking::TRACKING,
    tracking::TRACKINGINFO,
    hold::UNBLOCK,
    hold::UNPAUSE,
];

/// Whether a word may stand in a line of CLIENT LIST.
fn is_printable(word: &[u8]) -> bool {
    word.iter().all(|byte| (b'!'..=b'~').contains(byte))
}

/// Whether a connection may have this name.
pub(super) fn check_name(name: &[u8]) -> Result<(), Error> {
    const TEXT: &str = "ERR Client names cannot contain spaces, newlines or special characters.";
    if is_printable(name) { Ok(()) } else { Err(Error::text(TEXT)) }
}

fn id(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    let id = i64::try_from(session.connection.info.id).unwrap_or(i64::MAX);
    session.reply().integer(id);
    DONE
}

fn info(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    let mut text = line::line(session.engine, &session.connection.info, session.worker.now.unix_ms);
    text.push(b'\n');
    session.reply().verbatim(b"txt", &text);
    DONE
}

/// `import-mode` is not there yet, so the server is never in it.
fn import_source(_: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    Err(Error::text("ERR Server is not in import mode"))
}

fn set_name(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    check_name(args.at(2))?;
    session.connection.info.text().name = args.at(2).to_vec();
    session.reply_ok()
}

fn get_name(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    let name = session.connection.info.text().name.clone();
    let mut reply = session.reply();
    if name.is_empty() {
        reply.null()
    } else {
        reply.bulk(&name)
    }
    DONE
}

fn set_info(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let (is_name, is_version) = (args.is(2, "LIB-NAME"), args.is(2, "LIB-VER"));
    if !is_name && !is_version {
        return Err(Error::quoting("ERR Unrecognized option '", args.at(2), "'"));
    }
    let value = args.at(3);
    if !is_printable(value) {
        let option = if is_name { "lib-name" } else { "lib-ver" };
        let text = "cannot contain spaces, newlines or special characters.";
        return Err(Error::new(format!("ERR {option} {text}")));
    }
    let mut text = session.connection.info.text();
    let target = if is_name { &mut text.library_name } else { &mut text.library_version };
    *target = value.to_vec();
    drop(text);
    session.reply_ok()
}

fn reply(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let mode = match () {
        () if args.is(2, "ON") => ReplyMode::On,
        () if args.is(2, "OFF") => ReplyMode::Off,
        () if args.is(2, "SKIP") => ReplyMode::SkipNext,
        () => return Err(Error::SYNTAX),
    };
    session.connection.reply_mode = mode;
    session.connection.said_reply_mode = true;
    if mode == ReplyMode::On {
        session.reply().ok();
    }
    DONE
}

/// ON or OFF at argument 2.
fn switch(args: Args<'_>) -> Result<bool, Error> {
    match (args.is(2, "ON"), args.is(2, "OFF")) {
        (true, _) => Ok(true),
        (_, true) => Ok(false),
        _ => Err(Error::SYNTAX),
    }
}

fn no_evict(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    session.connection.info.no_evict.store(switch(args)?, Relaxed);
    session.reply_ok()
}

fn no_touch(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let on = switch(args)?;
    session.connection.no_touch = on;
    session.connection.info.no_touch.store(on, Relaxed);
    session.reply_ok()
}

/// Unknown words are abilities that only newer servers know: they do no harm.
fn capa(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    if (2..args.len()).any(|at| args.is(at, "REDIRECT")) {
        session.connection.info.follows_redirections.store(true, Relaxed);
    }
    session.reply_ok()
}
