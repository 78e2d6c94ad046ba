//! CLIENT PAUSE, UNPAUSE, UNBLOCK: holding commands back, and letting go of those that wait.

use super::spec;
use crate::mail::Mail;
use crate::session::{Outcome, Session, SessionCommand};
use caudal_commands::{Args, Error};
use caudal_text::integer;

/// CLIENT PAUSE.
pub(super) const PAUSE: SessionCommand = SessionCommand::new(
    spec("PAUSE", "Holds back all commands, or WRITE ones, for some milliseconds.")
        .syntax("timeout:int [mode<WRITE|ALL>@6.2.0]")
        .since("3.0.0")
        .arity(-3)
        .admin(),
    pause,
);
/// CLIENT UNPAUSE.
pub(super) const UNPAUSE: SessionCommand = SessionCommand::new(
    spec("UNPAUSE", "Ends a pause.")
        .since("6.2.0")
        .arity(2)
        .admin()
        .complexity("O(N) Where N is the number of paused clients"),
    unpause,
);
/// CLIENT UNBLOCK.
pub(super) const UNBLOCK: SessionCommand = SessionCommand::new(
    spec("UNBLOCK", "Ends a blocking command as if by TIMEOUT, or by ERROR.")
        .syntax("client-id:int [unblock-type<TIMEOUT|ERROR>]")
        .since("5.0.0")
        .arity(-3)
        .admin()
        .complexity("O(log N) where N is the number of client connections"),
    unblock,
);

fn pause(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let all = match args.len() {
        3 => true,
        4 if args.is(3, "ALL") => true,
        4 if args.is(3, "WRITE") => false,
        4 => return Err(Error::text("ERR CLIENT PAUSE mode must be WRITE or ALL")),
        _ => return Err(Error::SYNTAX),
    };
    let now = session.worker.now.unix_ms;
    session.engine.pause.begin(until(args.at(2), now)?, all, now);
    session.reply_ok()
}

/// When a pause of this many milliseconds ends.
fn until(timeout: &[u8], now_ms: u64) -> Result<u64, Error> {
    let timeout = integer::parse_i64(timeout)
        .ok_or(Error::text("ERR timeout is not an integer or out of range"))?;
    let timeout = u64::try_from(timeout).map_err(|_| Error::text("ERR timeout is negative"))?;
    now_ms
        .checked_add(timeout)
        .filter(|until| i64::try_from(*until).is_ok())
        .ok_or(Error::text("ERR timeout is out of range"))
}

fn unpause(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    session.engine.pause.end();
    session.engine.broadcast(|| Mail::Unpaused);
    session.reply_ok()
}

fn unblock(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let with_error = match args.len() {
        3 => false,
        4 if args.is(3, "TIMEOUT") => false,
        4 if args.is(3, "ERROR") => true,
        _ => return Err(Error::text("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR")),
    };
    let id = args.integer(2)?;
    let info = u64::try_from(id).ok().and_then(|id| session.engine.clients.find(id));
    // Only who claims the waiter may end the wait: a push that comes at the same moment wins, or
    // loses.
    let claimed =
        info.filter(|info| info.text().waiter.as_ref().is_some_and(|waiter| waiter.claim()));
    if let Some(info) = &claimed {
        let mail = Mail::Unblocked { connection: info.id, with_error };
        session.worker.tell(info.worker, mail);
    }
    session.reply_count(usize::from(claimed.is_some()))
}
