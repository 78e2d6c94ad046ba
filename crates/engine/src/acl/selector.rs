//! A selector: one set of commands, keys, channels and databases that a user may use together.
//!
//! Every user has one that the plain rules change, and as many more as there are rules in
//! parentheses. What must stay true: a selector prints as rules that make the same selector.

use super::categories;
use super::rules::RuleError;
use crate::catalog::{Catalog, Entry};
use caudal_text::glob;
use std::collections::{BTreeMap, BTreeSet};

/// Words of the bitmap of commands: twice the number of commands there are in Valkey.
const WORDS: usize = 16;
/// Commands that the bitmap has room for.
pub(crate) const COMMANDS_MAX: usize = WORDS * 64;

/// A set of commands, by their index in the catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Commands([u64; WORDS]);

impl Commands {
    fn set(&mut self, id: u16, allowed: bool) {
        let (word, bit) = (usize::from(id) / 64, 1 << (id % 64));
        if allowed {
            self.0[word] |= bit;
        } else {
            self.0[word] &= !bit;
        }
    }

    fn has(&self, id: u16) -> bool {
        self.0[usize::from(id) / 64] & 1 << (id % 64) != 0
    }
}

/// Keys that a selector allows, and for what.
#[derive(Clone, Debug, PartialEq, Eq)]
struct KeyPattern {
    pattern: Box<[u8]>,
    reads: bool,
    writes: bool,
}

/// A set of commands, keys, channels and databases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selector {
    commands: Commands,
    /// Whether the rules on commands begin with all of them.
    from_all: bool,
    /// The rules on commands since then, each as it was given, in lower case.
    command_rules: Vec<Box<[u8]>>,
    /// Commands allowed only with these words, in lower case, behind their name.
    first_words: BTreeMap<u16, BTreeSet<Vec<u8>>>,
    all_keys: bool,
    keys: Vec<KeyPattern>,
    all_channels: bool,
    channels: Vec<Box<[u8]>>,
    /// None: all.
    databases: Option<BTreeSet<u32>>,
}

impl Selector {
    /// Allows nothing but every database; and every channel if that is the configuration's default.
    pub(crate) fn new(all_channels: bool) -> Selector {
        Selector {
            commands: Commands([0; WORDS]),
            from_all: false,
            command_rules: Vec::new(),
            first_words: BTreeMap::new(),
            all_keys: false,
            keys: Vec::new(),
            all_channels,
            channels: Vec::new(),
            databases: None,
        }
    }

    /// Whether it forbids nothing at all.
    pub(crate) fn is_unrestricted(&self, catalog: &Catalog) -> bool {
        let all = || catalog.entries().iter().all(|entry| self.commands.has(entry.id));
        self.all_keys && self.all_channels && self.databases.is_none() && all()
    }

    /// Whether a command with this first argument is allowed.
    pub(crate) fn allows_command(&self, entry: &Entry, first: Option<&[u8]>) -> bool {
        let with_word = || {
            let words = self.first_words.get(&entry.id)?;
            Some(words.contains(&first?.to_ascii_lowercase()))
        };
        self.commands.has(entry.id) || with_word().unwrap_or(false)
    }

    /// Whether a key may be read, written, or touched without either.
    pub(crate) fn allows_key(&self, key: &[u8], reads: bool, writes: bool) -> bool {
        let allows = |at: &KeyPattern| (at.reads || !reads) && (at.writes || !writes);
        let matches = |at: &KeyPattern| glob::matches(&at.pattern, key, glob::Case::Sensitive);
        self.all_keys || self.keys.iter().any(|at| allows(at) && matches(at))
    }

    /// Whether every key may be read.
    pub(crate) fn reads_all_keys(&self) -> bool {
        self.all_keys || self.keys.iter().any(|at| at.reads && *at.pattern == *b"*")
    }

    /// Whether a channel may be used; a pattern only if it is one of the selector's, word for word.
    pub(crate) fn allows_channel(&self, channel: &[u8], is_pattern: bool) -> bool {
        let allows = |pattern: &[u8]| match is_pattern {
            true => pattern == channel,
            false => glob::matches(pattern, channel, glob::Case::Sensitive),
        };
        self.all_channels || self.channels.iter().any(|at| allows(at))
    }

    /// Whether a database may be used.
    pub(crate) fn allows_database(&self, database: u32) -> bool {
        self.databases.as_ref().is_none_or(|allowed| allowed.contains(&database))
    }

    /// Whether every database may be used.
    pub(crate) fn allows_all_databases(&self) -> bool {
        self.databases.is_none()
    }
}

/// Rules.
impl Selector {
    /// Changes the selector as one rule says.
    pub(super) fn apply(
        &mut self,
        catalog: &'static Catalog,
        rule: &[u8],
    ) -> Result<(), RuleError> {
        let is = |word: &str| rule.eq_ignore_ascii_case(word.as_bytes());
        if is("allkeys") || is("~*") {
            (self.all_keys, self.keys) = (true, Vec::new());
        } else if is("resetkeys") {
            (self.all_keys, self.keys) = (false, Vec::new());
        } else if is("allchannels") || is("&*") {
            (self.all_channels, self.channels) = (true, Vec::new());
        } else if is("resetchannels") {
            (self.all_channels, self.channels) = (false, Vec::new());
        } else if is("alldbs") {
            self.databases = None;
        } else if is("resetdbs") {
            self.databases = Some(BTreeSet::new());
        } else if is("allcommands") || is("+@all") {
            self.reset_commands(catalog, true);
        } else if is("nocommands") || is("-@all") {
            self.reset_commands(catalog, false);
        } else {
            return match rule.split_first() {
                Some((b'~', pattern)) => self.add_key(pattern, true, true),
                Some((b'%', rest)) => self.add_key_with_rights(rest),
                Some((b'&', pattern)) => self.add_channel(pattern),
                Some((b'+', b"@")) | Some((b'-', b"@")) => Err(RuleError::UnknownCommand),
                Some((sign @ (b'+' | b'-'), name)) => match name.split_first() {
                    Some((b'@', category)) => self.set_category(catalog, category, *sign == b'+'),
                    _ if *sign == b'+' => self.allow(catalog, name),
                    _ => self.forbid(catalog, name),
                },
                Some(_) if rule.len() > 3 && rule[..3].eq_ignore_ascii_case(b"db=") => {
                    self.databases = Some(databases(&rule[3..])?);
                    Ok(())
                }
                _ => Err(RuleError::Syntax),
            };
        }
        Ok(())
    }

    fn reset_commands(&mut self, catalog: &Catalog, allowed: bool) {
        catalog.entries().iter().for_each(|entry| self.commands.set(entry.id, allowed));
        self.from_all = allowed;
        self.command_rules.clear();
        self.first_words.clear();
    }

    /// `R`, `W` or both before `~pattern`. As in Valkey, the tilde may be missing at the end.
    fn add_key_with_rights(&mut self, rule: &[u8]) -> Result<(), RuleError> {
        let (mut reads, mut writes) = (false, false);
        for (at, letter) in rule.iter().enumerate() {
            match letter.to_ascii_uppercase() {
                b'R' if !reads => reads = true,
                b'W' if !writes => writes = true,
                b'~' if reads || writes => return self.add_key(&rule[at + 1..], reads, writes),
                _ => return Err(RuleError::Syntax),
            }
        }
        if rule.is_empty() { Err(RuleError::Syntax) } else { self.add_key(b"", reads, writes) }
    }

    fn add_key(&mut self, pattern: &[u8], reads: bool, writes: bool) -> Result<(), RuleError> {
        if self.all_keys {
            return Err(RuleError::AllKeysAlready);
        }
        check_pattern(pattern)?;
        if pattern == b"*" && reads && writes {
            (self.all_keys, self.keys) = (true, Vec::new());
        } else if let Some(known) = self.keys.iter_mut().find(|at| *at.pattern == *pattern) {
            known.reads |= reads;
            known.writes |= writes;
        } else {
            self.keys.push(KeyPattern { pattern: pattern.into(), reads, writes });
        }
        Ok(())
    }

    fn add_channel(&mut self, pattern: &[u8]) -> Result<(), RuleError> {
        if self.all_channels {
            return Err(RuleError::AllChannelsAlready);
        }
        check_pattern(pattern)?;
        if !self.channels.iter().any(|known| **known == *pattern) {
            self.channels.push(pattern.into());
        }
        Ok(())
    }

    fn set_category(
        &mut self,
        catalog: &'static Catalog,
        name: &[u8],
        allowed: bool,
    ) -> Result<(), RuleError> {
        let category = categories::named(name).ok_or(RuleError::UnknownCommand)?;
        for entry in catalog.entries() {
            if categories::contains(category, entry) {
                self.set(entry, allowed);
            }
        }
        self.note(format!("@{category}").as_bytes(), allowed);
        Ok(())
    }

    /// `+command`, `+container|command` or `+command|first-word`.
    fn allow(&mut self, catalog: &'static Catalog, name: &[u8]) -> Result<(), RuleError> {
        let Some(bar) = name.iter().rposition(|byte| *byte == b'|') else {
            return self.set_command(catalog, name, true);
        };
        let (before, word) = (&name[..bar], &name[bar + 1..]);
        let entry = find(catalog, before).ok_or(RuleError::UnknownCommand)?;
        if entry.spec.parent.is_some() {
            return Err(RuleError::FirstWordOfSubcommand);
        }
        if word.is_empty() {
            return Err(RuleError::Syntax);
        }
        if !entry.subcommands.is_empty() {
            return self.set_command(catalog, name, true);
        }
        self.first_words.entry(entry.id).or_default().insert(word.to_ascii_lowercase());
        self.note(name, true);
        Ok(())
    }

    fn forbid(&mut self, catalog: &'static Catalog, name: &[u8]) -> Result<(), RuleError> {
        self.set_command(catalog, name, false)
    }

    fn set_command(
        &mut self,
        catalog: &'static Catalog,
        name: &[u8],
        allowed: bool,
    ) -> Result<(), RuleError> {
        let entry = find(catalog, name).ok_or(RuleError::UnknownCommand)?;
        self.set(entry, allowed);
        catalog.subcommands(entry).for_each(|entry| self.set(entry, allowed));
        self.note(name, allowed);
        Ok(())
    }

    fn set(&mut self, entry: &Entry, allowed: bool) {
        self.commands.set(entry.id, allowed);
        self.first_words.remove(&entry.id);
    }

    /// Notes a rule on commands, and forgets those that it makes void: the same one, and those on
    /// parts of what it is about.
    fn note(&mut self, subject: &[u8], allowed: bool) {
        let subject = subject.to_ascii_lowercase();
        self.command_rules.retain(|rule| {
            let rest = rule[1..].strip_prefix(subject.as_slice());
            rest.is_none_or(|rest| !matches!(rest.first(), None | Some(b'|')))
        });
        let sign = if allowed { b'+' } else { b'-' };
        self.command_rules.push([&[sign], subject.as_slice()].concat().into());
    }
}

/// The words that make this selector again.
impl Selector {
    /// All of them.
    pub(super) fn describe(&self, out: &mut Vec<u8>) {
        let mut parts = vec![self.keys_text()];
        if !self.all_channels {
            parts.push(b"resetchannels".to_vec());
        }
        parts.push(self.channels_text());
        match &self.databases {
            Some(databases) if databases.is_empty() => parts.push(b"resetdbs".to_vec()),
            Some(_) => parts.push(self.databases_text()),
            None => {}
        }
        parts.push(self.commands_text());
        for part in parts.iter().filter(|part| !part.is_empty()) {
            out.extend_from_slice(part);
            out.push(b' ');
        }
        out.pop();
    }

    /// Those on commands.
    pub(crate) fn commands_text(&self) -> Vec<u8> {
        let mut text = if self.from_all { b"+@all".to_vec() } else { b"-@all".to_vec() };
        for rule in &self.command_rules {
            text.push(b' ');
            text.extend_from_slice(rule);
        }
        text
    }

    /// Those on keys.
    pub(crate) fn keys_text(&self) -> Vec<u8> {
        if self.all_keys {
            return b"~*".to_vec();
        }
        let rule = |at: &KeyPattern| {
            let rights: &[u8] = match (at.reads, at.writes) {
                (true, false) => b"%R~",
                (false, true) => b"%W~",
                // Given one by one, and more rules may follow: as `~*` none could, when it is read.
                _ if *at.pattern == *b"*" => b"%R~* %W~",
                _ => b"~",
            };
            [rights, &at.pattern].concat()
        };
        self.keys.iter().map(rule).collect::<Vec<_>>().join(&b' ')
    }

    /// Those on channels.
    pub(crate) fn channels_text(&self) -> Vec<u8> {
        if self.all_channels {
            return b"&*".to_vec();
        }
        let rules = self.channels.iter().map(|at| [b"&".as_slice(), at].concat());
        rules.collect::<Vec<_>>().join(&b' ')
    }

    /// Those on databases.
    pub(crate) fn databases_text(&self) -> Vec<u8> {
        let Some(databases) = &self.databases else { return b"alldbs".to_vec() };
        if databases.is_empty() {
            return Vec::new();
        }
        let numbers: Vec<String> = databases.iter().map(u32::to_string).collect();
        format!("db={}", numbers.join(",")).into_bytes()
    }
}

/// The command or subcommand with this name: `get`, `config`, `config|get`.
fn find(catalog: &'static Catalog, name: &[u8]) -> Option<&'static Entry> {
    match name.iter().position(|byte| *byte == b'|') {
        None => catalog.find(name),
        Some(bar) => catalog.subcommand(catalog.find(&name[..bar])?, &name[bar + 1..]),
    }
}

/// Patterns are printed between spaces, so they have none inside.
fn check_pattern(pattern: &[u8]) -> Result<(), RuleError> {
    let bad = pattern.iter().any(|byte| byte.is_ascii_whitespace() || matches!(byte, 0 | 0x0b));
    if bad { Err(RuleError::Syntax) } else { Ok(()) }
}

/// The numbers behind `db=`.
fn databases(list: &[u8]) -> Result<BTreeSet<u32>, RuleError> {
    let number = |word: &[u8]| {
        let (is_negative, digits) = match word.split_first() {
            Some((b'-', digits)) => (true, digits),
            Some((b'+', digits)) => (false, digits),
            _ => (false, word),
        };
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return Err(RuleError::Syntax);
        }
        let text = std::str::from_utf8(digits).map_err(|_| RuleError::Syntax)?;
        let number = text.parse::<u32>().ok().filter(|at| i32::try_from(*at).is_ok());
        number.filter(|at| !is_negative || *at == 0).ok_or(RuleError::DatabaseRange)
    };
    list.split(|byte| *byte == b',').map(number).collect()
}
