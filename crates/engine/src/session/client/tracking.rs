//! CLIENT TRACKING, CACHING, GETREDIR, TRACKINGINFO: being told when keys that were read change.

use super::{always, spec};
use crate::session::{DONE, Outcome, Session, SessionCommand};
use crate::tracking::{Mode, Tracking, Wish};
use caudal_commands::{Args, Error, Flags};

/// CLIENT CACHING.
pub(super) const CACHING: SessionCommand = SessionCommand::new(
    always("CACHING", "Has the next command's reads tracked, or not: YES or NO.")
        .syntax("mode<YES|NO>")
        .since("6.0.0")
        .arity(3),
    caching,
);
/// CLIENT GETREDIR.
pub(super) const GETREDIR: SessionCommand = SessionCommand::new(
    always("GETREDIR", "Returns the client to which invalidations go.").since("6.0.0").arity(2),
    redirection,
);
/// CLIENT TRACKING.
pub(super) const TRACKING: SessionCommand = SessionCommand::new(
    spec("TRACKING", "Has this connection told when keys that it read change: ON or OFF.")
        .flag(Flags::TRACKS)
        .syntax(
            "status<ON|OFF> [REDIRECT client-id:int] [PREFIX... prefix] [BCAST] [OPTIN] [OPTOUT] \
             [NOLOOP]",
        )
        .since("6.0.0")
        .arity(-3)
        .complexity("O(1). Some options may introduce additional complexity."),
    tracking,
);
/// CLIENT TRACKINGINFO.
pub(super) const TRACKINGINFO: SessionCommand = SessionCommand::new(
    spec("TRACKINGINFO", "Describes the tracking of this connection's reads.")
        .since("6.2.0")
        .arity(2),
    describe,
);

const SWITCHES_MODE: &str = "before disabling tracking for this client, and then re-enabling it \
    with a different mode.";

/// The options of CLIENT TRACKING as they were said.
#[derive(Default)]
struct Options<'a> {
    redirection: Option<u64>,
    broadcast: bool,
    opt_in: bool,
    opt_out: bool,
    skips_own: bool,
    prefixes: Vec<&'a [u8]>,
}

impl<'a> Options<'a> {
    fn parse(args: Args<'a>, exists: impl Fn(u64) -> bool) -> Result<Options<'a>, Error> {
        let mut options = Options::default();
        let mut words = args.cursor(3);
        while words.left() > 0 {
            let more = words.left() > 1;
            if more && words.take("REDIRECT") {
                let id = args.integer(words.index())?;
                words.next();
                if options.redirection.is_some() {
                    let text = "ERR A client can only redirect to a single other client";
                    return Err(Error::text(text));
                }
                let id = u64::try_from(id).ok().filter(|id| exists(*id));
                let text = "ERR The client ID you want redirect to does not exist";
                options.redirection = Some(id.ok_or(Error::text(text))?);
            } else if more && words.take("PREFIX") {
                options.prefixes.extend(words.next());
            } else if words.take("BCAST") {
                options.broadcast = true;
            } else if words.take("OPTIN") {
                options.opt_in = true;
            } else if words.take("OPTOUT") {
                options.opt_out = true;
            } else if words.take("NOLOOP") {
                options.skips_own = true;
            } else {
                return Err(Error::SYNTAX);
            }
        }
        Ok(options)
    }

    /// What is asked for, if it makes sense and fits how the connection tracks already.
    fn checked(self, before: Option<&Tracking>) -> Result<Wish<'a>, Error> {
        let was = |mode: Mode| before.is_some_and(|before| before.mode == mode);
        if !self.broadcast && !self.prefixes.is_empty() {
            let text = "ERR PREFIX option requires BCAST mode to be enabled";
            return Err(Error::text(text));
        }
        if before.is_some() && was(Mode::Broadcast) != self.broadcast {
            let text = format!("ERR You can't switch BCAST mode on/off {SWITCHES_MODE}");
            return Err(Error::new(text));
        }
        if self.broadcast && (self.opt_in || self.opt_out) {
            return Err(Error::text("ERR OPTIN and OPTOUT are not compatible with BCAST"));
        }
        if self.opt_in && self.opt_out {
            return Err(Error::text("ERR You can't specify both OPTIN mode and OPTOUT mode"));
        }
        if (self.opt_in && was(Mode::OptOut)) || (self.opt_out && was(Mode::OptIn)) {
            return Err(Error::new(format!(
                "ERR You can't switch OPTIN/OPTOUT mode {SWITCHES_MODE}"
            )));
        }
        self.check_prefixes(before)?;
        let mode = match () {
            () if self.broadcast => Mode::Broadcast,
            () if self.opt_in => Mode::OptIn,
            () if self.opt_out => Mode::OptOut,
            () => Mode::All,
        };
        let Options { redirection, skips_own, prefixes, .. } = self;
        Ok(Wish { mode, skips_own, redirection, prefixes })
    }

    fn check_prefixes(&self, before: Option<&Tracking>) -> Result<(), Error> {
        let overlap = |a: &[u8], b: &[u8]| a.starts_with(b) || b.starts_with(a);
        let refusal = |prefix: &[u8], what: &str, other: &[u8]| {
            let parts: [&[u8]; 7] = [
                b"ERR Prefix '",
                prefix,
                b"' overlaps with ",
                what.as_bytes(),
                b" prefix '",
                other,
                b"'. Prefixes for a single client must not overlap.",
            ];
            Err(Error(parts.concat().into()))
        };
        for (index, prefix) in self.prefixes.iter().enumerate() {
            let mut existing = before.iter().flat_map(|before| &before.prefixes);
            if let Some(other) = existing.find(|other| overlap(prefix, other)) {
                return refusal(prefix, "an existing", other);
            }
            let mut others = self.prefixes[index + 1..].iter();
            if let Some(other) = others.find(|other| overlap(prefix, other)) {
                return refusal(prefix, "another provided", other);
            }
        }
        Ok(())
    }
}

fn tracking(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let Session { engine, worker, connection, .. } = session;
    let options = Options::parse(args, |id| engine.clients.find(id).is_some())?;
    if args.is(2, "ON") {
        let wish = options.checked(connection.tracking.as_deref())?;
        worker.track(engine, connection, &wish);
    } else if args.is(2, "OFF") {
        worker.end_tracking(connection);
    } else {
        return Err(Error::SYNTAX);
    }
    session.reply_ok()
}

fn caching(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let Some(tracking) = session.connection.tracking.as_deref_mut() else {
        let text = "ERR CLIENT CACHING can be called only when the client is in tracking mode with \
            OPTIN or OPTOUT mode enabled";
        return Err(Error::text(text));
    };
    let (word, mode, name) = match () {
        () if args.is(2, "YES") => ("YES", Mode::OptIn, "OPTIN"),
        () if args.is(2, "NO") => ("NO", Mode::OptOut, "OPTOUT"),
        () => return Err(Error::SYNTAX),
    };
    if tracking.mode != mode {
        return Err(Error::new(format!(
            "ERR CLIENT CACHING {word} is only valid when tracking is enabled in {name} mode."
        )));
    }
    tracking.said_caching = true;
    session.reply_ok()
}

/// -1 without tracking, 0 without a redirection.
fn redirection_of(session: &Session<'_, '_>) -> i64 {
    let tracking = session.connection.tracking.as_deref();
    let id = |tracking: &Tracking| tracking.redirection.and_then(|id| i64::try_from(id).ok());
    tracking.map_or(-1, |tracking| id(tracking).unwrap_or(0))
}

fn redirection(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    let id = redirection_of(session);
    session.reply().integer(id);
    DONE
}

fn describe(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    let redirection = redirection_of(session);
    let flags = session.connection.tracking.as_deref().map_or(vec!["off"], flags);
    let all = session.connection.tracking.as_ref().map(|tracking| tracking.prefixes.clone());
    let prefixes = all.unwrap_or_default();
    let mut reply = session.reply();
    reply.map(3);
    reply.bulk(b"flags");
    reply.set(flags.len());
    flags.iter().for_each(|flag| reply.bulk(flag.as_bytes()));
    reply.bulk(b"redirect");
    reply.integer(redirection);
    reply.bulk(b"prefixes");
    reply.array(prefixes.len());
    prefixes.iter().for_each(|prefix| reply.bulk(prefix));
    DONE
}

fn flags(tracking: &Tracking) -> Vec<&'static str> {
    let said = tracking.said_caching;
    let shown = [
        ("on", true),
        ("bcast", tracking.mode == Mode::Broadcast),
        ("optin", tracking.mode == Mode::OptIn),
        ("caching-yes", tracking.mode == Mode::OptIn && said),
        ("optout", tracking.mode == Mode::OptOut),
        ("caching-no", tracking.mode == Mode::OptOut && said),
        ("noloop", tracking.skips_own()),
        ("broken_redirect", tracking.is_broken),
    ];
    shown.into_iter().filter(|(_, is)| *is).map(|(flag, _)| flag).collect()
}
