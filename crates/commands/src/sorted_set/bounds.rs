//! The three ways to name a stretch of a sorted set: ranks, scores, members.
//!
//! Parsed before the key is looked at; asked for the ranks that they are in a given set.

use crate::numbers::index_range;
use crate::{Args, Error};
use caudal_value::{LexBound, ScoreBound, SortedSet};
use std::ops::Range;

/// What the two arguments of a range mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// Indexes in the order of the set, negative ones from the end.
    Rank,
    /// Scores, `(` before one that is outside.
    Score,
    /// Members behind `[` or `(`, `-` and `+`.
    Lex,
}

/// A stretch of a sorted set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Bounds<'a> {
    Ranks { start: i64, stop: i64 },
    Scores { min: ScoreBound, max: ScoreBound },
    Members { min: LexBound<'a>, max: LexBound<'a> },
}

impl<'a> Bounds<'a> {
    /// Reads the arguments at `low` and `high`.
    pub(super) fn parse(
        args: Args<'a>,
        by: By,
        low: usize,
        high: usize,
    ) -> Result<Bounds<'a>, Error> {
        let (low_word, high_word) = (args.at(low), args.at(high));
        Ok(match by {
            By::Rank => Bounds::Ranks { start: args.integer(low)?, stop: args.integer(high)? },
            By::Score => Bounds::Scores { min: score(low_word)?, max: score(high_word)? },
            By::Lex => Bounds::Members { min: lex(low_word)?, max: lex(high_word)? },
        })
    }

    /// The ranks that these are in `set`. Ranks that are given count from the end if `reverse`,
    /// and members are looked for from there.
    pub(super) fn ranks(&self, set: &SortedSet, reverse: bool) -> Range<usize> {
        match *self {
            Bounds::Ranks { start, stop } => {
                let ranks = index_range(start, stop, set.len());
                if reverse && !ranks.is_empty() {
                    return set.len() - ranks.end..set.len() - ranks.start;
                }
                ranks
            }
            Bounds::Scores { min, max } => set.range_by_score(min, max),
            Bounds::Members { min, max } => set.range_by_lex(min, max, reverse),
        }
    }
}

fn score(word: &[u8]) -> Result<ScoreBound, Error> {
    let (exclusive, digits) = match word {
        [b'(', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    // Unlike a score, a bound may be nothing (zero), or beyond what a double holds.
    let value = match digits {
        [] => Some(0.0),
        digits => std::str::from_utf8(digits).ok().and_then(|text| text.parse::<f64>().ok()),
    };
    match value.filter(|value| !value.is_nan()) {
        Some(value) => Ok(ScoreBound { value, exclusive }),
        None => Err(Error::text("ERR min or max is not a float")),
    }
}

fn lex(word: &[u8]) -> Result<LexBound<'_>, Error> {
    match word {
        b"-" => Ok(LexBound::Lowest),
        b"+" => Ok(LexBound::Highest),
        [b'[', member @ ..] => Ok(LexBound::Inclusive(member)),
        [b'(', member @ ..] => Ok(LexBound::Exclusive(member)),
        _ => Err(Error::text("ERR min or max not valid string range item")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn score_bounds_are_read_as_valkey_reads_them() {
        let value = |word: &str| score(word.as_bytes()).ok().map(|it| (it.value, it.exclusive));
        assert_eq!(value("5."), Some((5.0, false)));
        assert_eq!(value("(-.5"), Some((-0.5, true)));
        assert_eq!(value("("), Some((0.0, true)));
        assert_eq!(value(""), Some((0.0, false)));
        assert_eq!(value("1e400"), Some((f64::INFINITY, false)));
        assert_eq!(value("1e-400"), Some((0.0, false)));
        assert_eq!(value("(+Infinity"), Some((f64::INFINITY, true)));
        for word in ["nan", "-nan", "((1", "5 ", " 5", "1e", "0x10", "+-5", "-", ".", "inf5"] {
            assert_eq!(value(word), None, "{word}");
        }
    }
}
