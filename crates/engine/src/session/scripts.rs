//! SCRIPT and FUNCTION: what can be said of scripts and functions while there are none.
//!
//! Clients and test suites empty both caches before they begin, and list what is there. What must
//! stay true: every answer here says what is so. What would make a script or a function (EVAL,
//! SCRIPT LOAD, FUNCTION LOAD) is unknown.

use crate::session::{DONE, Outcome, Session, SessionCommand, help};
use caudal_commands::{Args, Error, Flags, Group, Spec};

const fn script(name: &'static str, summary: &'static str) -> Spec {
    of("SCRIPT", name, summary).since("2.6.0").flag(Flags::STALE)
}

const fn function(name: &'static str, summary: &'static str) -> Spec {
    of("FUNCTION", name, summary).since("7.0.0")
}

const fn of(container: &'static str, name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary).of(container).group(Group::Scripting).arity(-2).no_script()
}

/// The families.
pub(super) const COMMANDS: &[SessionCommand] = &[
    SessionCommand::new(
        function("FLUSH", "Deletes all functions.")
            .write()
            .complexity("O(N) where N is the number of functions deleted")
            .tips(super::ALL_SHARDS_SUCCEED),
        flush_functions,
    ),
    help::help("FUNCTION", Group::Scripting, "7.0.0"),
    SessionCommand::new(
        function("LIST", "Lists the libraries of functions.")
            .complexity("O(N) where N is the number of functions")
            .tips(&["nondeterministic_output_order"]),
        list_functions,
    ),
    SessionCommand::new(
        script("EXISTS", "Tells which scripts are in the cache.")
            .arity(-3)
            .complexity("O(N) where N is the number of scripts asked for")
            .tips(&["request_policy:all_shards", "response_policy:agg_logical_and"]),
        scripts_exist,
    ),
    SessionCommand::new(
        script("FLUSH", "Empties the cache of scripts.")
            .complexity("O(N) where N is the number of scripts in the cache")
            .tips(super::ALL_NODES_SUCCEED),
        flush_scripts,
    ),
    help::help("SCRIPT", Group::Scripting, "5.0.0"),
];

/// Whether the words behind a FLUSH say when, or nothing.
fn says_when(args: Args<'_>) -> bool {
    args.len() == 2 || args.len() == 3 && (args.is(2, "SYNC") || args.is(2, "ASYNC"))
}

fn flush_scripts(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    if !says_when(args) {
        return Err(Error::text("ERR SCRIPT FLUSH only support SYNC|ASYNC option"));
    }
    session.reply_ok()
}

fn scripts_exist(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let mut reply = session.reply();
    reply.array(args.len() - 2);
    args.from(2).for_each(|_| reply.integer(0));
    DONE
}

fn flush_functions(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    if args.len() > 3 {
        return Err(Error::text(
            "ERR unknown subcommand or wrong number of arguments for 'flush'. Try FUNCTION HELP.",
        ));
    }
    if !says_when(args) {
        return Err(Error::text("ERR FUNCTION FLUSH only supports SYNC|ASYNC option"));
    }
    session.reply_ok()
}

fn list_functions(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let (mut has_code, mut has_name) = (false, false);
    let mut at = 2;
    while at < args.len() {
        if !has_code && args.is(at, "WITHCODE") {
            has_code = true;
        } else if !has_name && args.is(at, "LIBRARYNAME") {
            has_name = true;
            at += 1;
            if at == args.len() {
                return Err(Error::text("ERR library name argument was not given"));
            }
        } else {
            return Err(Error::quoting("ERR Unknown argument ", args.at(at), ""));
        }
        at += 1;
    }
    session.reply().array(0);
    DONE
}
