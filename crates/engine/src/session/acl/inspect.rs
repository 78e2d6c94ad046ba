//! ACL CAT, DRYRUN, LOG, WHOAMI: what one may know of rules and of what they forbade.

use super::{spec, too_many};
use crate::acl::categories::{self, CATEGORIES};
use crate::acl::log::Entry;
use crate::acl::{Databases, Reason, Scene};
use crate::session::{DONE, Outcome, Session, SessionCommand};
use caudal_commands::{Args, Error, OwnedArgs};
use caudal_text::integer;

/// Entries that ACL LOG shows if it is not told how many.
const SHOWN: usize = 10;

/// ACL CAT.
pub(super) const CAT: SessionCommand = SessionCommand::new(
    spec("CAT", "Lists the categories, or the commands of one.")
        .syntax("[category]")
        .arity(-2)
        .complexity("O(1) since the categories and commands are a fixed set."),
    cat,
);
/// ACL DRYRUN.
pub(super) const DRYRUN: SessionCommand = SessionCommand::new(
    spec("DRYRUN", "Says whether a user may run a command, without running it.")
        .syntax("username command [arg...]")
        .since("7.0.0")
        .arity(-4)
        .admin(),
    dry_run,
);
/// ACL LOG.
pub(super) const LOG: SessionCommand = SessionCommand::new(
    spec("LOG", "Shows what was denied lately, or forgets it.")
        .syntax("[operation<count:int|RESET>]")
        .arity(-2)
        .admin()
        .complexity("O(N) with N being the number of entries shown."),
    log,
);
/// ACL WHOAMI.
pub(super) const WHOAMI: SessionCommand =
    SessionCommand::new(spec("WHOAMI", "Returns this connection's user.").arity(2), who_am_i);

fn cat(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let names: Vec<&str> = match args.len() {
        2 => CATEGORIES.to_vec(),
        3 => {
            let name = args.at(2);
            let category = categories::named(name)
                .ok_or_else(|| Error::quoting("ERR Unknown category '", name, "'"))?;
            let entries = session.engine.catalog.entries().iter();
            let members = entries.filter(|entry| categories::contains(category, entry));
            members.map(|entry| entry.full_name.as_str()).collect()
        }
        _ => return Err(too_many(args)),
    };
    let mut reply = session.connection.reply();
    reply.array(names.len());
    names.iter().for_each(|name| reply.bulk(name.as_bytes()));
    DONE
}

fn dry_run(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let users = std::sync::Arc::clone(&session.worker.users);
    let user = users
        .find(args.at(2))
        .ok_or_else(|| Error::quoting("ERR User '", args.at(2), "' not found"))?;
    let words: Vec<&[u8]> = args.from(3).collect();
    let line = OwnedArgs::of(&words);
    let line = line.view();
    let catalog = session.engine.catalog;
    let not_found = || Error::quoting("ERR Command '", args.at(3), "' not found");
    let mut entry = catalog.find(line.at(0)).ok_or_else(not_found)?;
    if let Some(name) = line.get(1)
        && !entry.subcommands.is_empty()
    {
        entry = catalog.subcommand(entry, name).ok_or_else(not_found)?;
    }
    if !entry.spec.accepts(line.len()) {
        return Err(Error::arity(&entry.full_name));
    }
    let count = session.engine.keyspace.databases();
    let databases = Databases { own: session.connection.database, count };
    match user.check(entry, line, databases) {
        Ok(()) => session.reply_ok(),
        Err(denial) => {
            let text = denial.text(&user.name, entry, line, true);
            session.reply().bulk(&text);
            DONE
        }
    }
}

fn log(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let count = match args.len() {
        2 => SHOWN,
        3 if args.is(2, "RESET") => {
            session.engine.access.log().entries.clear();
            return session.reply_ok();
        }
        3 => {
            let count = integer::parse_i64(args.at(2)).ok_or(Error::NOT_INTEGER)?;
            usize::try_from(count).unwrap_or(0)
        }
        _ => return Err(too_many(args)),
    };
    let entries: Vec<Entry> =
        session.engine.access.log().entries.iter().take(count).cloned().collect();
    let now_ms = session.worker.now.unix_ms;
    let mut reply = session.reply();
    reply.array(entries.len());
    for entry in entries {
        reply.map(10);
        reply.bulk(b"count");
        reply.integer(i64::try_from(entry.count).unwrap_or(i64::MAX));
        let words = [
            ("reason", reason(entry.reason)),
            ("context", scene(entry.scene)),
            ("object", &entry.object),
            ("username", &entry.user),
        ];
        for (name, text) in words {
            reply.bulk(name.as_bytes());
            reply.bulk(text);
        }
        reply.bulk(b"age-seconds");
        reply.double(now_ms.saturating_sub(entry.updated_ms) as f64 / 1000.0);
        reply.bulk(b"client-info");
        reply.bulk(&entry.client);
        let numbers = [
            ("entry-id", entry.id),
            ("timestamp-created", entry.created_ms),
            ("timestamp-last-updated", entry.updated_ms),
        ];
        for (name, number) in numbers {
            reply.bulk(name.as_bytes());
            reply.integer(i64::try_from(number).unwrap_or(i64::MAX));
        }
    }
    DONE
}

fn reason(reason: Reason) -> &'static [u8] {
    match reason {
        Reason::Command => b"command",
        Reason::Database => b"database",
        Reason::Key => b"key",
        Reason::Channel => b"channel",
        Reason::Password => b"auth",
        Reason::Certificate => b"tls-cert",
    }
}

fn scene(scene: Scene) -> &'static [u8] {
    match scene {
        Scene::TopLevel => b"toplevel",
        Scene::Transaction => b"multi",
        Scene::Script => b"lua",
    }
}

fn who_am_i(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    let user = session.connection.user.name.clone();
    session.reply().bulk(&user);
    DONE
}
