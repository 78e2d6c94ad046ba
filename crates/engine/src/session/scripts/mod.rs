//! EVAL, SCRIPT, FCALL and FUNCTION.

mod eval;
mod function;
mod script;

use crate::session::SessionCommand;
use caudal_commands::{Args, Error, Flags, Group, KeyFlags, Spec};

/// What may happen to a script's keys.
const RW: KeyFlags = KeyFlags::RW.and(KeyFlags::ACCESS).and(KeyFlags::UPDATE);
/// As above, for one that changes nothing.
const RO: KeyFlags = KeyFlags::RO.and(KeyFlags::ACCESS);

/// The facts of a command that runs a script or a function on keys that it counts.
const fn runs(name: &'static str, summary: &'static str, keys: KeyFlags) -> Spec {
    Spec::new(name, summary)
        .group(Group::Scripting)
        .arity(-3)
        .no_script()
        .flag(Flags::STALE)
        .flag(Flags::SKIP_MONITOR)
        .flag(Flags::NO_MANDATORY_KEYS)
        .reaching()
        .key_count(2, keys)
        .key_note("what the script does with its keys is not known: the worst is assumed")
}

/// A script that is not in the cache.
const UNKNOWN: Error = Error::text("NOSCRIPT No matching script.");

/// The families.
pub(super) fn commands() -> impl Iterator<Item = &'static SessionCommand> {
    eval::COMMANDS.iter().chain(function::COMMANDS).chain(script::COMMANDS)
}

/// Whether the words behind a FLUSH say when, or nothing.
fn says_when(args: Args<'_>) -> bool {
    args.len() == 2 || args.len() == 3 && (args.is(2, "SYNC") || args.is(2, "ASYNC"))
}
