//! Templates of commands: words, gaps, choices, repetitions.
//!
//! | written | gives |
//! |---|---|
//! | `WORD` | itself |
//! | `<member>` | a word of that kind, from [`crate::words`] |
//! | `<n:zset>` | a number, and as many words of that kind; now and then another number |
//! | `<each:weight>` | as many words of that kind as the last `<n:...>` gave |
//! | `[A <x> \| B]` | nothing, or one of the alternatives |
//! | `{A \| B <x>}` | one of the alternatives |
//! | `(<score> <member>)+` | its words one to four times, seldom some hundred times |

use crate::words::choose;
use crate::{Random, Words};

/// Repetitions that seldom come: enough for any collection to change its encoding.
const MANY: usize = 300;
/// Once in so many.
const MANY_RARITY: usize = 50;
/// Once in so many a number of keys is a lie.
const LIE_RARITY: usize = 30;

/// A parsed template.
pub(crate) struct Template(Vec<Node>);

enum Node {
    Word(&'static str),
    Gap(&'static str),
    Counted(&'static str),
    Each(&'static str),
    Choice { is_optional: bool, alternatives: Vec<Vec<Node>> },
    Repeated(Vec<Node>),
}

impl Template {
    /// Reads a template.
    pub(crate) fn parse(line: &'static str) -> Template {
        let mut tokens = tokens(line).into_iter().peekable();
        let nodes = sequence(&mut tokens);
        assert!(tokens.next().is_none(), "brackets match: {line}");
        Template(nodes)
    }

    /// Makes a command of it.
    pub(crate) fn fill(&self, random: &mut Random) -> Words {
        let mut words = Words::new();
        fill(&self.0, random, &mut words, &mut 0);
        words
    }
}

/// The words and brackets of a line.
fn tokens(line: &'static str) -> Vec<&'static str> {
    let mut tokens = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        let len = match first {
            '[' | ']' | '{' | '}' | '(' | '|' => 1,
            ')' => ")+".len(),
            _ => rest.find([' ', ']', '}', ')', '|']).unwrap_or(rest.len()),
        };
        let (token, behind) = rest.split_at(len);
        tokens.push(token);
        rest = behind.trim_start();
    }
    tokens
}

/// Everything up to a closing bracket or a bar, which stays.
fn sequence<I: Iterator<Item = &'static str>>(tokens: &mut std::iter::Peekable<I>) -> Vec<Node> {
    let mut nodes = Vec::new();
    while let Some(token) = tokens.next_if(|token| !matches!(*token, "]" | "}" | ")+" | "|")) {
        nodes.push(match token {
            "[" => choice(tokens, true),
            "{" => choice(tokens, false),
            "(" => {
                let repeated = sequence(tokens);
                assert_eq!(tokens.next(), Some(")+"), "a repetition is closed");
                Node::Repeated(repeated)
            }
            word => match word.strip_prefix('<').and_then(|word| word.strip_suffix('>')) {
                None => Node::Word(word),
                Some(kind) => match kind.split_once(':') {
                    None => Node::Gap(kind),
                    Some(("n", kind)) => Node::Counted(kind),
                    Some((_, kind)) => Node::Each(kind),
                },
            },
        });
    }
    nodes
}

fn choice<I: Iterator<Item = &'static str>>(
    tokens: &mut std::iter::Peekable<I>,
    is_optional: bool,
) -> Node {
    let mut alternatives = vec![sequence(tokens)];
    while tokens.next_if_eq(&"|").is_some() {
        alternatives.push(sequence(tokens));
    }
    assert!(matches!(tokens.next(), Some("]" | "}")), "a choice is closed");
    Node::Choice { is_optional, alternatives }
}

/// `counted`: what the last number of keys was.
fn fill(nodes: &[Node], random: &mut Random, words: &mut Words, counted: &mut usize) {
    for node in nodes {
        match node {
            Node::Word(word) => words.push(word.as_bytes().to_vec()),
            Node::Gap(kind) => words.push(choose(kind, random)),
            Node::Counted(kind) => {
                *counted = 1 + random.below(3);
                let said = if random.once_in(LIE_RARITY) { random.below(6) } else { *counted };
                words.push(said.to_string().into_bytes());
                words.extend((0..*counted).map(|_| choose(kind, random)));
            }
            Node::Each(kind) => words.extend((0..*counted).map(|_| choose(kind, random))),
            Node::Choice { is_optional: true, .. } if random.once_in(2) => {}
            Node::Choice { alternatives, .. } => {
                let chosen = &alternatives[random.below(alternatives.len())];
                fill(chosen, random, words, counted);
            }
            Node::Repeated(inner) => {
                let times = if random.once_in(MANY_RARITY) {
                    random.below(MANY)
                } else {
                    1 + random.below(4)
                };
                (0..times).for_each(|_| fill(inner, random, words, counted));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fills(line: &'static str) -> Vec<String> {
        let template = Template::parse(line);
        let mut random = Random::new(7);
        let fill = |_| {
            let words = template.fill(&mut random);
            words.iter().map(|word| String::from_utf8_lossy(word)).collect::<Vec<_>>().join(" ")
        };
        let mut all: Vec<String> = (0..200).map(fill).collect();
        all.sort();
        all.dedup();
        all
    }

    #[test]
    fn choices_are_made() {
        assert_eq!(fills("A [B|C D]"), ["A", "A B", "A C D"]);
        assert_eq!(fills("A {B | C [D]} E"), ["A B E", "A C D E", "A C E"]);
    }

    #[test]
    fn repetitions_keep_their_words_together() {
        let all = fills("A (B C)+");
        assert!(all.contains(&"A B C B C".to_owned()) && all.iter().any(|one| one.len() > 100));
    }

    #[test]
    fn numbers_count_the_words_behind_them() {
        let template = Template::parse("A <n:zset> W <each:weight>");
        let words = template.fill(&mut Random::new(1));
        let at = words.iter().position(|word| word == b"W").unwrap();
        assert_eq!(at - 2, words.len() - at - 1);
    }
}
