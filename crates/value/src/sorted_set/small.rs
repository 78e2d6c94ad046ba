//! A small sorted set: member, score, member, score in one packed string, in order.
//!
//! A score that is an integer is kept as one; another is a mark and its eight bytes. The mark keeps
//! the bytes from being taken for the spelling of an integer.

use super::LexBound;
use crate::item::Item;
use crate::packed::{self, Packed, Position};
use std::cmp::Ordering;
use std::ops::Range;

/// Members and scores, packed.
#[derive(Debug, Clone, Default)]
pub(super) struct Small {
    packed: Packed,
}

/// A member that was looked for.
pub(super) struct Found {
    at: Position,
    pub(super) score: f64,
}

impl Small {
    pub(super) fn len(&self) -> usize {
        self.packed.len() / 2
    }

    pub(super) fn memory(&self) -> usize {
        self.packed.memory()
    }

    pub(super) fn find(&self, member: &[u8]) -> Option<Found> {
        let at = self.packed.find(self.packed.first()?, 2, member)?;
        Some(Found { at, score: self.score_behind(at) })
    }

    pub(super) fn rank(&self, member: &[u8]) -> Option<usize> {
        let at = self.find(member)?.at;
        Some(self.packed.iter_until(at).count() / 2)
    }

    /// Adds a member that is not there.
    pub(super) fn insert(&mut self, member: &[u8], score: f64) {
        let mut at = self.packed.first().unwrap_or(self.packed.end());
        for (own, own_score) in self.iter() {
            let order = own_score.total_cmp(&score);
            if order.then_with(|| own.with(|own| own.cmp(member))) == Ordering::Greater {
                break;
            }
            at = self.behind(at);
        }
        if let Some(integer) = integer_score(score) {
            self.packed.insert_integer(at, integer);
        } else {
            let mut bytes = [SCORE_MARK; 9];
            bytes[1..].copy_from_slice(&score.to_le_bytes());
            self.packed.insert(at, &bytes);
        }
        self.packed.insert(at, member);
    }

    pub(super) fn remove(&mut self, found: &Found) {
        self.packed.remove(found.at, 2);
    }

    pub(super) fn remove_ranks(&mut self, ranks: &Range<usize>) {
        if let Some(at) = self.packed.nth(ranks.start.saturating_mul(2)) {
            self.packed.remove(at, ranks.len() * 2);
        }
    }

    pub(super) fn iter(&self) -> Iter<'_> {
        Iter { items: self.packed.iter() }
    }

    pub(super) fn iter_from(&self, rank: usize) -> Iter<'_> {
        let at = self.packed.nth(rank.saturating_mul(2)).unwrap_or(self.packed.end());
        Iter { items: self.packed.iter_from(at) }
    }

    /// The members below rank `end`, downwards.
    pub(super) fn iter_back(&self, end: usize) -> IterBack<'_> {
        let at = self.packed.nth(end.saturating_mul(2)).unwrap_or(self.packed.end());
        IterBack { items: self.packed.iter_until(at) }
    }

    /// See [`SortedSet::range_by_lex`](super::SortedSet::range_by_lex).
    pub(super) fn range_by_lex(
        &self,
        min: LexBound<'_>,
        max: LexBound<'_>,
        downwards: bool,
    ) -> Range<usize> {
        let above_min = |(member, _): &(Item<'_>, f64)| member.with(|own| min.is_below(own));
        let below_max = |(member, _): &(Item<'_>, f64)| member.with(|own| max.is_above(own));
        let len = self.len();
        let reaches_min = self.iter_back(len).next().is_some_and(|last| above_min(&last));
        if !reaches_min || !self.iter().next().is_some_and(|first| below_max(&first)) {
            return 0..0;
        }
        if downwards {
            let end = len - self.iter_back(len).take_while(|own| !below_max(own)).count();
            return end - self.iter_back(end).take_while(above_min).count()..end;
        }
        let start = self.iter().take_while(|own| !above_min(own)).count();
        start..start + self.iter_from(start).take_while(below_max).count()
    }

    fn score_behind(&self, member: Position) -> f64 {
        let at = self.packed.next(member).expect("a score follows each member");
        score_of(self.packed.item(at))
    }

    fn behind(&self, member: Position) -> Position {
        let score = self.packed.next(member).expect("a score follows each member");
        self.packed.next(score).unwrap_or(self.packed.end())
    }
}

/// The integer that a score is, within those that doubles tell apart.
fn integer_score(score: f64) -> Option<i64> {
    const DISTINCT_MAX: f64 = 9_007_199_254_740_992.0;
    if score.abs() >= DISTINCT_MAX || score.fract() != 0.0 {
        return None;
    }
    #[allow(clippy::cast_possible_truncation, reason = "it is an integer below 2^53")]
    Some(score as i64)
}

/// Begins a score that is no integer.
const SCORE_MARK: u8 = b'f';

fn score_of(item: Item<'_>) -> f64 {
    match item {
        Item::Integer(integer) => integer as f64,
        Item::Bytes([SCORE_MARK, bytes @ ..]) => {
            f64::from_le_bytes(bytes.try_into().expect("a score has eight bytes"))
        }
        Item::Bytes(_) => unreachable!("scores are integers or marked"),
    }
}

/// A walk upwards.
#[derive(Debug, Clone)]
pub(super) struct Iter<'a> {
    items: packed::Iter<'a>,
}

impl<'a> Iterator for Iter<'a> {
    type Item = (Item<'a>, f64);

    fn next(&mut self) -> Option<(Item<'a>, f64)> {
        let member = self.items.next()?;
        Some((member, score_of(self.items.next()?)))
    }
}

/// A walk downwards.
#[derive(Debug, Clone)]
pub(super) struct IterBack<'a> {
    items: packed::Iter<'a>,
}

impl<'a> Iterator for IterBack<'a> {
    type Item = (Item<'a>, f64);

    fn next(&mut self) -> Option<(Item<'a>, f64)> {
        let score = score_of(self.items.next_back()?);
        Some((self.items.next_back()?, score))
    }
}
