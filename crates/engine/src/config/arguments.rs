//! The command line, as redis-server takes it: a file, `-` for the standard input, `--name value
//! ..`.
//!
//! Only cuts the arguments into lines that [`super::load`] reads like those of a file. Options may
//! be repeated: as in a file the last one wins, and the options come after the files.

use super::load::{ConfigError, Line, Origin, Source};
use super::value::quoted;

/// The argument that stands for the standard input.
const STANDARD_INPUT: &str = "-";

/// What the command line asks for.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    /// Read first.
    pub(super) file: Option<String>,
    /// Read second.
    pub(super) standard_input: bool,
    /// Read last.
    pub(super) options: Vec<Line>,
}

impl Arguments {
    /// Cuts the arguments behind the program's name.
    pub(super) fn parse(arguments: &[String]) -> Result<Self, ConfigError> {
        let mut parsed = Arguments::default();
        let mut rest = arguments;
        if let Some((first, others)) = rest.split_first()
            && !first.starts_with('-')
        {
            parsed.file = Some(first.clone());
            rest = others;
        }
        // Redis looks for `-` in these two places only: elsewhere it is a value.
        if let [STANDARD_INPUT, others @ ..] = as_strs(rest).as_slice() {
            parsed.standard_input = true;
            rest = &rest[rest.len() - others.len()..];
        } else if let Some((last, others)) = rest.split_last()
            && last == STANDARD_INPUT
        {
            parsed.standard_input = true;
            rest = others;
        }
        let mut options = Options::default();
        for argument in rest {
            options.take(argument)?;
        }
        options.finish_line();
        parsed.options = options.lines;
        Ok(parsed)
    }
}

fn as_strs(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}

/// The options read so far.
#[derive(Default)]
struct Options {
    lines: Vec<Line>,
    open: Option<Line>,
    /// The open option has no value yet: the next argument is one, even if it begins with `--`, but
    /// for `--save`, which needs none.
    wants_value: bool,
}

impl Options {
    fn take(&mut self, argument: &str) -> Result<(), ConfigError> {
        let wants_value = self.wants_value && !(self.is_save() && argument.starts_with("--"));
        match argument.strip_prefix("--") {
            Some(option) if !wants_value => self.begin(option),
            _ => {
                self.add_value(argument);
                Ok(())
            }
        }
    }

    /// The name, perhaps with values in the same argument.
    fn begin(&mut self, option: &str) -> Result<(), ConfigError> {
        self.finish_line();
        let line = Line::parse(self.origin(), option)?;
        self.wants_value = line.words.len() < 2;
        self.open = Some(line);
        Ok(())
    }

    fn add_value(&mut self, value: &str) {
        let origin = self.origin();
        let line = self.open.get_or_insert_with(|| Line::empty(origin));
        if !line.text.is_empty() {
            line.text.push(' ');
        }
        line.text.push_str(&quoted(value));
        line.words.push(value.to_owned());
        self.wants_value = false;
    }

    fn is_save(&self) -> bool {
        let name = self.open.as_ref().and_then(|line| line.words.first());
        name.is_some_and(|name| name.eq_ignore_ascii_case("save"))
    }

    /// Where the next option stands.
    fn origin(&self) -> Origin {
        Origin { source: Source::CommandLine, line: self.lines.len() + 1 }
    }

    fn finish_line(&mut self) {
        self.lines.extend(self.open.take());
    }
}
