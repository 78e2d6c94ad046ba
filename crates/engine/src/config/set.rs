//! CONFIG SET: all of the pairs, or none.
//!
//! Works on the values alone; the engine swaps the new snapshot in and does what the changes ask for.
//! The texts of the errors are Valkey's.

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
    /// Its value now, as CONFIG GET shows it.
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
        /// The name as the client wrote it.
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
    /// An unknown name, wherever it stands, or else the first pair that cannot be set; the
    /// configuration is then as before.
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
        self.settings = Settings::new(&values);
        self.values = values;
        Ok(changes)
    }

    /// Finds the directives and checks that each may be changed, and is named once.
    fn places<'a>(
        &self,
        names: impl Iterator<Item = &'a [u8]>,
        peer: Peer,
    ) -> Result<Vec<(Place, &'a str)>, SetError> {
        let mut places = Vec::new();
        for name in names {
            let place = std::str::from_utf8(name).ok().and_then(|name| {
                let place = table::find(name)?;
                table::all()[place].has_value().then_some((place, name))
            });
            let unknown = || SetError::Unknown { name: String::from_utf8_lossy(name).into_owned() };
            places.push(place.ok_or_else(unknown)?);
        }
        for (index, &(place, name)) in places.iter().enumerate() {
            let local = peer == Peer::Local;
            let reason = match table::all()[place].mutability {
                Mutability::AtStart => Some("can't set immutable config"),
                Mutability::Protected if !self.security.protected_configs.includes(local) => {
                    Some("can't set protected config")
                }
                // Two aliases of one directive may stand beside each other, as in Valkey.
                _ if places[..index].iter().any(|(_, other)| other.eq_ignore_ascii_case(name)) => {
                    Some("duplicate parameter")
                }
                _ => None,
            };
            if let Some(reason) = reason {
                return Err(SetError::refused(name, reason.into()));
            }
        }
        Ok(places)
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
