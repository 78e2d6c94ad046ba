//! Words to values and back: what each kind of directive accepts, what it says when it does not,
//! and the text that CONFIG GET shows.
//!
//! The texts of errors are part of the protocol: clients and test suites compare them. What a value
//! renders to is always accepted again and gives the same value.

use std::borrow::Cow;

use caudal_text::integer;

use super::directive::{Kind, Reason, Value};
use super::special;

const WRONG_COUNT: &str = "wrong number of arguments";
const NOT_AN_INTEGER: &str = "argument couldn't be parsed into an integer";

/// Most `save` rules and percentiles that one directive holds; Redis has no limit, and nobody has
/// more than a handful.
pub(super) const ITEMS_MAX: usize = 128;

impl Kind {
    /// Cuts a value given as one text, as CONFIG SET has it, into the words that a line would have.
    pub(super) fn split(&self, text: &str) -> Vec<String> {
        if self.takes_one_word() {
            return vec![text.to_owned()];
        }
        if text.is_empty() {
            return Vec::new();
        }
        text.split(' ').map(str::to_owned).collect()
    }

    /// Reads a value.
    ///
    /// `before` is the value so far for the kinds whose lines add up: what earlier lines of the
    /// same configuration gave, or for a class of output limits not named, what holds now.
    ///
    /// # Errors
    ///
    /// Why the words are not a value of this kind.
    pub(super) fn parse(&self, words: &[String], before: Option<&Value>) -> Result<Value, Reason> {
        match self {
            Kind::Choices(choices) => parse_choices(words, choices),
            Kind::Addresses(most) => parse_addresses(words, *most),
            Kind::Save => special::parse_save(words, before),
            Kind::OutputLimits => special::parse_output_limits(words, before),
            Kind::Percentiles => special::parse_percentiles(words),
            Kind::OomScores => special::parse_oom_scores(words),
            Kind::Master => special::parse_master(words),
            Kind::Line(_) => Ok(Value::Words(words.to_vec())),
            _ => match words {
                [word] => self.parse_word(word),
                _ => Err(WRONG_COUNT.into()),
            },
        }
    }

    /// The value as CONFIG GET shows it.
    pub(super) fn render(&self, value: &Value) -> String {
        match value {
            Value::Flag(on) => if *on { "yes" } else { "no" }.to_owned(),
            Value::Integer(number) if matches!(self, Kind::Octal) => format!("{number:o}"),
            Value::Integer(number) => number.to_string(),
            Value::Percent(percent) => format!("{percent}%"),
            Value::Text(text) => text.clone(),
            Value::Choice(word) => (*word).to_owned(),
            Value::Words(words) => words.join(" "),
            Value::Save(rules) => special::render_save(rules),
            Value::OutputLimits(limits) => limits.render(),
            Value::Events(events) => events.render(),
        }
    }

    fn takes_one_word(&self) -> bool {
        !matches!(
            self,
            Kind::Choices(_)
                | Kind::Addresses(_)
                | Kind::Save
                | Kind::OutputLimits
                | Kind::Percentiles
                | Kind::OomScores
                | Kind::Master
                | Kind::Line(_)
        )
    }

    fn parse_word(&self, word: &str) -> Result<Value, Reason> {
        match *self {
            Kind::Flag => parse_flag(word),
            Kind::Integer(least, most) => parse_integer(word, least, most).map(Value::Integer),
            Kind::Clamped(low, high) => {
                let number = parse_integer(word, 0, i64::from(i32::MAX))?;
                Ok(Value::Integer(number.clamp(low.into(), high.into())))
            }
            Kind::Memory(least, most) => {
                let bytes = parse_memory(word).filter(|&bytes| bytes >= 0 || bytes >= least);
                let bytes = bytes.ok_or("argument must be a memory value")?;
                within(bytes, least, most).map(Value::Integer)
            }
            Kind::MemoryOrPercent => parse_memory_or_percent(word),
            Kind::Octal => parse_octal(word),
            Kind::Text(check) => {
                check(word)?;
                Ok(Value::Text(word.to_owned()))
            }
            Kind::Choice(choices) => find_choice(word, choices).map(Value::Choice),
            Kind::Events => special::parse_events(word),
            _ => Err(WRONG_COUNT.into()),
        }
    }
}

fn parse_flag(word: &str) -> Result<Value, Reason> {
    if word.eq_ignore_ascii_case("yes") {
        Ok(Value::Flag(true))
    } else if word.eq_ignore_ascii_case("no") {
        Ok(Value::Flag(false))
    } else {
        Err("argument must be 'yes' or 'no'".into())
    }
}

fn parse_integer(word: &str, least: i64, most: i64) -> Result<i128, Reason> {
    let number = integer::parse_i64(word.as_bytes()).ok_or(NOT_AN_INTEGER)?;
    within(number.into(), least.into(), most.into())
}

fn within(number: i128, least: i128, most: i128) -> Result<i128, Reason> {
    if (least..=most).contains(&number) {
        return Ok(number);
    }
    Err(format!("argument must be between {least} and {most} inclusive").into())
}

/// A number of bytes: digits, perhaps a minus before and a unit behind them. `None` if it is not
/// one or does not fit 64 bits. As in Redis no digits at all are 0.
pub(crate) fn parse_memory(word: &str) -> Option<i128> {
    let digits_end = word.find(|byte: char| byte != '-' && !byte.is_ascii_digit());
    let (digits, unit) = word.split_at(digits_end.unwrap_or(word.len()));
    let scale = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" => 1_000,
        "kb" => 1 << 10,
        "m" => 1_000_000,
        "mb" => 1 << 20,
        "g" => 1_000_000_000,
        "gb" => 1 << 30,
        _ => return None,
    };
    if digits.is_empty() {
        return Some(0);
    }
    let number: i128 = digits.parse().ok()?;
    let in_bounds = (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&number);
    let bytes = if in_bounds { number.checked_mul(scale)? } else { return None };
    (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&bytes).then_some(bytes)
}

fn parse_memory_or_percent(word: &str) -> Result<Value, Reason> {
    const REFUSED: &str = "argument must be a memory or percent value";
    const TOO_MUCH: &str = "percentage argument must be less or equal to 100";
    let Some(percent) = word.strip_suffix('%') else {
        let bytes = parse_memory(word).filter(|bytes| *bytes >= 0).ok_or(REFUSED)?;
        // Valkey keeps percentages as negative numbers: what is too large looks like one.
        let bytes = Some(bytes).filter(|bytes| *bytes <= i64::MAX.into()).ok_or(TOO_MUCH)?;
        return Ok(Value::Integer(bytes));
    };
    match integer::parse_i64(percent.as_bytes()).map(u64::try_from) {
        Some(Ok(0)) => Ok(Value::Integer(0)),
        Some(Ok(percent)) => match u8::try_from(percent) {
            Ok(percent) if percent <= 100 => Ok(Value::Percent(percent)),
            _ => Err(TOO_MUCH.into()),
        },
        _ => Err(REFUSED.into()),
    }
}

fn parse_octal(word: &str) -> Result<Value, Reason> {
    let number = i64::from_str_radix(word, 8).ok().filter(|_| !word.starts_with('+'));
    let number = number.ok_or("argument couldn't be parsed as an octal number")?;
    if (0..=0o777).contains(&number) {
        return Ok(Value::Integer(number.into()));
    }
    Err("argument must be between 0 and 777 inclusive".into())
}

fn find_choice(word: &str, choices: &'static [&'static str]) -> Result<&'static str, Reason> {
    let found = choices.iter().find(|choice| choice.eq_ignore_ascii_case(word));
    found.copied().ok_or_else(|| {
        format!("argument(s) must be one of the following: {}", choices.join(", ")).into()
    })
}

/// Keeps the words in the table's order, so that the same set is always written the same way.
fn parse_choices(words: &[String], choices: &'static [&'static str]) -> Result<Value, Reason> {
    let none = choices.first().copied().unwrap_or_default();
    let mut chosen = Vec::new();
    for word in words {
        chosen.push(find_choice(word, choices)?);
    }
    if chosen.is_empty() {
        find_choice("", choices)?;
    }
    let kept = choices.iter().filter(|choice| **choice != none && chosen.contains(choice));
    let mut kept: Vec<String> = kept.map(|choice| (*choice).to_owned()).collect();
    if kept.is_empty() {
        kept.push(none.to_owned());
    }
    Ok(Value::Words(kept))
}

fn parse_addresses(words: &[String], most: usize) -> Result<Value, Reason> {
    if words.len() > most {
        return Err("Too many bind addresses specified.".into());
    }
    // A single empty address listens nowhere, as no address at all does.
    let given = words.iter().filter(|word| !word.is_empty()).cloned().collect();
    Ok(Value::Words(given))
}

/// A word as a line of the file needs it: bare when that reads the same, else in double quotes.
pub(super) fn quoted_if_needed(word: &str) -> Cow<'_, str> {
    let plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'\\' | b'#');
    if !word.is_empty() && word.bytes().all(plain) {
        Cow::Borrowed(word)
    } else {
        quoted(word).into()
    }
}

/// A word in double quotes, every byte printable.
pub(super) fn quoted(word: &str) -> String {
    let mut out = Vec::with_capacity(word.len() + 2);
    caudal_text::words::quote(word.as_bytes(), &mut out);
    out.into_iter().map(char::from).collect()
}
