//! Who may do what: users, the rules that make them, and the checks before every command.
//!
//! Stands between dispatch and execution. All users together are one immutable snapshot that is
//! swapped whole; a worker looks at its version once a turn, and a connection remembers for which
//! version it found its user unrestricted: then one comparison is all that a command costs. What
//! must stay true: a command runs only if one selector of its connection's user allows all of it,
//! in EXEC and scripts as well; no password is kept.
//!
//! | file | idea |
//! |---|---|
//! | `user`, `selector` | what a user may do, and the check |
//! | `rules` | words to rules |
//! | `categories` | `@read` and the like |
//! | `password` | digests |
//! | `file` | the file of users |
//! | `guard` | checks of a worker's connections |
//! | `log` | what was denied |

pub(crate) mod categories;
mod file;
mod guard;
pub(crate) mod log;
mod password;
mod rules;
mod selector;
#[cfg(test)]
mod tests;
mod user;

pub(crate) use file::{NO_FILE, is_name};
pub(crate) use log::{Log, Scene};
pub(crate) use rules::{RuleError, join};
pub(crate) use selector::{COMMANDS_MAX, Selector};
pub(crate) use user::{DEFAULT, Databases, Ground, Reason, User};

use crate::catalog::Catalog;
use crate::config::Config;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// All users, at one instant.
#[derive(Clone)]
pub(crate) struct Users {
    /// Grows with each change; never 0.
    pub(crate) version: u64,
    /// By name. The default user is always there.
    all: BTreeMap<Box<[u8]>, Arc<User>>,
    /// Whether one need not sign on: the default user is enabled and has no password.
    pub(crate) are_open: bool,
}

impl Users {
    /// The users that a configuration has, without those of a file.
    pub(crate) fn configured(config: &Config) -> Users {
        let ground = ground(config);
        let mut users = Users::first(ground);
        if let Some(password) = &config.security.password {
            users.set_default_password(ground, password.as_bytes());
        }
        for (name, rules) in config.users() {
            let mut user = User::new(name, ground);
            for rule in rules {
                user.apply(ground, rule).expect("the rules were checked with the configuration");
            }
            users.put(user);
        }
        users
    }

    fn first(ground: Ground) -> Users {
        let mut users = Users { version: 1, all: BTreeMap::new(), are_open: false };
        users.put(User::first(ground));
        users
    }

    /// The user with this name.
    pub(crate) fn find(&self, name: &[u8]) -> Option<&Arc<User>> {
        self.all.get(name)
    }

    /// The user that connections have before they sign on.
    pub(crate) fn default(&self) -> &Arc<User> {
        self.find(DEFAULT).expect("it is never removed")
    }

    /// All users, by name.
    pub(crate) fn all(&self) -> impl ExactSizeIterator<Item = &Arc<User>> {
        self.all.values()
    }

    /// Adds a user, or puts it in the place of the one with its name.
    pub(crate) fn put(&mut self, user: User) {
        if *user.name == *DEFAULT {
            self.are_open = user.is_enabled && user.needs_no_password;
        }
        self.all.insert(user.name.clone(), Arc::new(user));
    }

    /// Removes a user that is not the default one. Whether there was one.
    pub(crate) fn remove(&mut self, name: &[u8]) -> bool {
        assert!(name != DEFAULT, "the default user stays");
        self.all.remove(name).is_some()
    }

    /// `requirepass`: the default user's only password, or none.
    pub(crate) fn set_default_password(&mut self, ground: Ground, password: &[u8]) {
        let mut user = User::clone(self.default());
        let rule = match password {
            b"" => b"nopass".to_vec(),
            password => [b">", password].concat(),
        };
        for rule in [b"resetpass".as_slice(), &rule] {
            user.apply(ground, rule).expect("these are rules");
        }
        self.put(user);
    }
}

/// What rules need to know, under a configuration.
pub(crate) fn ground(config: &Config) -> Ground {
    Ground { catalog: Catalog::get(), all_channels: config.security.all_channels }
}

/// The users of the process, and the log of what they were denied.
pub(crate) struct Access {
    users: RwLock<Arc<Users>>,
    /// The version of `users`, to be looked at without its lock.
    version: AtomicU64,
    /// Serialises changes.
    change: Mutex<()>,
    log: Mutex<Log>,
}

impl Access {
    /// The users that a configuration has.
    pub(crate) fn new(config: &Config) -> Access {
        let users = Users::configured(config);
        Access {
            version: AtomicU64::new(users.version),
            users: RwLock::new(Arc::new(users)),
            change: Mutex::new(()),
            log: Mutex::default(),
        }
    }

    /// The users as they are.
    pub(crate) fn users(&self) -> Arc<Users> {
        Arc::clone(&self.users.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Number of their last change.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Changes the users as a whole, or not at all.
    pub(crate) fn change<T, E>(
        &self,
        change: impl FnOnce(&mut Users) -> Result<T, E>,
    ) -> Result<T, E> {
        let _one_at_a_time = self.change.lock().unwrap_or_else(PoisonError::into_inner);
        let mut users = Users::clone(&self.users());
        let result = change(&mut users)?;
        users.version = self.version() + 1;
        let version = users.version;
        *self.users.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(users);
        self.version.store(version, Ordering::Release);
        Ok(result)
    }

    /// The log, for a moment.
    pub(crate) fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
