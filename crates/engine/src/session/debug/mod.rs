//! DEBUG: for tests of the server and of clients.
//!
//! Its spec is at the gate, so that inside EXEC too it finds no slot locked. What a subcommand of
//! Redis would do to something that Caudal has not got (a save file, an encoding's private
//! threshold) is answered only if doing nothing is the truth; the others are unknown.

mod digest;
mod keys;
mod protocol;
mod switches;

use crate::config::LogLevel;
use crate::session::{DONE, Outcome, Session, SessionCommand, help, on_server};
use caudal_commands::{Args, Error, Flags, Spec};
use caudal_text::{float, glob};
use std::time::Duration;

/// The longest DEBUG SLEEP: more is a mistake.
const SLEEP_SECONDS_MAX: f64 = 3600.0;

const DEBUG: Spec = on_server("DEBUG", "Does what tests need.")
    .internal()
    .arity(-2)
    .complexity("Depends on subcommand.")
    .flag(Flags::PROTECTED)
    .at_gate();

/// The family.
pub(super) const COMMANDS: &[SessionCommand] = &[SessionCommand::new(DEBUG, debug)];

/// Subcommands: name, least and most words (both of DEBUG's included), what it does, code.
struct Subcommand {
    name: &'static str,
    words: (usize, usize),
    help: &'static str,
    apply: fn(&mut Session<'_, '_>, Args<'_>) -> Outcome,
}

const fn subcommand(
    name: &'static str,
    words: (usize, usize),
    help: &'static str,
    apply: fn(&mut Session<'_, '_>, Args<'_>) -> Outcome,
) -> Subcommand {
    Subcommand { name, words, help, apply }
}

const SUBCOMMANDS: &[Subcommand] = &[
    subcommand("CHANGE-REPL-ID", (2, 2), "Nothing replicates: nothing changes.", ok),
    subcommand("CLIENT-EVICTION", (2, 2), "Clients are not evicted: says so.", client_eviction),
    subcommand("DIGEST", (2, 2), "Returns a digest of all data.", keys::digest),
    subcommand("DIGEST-VALUE", (2, MANY), "Returns digests of keys' values.", keys::digest_value),
    subcommand("ERROR", (3, 3), "Replies with this error.", error),
    subcommand("HELP", (2, 2), "Prints this help.", help),
    subcommand("HTSTATS", (3, 4), "Tells how many keys a database has.", keys::table_stats),
    subcommand("HTSTATS-KEY", (3, 4), "Describes a key's large value.", keys::key_table_stats),
    subcommand("LISTPACK", (3, 3), "Tells the size of a key's small value.", keys::listpack),
    subcommand("LOG", (3, 3), "Writes a line to the log.", log),
    subcommand("OBJECT", (3, 4), "Describes a key's value.", keys::object),
    subcommand("POPULATE", (3, 5), "Makes a number of keys: [prefix] [bytes].", keys::populate),
    subcommand("PROTOCOL", (3, 3), "Replies with a value of that type.", protocol::reply),
    subcommand("RELOAD", (2, MANY), "There is no file to go through: the data stays.", ok),
    subcommand("SDSLEN", (3, 3), "Tells the lengths of a key and its string.", keys::lengths),
    subcommand("SLEEP", (3, 3), "Keeps this worker busy for some seconds.", sleep),
    subcommand("STRINGMATCH-LEN", (4, 4), "Whether so many letters a match.", string_match),
];

/// Any number of words.
const MANY: usize = usize::MAX;

/// All subcommands.
fn all() -> impl Iterator<Item = &'static Subcommand> {
    SUBCOMMANDS.iter().chain(switches::SUBCOMMANDS)
}

fn debug(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let fits =
        |at: &&Subcommand| args.is(1, at.name) && (at.words.0..=at.words.1).contains(&args.len());
    let Some(subcommand) = all().find(fits) else {
        let before = "ERR unknown subcommand or wrong number of arguments for '";
        return Err(Error::quoting(before, args.at(1), "'. Try DEBUG HELP."));
    };
    (subcommand.apply)(session, args)
}

fn help(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    let mut lines = Vec::new();
    for at in all() {
        lines.push(at.name.to_owned());
        lines.push(format!("    {}", at.help));
    }
    help::reply(session, "DEBUG", &lines)
}

fn ok(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    session.reply_ok()
}

fn error(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    session.reply().error_bytes(args.at(2));
    DONE
}

fn log(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let line = format!("DEBUG LOG: {}", String::from_utf8_lossy(args.at(2)));
    session.engine.environment.log.write(LogLevel::Warning, &line);
    session.reply_ok()
}

/// As in Redis, what is no number is no time.
fn sleep(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let seconds = float::parse_f64(args.at(2)).unwrap_or(0.0);
    let seconds = if seconds.is_nan() { 0.0 } else { seconds.clamp(0.0, SLEEP_SECONDS_MAX) };
    (session.engine.environment.sleep)(Duration::from_secs_f64(seconds));
    session.reply_ok()
}

fn string_match(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let length = usize::try_from(args.positive(2)?).map_err(|_| Error::NOT_POSITIVE)?;
    if length > session.worker.tuning.config.clients.bulk_bytes_max {
        return Err(Error::TOO_LONG);
    }
    let text = vec![b'a'; length];
    let matched = glob::matches(args.at(3), &text, glob::Case::Sensitive);
    session.reply_count(usize::from(matched))
}

fn client_eviction(_: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    Err(Error::text("ERR maxmemory-clients is disabled."))
}
