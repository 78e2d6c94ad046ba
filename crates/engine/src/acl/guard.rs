//! The checks before a command of a connection, and what a change of the users does to connections.
//!
//! Dispatch comes here only for connections that are not known to be unrestricted. What must stay
//! true: a connection whose user is gone runs nothing any more; what is denied is counted and
//! logged.

use super::log::{self, Scene};
use super::user::{Databases, Denial, Reason, User};
use crate::batch::Request;
use crate::catalog::Entry;
use crate::clients::ClientInfo;
use crate::connection::{Close, Connection, State};
use crate::pubsub::Topic;
use crate::session::client_line;
use crate::stats;
use crate::worker::{Token, Worker};
use caudal_commands::{Args, Error, Flags};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

impl Denial {
    /// The denial as a sentence; `names` says whether it names keys, channels and databases.
    pub(crate) fn text(&self, user: &[u8], entry: &Entry, args: Args<'_>, names: bool) -> Vec<u8> {
        let object = args.get(self.argument).unwrap_or_default();
        let (right, object, after) = match self.reason {
            Reason::Command => ("run the '", entry.full_name.as_bytes(), "' command"),
            Reason::Database if names => ("access database ", object, ""),
            Reason::Key if names => ("access the '", object, "' key"),
            Reason::Channel if names => ("access the '", object, "' channel"),
            Reason::Database => return b"No permissions to access database".to_vec(),
            Reason::Key => return b"No permissions to access a key".to_vec(),
            Reason::Channel => return b"No permissions to access a channel".to_vec(),
            Reason::Password | Reason::Certificate => {
                unreachable!("signing on is no command's check")
            }
        };
        let (user, right) = ([b"User ", user].concat(), format!(" has no permissions to {right}"));
        [&user, right.as_bytes(), object, after.as_bytes()].concat()
    }
}

impl Worker {
    /// Whether a connection has signed on, or need not.
    pub(crate) fn is_authenticated(&self, connection: &Connection) -> bool {
        connection.authenticated || self.users.are_open
    }

    /// The checks of a command whose connection is not known to be unrestricted.
    #[cold]
    pub(crate) fn admit_restricted(
        &mut self,
        connection: &mut Connection,
        request: Request<'_>,
    ) -> Result<&'static Entry, Error> {
        self.settle_user(connection);
        if !self.is_authenticated(connection)
            && request.entry.is_none_or(|entry| !entry.spec.flags.has(Flags::NO_AUTH))
        {
            return Err(Error::text("NOAUTH Authentication required."));
        }
        let entry = self.admit_known(connection, request)?;
        // The log shows the command that was denied.
        connection.info.command.store(entry.id + 1, Relaxed);
        let in_transaction = connection.queue.is_some();
        let scene = if in_transaction { Scene::Transaction } else { Scene::TopLevel };
        self.check_access(connection, (entry, request.args), scene)
            .map_err(|denial| self.refusal(connection, (entry, request.args), denial))?;
        self.admit_now(connection, entry)?;
        Ok(entry)
    }

    /// Checks a command against the connection's user; what is denied is counted and logged.
    #[inline]
    pub(crate) fn check_access(
        &mut self,
        connection: &mut Connection,
        command: (&Entry, Args<'_>),
        scene: Scene,
    ) -> Result<(), Denial> {
        if connection.unrestricted_in == self.users.version {
            return Ok(());
        }
        self.check_user(connection, command, scene)
    }

    #[cold]
    fn check_user(
        &mut self,
        connection: &mut Connection,
        (entry, args): (&Entry, Args<'_>),
        scene: Scene,
    ) -> Result<(), Denial> {
        self.settle_user(connection);
        let user = Arc::clone(&connection.user);
        let count = self.engine.keyspace.databases();
        let databases = Databases { own: connection.database, count };
        user.check(entry, args, databases).inspect_err(|denial| {
            let object = match denial.reason {
                Reason::Command => entry.full_name.as_bytes(),
                _ => args.get(denial.argument).unwrap_or_default(),
            };
            self.log_denial(&connection.info, (denial.reason, scene), object, &user.name);
        })
    }

    /// The error reply of a denial.
    pub(crate) fn refusal(
        &self,
        connection: &Connection,
        (entry, args): (&Entry, Args<'_>),
        denial: Denial,
    ) -> Error {
        Error::quoting("NOPERM ", &denial.text(&connection.user.name, entry, args, false), "")
    }

    /// Whether a connection's user may run a command with every key there is.
    pub(crate) fn reads_all_keys(
        &mut self,
        connection: &mut Connection,
        (entry, args): (&Entry, Args<'_>),
    ) -> bool {
        self.settle_user(connection);
        connection.unrestricted_in == self.users.version
            || connection.user.reads_all_keys(entry, args)
    }

    /// Counts and logs a denial.
    pub(crate) fn log_denial(
        &self,
        info: &ClientInfo,
        (reason, scene): (Reason, Scene),
        object: &[u8],
        user: &[u8],
    ) {
        let stats = &self.shared().stats;
        let counter = match reason {
            Reason::Command => &stats.commands_denied,
            Reason::Database => &stats.databases_denied,
            Reason::Key => &stats.keys_denied,
            Reason::Channel => &stats.channels_denied,
            Reason::Password => &stats.auth_refused,
            Reason::Certificate => &stats.certificates_refused,
        };
        stats::add(counter, 1);
        let now_ms = self.now.unix_ms;
        let entry = log::Entry {
            id: 0,
            count: 1,
            reason,
            scene,
            object: object.to_vec(),
            user: user.into(),
            client: client_line(&self.engine, info, now_ms),
            created_ms: now_ms,
            updated_ms: now_ms,
        };
        let entries_max = self.tuning.config.security.acl_log_entries_max;
        self.engine.access.log().add(entry, entries_max);
    }

    /// Makes a connection this user's.
    pub(crate) fn sign_on(&self, connection: &mut Connection, user: Arc<User>) {
        connection.info.text().user = user.name.to_vec();
        connection.user = user;
        connection.authenticated = true;
        connection.user_version = self.users.version;
        connection.unrestricted_in = 0;
    }

    /// A connection's peer has shown a certificate with these names: it signs on as the first that
    /// is an enabled user's. If none is, it stays what it was, and may sign on with a password.
    pub fn certified(&mut self, token: Token, names: &[String]) {
        self.follow_users();
        let Some(mut connection) = self.connections[token].take() else { return };
        let mut users = names.iter().filter_map(|name| self.users.find(name.as_bytes()));
        if let Some(user) = users.find(|user| user.is_enabled).map(Arc::clone) {
            self.sign_on(&mut connection, user);
        } else if let Some(name) = names.first() {
            let what = (Reason::Certificate, Scene::TopLevel);
            self.log_denial(&connection.info, what, name.as_bytes(), name.as_bytes());
        }
        self.connections[token] = Some(connection);
    }

    /// Makes a connection what it is before anybody signs on.
    pub(crate) fn sign_off(&self, connection: &mut Connection) {
        self.sign_on(connection, Arc::clone(self.users.default()));
        connection.authenticated = self.users.are_open;
    }

    /// Brings a connection's view of its user up to date. One whose user is gone is closed.
    fn settle_user(&self, connection: &mut Connection) {
        if connection.user_version != self.users.version {
            match self.users.find(&connection.user.name) {
                Some(user) => connection.user = Arc::clone(user),
                None => self.lose_user(connection),
            }
            connection.user_version = self.users.version;
        }
        if connection.user.is_unrestricted && self.is_authenticated(connection) {
            connection.unrestricted_in = self.users.version;
        }
    }

    fn lose_user(&self, connection: &mut Connection) {
        connection.user = Arc::clone(self.users.default());
        connection.authenticated = false;
        if connection.close == Close::No {
            connection.close = Close::Now;
        }
    }

    /// Sees the users as they are now.
    pub(crate) fn follow_users(&mut self) {
        if self.users.version != self.engine.access.version() {
            self.users = self.engine.access.users();
        }
    }

    /// After a change of the users: connections whose user is gone are closed, and those that
    /// subscribe to what they may not any more; blocking commands that are not allowed any more
    /// end.
    pub(crate) fn on_users_changed(&mut self) {
        self.follow_users();
        let ids: Vec<u64> =
            self.connections.iter().flatten().map(|connection| connection.info.id).collect();
        for id in ids {
            let Some(token) = self.token(id) else { continue };
            let Some(mut connection) = self.connections[token].take() else { continue };
            let before = Arc::clone(&connection.user);
            self.settle_user(&mut connection);
            if !Arc::ptr_eq(&before, &connection.user) && loses_channel(&connection) {
                connection.close = Close::Now;
            }
            let is_closing = connection.close != Close::No;
            let denied = self.denied_wait(&mut connection);
            self.connections[token] = Some(connection);
            if is_closing {
                self.mark_outgoing(token);
            }
            if let Some(error) = denied {
                self.refuse_wait(id, &error);
            }
        }
    }

    /// Why the blocking command that a connection waits in is not allowed any more.
    fn denied_wait(&mut self, connection: &mut Connection) -> Option<Error> {
        let State::Waiting(waiting) = &connection.state else { return None };
        let waiter = Arc::clone(&waiting.waiter);
        let entry = self.engine.catalog.entry(waiter.command);
        let words: Vec<&[u8]> = waiter.words.iter().map(|word| &**word).collect();
        let args = caudal_commands::OwnedArgs::of(&words);
        let command = (entry, args.view());
        let denial = self.check_access(connection, command, Scene::TopLevel).err()?;
        Some(self.refusal(connection, command, denial))
    }
}

/// Whether a connection subscribes to what its user may not use.
fn loses_channel(connection: &Connection) -> bool {
    let Some(subscriptions) = connection.subscriptions.as_deref() else { return false };
    let topics = [(Topic::Channel, false), (Topic::Pattern, true), (Topic::ShardChannel, false)];
    topics.iter().any(|(topic, is_pattern)| {
        let may = |name| connection.user.may_use_channel(name, *is_pattern);
        !subscriptions.names(*topic).iter().all(|name| may(name))
    })
}
