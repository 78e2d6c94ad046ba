//! HELP, of every container: its subcommands and what they do, from their specs.

use crate::session::{DONE, Outcome, Session, SessionCommand};
use caudal_commands::{Args, Error, Group, Spec};

/// The HELP of containers whose other commands are on data.
pub(super) const COMMANDS: &[SessionCommand] =
    &[help("XGROUP", Group::Stream, "5.0.0"), help("XINFO", Group::Stream, "5.0.0")];

/// The HELP of a container.
pub(super) const fn help(
    container: &'static str,
    group: Group,
    since: &'static str,
) -> SessionCommand {
    let spec = Spec::new("HELP", "Prints this help.")
        .of(container)
        .group(group)
        .since(since)
        .arity(2)
        .loading_stale();
    SessionCommand::new(spec, apply)
}

/// Lists the subcommands of the container that was called.
pub(super) fn apply(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let catalog = session.engine.catalog;
    let container = catalog.find(args.at(0)).ok_or(Error::SYNTAX)?;
    let mut lines = Vec::new();
    for entry in catalog.subcommands(container) {
        lines.push(entry.spec.name.to_owned());
        lines.push(format!("    {}", entry.spec.summary));
    }
    reply(session, container.spec.name, &lines)
}

/// Replies with the lines of a help under its headline.
pub(super) fn reply(session: &mut Session<'_, '_>, container: &str, lines: &[String]) -> Outcome {
    let mut reply = session.reply();
    reply.array(lines.len() + 1);
    reply.status(&format!("{container} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"));
    lines.iter().for_each(|line| reply.status(line));
    DONE
}
