//! From files and the command line to a [`Config`].
//!
//! Every line is checked as it comes; whether Caudal can honour a value is asked at the end, of the
//! values that won: `daemonize yes` in a distribution's file does no harm if the command line of
//! its service says `--daemonize no`. An error names the place and the text of the line.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::arguments::Arguments;
use super::directive::{self, Directive, Kind, Reason, Standing, Value};
use super::table::{self, Place};
use super::{Config, UserLine, settings::Settings};
use crate::acl;
use crate::catalog::Catalog;

/// The path under which the standard input is asked of the function that reads files.
pub const STANDARD_INPUT: &str = "-";

/// Files that include files that include files: deeper than this is a mistake, most likely a
/// circle.
const INCLUDE_DEPTH_MAX: usize = 16;
/// Files in all: the depth alone would let two lines in each file ask for 2^16 reads.
const FILES_MAX: usize = 256;
/// How much of a line an error shows.
const SHOWN_CHARS_MAX: usize = 256;

/// Where a line stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The file, or what stood for one.
    pub source: Source,
    /// Counted from 1; on the command line the options are counted.
    pub line: usize,
}

/// Where lines come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A file, under the path by which it was asked for.
    File(PathBuf),
    /// The standard input.
    StandardInput,
    /// The options of the command line.
    CommandLine,
}

/// Something accepted that the operator should know about, for the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Where the value came from.
    pub origin: Origin,
    /// Which directive.
    pub directive: &'static str,
    /// What the operator should know.
    pub text: String,
}

/// Why there is no configuration. As text it begins as Redis's does, for the test suites and
/// scripts that look for that.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file cannot be read: its path or its permissions must be changed.
    #[error("Fatal error, can't open config file '{}': {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// A line cannot be accepted: it must be changed or removed.
    #[error(
        "\n*** FATAL CONFIG FILE ERROR (Caudal {}) ***\n\
         Reading the {origin}\n>>> '{text}'\n{reason}",
        env!("CARGO_PKG_VERSION")
    )]
    Line {
        /// The place of the line.
        origin: Origin,
        /// The line, shortened if it is long.
        text: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// No client could ever connect.
    #[error(
        "Configured to not listen anywhere, exiting. Give a 'port' or a 'tls-port' and a 'bind' \
         address, or a 'unixsocket'."
    )]
    NowhereToListen,
    /// Users in two places.
    #[error(
        "Configuring Caudal with users defined in the configuration and at the same setting an \
         ACL file path is invalid. This setup is very likely to lead to configuration errors and \
         security holes, please define either an ACL file or declare users directly in the \
         configuration, but not both."
    )]
    UsersInTwoPlaces,
    /// Values that cannot be together: one of them must be changed.
    #[error("'{directive}': {reason}")]
    Conflict {
        /// The directive that is refused.
        directive: &'static str,
        /// Why, and what to do.
        reason: &'static str,
    },
}

/// One line, cut into words.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) origin: Origin,
    /// As it was written.
    pub(super) text: String,
    pub(super) words: Vec<String>,
}

impl Config {
    /// Reads the configuration that these arguments (without the program's name) ask for.
    ///
    /// `read_file` gives the text of a file, and of the standard input for [`STANDARD_INPUT`]; a
    /// path is passed on as it was written.
    ///
    /// # Errors
    ///
    /// The first line that is wrong, or else the first whose value cannot be honoured.
    pub fn load(
        arguments: &[String],
        read_file: &dyn Fn(&Path) -> io::Result<String>,
    ) -> Result<(Config, Vec<Notice>), ConfigError> {
        let arguments = Arguments::parse(arguments)?;
        let mut loader = Loader::new(read_file);
        if let Some(file) = &arguments.file {
            loader.read(Source::File(file.into()), 0)?;
        }
        if arguments.standard_input {
            loader.read(Source::StandardInput, 0)?;
        }
        for line in arguments.options {
            loader.take(line, 0)?;
        }
        loader.finish()
    }
}

struct Loader<'a> {
    read_file: &'a dyn Fn(&Path) -> io::Result<String>,
    files_read: usize,
    values: Vec<Value>,
    /// The line that gave each value last, and its turn among all lines.
    givers: Vec<Option<(usize, Line)>>,
    lines_taken: usize,
    notices: Vec<Notice>,
    users: Vec<UserLine>,
}

impl<'a> Loader<'a> {
    fn new(read_file: &'a dyn Fn(&Path) -> io::Result<String>) -> Self {
        let values: Vec<Value> = table::all().iter().map(|row| row.default_value()).collect();
        Loader {
            read_file,
            files_read: 0,
            givers: vec![None; values.len()],
            values,
            lines_taken: 0,
            notices: Vec::new(),
            users: Vec::new(),
        }
    }

    fn read(&mut self, source: Source, depth: usize) -> Result<(), ConfigError> {
        let path = match &source {
            Source::File(path) => path.as_path(),
            Source::StandardInput | Source::CommandLine => Path::new(STANDARD_INPUT),
        };
        self.files_read += 1;
        let text = (self.read_file)(path)
            .map_err(|error| ConfigError::Unreadable { path: path.to_owned(), error })?;
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let origin = Origin { source: source.clone(), line: index + 1 };
            self.take(Line::parse(origin, line)?, depth)?;
        }
        Ok(())
    }

    fn take(&mut self, line: Line, depth: usize) -> Result<(), ConfigError> {
        self.lines_taken += 1;
        let Some((name, words)) = line.words.split_first() else { return Ok(()) };
        let Some(place) = table::find(name) else {
            return Err(line.error(unknown(name)));
        };
        let row = table::all()[place];
        if let Kind::Line(statement) = row.kind {
            return self.take_statement(row, statement, &line, depth);
        }
        let before = match row.kind {
            // The first line replaces the default; only lines of this configuration add up.
            Kind::Save if self.givers[place].is_none() => None,
            _ => Some(&self.values[place]),
        };
        let value = row.kind.parse(words, before).map_err(|reason| line.error(reason))?;
        self.values[place] = value;
        self.givers[place] = Some((self.lines_taken, line));
        Ok(())
    }

    fn take_statement(
        &mut self,
        row: &'static Directive,
        statement: directive::Line,
        line: &Line,
        depth: usize,
    ) -> Result<(), ConfigError> {
        let how = match row.standing {
            Standing::NotYet(_) => Some("is not there yet"),
            Standing::Never(_) => Some("is not supported"),
            _ => None,
        };
        if let Some(how) = how {
            return Err(line.error(format!("'{}' {how}: {}", row.name, row.note)));
        }
        if statement == directive::Line::User {
            return self.declare_user(line);
        }
        let [_, argument] = line.words.as_slice() else {
            return Err(line.error("Bad directive or wrong number of arguments"));
        };
        if statement == directive::Line::Include {
            return self.include(argument, line, depth + 1);
        }
        self.notices.extend(Notice::of(row, &Value::Words(Vec::new()), &line.origin));
        Ok(())
    }

    /// Tries the rules of a user out. The users are made when all is known.
    fn declare_user(&mut self, line: &Line) -> Result<(), ConfigError> {
        let [_, name, words @ ..] = line.words.as_slice() else {
            return Err(line.error("Bad directive or wrong number of arguments"));
        };
        let wrong = |error: &dyn fmt::Display| {
            line.error(format!("Error in user declaration '{name}': {error}"))
        };
        if !acl::is_name(name.as_bytes()) {
            return Err(wrong(&"Spaces not allowed in ACL usernames"));
        }
        if self.users.iter().any(|(known, _)| known == name.as_bytes()) {
            return Err(wrong(&acl::RuleError::DuplicateUser));
        }
        let rules = acl::join(words.iter().map(String::as_bytes))
            .map_err(|_| wrong(&"Unmatched parenthesis in selector definition"))?;
        let ground = acl::Ground { catalog: Catalog::get(), all_channels: false };
        let mut user = acl::User::new(name.as_bytes(), ground);
        for rule in &rules {
            user.apply(ground, rule).map_err(|error| {
                let rule = String::from_utf8_lossy(rule);
                wrong(&format!("rule '{rule}': {error}"))
            })?;
        }
        self.users.push((name.clone().into_bytes(), rules));
        Ok(())
    }

    fn include(&mut self, path: &str, line: &Line, depth: usize) -> Result<(), ConfigError> {
        if path.contains(['*', '?', '[']) {
            let reason = "patterns in 'include' are not there yet: name each file on its own line";
            return Err(line.error(reason));
        }
        if depth > INCLUDE_DEPTH_MAX || self.files_read >= FILES_MAX {
            let reason = format!(
                "too many files include each other (at most {INCLUDE_DEPTH_MAX} deep and \
                 {FILES_MAX} in all): is there a circle?"
            );
            return Err(line.error(reason));
        }
        self.read(Source::File(path.into()), depth)
    }

    /// Asks of each value given whether it can be honoured.
    fn finish(mut self) -> Result<(Config, Vec<Notice>), ConfigError> {
        let mut given: Vec<(usize, Line, Place)> = Vec::new();
        for (place, giver) in self.givers.into_iter().enumerate() {
            given.extend(giver.map(|(turn, line)| (turn, line, place)));
        }
        given.sort_by_key(|(turn, ..)| *turn);
        for (_, line, place) in given {
            let (row, value) = (table::all()[place], &self.values[place]);
            if let Some(reason) = row.refusal(value) {
                return Err(line.error(reason));
            }
            self.notices.extend(Notice::of(row, value, &line.origin));
        }
        let settings = Settings::new(&self.values);
        if let Some((directive, reason)) = settings.conflict() {
            return Err(ConfigError::Conflict { directive, reason });
        }
        let net = &settings.net;
        let has_port = net.port != 0 || settings.tls.port != 0;
        if (!has_port || net.bind.is_empty()) && net.unix_socket.is_none() {
            return Err(ConfigError::NowhereToListen);
        }
        if !self.users.is_empty() && settings.security.acl_file.is_some() {
            return Err(ConfigError::UsersInTwoPlaces);
        }
        Ok((Config { values: self.values, settings, users: self.users }, self.notices))
    }
}

fn unknown(name: &str) -> Reason {
    let shown: String = name.chars().take(SHOWN_CHARS_MAX).collect();
    let mut reason = format!("Bad directive or wrong number of arguments: '{shown}' is not known");
    if let Some(nearest) = table::nearest(name) {
        reason.push_str(&format!("; did you mean '{nearest}'?"));
    }
    reason.into()
}

impl Line {
    /// Cuts a line into words.
    pub(super) fn parse(origin: Origin, text: &str) -> Result<Self, ConfigError> {
        let mut line = Line { origin, text: text.to_owned(), words: Vec::new() };
        let Some(words) = caudal_text::words::split(text.as_bytes()) else {
            return Err(line.error("Unbalanced quotes in configuration line"));
        };
        for word in words {
            let word = String::from_utf8(word);
            line.words.push(word.map_err(|_| line.error("arguments must be UTF-8 text"))?);
        }
        Ok(line)
    }

    pub(super) fn empty(origin: Origin) -> Self {
        Line { origin, text: String::new(), words: Vec::new() }
    }

    fn error(&self, reason: impl Into<Reason>) -> ConfigError {
        let mut text: String = self.text.chars().take(SHOWN_CHARS_MAX).collect();
        if text.len() < self.text.len() {
            text.push_str("...");
        }
        let text = text.replace(char::is_control, "?");
        ConfigError::Line { origin: self.origin.clone(), text, reason: reason.into().into_owned() }
    }
}

impl Notice {
    fn of(row: &'static Directive, value: &Value, origin: &Origin) -> Option<Self> {
        let text = row.notice(value)?.into_owned();
        Some(Notice { origin: origin.clone(), directive: row.name, text })
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: '{}': {}", self.origin, self.directive, self.text)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.line;
        match &self.source {
            Source::File(path) => {
                write!(out, "configuration file, at line {line} of {}", path.display())
            }
            Source::StandardInput => {
                write!(out, "configuration file, at line {line} of the standard input")
            }
            Source::CommandLine => write!(out, "command line, at option {line}"),
        }
    }
}
