//! What one line of the configuration may say: its name, the shape of its value and how far Caudal
//! honours it.
//!
//! The rows themselves are data, in [`super::table`]; everything else in this module walks over
//! them and has no directive's name in it, but for [`super::settings`] which gives the values
//! types. A row's default is text that its own kind accepts.

use std::borrow::Cow;

use super::special::{ClientLimits, Events};

/// Why a value was refused, in the words that a client or an operator reads.
pub(super) type Reason = Cow<'static, str>;

/// One directive.
#[derive(Debug)]
pub struct Directive {
    /// The name that error messages, notices and CONFIG REWRITE use; lower case.
    pub name: &'static str,
    /// Other names of the same value; CONFIG GET shows each beside the name.
    pub aliases: &'static [&'static str],
    /// Which values there are.
    pub kind: Kind,
    /// What holds when no line names the directive, as CONFIG GET shows it.
    pub default: &'static str,
    /// When it may be changed.
    pub mutability: Mutability,
    /// How far it is honoured.
    pub standing: Standing,
    /// What it does (works), why it has no meaning, or what it waits for.
    pub note: &'static str,
    /// Whether a CONFIG GET pattern finds it; if not, only its exact name does.
    pub listed: bool,
}

/// Which values a directive takes, and how they are written.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// `yes` or `no`.
    Flag,
    /// A decimal number between two bounds, both included.
    Integer(i64, i64),
    /// As [`Kind::Integer`], from 0 to 2^31 - 1, and then brought between the bounds.
    Clamped(i64, i64),
    /// A number of bytes between two bounds, with a unit if wanted: `1k` = 1000, `1kb` = 1024.
    Memory(i128, i128),
    /// A number of bytes, or a percentage of `maxmemory`: `5%`.
    MemoryOrPercent,
    /// File permissions: an octal number up to 777.
    Octal,
    /// One word of any text that the function finds nothing wrong with.
    Text(fn(&str) -> Result<(), &'static str>),
    /// One of these words, in any case.
    Choice(&'static [&'static str]),
    /// Some of these words, in any case; the first stands for none of the others.
    Choices(&'static [&'static str]),
    /// Up to so many addresses.
    Addresses(usize),
    /// `seconds changes` pairs; each line of a file adds to the lines before it.
    Save,
    /// `class hard soft seconds` groups; a class not named keeps its limits.
    OutputLimits,
    /// Letters that stand for classes of keyspace events.
    Events,
    /// Percentages between 0 and 100.
    Percentiles,
    /// Three numbers between -2000 and 2000.
    OomScores,
    /// `host port`, or `no one`.
    Master,
    /// A statement rather than a value: each line counts, CONFIG GET and SET do not know it.
    Line(Line),
}

/// The statements: lines that do something instead of giving a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    /// Reads another file in place of the line.
    Include,
    /// Declares an ACL user.
    User,
    /// Gives a command another name, or none.
    RenameCommand,
    /// Loads a module.
    LoadModule,
    /// A line of a Sentinel's configuration.
    Sentinel,
    /// Was once a directive of Redis, and has long had no effect there.
    Retired,
}

/// A value that its directive's kind accepted.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Flag(bool),
    Integer(i128),
    Percent(u8),
    Text(String),
    /// One of a [`Kind::Choice`]'s words, as the table spells it.
    Choice(&'static str),
    Words(Vec<String>),
    Save(Vec<(u64, u64)>),
    OutputLimits(ClientLimits),
    Events(Events),
}

/// When a directive may be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutability {
    /// By CONFIG SET at any time.
    AtRunTime,
    /// Only in the file or on the command line.
    AtStart,
    /// By CONFIG SET if `enable-protected-configs` allows it to the client.
    Protected,
}

/// How far a directive is honoured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It does what its note says.
    Works,
    /// Kept and shown, with a notice: Caudal is built so that there is nothing to set.
    NoMeaning,
    /// Kept and shown, with a notice when it is not the default: it tunes something that is not
    /// there yet, and is harmless until then.
    Waits,
    /// Refused unless it is the default or made of the words given: it turns on something that is
    /// not there yet.
    NotYet(&'static [&'static str]),
    /// As `NotYet`, but Caudal means not to have it.
    Never(&'static [&'static str]),
}

impl Directive {
    pub(super) const fn works(
        name: &'static str,
        kind: Kind,
        default: &'static str,
        note: &'static str,
    ) -> Self {
        Directive {
            name,
            aliases: &[],
            kind,
            default,
            mutability: Mutability::AtRunTime,
            standing: Standing::Works,
            note,
            listed: true,
        }
    }

    pub(super) const fn no_meaning(
        name: &'static str,
        kind: Kind,
        default: &'static str,
        note: &'static str,
    ) -> Self {
        let works = Self::works(name, kind, default, note);
        Directive { standing: Standing::NoMeaning, ..works }
    }

    pub(super) const fn waits(
        name: &'static str,
        kind: Kind,
        default: &'static str,
        note: &'static str,
    ) -> Self {
        let works = Self::works(name, kind, default, note);
        Directive { standing: Standing::Waits, ..works }
    }

    pub(super) const fn not_yet(
        name: &'static str,
        kind: Kind,
        default: &'static str,
        note: &'static str,
    ) -> Self {
        let works = Self::works(name, kind, default, note);
        Directive { standing: Standing::NotYet(&[]), ..works }
    }

    pub(super) const fn never(
        name: &'static str,
        kind: Kind,
        default: &'static str,
        note: &'static str,
    ) -> Self {
        let works = Self::works(name, kind, default, note);
        Directive { standing: Standing::Never(&[]), ..works }
    }

    pub(super) const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Directive { aliases, ..self }
    }

    /// May only be given in the file or on the command line.
    pub(super) const fn at_start(self) -> Self {
        Directive { mutability: Mutability::AtStart, ..self }
    }

    pub(super) const fn protected(self) -> Self {
        Directive { mutability: Mutability::Protected, ..self }
    }

    pub(super) const fn unlisted(self) -> Self {
        Directive { listed: false, ..self }
    }

    /// Values made of these words are accepted although other values are refused.
    pub(super) const fn accepting(self, words: &'static [&'static str]) -> Self {
        let standing = match self.standing {
            Standing::NotYet(_) => Standing::NotYet(words),
            Standing::Never(_) => Standing::Never(words),
            _ => panic!("only a refused directive has exceptions"),
        };
        Directive { standing, ..self }
    }

    /// Every name of the directive, the main one first.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// Whether the directive has a value that CONFIG GET shows.
    pub fn has_value(&self) -> bool {
        !matches!(self.kind, Kind::Line(_))
    }

    /// The value that holds when nothing else is said.
    pub(super) fn default_value(&self) -> Value {
        let words = self.kind.split(self.default);
        self.kind.parse(&words, None).expect("a test parses the default of every row")
    }

    /// Why this value cannot be honoured, if it cannot.
    pub(super) fn refusal(&self, value: &Value) -> Option<Reason> {
        let (accepted, how) = match self.standing {
            Standing::NotYet(accepted) => (accepted, "is not there yet"),
            Standing::Never(accepted) => (accepted, "is not supported"),
            _ => return None,
        };
        let text = self.kind.render(value);
        if text == self.default || text.split(' ').all(|word| accepted.contains(&word)) {
            return None;
        }
        let off = super::value::quoted_if_needed(self.default);
        Some(
            format!("'{} {text}' {how}: {}. Use '{} {off}'", self.name, self.note, self.name)
                .into(),
        )
    }

    /// What the operator should know about this value, if anything.
    pub(super) fn notice(&self, value: &Value) -> Option<Reason> {
        match self.standing {
            Standing::NoMeaning => Some(format!("accepted, no effect: {}", self.note).into()),
            Standing::Waits if self.kind.render(value) != self.default => {
                Some(format!("accepted, no effect until there is {}", self.note).into())
            }
            _ => None,
        }
    }
}
