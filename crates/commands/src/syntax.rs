//! The arguments of a command, written as one line and read as the tree that COMMAND DOCS gives.
//!
//! Beside the path of requests: only documentation and tests read it. The line is close to how
//! commands are documented for people:
//!
//! ```text
//! key value [condition<NX|XX>] [GET@6.2.0] [expiration<EX seconds:int|PX milliseconds:int>]
//! ```
//!
//! | written | means |
//! |---|---|
//! | `value` | a text |
//! | `count:int`, `:double`, `:pattern`, `:time` | a number, a pattern, a moment |
//! | `key`, `source:key` | the key of the next key spec: the first one, the second one |
//! | `source:key2`, `by:pattern1` | of this key spec, counted from 0 |
//! | `key:string` | no key, although it is called so |
//! | `WITHSCORES` | a word that is said as it stands; its name is the word in lower case |
//! | `change=CH` | the same with a name of its own |
//! | `EX seconds:int` | an argument behind a word |
//! | `order<ASC\|DESC>` | one of several |
//! | `range(start:int end:int)` | several, one after the other |
//! | `[...]` | may be left out |
//! | `key...` | once or more often |
//! | `GET... pattern` | once or more often, the word each time |
//! | `addr'ip:port'` | shown to people as this |
//! | `GET@6.2.0`, `old!2.8.12` | since this version, not to be used any more since this one |

/// What an argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// A whole number.
    Integer,
    /// A number.
    Double,
    /// A key.
    Key,
    /// A pattern of names.
    Pattern,
    /// A moment in Unix time.
    Time,
    /// A word that is said as it stands.
    Token,
    /// One of the arguments within.
    OneOf,
    /// All of the arguments within.
    Block,
}

impl Kind {
    /// Its name in COMMAND DOCS.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Text => "string",
            Kind::Integer => "integer",
            Kind::Double => "double",
            Kind::Key => "key",
            Kind::Pattern => "pattern",
            Kind::Time => "unix-time",
            Kind::Token => "pure-token",
            Kind::OneOf => "oneof",
            Kind::Block => "block",
        }
    }
}

/// One argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Its name, which no command line has.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// The number of the key spec that finds it.
    pub key_spec: Option<u8>,
    /// The word before it, or which it is.
    pub token: Option<&'static str>,
    /// What people are shown, if that is not the name.
    pub display: Option<&'static str>,
    /// The version that brought it.
    pub since: Option<&'static str>,
    /// The version from which on it is not to be used.
    pub deprecated: Option<&'static str>,
    /// Whether it may be left out.
    pub is_optional: bool,
    /// Whether it may be said more than once.
    pub is_multiple: bool,
    /// Whether its word is said each time.
    pub repeats_token: bool,
    /// Those within.
    pub arguments: Vec<Argument>,
}

/// Reads a line.
///
/// # Errors
/// The rest of the line, from where it cannot be understood.
pub fn parse(line: &'static str) -> Result<Vec<Argument>, &'static str> {
    let mut reader = Reader { rest: line, keys: 0 };
    if line.is_empty() {
        return Ok(Vec::new());
    }
    let arguments = reader.list(' ').ok_or(reader.rest)?;
    if reader.rest.is_empty() { Ok(arguments) } else { Err(reader.rest) }
}

/// What is still to be read.
struct Reader {
    rest: &'static str,
    /// Keys met so far.
    keys: u8,
}

impl Reader {
    /// Arguments with `separator` between them.
    fn list(&mut self, separator: char) -> Option<Vec<Argument>> {
        let mut arguments = vec![self.item()?];
        while self.eat(separator) {
            arguments.push(self.item()?);
        }
        Some(arguments)
    }

    fn item(&mut self) -> Option<Argument> {
        if !self.eat('[') {
            return self.argument();
        }
        let argument = Argument { is_optional: true, ..self.argument()? };
        self.eat(']').then_some(argument)
    }

    fn argument(&mut self) -> Option<Argument> {
        let is_token = self.rest.starts_with(|first: char| first.is_ascii_uppercase());
        let mut argument = if is_token { self.token()? } else { self.named(None)? };
        argument.is_multiple |= self.eat_dots();
        argument.since = self.version('@')?;
        argument.deprecated = self.version('!')?;
        Some(argument)
    }

    /// A word, and the argument behind it, if there is one.
    fn token(&mut self) -> Option<Argument> {
        let token = self.word();
        let repeats = self.eat_dots();
        let has_argument =
            self.rest.strip_prefix(' ').is_some_and(|rest| rest.starts_with(is_small));
        if !has_argument {
            let name = token.to_ascii_lowercase();
            return Some(Argument { token: Some(token), ..Argument::new(name, Kind::Token) });
        }
        self.eat(' ');
        let argument = self.named(Some(token))?;
        Some(Argument { repeats_token: repeats, is_multiple: repeats, ..argument })
    }

    /// An argument from its name on.
    fn named(&mut self, token: Option<&'static str>) -> Option<Argument> {
        let name = self.word();
        if name.is_empty() {
            return None;
        }
        let mut argument = Argument { token, ..Argument::new(name.to_owned(), Kind::Text) };
        if self.eat('\'') {
            let (display, rest) = self.rest.split_once('\'')?;
            argument.display = Some(display);
            self.rest = rest;
        }
        if self.eat('<') {
            argument.kind = Kind::OneOf;
            argument.arguments = self.list('|')?;
            self.eat('>').then_some(())?;
        } else if self.eat('(') {
            argument.kind = Kind::Block;
            argument.arguments = self.list(' ')?;
            self.eat(')').then_some(())?;
        } else if self.eat('=') {
            argument.kind = Kind::Token;
            argument.token = Some(self.until(|at| " ]>|)@".contains(at)));
        } else if self.eat(':') {
            (argument.kind, argument.key_spec) = self.kind()?;
        } else if name == "key" {
            (argument.kind, argument.key_spec) = (Kind::Key, Some(self.keys));
        }
        self.keys += u8::from(argument.kind == Kind::Key);
        Some(argument)
    }

    /// A kind, and the key spec that finds what is of it.
    fn kind(&mut self) -> Option<(Kind, Option<u8>)> {
        let word = self.word();
        let kind = word.trim_end_matches(|at: char| at.is_ascii_digit());
        let key_spec = word[kind.len()..].parse().ok();
        Some(match kind {
            "int" => (Kind::Integer, key_spec),
            "double" => (Kind::Double, key_spec),
            "pattern" => (Kind::Pattern, key_spec),
            "time" => (Kind::Time, key_spec),
            "string" => (Kind::Text, key_spec),
            "key" => (Kind::Key, Some(key_spec.unwrap_or(self.keys))),
            _ => return None,
        })
    }

    fn version(&mut self, mark: char) -> Option<Option<&'static str>> {
        if !self.eat(mark) {
            return Some(None);
        }
        let version = self.until(|at: char| !at.is_ascii_digit() && at != '.');
        (!version.is_empty()).then_some(Some(version))
    }

    fn word(&mut self) -> &'static str {
        self.until(|at: char| !at.is_ascii_alphanumeric() && at != '-' && at != '_')
    }

    fn until(&mut self, is_end: impl Fn(char) -> bool) -> &'static str {
        let end = self.rest.find(is_end).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn eat(&mut self, one: char) -> bool {
        self.eat_text(one.encode_utf8(&mut [0; 4]))
    }

    fn eat_dots(&mut self) -> bool {
        self.eat_text("...")
    }

    fn eat_text(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }
}

impl Argument {
    fn new(name: String, kind: Kind) -> Argument {
        Argument {
            name,
            kind,
            key_spec: None,
            token: None,
            display: None,
            since: None,
            deprecated: None,
            is_optional: false,
            is_multiple: false,
            repeats_token: false,
            arguments: Vec::new(),
        }
    }
}

/// Whether a name may begin so.
fn is_small(first: char) -> bool {
    first.is_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(line: &'static str) -> Argument {
        let arguments = parse(line).expect(line);
        assert_eq!(arguments.len(), 1);
        arguments.into_iter().next().unwrap()
    }

    #[test]
    fn a_line_has_an_argument_for_each_word() {
        let arguments =
            parse("key [start:int] [LIMIT limit(offset:int count:int)] NO ONE").unwrap();
        let kinds: Vec<_> = arguments.iter().map(|at| (&at.name[..], at.kind)).collect();
        let expected = [
            ("key", Kind::Key),
            ("start", Kind::Integer),
            ("limit", Kind::Block),
            ("no", Kind::Token),
            ("one", Kind::Token),
        ];
        assert_eq!(kinds, expected);
        assert!(!arguments[0].is_optional && arguments[1].is_optional);
        assert_eq!(arguments[2].token, Some("LIMIT"));
        assert_eq!(arguments[2].arguments[1].name, "count");
    }

    #[test]
    fn tokens_stand_alone_or_before_an_argument() {
        assert_eq!(one("change=CH").token, Some("CH"));
        assert_eq!(one("equal==").token, Some("="));
        assert_eq!(one("none=").token, Some(""));
        assert_eq!(one("IDLE ms:int").kind, Kind::Integer);
        let pattern = one("[GET... get-pattern'pattern':pattern@2.2.0]");
        assert!(pattern.repeats_token && pattern.is_multiple && pattern.is_optional);
        assert_eq!((pattern.display, pattern.since), (Some("pattern"), Some("2.2.0")));
    }

    #[test]
    fn choices_nest() {
        let filter =
            one("filter<old'ip:port'!2.8.12|new<[ID id:int...@2.8.12]|[TYPE type<A|B>]>...>");
        assert_eq!(filter.kind, Kind::OneOf);
        assert_eq!(filter.arguments[0].deprecated, Some("2.8.12"));
        let new = &filter.arguments[1];
        assert!(new.is_multiple && new.arguments[0].is_multiple);
        assert_eq!(new.arguments[1].arguments[1].name, "b");
    }

    #[test]
    fn keys_are_counted() {
        let keys = |line| -> Vec<Option<u8>> {
            parse(line).unwrap().iter().map(|argument| argument.key_spec).collect()
        };
        assert_eq!(keys("source:key count:int destination:key"), [Some(0), None, Some(1)]);
        assert_eq!(keys("key1:key key2:key0 key:string"), [Some(0), Some(0), None]);
        assert_eq!(keys("key by:pattern1 key"), [Some(0), Some(1), Some(1)]);
    }

    #[test]
    fn what_is_not_understood_is_named() {
        assert_eq!(parse("key [value"), Err(""));
        assert_eq!(parse("key  value"), Err(" value"));
        assert_eq!(parse("a:word"), Err(""));
        assert_eq!(parse("a b>"), Err(">"));
    }
}
