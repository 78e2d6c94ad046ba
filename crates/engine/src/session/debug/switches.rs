//! DEBUG's switches: those that change something, and those of parts that Caudal does not have, so
//! that leaving things as they are is all there is to do.

use super::{Subcommand, ok, subcommand};
use crate::config::parse_memory;
use crate::session::{Outcome, Session};
use caudal_commands::{Args, Error};
use caudal_text::integer;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// A switch of a part that is not there.
const fn without_effect(name: &'static str, help: &'static str) -> Subcommand {
    subcommand(name, (3, 3), help, ok)
}

const NO_CLUSTER: &str = "There are no cluster links: nothing changes.";
const NO_TABLES: &str = "Tables grow page by page, without resizing: nothing changes.";

/// In the order of the alphabet.
pub(super) const SUBCOMMANDS: &[Subcommand] = &[
    without_effect("AOF-FLUSH-SLEEP", "There is no append-only file: nothing changes."),
    without_effect("CLIENT-ENFORCE-REPLY-LIST", "Replies have one buffer: nothing changes."),
    without_effect("CLOSE-CLUSTER-LINK-ON-PACKET-DROP", NO_CLUSTER),
    without_effect("DELAY-RDB-CLIENT-FREE-SECOND", "Nothing replicates: nothing changes."),
    without_effect("DICT-RESIZING", NO_TABLES),
    without_effect("DISABLE-CLUSTER-RANDOM-PING", NO_CLUSTER),
    without_effect("DISABLE-CLUSTER-RECONNECTION", NO_CLUSTER),
    without_effect("DROP-CLUSTER-PACKET-FILTER", NO_CLUSTER),
    without_effect("FORCE-FREE-PRIMARY-ASYNC", "Nothing replicates: nothing changes."),
    without_effect("HASHTABLE-CAN-ABORT-SHRINK", NO_TABLES),
    without_effect("PAUSE-AFTER-FORK", "Nothing forks: nothing changes."),
    subcommand("PAUSE-CRON", (3, 3), "Whether (1 or 0) all upkeep stands still.", pause_upkeep),
    subcommand(
        "QUICKLIST-PACKED-THRESHOLD",
        (3, 3),
        "A list's nodes have one threshold, list-max-listpack-size: nothing changes.",
        packed_threshold,
    ),
    subcommand("REPLYBUFFER", (4, 4), "Replies have one buffer: nothing changes.", reply_buffer),
    subcommand(
        "SET-ACTIVE-EXPIRE",
        (3, 3),
        "Whether (1 or 0) expired keys that nobody asks for are reclaimed.",
        set_active_expire,
    ),
    subcommand(
        "SET-DISABLE-DENY-SCRIPTS",
        (3, 3),
        "Whether (1 or 0) scripts may call DEBUG; of what else they may not call nothing changes.",
        allow_in_scripts,
    ),
    subcommand(
        "SET-SKIP-CHECKSUM-VALIDATION",
        (3, 3),
        "Whether (1 or 0) RESTORE takes payloads with a wrong checksum.",
        set_trusts_checksums,
    ),
    subcommand("SLOTMIGRATION", (4, 4), "No slots migrate: nothing changes.", slot_migration),
];

/// Sets a switch to argument 2; as in Redis, what is no number is 0.
fn set(switch: &AtomicBool, args: Args<'_>) {
    switch.store(integer::parse_i64(args.at(2)).unwrap_or(0) != 0, Relaxed);
}

fn set_active_expire(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    set(&session.engine.reclaims_expired, args);
    session.reply_ok()
}

fn allow_in_scripts(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    set(&session.engine.scripts_may_debug, args);
    session.reply_ok()
}

fn set_trusts_checksums(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    set(&session.engine.trusts_checksums, args);
    session.engine.renew_tuning();
    session.reply_ok()
}

fn pause_upkeep(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    set(&session.engine.pauses_upkeep, args);
    session.reply_ok()
}

fn packed_threshold(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    const BYTES_MAX: i128 = 1 << 32;
    match std::str::from_utf8(args.at(2)).ok().and_then(parse_memory) {
        Some(0..BYTES_MAX) => session.reply_ok(),
        _ => Err(Error::text(
            "ERR argument must be a memory value bigger than 1 and smaller than 4gb",
        )),
    }
}

fn unknown(args: Args<'_>) -> Outcome {
    let before = "ERR unknown subcommand or wrong number of arguments for '";
    Err(Error::quoting(before, args.at(1), "'. Try DEBUG HELP."))
}

fn reply_buffer(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    if args.is(2, "PEAK-RESET-TIME") {
        if !args.is(3, "NEVER") && !args.is(3, "RESET") {
            args.integer(3)?;
        }
        return session.reply_ok();
    }
    if args.is(2, "RESIZING") { session.reply_ok() } else { unknown(args) }
}

fn slot_migration(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let is_known = args.is(2, "PREVENT-PAUSE") || args.is(2, "PREVENT-FAILOVER");
    if is_known { session.reply_ok() } else { unknown(args) }
}
