//! A user: a name, passwords, and selectors that say what he may do.

use super::categories;
use super::password::Digest;
use super::rules::RuleError;
use super::selector::Selector;
use crate::catalog::{Catalog, Entry};
use caudal_commands::{Args, Flags, KeyFlags};

/// The user that connections have before they sign on.
pub(crate) const DEFAULT: &[u8] = b"default";

/// A user. Never changed: a changed one takes its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) name: Box<[u8]>,
    /// Whether one can sign on as this user.
    pub(crate) is_enabled: bool,
    /// Whether every password is right.
    pub(crate) needs_no_password: bool,
    pub(crate) passwords: Vec<Digest>,
    /// The first is the one that plain rules change. Never empty.
    pub(crate) selectors: Vec<Selector>,
    /// Whether nothing is forbidden: decided once, for it is asked with each command.
    pub(crate) is_unrestricted: bool,
}

/// What rules need to know.
#[derive(Clone, Copy)]
pub(crate) struct Ground {
    pub(crate) catalog: &'static Catalog,
    /// `acl-pubsub-default`: whether a new user may use all channels.
    pub(crate) all_channels: bool,
}

/// The databases that a command may be about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Databases {
    /// The session's. < count
    pub(crate) own: u8,
    /// How many there are.
    pub(crate) count: usize,
}

/// Why a user may not run a command. The greater of two denials says more: the selector that gave
/// it allowed more of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Denial {
    pub(crate) reason: Reason,
    /// The argument that it is about.
    pub(crate) argument: usize,
}

/// What is forbidden, in the order in which it is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reason {
    /// A database that the command is about.
    Database,
    /// The command.
    Command,
    /// One of its keys.
    Key,
    /// One of its channels.
    Channel,
    /// Signing on: a wrong name or password.
    Password,
    /// Signing on with a certificate: there is no such user, or it is disabled.
    Certificate,
}

impl User {
    /// A user who may do nothing.
    pub(crate) fn new(name: &[u8], ground: Ground) -> User {
        User {
            name: name.into(),
            is_enabled: false,
            needs_no_password: false,
            passwords: Vec::new(),
            selectors: vec![Selector::new(ground.all_channels)],
            is_unrestricted: false,
        }
    }

    /// The user that there is without any configuration: everything is allowed.
    pub(crate) fn first(ground: Ground) -> User {
        let mut user = User::new(DEFAULT, ground);
        for rule in ["on", "nopass", "allkeys", "allchannels", "+@all"] {
            user.apply(ground, rule.as_bytes()).expect("these are rules");
        }
        user
    }

    /// Changes the user as one rule says. After an error nothing has changed.
    pub(crate) fn apply(&mut self, ground: Ground, rule: &[u8]) -> Result<(), RuleError> {
        let is = |word: &str| rule.eq_ignore_ascii_case(word.as_bytes());
        if is("on") {
            self.is_enabled = true;
        } else if is("off") {
            self.is_enabled = false;
        } else if is("nopass") {
            (self.needs_no_password, self.passwords) = (true, Vec::new());
        } else if is("resetpass") {
            (self.needs_no_password, self.passwords) = (false, Vec::new());
        } else if is("reset") {
            *self = User::new(&self.name, ground);
        } else if is("clearselectors") {
            self.selectors.truncate(1);
        } else if is("sanitize-payload") || is("skip-sanitize-payload") {
            // Every payload is checked, so there is nothing to remember.
        } else {
            match rule.split_first() {
                Some((b'>', password)) => self.add_password(Digest::of(password)),
                Some((b'#', hash)) => {
                    self.add_password(Digest::parse(hash).ok_or(RuleError::BadHash)?);
                }
                Some((b'<', password)) => self.remove_password(Digest::of(password))?,
                Some((b'!', hash)) => {
                    self.remove_password(Digest::parse(hash).ok_or(RuleError::BadHash)?)?;
                }
                Some((b'(', rest)) if rest.last() == Some(&b')') => {
                    self.add_selector(ground, &rest[..rest.len() - 1])?;
                }
                _ => self.selectors[0].apply(ground.catalog, rule)?,
            }
        }
        self.is_unrestricted = self.selectors[0].is_unrestricted(ground.catalog);
        Ok(())
    }

    fn add_selector(&mut self, ground: Ground, rules: &[u8]) -> Result<(), RuleError> {
        let mut selector = Selector::new(ground.all_channels);
        for rule in rules.split(|byte| *byte == b' ').filter(|rule| !rule.is_empty()) {
            selector.apply(ground.catalog, rule)?;
        }
        self.selectors.push(selector);
        Ok(())
    }

    fn add_password(&mut self, digest: Digest) {
        if !self.passwords.contains(&digest) {
            self.passwords.push(digest);
        }
        self.needs_no_password = false;
    }

    fn remove_password(&mut self, digest: Digest) -> Result<(), RuleError> {
        let before = self.passwords.len();
        self.passwords.retain(|known| *known != digest);
        if self.passwords.len() == before { Err(RuleError::NoSuchPassword) } else { Ok(()) }
    }

    /// Whether a password lets one sign on as this user. All of them are compared, each in full.
    pub(crate) fn accepts(&self, password: &[u8]) -> bool {
        let digest = Digest::of(password);
        let known = self.passwords.iter().fold(false, |found, known| found | known.is(&digest));
        self.is_enabled && (self.needs_no_password | known)
    }

    /// The rules that make this user, as ACL LIST shows them and an ACL file has them.
    pub(crate) fn describe(&self) -> Vec<u8> {
        let mut out = b"user ".to_vec();
        out.extend_from_slice(&self.name);
        out.extend_from_slice(if self.is_enabled { b" on " } else { b" off " });
        if self.needs_no_password {
            out.extend_from_slice(b"nopass ");
        }
        for digest in &self.passwords {
            out.extend_from_slice(format!("#{digest} ").as_bytes());
        }
        self.selectors[0].describe(&mut out);
        for selector in &self.selectors[1..] {
            out.extend_from_slice(b" (");
            selector.describe(&mut out);
            out.push(b')');
        }
        out
    }
}

/// What the user may do.
impl User {
    /// Whether the user may run a command: one selector must allow all of it.
    ///
    /// # Errors
    /// What is forbidden, by the selector that allowed most of it.
    pub(crate) fn check(
        &self,
        entry: &Entry,
        args: Args<'_>,
        databases: Databases,
    ) -> Result<(), Denial> {
        let mut most = Denial { reason: Reason::Database, argument: 0 };
        for selector in &self.selectors {
            match selector.check(entry, args, databases) {
                Ok(()) => return Ok(()),
                Err(denial) => most = most.max(denial),
            }
        }
        Err(most)
    }

    /// Whether the user may publish to a channel or subscribe to it, or to a pattern.
    pub(crate) fn may_use_channel(&self, channel: &[u8], is_pattern: bool) -> bool {
        self.selectors.iter().any(|selector| selector.allows_channel(channel, is_pattern))
    }

    /// Whether the user may run a command with every key there is: SORT with BY or GET.
    pub(crate) fn reads_all_keys(&self, entry: &Entry, args: Args<'_>) -> bool {
        let allows = |selector: &Selector| {
            selector.allows_command(entry, args.get(1)) && selector.reads_all_keys()
        };
        self.selectors.iter().any(allows)
    }
}

impl Selector {
    fn check(&self, entry: &Entry, args: Args<'_>, databases: Databases) -> Result<(), Denial> {
        let deny = |reason, argument| Denial { reason, argument };
        self.check_databases(entry, args, databases)
            .map_err(|argument| deny(Reason::Database, argument))?;
        if !entry.spec.flags.has(Flags::NO_AUTH) && !self.allows_command(entry, args.get(1)) {
            return Err(deny(Reason::Command, 0));
        }
        let mut denied = None;
        entry.each_key(args, |at, flags| {
            let flags = entry.settled(args, flags);
            let reads = flags.has(KeyFlags::ACCESS);
            let changes = [KeyFlags::UPDATE, KeyFlags::INSERT, KeyFlags::DELETE];
            let writes = changes.iter().any(|change| flags.has(*change));
            if denied.is_none() && !self.allows_key(args.at(at), reads, writes) {
                denied = Some(deny(Reason::Key, at));
            }
        });
        if let Some(denial) = denied {
            return Err(denial);
        }
        let Some(Channels { first, last, are_patterns }) = channels(entry) else { return Ok(()) };
        let last = last.min(args.len().saturating_sub(1));
        let refused = (first..=last).find(|at| !self.allows_channel(args.at(*at), are_patterns));
        refused.map_or(Ok(()), |at| Err(deny(Reason::Channel, at)))
    }

    /// # Errors
    /// The argument that names a forbidden database; 0 if it is the session's own.
    fn check_databases(
        &self,
        entry: &Entry,
        args: Args<'_>,
        databases: Databases,
    ) -> Result<(), usize> {
        if self.allows_all_databases() {
            return Ok(());
        }
        let named = |at: usize| {
            let number = args.get(at).and_then(caudal_text::integer::parse_i64);
            // What is no database is the command's to refuse.
            let number = number.and_then(|number| u32::try_from(number).ok());
            number.filter(|number| (*number as usize) < databases.count)
        };
        let check = |at: usize| match named(at) {
            Some(database) if !self.allows_database(database) => Err(at),
            _ => Ok(()),
        };
        match (entry.spec.parent, entry.spec.name) {
            (None, "SELECT") => return check(1),
            (None, "SWAPDB") => return check(1).and_then(|()| check(2)),
            (None, "FLUSHALL") => {
                let mut all = (0..).take(databases.count);
                return if all.all(|at| self.allows_database(at)) { Ok(()) } else { Err(0) };
            }
            (None, "MOVE") => check(2)?,
            (None, "COPY") => {
                let names = (3..args.len()).filter(|at| args.is(*at, "DB"));
                names.into_iter().try_for_each(|at| check(at + 1))?;
            }
            _ => {}
        }
        let is_about_data = entry.first_key.is_some()
            || ["read", "write", "keyspace"].iter().any(|at| categories::contains(at, entry));
        if is_about_data && !self.allows_database(databases.own.into()) { Err(0) } else { Ok(()) }
    }
}

/// Where channels stand among the arguments.
struct Channels {
    first: usize,
    last: usize,
    are_patterns: bool,
}

fn channels(entry: &Entry) -> Option<Channels> {
    if !entry.spec.flags.has(Flags::PUBSUB) || entry.spec.parent.is_some() {
        return None;
    }
    let (last, are_patterns) = match entry.spec.name {
        "PUBLISH" | "SPUBLISH" => (1, false),
        "SUBSCRIBE" | "SSUBSCRIBE" => (usize::MAX, false),
        "PSUBSCRIBE" => (usize::MAX, true),
        _ => return None,
    };
    Some(Channels { first: 1, last, are_patterns })
}
