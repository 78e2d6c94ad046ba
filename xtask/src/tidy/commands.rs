//! Every command that has facts is registered, and some test names it.
//!
//! A command's facts are a constant `NAME: Spec`, and its word is the first string of that. On
//! data, it stands under `crates/commands/src/` and its family's `mod.rs` lists it as `file::NAME`;
//! on the session, it stands in `crates/engine/src/` in the file that lists it.

use super::{Report, Source};

const ON_DATA: &str = "crates/commands/src/";
const ON_THE_SESSION: &str = "crates/engine/src/";
const REGISTRY: &str = "crates/commands/src/registry.rs";
const SPEC_FILE: &str = "crates/commands/src/spec.rs";

/// Checks all files of commands.
pub(super) fn check(sources: &[Source], report: &mut Report) {
    let tested = tested_words(sources);
    for source in sources {
        let is_on_data = source.path.starts_with(ON_DATA);
        let is_command = is_on_data || source.path.starts_with(ON_THE_SESSION);
        if !is_command || !source.is_rust() || source.is_test() || source.path == SPEC_FILE {
            continue;
        }
        for Facts { constant, word } in facts(code_of(&source.text)) {
            if is_on_data && !is_registered(sources, source, constant) {
                let message = format!("{word} is not registered: no list names {constant}");
                report.complain(&source.path, message);
            }
            if tested.binary_search(&word.to_ascii_uppercase()).is_err() {
                report.complain(&source.path, format!("no test names {word}"));
            }
        }
    }
}

/// A constant with facts.
#[derive(Debug, PartialEq)]
struct Facts<'a> {
    constant: &'a str,
    /// `INCRBY`.
    word: &'a str,
}

fn facts(code: &str) -> impl Iterator<Item = Facts<'_>> {
    code.match_indices(": Spec =").filter_map(|(at, _)| {
        let constant = code[..at].rsplit(|c: char| !is_word(c)).next()?;
        let word = code[at..].split('"').nth(1)?;
        Some(Facts { constant, word })
    })
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// What stands before the unit tests.
fn code_of(text: &str) -> &str {
    text.split("#[cfg(test)]").next().unwrap_or(text)
}

/// True if the file's own code, its family's `mod.rs` or the registry uses the constant.
fn is_registered(sources: &[Source], source: &Source, constant: &str) -> bool {
    let (directory, file) = source.path.rsplit_once('/').unwrap_or(("", &source.path));
    let qualified = format!("{}::{constant}", file.trim_end_matches(".rs"));
    let family = format!("{directory}/mod.rs");
    let listed = |other: &Source| {
        (other.path == family || other.path == REGISTRY) && has_word(&other.text, &qualified)
    };
    sources.iter().any(listed) || has_word(&source.text, &format!("new({constant}"))
}

/// True if `word` occurs in `text` and does not go on as a longer one.
fn has_word(text: &str, word: &str) -> bool {
    let mut ends = text.match_indices(word).map(|(at, _)| &text[at + word.len()..]);
    ends.any(|behind| !behind.starts_with(is_word))
}

/// All words in tests, in upper case, sorted.
fn tested_words(sources: &[Source]) -> Vec<String> {
    let mut words = Vec::new();
    for source in sources {
        let is_python = source.path.contains("tests/") && source.path.ends_with(".py");
        let text = if source.is_test() || is_python {
            &source.text[..]
        } else if source.is_rust() {
            source.text.split_once("#[cfg(test)]").map_or("", |(_, tests)| tests)
        } else {
            continue;
        };
        // NO-EVICT is one word to a command, and two to the language.
        for is_part in [is_word, |c| is_word(c) || c == '-'] {
            let found = text.split(|c: char| !is_part(c)).filter(|word| !word.is_empty());
            words.extend(found.map(str::to_ascii_uppercase));
        }
    }
    words.sort_unstable();
    words.dedup();
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    const INCR: &str = "\
//! INCR, DECR.
const fn spec(name: &'static str) -> Spec { Spec::new(name, \"\") }
pub(crate) const INCR: Spec = spec(\"INCR\", \"Adds one.\");
pub(crate) const DECR: Spec =
    spec(\"DECR\", \"Takes one.\");
";

    fn complaints(family: &str, tests: &str) -> Vec<String> {
        let sources = [
            Source::new("crates/commands/src/string/incr.rs", INCR),
            Source::new("crates/commands/src/string/mod.rs", family),
            Source::new("crates/engine/tests/strings.rs", tests),
        ];
        let mut report = Report::default();
        check(&sources, &mut report);
        report.complaints
    }

    #[test]
    fn facts_are_found() {
        let found: Vec<_> = facts(INCR).collect();
        let names = |constant, word| Facts { constant, word };
        assert_eq!(found, [names("INCR", "INCR"), names("DECR", "DECR")]);
    }

    #[test]
    fn listed_and_tested_commands_pass() {
        let family = "Command::new(incr::INCR, incr::incr), Command::new(incr::DECR, incr::decr)";
        assert!(!has_word("incr::INCRBY", "incr::INCR"));
        assert!(complaints(family, "ask(\"incr n\"); ask(\"DECR n\")").is_empty());
    }

    #[test]
    fn forgotten_commands_are_named() {
        let found = complaints("Command::new(incr::INCR, incr::incr)", "\"incrby\" \"decr\"");
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].ends_with("no test names INCR"));
        assert!(found[1].contains("DECR is not registered"));
    }
}
