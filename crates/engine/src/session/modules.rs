//! MODULE: there are none, and none can be loaded.

use crate::session::{DONE, Outcome, Session, SessionCommand, help};
use caudal_commands::{Args, Error, Flags, Group, Spec};

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary).of("MODULE").group(Group::Server).since("4.0.0").admin().no_script()
}

const fn loads(name: &'static str, summary: &'static str) -> Spec {
    spec(name, summary).flag(Flags::NO_ASYNC_LOADING)
}

/// The family.
pub(super) const COMMANDS: &[SessionCommand] = &[
    help::help("MODULE", Group::Server, "5.0.0"),
    SessionCommand::new(
        spec("LIST", "Lists the modules that are loaded: none.")
            .arity(2)
            .complexity("O(N) with N the number of modules.")
            .tips(&["nondeterministic_output_order"]),
        list,
    ),
    SessionCommand::new(
        loads("LOAD", "Is refused: there are no modules.").syntax("path [arg...]").arity(-3),
        refuse,
    ),
    SessionCommand::new(
        loads("LOADEX", "Is refused: there are no modules.")
            .syntax("path [CONFIG... configs(name value)] [ARGS args...]")
            .since("7.0.0")
            .arity(-3),
        refuse,
    ),
    SessionCommand::new(
        loads("UNLOAD", "Is refused: there are no modules.").syntax("name").arity(3),
        refuse,
    ),
];

fn list(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    session.reply().array(0);
    DONE
}

fn refuse(_: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    Err(Error::text("ERR MODULE command not allowed: Caudal does not load modules"))
}
