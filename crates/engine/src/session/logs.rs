//! SLOWLOG and COMMANDLOG: reading the logs that `dispatch` writes.

use crate::command_log::{Cause, Entry};
use crate::session::{DONE, Outcome, Session, SessionCommand, help};
use caudal_commands::{Args, Error, Group, Spec};
use caudal_text::integer;

/// Entries that SLOWLOG GET shows if it is not told how many.
const SHOWN: usize = 10;

const fn slow(name: &'static str, summary: &'static str) -> Spec {
    let spec = Spec::new(name, summary).group(Group::Server).admin().loading_stale();
    spec.of("SLOWLOG").since("2.2.12").arity(2)
}

const fn any(name: &'static str, summary: &'static str) -> Spec {
    let spec = Spec::new(name, summary).group(Group::Server).admin().loading_stale();
    spec.of("COMMANDLOG").since("8.1.0").arity(3)
}

const GET_TIPS: &[&str] = &["request_policy:all_nodes", "nondeterministic_output"];
const LEN_TIPS: &[&str] =
    &["request_policy:all_nodes", "response_policy:agg_sum", "nondeterministic_output"];
const RESET_TIPS: &[&str] = &["request_policy:all_nodes", "response_policy:all_succeeded"];
const RETURNED: &str = "O(N) where N is the number of entries returned";

/// The family.
pub(super) const COMMANDS: &[SessionCommand] = &[
    SessionCommand::new(
        any("GET", "Returns the newest entries of a log.")
            .syntax("count:int type<SLOW|LARGE-REQUEST|LARGE-REPLY>")
            .arity(4)
            .complexity(RETURNED)
            .tips(GET_TIPS),
        get,
    ),
    help::help("COMMANDLOG", Group::Server, "8.1.0"),
    SessionCommand::new(
        any("LEN", "Returns the length of a log.")
            .syntax("type<SLOW|LARGE-REQUEST|LARGE-REPLY>")
            .tips(LEN_TIPS),
        len,
    ),
    SessionCommand::new(
        any("RESET", "Empties a log.")
            .syntax("type<SLOW|LARGE-REQUEST|LARGE-REPLY>")
            .complexity("O(N) where N is the number of entries in the commandlog")
            .tips(RESET_TIPS),
        reset,
    ),
    SessionCommand::new(
        slow(
            "GET",
            "Returns the newest entries of the slow log: 10 of them, or as many as asked for.",
        )
        .syntax("[count:int]")
        .arity(-2)
        .complexity(RETURNED)
        .tips(GET_TIPS),
        get,
    ),
    help::help("SLOWLOG", Group::Server, "6.2.0"),
    SessionCommand::new(slow("LEN", "Returns the length of the slow log.").tips(LEN_TIPS), len),
    SessionCommand::new(
        slow("RESET", "Empties the slow log.")
            .complexity("O(N) where N is the number of entries in the slowlog")
            .tips(RESET_TIPS),
        reset,
    ),
];

/// Which log is meant: the name stands at `at`, but for SLOWLOG.
fn cause(args: Args<'_>, at: usize) -> Result<Cause, Error> {
    if args.is(0, "SLOWLOG") {
        return Ok(Cause::Slow);
    }
    args.get(at).and_then(Cause::named).ok_or(Error::text(
        "ERR type should be one of the following: slow, large-request, large-reply",
    ))
}

fn get(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    if args.is(0, "SLOWLOG") && args.len() > 3 {
        let before = "ERR unknown subcommand or wrong number of arguments for '";
        return Err(Error::quoting(before, args.at(1), "'. Try SLOWLOG HELP."));
    }
    let count = match args.get(2) {
        None => SHOWN,
        Some(word) => match integer::parse_i64(word) {
            Some(-1) => usize::MAX,
            count => count
                .and_then(|count| usize::try_from(count).ok())
                .ok_or(Error::text("ERR count should be greater than or equal to -1"))?,
        },
    };
    let cause = cause(args, 3)?;
    let entries: Vec<Entry> =
        session.engine.command_logs.of(cause).entries.iter().take(count).cloned().collect();
    let mut reply = session.reply();
    reply.array(entries.len());
    for entry in entries {
        reply.array(6);
        for number in [entry.id, entry.at, entry.cost] {
            reply.integer(i64::try_from(number).unwrap_or(i64::MAX));
        }
        reply.array(entry.words.len());
        entry.words.iter().for_each(|word| reply.bulk(word));
        reply.bulk(entry.address.as_bytes());
        reply.bulk(&entry.name);
    }
    DONE
}

fn len(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let len = session.engine.command_logs.of(cause(args, 2)?).entries.len();
    session.reply_count(len)
}

fn reset(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    session.engine.command_logs.of(cause(args, 2)?).entries.clear();
    session.reply_ok()
}
