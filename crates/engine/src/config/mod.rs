//! The configuration: redis.conf's directives and flags, in its format and under its names.
//!
//! Stands beside a request's path: the server loads one [`Config`] before its first worker starts,
//! the engine hands it out as a snapshot swapped whole, and CONFIG GET, SET and REWRITE work on it.
//! A `Config` has no file, socket or clock of its own: reading files is a function that it is
//! given, and what a change needs done (another log level, another password) is the engine's to do.
//!
//! What must stay true: every directive of Redis 7.2 and Valkey 9.1 is known and either works, is
//! accepted with a notice, or is refused with the reason; none is ignored in silence. The facts of
//! each stand once, in `table`, and `docs/configuration.md` is written from them.
//!
//! | file | idea |
//! |---|---|
//! | `directive` | what one directive may say, and how far it is honoured |
//! | `table/*` | all directives, as rows |
//! | `value`, `special` | words to values and back |
//! | `load`, `arguments` | files and the command line to a configuration |
//! | `set` | CONFIG SET |
//! | `rewrite` | CONFIG REWRITE |
//! | `settings`, `tls` | values as typed fields |
//! | `documentation` | the table as a page |

mod arguments;
mod directive;
mod documentation;
mod load;
mod rewrite;
mod set;
mod settings;
mod special;
mod table;
#[cfg(test)]
mod tests;
pub(crate) mod tls;
mod value;

pub use directive::{Directive, Kind, Line, Mutability, Standing};
pub use documentation::documentation;
pub use load::{ConfigError, Notice, Origin, STANDARD_INPUT, Source};
pub use set::{Change, Peer, SetError};
pub use settings::{
    Allowance, BindAddress, Clients, CommandLog, IoBackend, Limits, Log, LogLevel, Memory, Net,
    Process, Security, Settings, Supervised,
};
pub use special::{ClientLimits, Events, OutputLimit};
pub use tls::{ClientCertificates, Sessions, Tls, UserName};
pub(crate) use value::parse_memory;

use caudal_text::glob;
use directive::Value;
use table::Place;

/// One consistent set of values, for every directive.
///
/// Reads like plain settings (`config.net.port`) through [`std::ops::Deref`].
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// At each directive's place in the table.
    values: Vec<Value>,
    /// Always what `values` say.
    settings: Settings,
    /// The `user` lines: names and rules, which were tried out.
    users: Vec<UserLine>,
}

/// A `user` line: the name and the rules.
type UserLine = (Vec<u8>, Vec<Vec<u8>>);

impl Default for Config {
    fn default() -> Self {
        Self::from_values(table::all().iter().map(|row| row.default_value()).collect())
    }
}

impl std::ops::Deref for Config {
    type Target = Settings;

    fn deref(&self) -> &Settings {
        &self.settings
    }
}

impl Config {
    /// The names and values of CONFIG GET for these patterns, in the order of the names.
    ///
    /// A name without wildcards is answered as it was written, in any case; patterns find names and
    /// aliases. Each name comes once, however many patterns find it.
    pub fn get(&self, patterns: &[impl AsRef<[u8]>]) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for pattern in patterns.iter().map(AsRef::as_ref) {
            if glob::is_literal(pattern) {
                let name = std::str::from_utf8(pattern).ok();
                let place = name.and_then(table::find).filter(|&at| table::all()[at].has_value());
                found.extend(name.zip(place).map(|(name, place)| (name.to_owned(), place)));
                continue;
            }
            for (place, row) in table::all().iter().enumerate() {
                let listed = row.listed && row.has_value();
                let matched = |name: &&str| {
                    listed && glob::matches(pattern, name.as_bytes(), glob::Case::Insensitive)
                };
                found.extend(row.names().filter(matched).map(|name| (name.to_owned(), place)));
            }
        }
        found.sort_by_cached_key(|(name, _)| name.to_ascii_lowercase());
        found.dedup_by(|left, right| left.0.eq_ignore_ascii_case(&right.0));
        found.into_iter().map(|(name, place)| (name, self.text(place))).collect()
    }

    /// Records what the `dir` directive led to: the server changes its directory and knows the
    /// whole path, which is what CONFIG GET shows.
    pub fn record_directory(&mut self, path: &str) {
        let place = table::find("dir").expect("the table has dir");
        self.values[place] = Value::Text(path.to_owned());
        self.settings = Settings::new(&self.values);
    }

    /// The users of the `user` lines, with their rules.
    pub(crate) fn users(&self) -> impl Iterator<Item = (&[u8], &[Vec<u8>])> {
        self.users.iter().map(|(name, rules)| (name.as_slice(), rules.as_slice()))
    }

    fn from_values(values: Vec<Value>) -> Self {
        let settings = Settings::new(&values);
        Config { values, settings, users: Vec::new() }
    }

    fn text(&self, place: Place) -> String {
        table::all()[place].kind.render(&self.values[place])
    }
}
