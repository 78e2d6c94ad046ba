//! CONFIG GET, SET, RESETSTAT, REWRITE. The module `config` does the work.

use crate::config::{Config, Peer, SetError, tls};
use crate::session::{
    ALL_NODES_SUCCEED, DONE, Outcome, Session, SessionCommand, acl, help, on_server,
};
use caudal_commands::{Args, Error, Group, Spec};

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    on_server(name, summary).of("CONFIG").since("2.0.0")
}

const PARAMETERS: &str = "O(N) when N is the number of configuration parameters provided";

const GET: Spec = spec("GET", "Returns the parameters that match the patterns, and their values.")
    .syntax("parameter...")
    .arity(-3)
    .complexity(PARAMETERS);
const SET: Spec = spec("SET", "Sets parameters: all of them, or none.")
    .syntax("data(parameter value)...")
    .arity(-4)
    .complexity(PARAMETERS)
    .tips(ALL_NODES_SUCCEED);
const RESETSTAT: Spec = spec("RESETSTAT", "Sets the statistics that INFO shows to zero.")
    .arity(2)
    .tips(ALL_NODES_SUCCEED)
    .at_gate();
const REWRITE: Spec = spec("REWRITE", "Writes the parameters as they are into the file.")
    .since("2.8.0")
    .arity(2)
    .tips(ALL_NODES_SUCCEED);

/// The family.
pub(super) const COMMANDS: &[SessionCommand] = &[
    SessionCommand::new(GET, get),
    help::help("CONFIG", Group::Server, "5.0.0"),
    SessionCommand::new(RESETSTAT, reset_stat),
    SessionCommand::new(REWRITE, rewrite),
    SessionCommand::new(SET, set),
];

fn get(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let patterns: Vec<&[u8]> = args.from(2).collect();
    let found = session.engine.config().get(&patterns);
    let mut reply = session.reply();
    reply.map(found.len());
    for (name, value) in found {
        reply.bulk(name.as_bytes());
        reply.bulk(value.as_bytes());
    }
    DONE
}

fn set(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    if args.len() % 2 == 1 {
        return Err(Error::SYNTAX);
    }
    let pairs: Vec<(&[u8], &[u8])> =
        (2..args.len()).step_by(2).map(|at| (args.at(at), args.at(at + 1))).collect();
    let peer = &session.connection.info.peer;
    let peer = if peer.loopback || peer.unix { Peer::Local } else { Peer::Remote };
    let mut password = None;
    let engine = session.engine;
    let change = |config: &mut Config| {
        let changes = config.set(&pairs, peer)?;
        let material = changes.iter().find(|change| tls::is_material(change.directive));
        if let Some(change) = material
            && let Some(encryption) = &engine.environment.encryption
        {
            let useless = |_| SetError::Refused {
                name: change.directive.to_owned(),
                reason: "Unable to update TLS configuration. Check server logs.".to_owned(),
            };
            encryption.renew(&config.tls).map_err(useless)?;
        }
        password = changes.into_iter().find(|change| change.directive == "requirepass");
        Ok(())
    };
    engine.change_config(change).map_err(|error: SetError| Error::new(error.to_string()))?;
    if let Some(change) = password {
        session.set_default_password(change.value.as_bytes());
    }
    // Commands that follow in this turn see the change; other workers see it with their next turn.
    session.worker.retune();
    session.worker.check_means();
    session.reply_ok()
}

fn reset_stat(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    let Session { engine, worker, connection, .. } = session;
    Ok(worker.alone(engine, connection, |worker, connection| {
        for shared in worker.engine.workers.iter() {
            shared.stats.reset();
            shared.counters.reset();
        }
        worker.engine.rates.reset();
        connection.reply().ok();
    }))
}

fn rewrite(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    let engine = session.engine;
    let file = engine.environment.config_file.as_ref();
    let file = file.ok_or(Error::text("ERR The server is running without a config file"))?;
    let failed = |error: std::io::Error| Error::new(format!("ERR Rewriting config file: {error}"));
    let before = match (file.read)(&file.path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed(error)),
    };
    let config = engine.config();
    // A file of users has them all.
    let users = match config.security.acl_file {
        Some(_) => Vec::new(),
        None => acl::user_lines(session)?,
    };
    let text = config.rewritten(before.as_deref(), &users);
    (file.replace)(&file.path, &text).map_err(failed)?;
    session.reply_ok()
}
