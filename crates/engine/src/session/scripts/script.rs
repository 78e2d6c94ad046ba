//! SCRIPT: the cache of scripts, and the script that runs.

use crate::mail::Mail;
use crate::scripts::{hex, parse_digest};
use crate::session::{ALL_NODES_SUCCEED, DONE, Outcome, Session, SessionCommand, help};
use caudal_commands::{Args, Error, Flags, Group, Spec};

const fn script(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary)
        .of("SCRIPT")
        .group(Group::Scripting)
        .since("2.6.0")
        .arity(3)
        .no_script()
}

/// The family.
pub(super) const COMMANDS: &[SessionCommand] = &[
    SessionCommand::new(
        script("DEBUG", "Sets whether scripts are debugged: there is no debugger.")
            .syntax("mode<YES|SYNC|NO> [engine@9.1.0]")
            .since("3.2.0")
            .arity(-3),
        debug,
    ),
    SessionCommand::new(
        script("EXISTS", "Tells which scripts are in the cache.")
            .syntax("sha1...")
            .arity(-3)
            .flag(Flags::STALE)
            .complexity(
                "O(N) with N being the number of scripts to check (so checking a single \
                         script is an O(1) operation).",
            )
            .tips(&["request_policy:all_shards", "response_policy:agg_logical_and"]),
        exist,
    ),
    SessionCommand::new(
        script("FLUSH", "Empties the cache of scripts.")
            .syntax("[flush-type<ASYNC|SYNC>@6.2.0]")
            .arity(-2)
            .flag(Flags::STALE)
            .complexity("O(N) with N being the number of scripts in cache")
            .tips(ALL_NODES_SUCCEED),
        flush,
    ),
    help::help("SCRIPT", Group::Scripting, "5.0.0"),
    SessionCommand::new(
        script("KILL", "Ends a script that runs too long.")
            .arity(2)
            .flag(Flags::ALLOW_BUSY)
            .tips(&["request_policy:all_shards", "response_policy:one_succeeded"]),
        kill,
    ),
    SessionCommand::new(
        script("LOAD", "Adds a script to the cache.")
            .syntax("script")
            .flag(Flags::STALE)
            .complexity("O(N) with N being the length in bytes of the script body.")
            .tips(ALL_NODES_SUCCEED),
        load,
    ),
    SessionCommand::new(
        script("SHOW", "Gives the text of a script of the cache.")
            .syntax("sha1")
            .since("8.0.0")
            .flag(Flags::STALE),
        show,
    ),
];

fn debug(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    if args.len() == 3 && args.is(2, "NO") {
        return session.reply_ok();
    }
    if args.len() == 3 && (args.is(2, "YES") || args.is(2, "SYNC")) {
        return Err(Error::text("ERR There is no debugger of scripts"));
    }
    Err(Error::text("ERR Use SCRIPT DEBUG YES/SYNC/NO"))
}

fn exist(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let scripts = &session.engine.scripts;
    let exists = |word| parse_digest(word).is_some_and(|digest| scripts.find(&digest).is_some());
    let mut reply = session.connection.reply();
    reply.array(args.len() - 2);
    args.from(2).for_each(|word| reply.integer(i64::from(exists(word))));
    DONE
}

fn flush(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    if !super::says_when(args) {
        return Err(Error::text("ERR SCRIPT FLUSH only support SYNC|ASYNC option"));
    }
    session.engine.scripts.flush();
    session.engine.broadcast(|| Mail::ScriptsFlushed);
    session.reply_ok()
}

fn kill(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    session.engine.running.kill(false)?;
    session.reply_ok()
}

fn load(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let (shared, worker) = (&session.engine.scripts, &mut *session.worker);
    let script = worker.machine.find_or_add(shared, &mut worker.random, args.at(2), true)?;
    session.reply().bulk(hex(&script.digest).as_bytes());
    DONE
}

fn show(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let digest = parse_digest(args.at(2)).ok_or(super::UNKNOWN)?;
    let script = session.engine.scripts.find(&digest).ok_or(super::UNKNOWN)?;
    session.reply().bulk(&script.body);
    DONE
}
