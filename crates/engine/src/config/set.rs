//! CONFIG SET: all of the pairs, or none.
//!
//! Works on the values alone; the engine swaps the new snapshot in and does what the changes ask
//! for. The texts of the errors are Valkey's.

use std::borrow::Cow;
use std::fmt;

use super::Config;
use super::directive::{Directive, Kind, Mutability, Reason, Value};
use super::settings::Settings;
use super::table::{self, Place};

/// Where the client that asks for a change is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// On this machine.
    Local,
    /// Elsewhere.
    Remote,
}

/// A directive that CONFIG SET named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The directive's main name, whichever alias was used.
    pub directive: &'static str,
    /// Its value now, as CONFIG GET shows it; may be a secret.
    pub value: String,
    /// Whether the value differs from the one before.
    pub differs: bool,
    /// What the operator should know about the value, for the log.
    pub notice: Option<String>,
}

/// Why nothing was changed; as text the error reply, without the `-` in front.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetError {
    /// There is no such directive.
    Unknown {
        /// The name as the client wrote it.
        name: String,
    },
    /// A value cannot be set.
    Refused {
        /// The name that the client used, as the table spells it.
        name: String,
        /// Why.
        reason: String,
    },
}

impl Config {
    /// Sets directives, named in any case or by alias, to values.
    ///
    /// # Errors
    ///
    /// The first name that is unknown, twice there or not to be changed, or else the first value
    /// that is refused; the configuration is then as before.
    pub fn set(
        &mut self,
        pairs: &[(impl AsRef<[u8]>, impl AsRef<[u8]>)],
        peer: Peer,
    ) -> Result<Vec<Change>, SetError> {
        let places = self.places(pairs.iter().map(|(name, _)| name.as_ref()), peer)?;
        let mut values = self.values.clone();
        for (&(place, name), (_, value)) in places.iter().zip(pairs) {
            let refused = |reason: Reason| SetError::refused(name, reason);
            values[place] =
                parse(table::all()[place], &values[place], value.as_ref()).map_err(refused)?;
        }
        let changes = places.iter().map(|&(place, _)| {
            let row = table::all()[place];
            Change {
                directive: row.name,
                value: row.kind.render(&values[place]),
                differs: values[place] != self.values[place],
                notice: row.notice(&values[place]).map(Cow::into_owned),
            }
        });
        let changes = changes.collect();
        let settings = Settings::new(&values);
        if let Some((name, reason)) = settings.conflict() {
            return Err(SetError::refused(name, reason.into()));
        }
        self.settings = settings;
        self.values = values;
        Ok(changes)
    }

    /// Finds the directives and checks that each may be changed, and is named once. The names given
    /// back are the table's spellings of those that the client used.
    fn places<'a>(
        &self,
        names: impl Iterator<Item = &'a [u8]>,
        peer: Peer,
    ) -> Result<Vec<(Place, &'static str)>, SetError> {
        let mut places: Vec<(Place, &'static str)> = Vec::new();
        for name in names {
            let unknown = || SetError::Unknown { name: String::from_utf8_lossy(name).into_owned() };
            let place = std::str::from_utf8(name).ok().and_then(table::find);
            let place = place.filter(|&place| table::all()[place].has_value());
            let place = place.ok_or_else(unknown)?;
            let row = table::all()[place];
            let known = row.names().find(|known| known.as_bytes().eq_ignore_ascii_case(name));
            let name = known.unwrap_or(row.name);
            if let Some(reason) = self.unchangeable(row, peer) {
                return Err(SetError::refused(name, reason.into()));
            }
            // Two aliases of one directive may stand beside each other, as in Valkey.
            if places.iter().any(|(_, other)| *other == name) {
                return Err(SetError::refused(name, "duplicate parameter".into()));
            }
            places.push((place, name));
        }
        Ok(places)
    }

    fn unchangeable(&self, row: &Directive, peer: Peer) -> Option<&'static str> {
        let protected_configs = self.security.protected_configs;
        match row.mutability {
            Mutability::AtRunTime => None,
            Mutability::AtStart => Some("can't set immutable config"),
            Mutability::Protected if protected_configs.includes(peer == Peer::Local) => None,
            Mutability::Protected => Some("can't set protected config"),
        }
    }
}

fn parse(row: &'static Directive, before: &Value, text: &[u8]) -> Result<Value, Reason> {
    let text = std::str::from_utf8(text).map_err(|_| "argument must be UTF-8 text")?;
    let before = match row.kind {
        Kind::Save => None,
        _ => Some(before),
    };
    let value = row.kind.parse(&row.kind.split(text), before)?;
    match row.refusal(&value) {
        Some(reason) => Err(reason),
        None => Ok(value),
    }
}

impl SetError {
    fn refused(name: &str, reason: Reason) -> Self {
        SetError::Refused { name: name.to_owned(), reason: reason.into_owned() }
    }
}

impl fmt::Display for SetError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SetError::Unknown { name } => {
                write!(out, "ERR Unknown option or number of arguments for CONFIG SET - '{name}'")
            }
            SetError::Refused { name, reason } => write!(
                out,
                "ERR CONFIG SET failed (possibly related to argument '{name}') - {reason}"
            ),
        }
    }
}

impl std::error::Error for SetError {}
