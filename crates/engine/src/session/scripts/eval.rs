//! EVAL, EVALSHA and their read-only forms.

use super::{RO, RW, UNKNOWN};
use crate::scripts::{Code, DIGITS, Keys, Known, Request, parse_digest, run};
use crate::session::{Outcome, Session, SessionCommand};
use caudal_commands::{Args, Error, Flags, KeyFlags, Spec};

const fn spec(name: &'static str, summary: &'static str, keys: KeyFlags) -> Spec {
    super::runs(name, summary, keys).complexity("Depends on the script that is executed.")
}

/// The family.
pub(super) const COMMANDS: &[SessionCommand] = &[
    SessionCommand::new(
        spec("EVAL", "Runs a script.", RW)
            .syntax("script numkeys:int [key...] [arg...]")
            .since("2.6.0")
            .flag(Flags::MAY_REPLICATE),
        eval,
    ),
    SessionCommand::new(
        spec("EVALSHA", "Runs a script of the cache.", RW)
            .syntax("sha1 numkeys:int [key...] [arg...]")
            .since("2.6.0")
            .flag(Flags::MAY_REPLICATE),
        eval_digest,
    ),
    SessionCommand::new(
        spec("EVALSHA_RO", "Runs a script of the cache that changes nothing.", RO)
            .syntax("sha1 numkeys:int [key...] [arg...]")
            .since("7.0.0")
            .readonly(),
        eval_digest_read_only,
    ),
    SessionCommand::new(
        spec("EVAL_RO", "Runs a script that changes nothing.", RO)
            .syntax("script numkeys:int [key...] [arg...]")
            .since("7.0.0")
            .readonly(),
        eval_read_only,
    ),
];

fn eval(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    evaluate(session, args, false)
}

fn eval_read_only(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    evaluate(session, args, true)
}

fn eval_digest(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    evaluate_digest(session, args, false)
}

fn eval_digest_read_only(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    evaluate_digest(session, args, true)
}

fn evaluate(session: &mut Session<'_, '_>, args: Args<'_>, read_only: bool) -> Outcome {
    let keys = Keys::parse(args, Error::NOT_INTEGER)?;
    let (shared, worker) = (&session.engine.scripts, &mut *session.worker);
    let script = worker.machine.find_or_add(shared, &mut worker.random, args.at(1), false)?;
    run_script(session, &script, keys, args, read_only)
}

fn evaluate_digest(session: &mut Session<'_, '_>, args: Args<'_>, read_only: bool) -> Outcome {
    // What cannot be a digest is told before the keys are counted.
    if args.at(1).len() != DIGITS {
        return Err(UNKNOWN);
    }
    let keys = Keys::parse(args, Error::NOT_INTEGER)?;
    let shared = &session.engine.scripts;
    let digest = parse_digest(args.at(1)).ok_or(UNKNOWN)?;
    let script = session.worker.machine.find(shared, &digest).ok_or(UNKNOWN)?;
    run_script(session, &script, keys, args, read_only)
}

fn run_script(
    session: &mut Session<'_, '_>,
    script: &Known,
    keys: Keys,
    args: Args<'_>,
    read_only: bool,
) -> Outcome {
    session.engine.scripts.use_now(script);
    let entry = session.engine.catalog.find(args.at(0)).expect("it was called by this name");
    run(session, Code::Script(script), Request { entry, args, keys, read_only })
}
