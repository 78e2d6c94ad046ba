//! The values that are more than a word: save rules, limits of output, classes of events and the
//! like.
//!
//! Called by [`super::value`]; each parser takes the words behind the directive's name.

use caudal_text::{float, integer};

use super::directive::{Reason, Value};
use super::value::{ITEMS_MAX, parse_memory};

/// Classes of clients with limits of their own.
const CLASSES: [&str; 3] = ["normal", "slave", "pubsub"];

/// How much unread output a client may pile up before it is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OutputLimit {
    /// Closed at once above so many bytes; 0: no limit.
    pub hard_bytes: u64,
    /// Closed when above so many bytes for `soft_seconds` on end; 0: no limit.
    pub soft_bytes: u64,
    /// Only with `soft_bytes`.
    pub soft_seconds: u64,
}

/// The limits of each class of clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClientLimits {
    /// Clients that are none of the others.
    pub normal: OutputLimit,
    /// Replicas.
    pub replica: OutputLimit,
    /// Clients subscribed to a channel or pattern.
    pub pubsub: OutputLimit,
}

/// A set of classes of keyspace events, and the channels that they are published to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Events(u32);

/// Letters of the classes that `A` stands for, in the order in which they are written.
const EVERYTHING: &str = "g$lshzxetd";
/// Letters of the channels and of the classes that `A` leaves out, in the order of writing.
const BESIDE: &str = "KEmn";

impl Events {
    /// Whether the class or channel of this letter is on.
    pub fn has(self, letter: char) -> bool {
        Self::bit(letter).is_some_and(|bit| self.0 & bit != 0)
    }

    /// Whether anything at all is published: a channel and a class.
    pub fn is_on(self) -> bool {
        let channels = self.has('K') || self.has('E');
        channels && EVERYTHING.chars().chain("mn".chars()).any(|letter| self.has(letter))
    }

    /// As Valkey shows it: `A` stands for `n` as well, if that is on.
    pub(super) fn render(self) -> String {
        let on = |letter: &char| self.has(*letter);
        let mut out = String::new();
        if self.has_everything() {
            out.push('A');
        } else {
            out.extend(EVERYTHING.chars().chain(['n']).filter(on));
        }
        out.extend(BESIDE.chars().filter(|letter| *letter != 'n').filter(on));
        out
    }

    /// For a file: nothing is left out.
    pub(super) fn written(self) -> String {
        let mut out = self.render();
        if self.has_everything() && self.has('n') {
            out.push('n');
        }
        out
    }

    fn has_everything(self) -> bool {
        EVERYTHING.chars().all(|letter| self.has(letter))
    }

    fn bit(letter: char) -> Option<u32> {
        let all = EVERYTHING.chars().chain(BESIDE.chars());
        all.zip(0u32..).find(|(known, _)| *known == letter).map(|(_, place)| 1 << place)
    }
}

pub(super) fn parse_events(word: &str) -> Result<Value, Reason> {
    let mut events = Events::default();
    for letter in word.chars() {
        if letter == 'A' {
            events.0 |= EVERYTHING.chars().filter_map(Events::bit).sum::<u32>();
        } else {
            let bit = Events::bit(letter);
            events.0 |= bit.ok_or("Invalid event class character. Use 'Ag$lshzxeKEtmdn'.")?;
        }
    }
    Ok(Value::Events(events))
}

/// No words, or one empty word, mean no rules; else rules are added to those before.
pub(super) fn parse_save(words: &[String], before: Option<&Value>) -> Result<Value, Reason> {
    const REFUSED: &str = "Invalid save parameters";
    if words.is_empty() || matches!(words, [word] if word.is_empty()) {
        return Ok(Value::Save(Vec::new()));
    }
    let mut rules = match before {
        Some(Value::Save(rules)) => rules.clone(),
        _ => Vec::new(),
    };
    let (pairs, odd) = words.as_chunks::<2>();
    if !odd.is_empty() || rules.len() + pairs.len() > ITEMS_MAX {
        return Err(REFUSED.into());
    }
    for [seconds, changes] in pairs {
        let seconds = integer::parse_u64(seconds.as_bytes()).filter(|&seconds| seconds >= 1);
        let changes = integer::parse_u64(changes.as_bytes());
        rules.push(seconds.zip(changes).ok_or(REFUSED)?);
    }
    Ok(Value::Save(rules))
}

pub(super) fn render_save(rules: &[(u64, u64)]) -> String {
    let rules = rules.iter().map(|(seconds, changes)| format!("{seconds} {changes}"));
    rules.collect::<Vec<_>>().join(" ")
}

impl ClientLimits {
    fn class_mut(&mut self, name: &str) -> Option<&mut OutputLimit> {
        match name.to_ascii_lowercase().as_str() {
            "normal" => Some(&mut self.normal),
            "slave" | "replica" => Some(&mut self.replica),
            "pubsub" => Some(&mut self.pubsub),
            _ => None,
        }
    }

    pub(super) fn render(&self) -> String {
        let limits = [self.normal, self.replica, self.pubsub];
        let classes = CLASSES.iter().zip(limits).map(|(class, limit)| {
            let OutputLimit { hard_bytes, soft_bytes, soft_seconds } = limit;
            format!("{class} {hard_bytes} {soft_bytes} {soft_seconds}")
        });
        classes.collect::<Vec<_>>().join(" ")
    }
}

pub(super) fn parse_output_limits(
    words: &[String],
    before: Option<&Value>,
) -> Result<Value, Reason> {
    const BAD_NUMBER: &str =
        "Error in hard, soft or soft_seconds setting in buffer limit configuration.";
    let (groups, rest) = words.as_chunks::<4>();
    if !rest.is_empty() {
        return Err("Wrong number of arguments in buffer limit configuration.".into());
    }
    let mut limits = match before {
        Some(Value::OutputLimits(limits)) => *limits,
        _ => ClientLimits::default(),
    };
    for [class, hard, soft, seconds] in groups {
        let limit = limits
            .class_mut(class)
            .ok_or("Invalid client class specified in buffer limit configuration.")?;
        let bytes = |word: &str| parse_memory(word).and_then(|bytes| u64::try_from(bytes).ok());
        *limit = OutputLimit {
            hard_bytes: bytes(hard).ok_or(BAD_NUMBER)?,
            soft_bytes: bytes(soft).ok_or(BAD_NUMBER)?,
            soft_seconds: integer::parse_u64(seconds.as_bytes()).ok_or(BAD_NUMBER)?,
        };
    }
    Ok(Value::OutputLimits(limits))
}

/// Kept as words in their shortest form: `50.0` is `50`.
pub(super) fn parse_percentiles(words: &[String]) -> Result<Value, Reason> {
    const NAME: &str = "latency-tracking-info-percentiles";
    if words.len() > ITEMS_MAX {
        return Err(format!("Invalid {NAME} parameters").into());
    }
    let mut percentiles = Vec::new();
    for word in words.iter().filter(|word| !word.is_empty()) {
        let Some(number) = float::parse_f64(word.as_bytes()) else {
            return Err(format!("Invalid {NAME} parameters").into());
        };
        if !(0.0..=100.0).contains(&number) {
            return Err(format!("{NAME} parameters should sit between [0.0,100.0]").into());
        }
        percentiles.push(format!("{number}"));
    }
    Ok(Value::Words(percentiles))
}

pub(super) fn parse_oom_scores(words: &[String]) -> Result<Value, Reason> {
    if words.len() != 3 {
        return Err("wrong number of arguments".into());
    }
    let mut scores = Vec::new();
    for word in words {
        let score = integer::parse_i64(word.as_bytes());
        let score = score
            .filter(|score| (-2000..=2000).contains(score))
            .ok_or("Invalid oom-score-adj-values, elements must be between -2000 and 2000.")?;
        scores.push(score.to_string());
    }
    Ok(Value::Words(scores))
}

/// `no one` is the empty value.
pub(super) fn parse_master(words: &[String]) -> Result<Value, Reason> {
    match words {
        [] => Ok(Value::Words(Vec::new())),
        [empty] if empty.is_empty() => Ok(Value::Words(Vec::new())),
        [no, one] if no.eq_ignore_ascii_case("no") && one.eq_ignore_ascii_case("one") => {
            Ok(Value::Words(Vec::new()))
        }
        [_, port] => match integer::parse_i64(port.as_bytes()) {
            Some(0..=65_535) => Ok(Value::Words(words.to_vec())),
            _ => Err("Invalid primary port".into()),
        },
        _ => Err("wrong number of arguments".into()),
    }
}
