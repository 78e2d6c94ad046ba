//! AUTH, HELLO, RESET, QUIT: who a connection is, and what it speaks.
//!
//! What must stay true: a HELLO that fails changes nothing, whichever of its parts was wrong.

use crate::acl::{self, Reason, Scene};
use crate::connection::{Close, ReplyMode};
use crate::session::{DONE, OPEN_TO_ALL, Outcome, Session, SessionCommand, client, on_connection};
use caudal_commands::{Args, Error, Flags, Spec};
use caudal_text::integer;
use caudal_wire::Protocol;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    on_connection(name, summary).fast().flag(OPEN_TO_ALL).flag(Flags::ALLOW_BUSY)
}

const AUTH: Spec = spec("AUTH", "Signs on as a user: the default one if only a password is given.")
    .syntax("[username@6.0.0] password")
    .arity(-2)
    .complexity("O(N) where N is the number of passwords defined for the user");
const HELLO: Spec = spec("HELLO", "Chooses the protocol, and signs on.")
    .syntax("[arguments(protover:int [AUTH auth(username password)] [SETNAME clientname])]")
    .since("6.0.0")
    .arity(-1);
const QUIT: Spec = spec("QUIT", "Closes the connection.")
    .flag(Flags::CONTROLS_MULTI)
    .flag(Flags::FOR_SUBSCRIBERS)
    .arity(-1);
const RESET: Spec = spec("RESET", "Makes the connection what it was when it was new.")
    .flag(Flags::CONTROLS_MULTI)
    .flag(Flags::FOR_SUBSCRIBERS)
    .since("6.2.0");

/// The family.
pub(super) const COMMANDS: &[SessionCommand] = &[
    SessionCommand::new(AUTH, auth),
    SessionCommand::new(HELLO, hello),
    SessionCommand::new(QUIT, quit),
    SessionCommand::new(RESET, reset),
];

fn auth(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let (user, password) = match args.len() {
        2 if session.worker.users.default().needs_no_password => {
            return Err(Error::text(
                "ERR AUTH <password> called without any password configured for the default user. \
                 Are you sure your configuration is correct?",
            ));
        }
        2 => (acl::DEFAULT, args.at(1)),
        3 => (args.at(1), args.at(2)),
        _ => return Err(Error::SYNTAX),
    };
    sign_on(session, (user, password), args.at(0))?;
    session.reply_ok()
}

/// Makes the connection this user's if the password is right; `command` is what was called. The
/// time that it takes says nothing of how much of a password is right.
fn sign_on(
    session: &mut Session<'_, '_>,
    (name, password): (&[u8], &[u8]),
    command: &[u8],
) -> Result<(), Error> {
    let Session { worker, connection, .. } = session;
    if let Some(user) = worker.users.find(name).filter(|user| user.accepts(password)) {
        let user = Arc::clone(user);
        worker.sign_on(connection, user);
        return Ok(());
    }
    let in_transaction = connection.info.queued.load(Relaxed) > 0;
    let scene = if in_transaction { Scene::Transaction } else { Scene::TopLevel };
    worker.log_denial(&connection.info, (Reason::Password, scene), command, name);
    Err(Error::text("WRONGPASS invalid username-password pair or user is disabled."))
}

/// HELLO's arguments.
#[derive(Default)]
struct Hello<'a> {
    protocol: Option<Protocol>,
    credentials: Option<(&'a [u8], &'a [u8])>,
    name: Option<&'a [u8]>,
}

impl<'a> Hello<'a> {
    fn parse(args: Args<'a>) -> Result<Hello<'a>, Error> {
        let mut hello = Hello::default();
        let Some(version) = args.get(1) else { return Ok(hello) };
        let version = integer::parse_i64(version)
            .ok_or(Error::text("ERR Protocol version is not an integer or out of range"))?;
        hello.protocol = Some(match version {
            2 => Protocol::Resp2,
            3 => Protocol::Resp3,
            _ => return Err(Error::text("NOPROTO unsupported protocol version")),
        });
        let mut options = args.cursor(2);
        while let Some(option) = options.next() {
            if options.left() > 1 && option.eq_ignore_ascii_case(b"AUTH") {
                hello.credentials = options.next().zip(options.next());
            } else if options.left() > 0 && option.eq_ignore_ascii_case(b"SETNAME") {
                hello.name = options.next();
            } else {
                return Err(Error::quoting("ERR Syntax error in HELLO option '", option, "'"));
            }
        }
        if let Some(name) = hello.name {
            client::check_name(name)?;
        }
        Ok(hello)
    }
}

fn hello(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let hello = Hello::parse(args)?;
    if let Some(credentials) = hello.credentials {
        sign_on(session, credentials, args.at(0))?;
    }
    if !session.worker.is_authenticated(session.connection) {
        return Err(Error::text(
            "NOAUTH HELLO must be called with the client already authenticated, otherwise the \
             HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and \
             select the RESP protocol version at the same time",
        ));
    }
    if let Some(name) = hello.name {
        session.connection.info.text().name = name.to_vec();
    }
    if let Some(protocol) = hello.protocol {
        session.connection.speak(protocol);
    }
    let version = session.worker.tuning.config.process.reported_version.clone();
    let id = i64::try_from(session.connection.info.id).unwrap_or(i64::MAX);
    let protocol = if session.connection.protocol == Protocol::Resp3 { 3 } else { 2 };
    let mut reply = session.reply();
    reply.map(7);
    for (name, value) in [("server", "redis"), ("version", &version)] {
        reply.bulk(name.as_bytes());
        reply.bulk(value.as_bytes());
    }
    for (name, value) in [("proto", protocol), ("id", id)] {
        reply.bulk(name.as_bytes());
        reply.integer(value);
    }
    for (name, value) in [("mode", "standalone"), ("role", "master")] {
        reply.bulk(name.as_bytes());
        reply.bulk(value.as_bytes());
    }
    reply.bulk(b"modules");
    reply.array(0);
    DONE
}

fn quit(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    session.reply().ok();
    session.connection.close = Close::AfterFlush;
    DONE
}

fn reset(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    session.worker.end_transaction(session.connection);
    session.worker.unsubscribe_all(session.connection);
    session.worker.end_tracking(session.connection);
    session.worker.end_monitoring(session.connection);
    session.worker.sign_off(session.connection);
    let connection = &mut *session.connection;
    connection.select(0);
    connection.speak(Protocol::Resp2);
    connection.reply_mode = ReplyMode::On;
    connection.said_reply_mode = true;
    connection.no_touch = false;
    connection.info.no_touch.store(false, Relaxed);
    connection.info.no_evict.store(false, Relaxed);
    connection.info.text().name.clear();
    session.reply().status("RESET");
    DONE
}
