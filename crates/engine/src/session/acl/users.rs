//! ACL SETUSER, GETUSER, DELUSER, LIST, USERS: the users and their rules.
//!
//! What must stay true: SETUSER applies all of its rules or none.

use super::spec;
use crate::acl::{DEFAULT, Selector, User, Users, ground, is_name, join};
use crate::connection::Close;
use crate::session::{ALL_NODES_SUCCEED, DONE, Outcome, Session, SessionCommand};
use caudal_commands::{Args, Error};
use caudal_wire::Reply;
use std::convert::Infallible;

const USERS_COST: &str = "O(N). Where N is the number of configured users.";

/// ACL DELUSER.
pub(super) const DELUSER: SessionCommand = SessionCommand::new(
    spec("DELUSER", "Removes users, and closes their connections.")
        .syntax("username...")
        .arity(-3)
        .admin()
        .complexity("O(1) amortized time considering the typical user.")
        .tips(ALL_NODES_SUCCEED),
    delete,
);
/// ACL GETUSER.
pub(super) const GETUSER: SessionCommand = SessionCommand::new(
    spec("GETUSER", "Returns what a user may do.").syntax("username").arity(3).admin().complexity(
        "O(N). Where N is the number of password, command and pattern rules that the user has.",
    ),
    get,
);
/// ACL LIST.
pub(super) const LIST: SessionCommand = SessionCommand::new(
    spec("LIST", "Returns the users as the lines of an ACL file.")
        .arity(2)
        .admin()
        .complexity(USERS_COST),
    list,
);
/// ACL SETUSER.
pub(super) const SETUSER: SessionCommand = SessionCommand::new(
    spec("SETUSER", "Makes a user or changes one, by rules.")
        .syntax("username [rule...]")
        .arity(-3)
        .admin()
        .complexity("O(N). Where N is the number of rules provided.")
        .tips(ALL_NODES_SUCCEED),
    set,
);
/// ACL USERS.
pub(super) const USERS: SessionCommand = SessionCommand::new(
    spec("USERS", "Lists the users.").arity(2).admin().complexity(USERS_COST),
    names,
);

impl Session<'_, '_> {
    /// Changes the users; this worker sees it at once, and the others with their next turn.
    fn change_users<T, E>(
        &mut self,
        change: impl FnOnce(&mut Users) -> Result<T, E>,
    ) -> Result<T, E> {
        let result = self.engine.change_users(change)?;
        self.worker.follow_users();
        Ok(result)
    }

    /// `requirepass` was set.
    pub(in crate::session) fn set_default_password(&mut self, password: &[u8]) {
        let ground = ground(&self.engine.config());
        let changed: Result<(), Infallible> = self.change_users(|users| {
            users.set_default_password(ground, password);
            Ok(())
        });
        let Ok(()) = changed;
    }
}

/// The `user` lines of the configuration's file.
pub(in crate::session) fn user_lines(session: &Session<'_, '_>) -> Result<Vec<String>, Error> {
    let line = |user: &std::sync::Arc<User>| String::from_utf8(user.describe());
    let users = session.worker.users.all().map(line).collect::<Result<_, _>>();
    users.map_err(|_| Error::text("ERR Rewriting config file: a user's rules are not UTF-8 text"))
}

fn set(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let name = args.at(2);
    if !is_name(name) {
        return Err(Error::text("ERR Usernames can't contain spaces or null characters"));
    }
    let rules = join(args.from(3)).map_err(|start| {
        let before = "ERR Unmatched parenthesis in acl selector starting at '";
        Error::quoting(before, start, "'.")
    })?;
    let ground = ground(&session.engine.config());
    session.change_users::<_, Error>(|users| {
        let known = users.find(name).map(|user| User::clone(user));
        let mut user = known.unwrap_or_else(|| User::new(name, ground));
        for rule in &rules {
            user.apply(ground, rule).map_err(|error| {
                let before = "ERR Error in ACL SETUSER modifier '";
                Error::quoting(before, rule, &format!("': {error}"))
            })?;
        }
        users.put(user);
        Ok(())
    })?;
    session.reply_ok()
}

fn delete(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    if args.from(2).any(|name| name == DEFAULT) {
        return Err(Error::text("ERR The 'default' user cannot be removed"));
    }
    let counted: Result<usize, Infallible> =
        session.change_users(|users| Ok(args.from(2).filter(|name| users.remove(name)).count()));
    let Ok(count) = counted;
    if session.worker.users.find(&session.connection.user.name).is_none() {
        session.connection.close = Close::AfterFlush;
    }
    session.reply_count(count)
}

fn get(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let user = session.worker.users.find(args.at(2)).cloned();
    let mut reply = session.reply();
    let Some(user) = user else {
        reply.null();
        return DONE;
    };
    reply.map(7);
    reply.bulk(b"flags");
    let flags =
        [("on", user.is_enabled), ("off", !user.is_enabled), ("nopass", user.needs_no_password)];
    let flags: Vec<&str> = flags.iter().filter(|(_, set)| *set).map(|(name, _)| *name).collect();
    reply.set(flags.len());
    flags.iter().for_each(|flag| reply.bulk(flag.as_bytes()));
    reply.bulk(b"passwords");
    reply.array(user.passwords.len());
    user.passwords.iter().for_each(|digest| reply.bulk(digest.to_string().as_bytes()));
    let [root, others @ ..] = user.selectors.as_slice() else {
        unreachable!("a user has a selector")
    };
    selector(&mut reply, root);
    reply.bulk(b"selectors");
    reply.array(others.len());
    for other in others {
        reply.map(4);
        selector(&mut reply, other);
    }
    DONE
}

/// Four pairs of a map.
fn selector(reply: &mut Reply<'_>, selector: &Selector) {
    let parts = [
        ("commands", selector.commands_text()),
        ("keys", selector.keys_text()),
        ("channels", selector.channels_text()),
        ("databases", selector.databases_text()),
    ];
    for (name, text) in parts {
        reply.bulk(name.as_bytes());
        reply.bulk(&text);
    }
}

fn list(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    let lines: Vec<Vec<u8>> = session.worker.users.all().map(|user| user.describe()).collect();
    let mut reply = session.reply();
    reply.array(lines.len());
    lines.iter().for_each(|line| reply.bulk(line));
    DONE
}

fn names(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    let users = std::sync::Arc::clone(&session.worker.users);
    let mut reply = session.reply();
    reply.array(users.all().len());
    users.all().for_each(|user| reply.bulk(&user.name));
    DONE
}
