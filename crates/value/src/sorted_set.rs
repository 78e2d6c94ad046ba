//! A sorted set: members with scores, in the order of (score, member).
//!
//! Packed while it is small (member, score, member, score, in order), trees above the limits. What
//! must stay true: no member twice; no score is NaN, and a negative zero is kept as zero;
//! [`SortedSet::encoding`] changes exactly where Valkey's does.

use crate::item::{Item, ItemBytes};
use crate::limits::Limits;
use crate::tree::{Ascending, Descending, Scored};
use std::ops::Range;

mod ordered;
mod small;

use ordered::{Ordered, score_of};
use small::Small;

/// Members with scores. Cloning a large one is O(1) and gives an image that later writes do not
/// touch.
#[derive(Debug, Clone, Default)]
pub struct SortedSet {
    form: Form,
}

#[derive(Debug, Clone)]
enum Form {
    Packed(Small),
    Trees(Box<Ordered>),
}

impl Default for Form {
    fn default() -> Form {
        Form::Packed(Small::default())
    }
}

const _: () = assert!(size_of::<SortedSet>() <= 24);

/// What setting a score did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The member is new.
    Added,
    /// The member had another score.
    Updated,
    /// The member had this score.
    Unchanged,
}

/// One end of a range of scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreBound {
    /// The score at the end, infinite ones included; never NaN.
    pub value: f64,
    /// Members with exactly this score are outside.
    pub exclusive: bool,
}

/// One end of a range of members that all have one score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LexBound<'a> {
    /// `-`: below every member.
    Lowest,
    /// `[member`: this member is inside.
    Inclusive(&'a [u8]),
    /// `(member`: this member is outside.
    Exclusive(&'a [u8]),
    /// `+`: above every member.
    Highest,
}

impl LexBound<'_> {
    /// Whether a member is inside of this as the lower end.
    fn is_below(self, member: &[u8]) -> bool {
        match self {
            LexBound::Lowest => true,
            LexBound::Inclusive(bound) => bound <= member,
            LexBound::Exclusive(bound) => bound < member,
            LexBound::Highest => false,
        }
    }

    /// Whether a member is inside of this as the upper end.
    fn is_above(self, member: &[u8]) -> bool {
        match self {
            LexBound::Lowest => false,
            LexBound::Inclusive(bound) => member <= bound,
            LexBound::Exclusive(bound) => member < bound,
            LexBound::Highest => true,
        }
    }
}

impl SortedSet {
    /// No members.
    pub fn new() -> SortedSet {
        SortedSet::default()
    }

    /// Number of members.
    pub fn len(&self) -> usize {
        match &self.form {
            Form::Packed(small) => small.len(),
            Form::Trees(trees) => trees.len(),
        }
    }

    /// True without members: the key is then to be deleted.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The score of a member.
    pub fn score(&self, member: &[u8]) -> Option<f64> {
        match &self.form {
            Form::Packed(small) => small.find(member).map(|found| found.score),
            Form::Trees(trees) => trees.score(member),
        }
    }

    /// True when `member` is in the set.
    pub fn contains(&self, member: &[u8]) -> bool {
        self.score(member).is_some()
    }

    /// Prepares for a command that adds `count` members: more than the limit make a sorted set
    /// large even when some of them are the same.
    pub fn anticipate(&mut self, count: usize, limits: &Limits) {
        if count > limits.sorted_set_packed_entries_max {
            self.enlarge();
        }
    }

    /// Prepares for a command that names a member and does not add it: one too long for a small
    /// sorted set makes it large even so.
    pub fn pass_over(&mut self, member: &[u8], limits: &Limits) {
        if member.len() > limits.sorted_set_packed_value_bytes_max {
            self.enlarge();
        }
    }

    /// Gives a member a score, which must not be NaN.
    pub fn insert(&mut self, member: &[u8], score: f64, limits: &Limits) -> Change {
        assert!(!score.is_nan(), "a score is a number");
        // Adding zero makes a negative zero positive: the two are one score.
        let score = score + 0.0;
        if let Form::Packed(small) = &mut self.form {
            let found = small.find(member);
            match found {
                Some(found) if found.score == score => return Change::Unchanged,
                Some(found) => {
                    small.remove(&found);
                    small.insert(member, score);
                    return Change::Updated;
                }
                None => {}
            }
            if small.len() < limits.sorted_set_packed_entries_max
                && member.len() <= limits.sorted_set_packed_value_bytes_max
            {
                small.insert(member, score);
                return Change::Added;
            }
        }
        self.enlarge().insert(member, score)
    }

    /// Takes a member away and gives its score.
    pub fn remove(&mut self, member: &[u8]) -> Option<f64> {
        match &mut self.form {
            Form::Packed(small) => {
                let found = small.find(member)?;
                small.remove(&found);
                Some(found.score)
            }
            Form::Trees(trees) => trees.remove(member),
        }
    }

    /// How many members are below a member.
    pub fn rank(&self, member: &[u8]) -> Option<usize> {
        match &self.form {
            Form::Packed(small) => small.rank(member),
            Form::Trees(trees) => trees.rank(member),
        }
    }

    /// The member with that rank, and its score.
    pub fn nth(&self, rank: usize) -> Option<(Item<'_>, f64)> {
        match &self.form {
            Form::Packed(small) => small.iter_from(rank).next(),
            Form::Trees(trees) => {
                trees.order.nth(rank).map(|at| (Item::Bytes(at.key()), score_of(at.word())))
            }
        }
    }

    /// All members with their scores, lowest first.
    pub fn iter(&self) -> Iter<'_> {
        self.iter_from(0)
    }

    /// The members from a rank on, upwards.
    pub fn iter_from(&self, rank: usize) -> Iter<'_> {
        let form = match &self.form {
            Form::Packed(small) => IterForm::Packed(small.iter_from(rank)),
            Form::Trees(trees) => IterForm::Trees(trees.order.iter_from(rank)),
        };
        Iter { form, left: self.len().saturating_sub(rank) }
    }

    /// The members from a rank on (or the last one) downwards.
    pub fn iter_back_from(&self, rank: usize) -> IterBack<'_> {
        let end = rank.saturating_add(1).min(self.len());
        let form = match &self.form {
            Form::Packed(small) => IterBackForm::Packed(small.iter_back(end)),
            Form::Trees(trees) => IterBackForm::Trees(trees.order.iter_back_from(end)),
        };
        IterBack { form, left: end }
    }

    /// The ranks of the members with scores between two bounds; empty when there are none.
    pub fn range_by_score(&self, min: ScoreBound, max: ScoreBound) -> Range<usize> {
        let start = self.rank_of_score(min.value, min.exclusive);
        let end = self.rank_of_score(max.value, !max.exclusive);
        start..end.max(start)
    }

    /// The ranks of the members between two bounds, bytewise compared; with `downwards` looked for
    /// from the last member on. It means something when all have one score. If they have not, a
    /// small sorted set gives what Valkey gives, and a large one members around the bounds.
    pub fn range_by_lex(
        &self,
        min: LexBound<'_>,
        max: LexBound<'_>,
        downwards: bool,
    ) -> Range<usize> {
        let trees = match &self.form {
            Form::Packed(small) => return small.range_by_lex(min, max, downwards),
            Form::Trees(trees) => trees,
        };
        let start = match min {
            LexBound::Lowest => 0,
            LexBound::Inclusive(member) => trees.rank_of_member(member, false),
            LexBound::Exclusive(member) => trees.rank_of_member(member, true),
            LexBound::Highest => self.len(),
        };
        let end = match max {
            LexBound::Lowest => 0,
            LexBound::Inclusive(member) => trees.rank_of_member(member, true),
            LexBound::Exclusive(member) => trees.rank_of_member(member, false),
            LexBound::Highest => self.len(),
        };
        start..end.max(start)
    }

    /// The first rank with a score that is not below `score`, or with `above` one that is above it.
    pub fn rank_of_score(&self, score: f64, above: bool) -> usize {
        assert!(!score.is_nan(), "a bound is a number");
        match &self.form {
            Form::Packed(small) => {
                small.iter().take_while(|(_, own)| *own < score || above && *own == score).count()
            }
            Form::Trees(trees) => trees.rank_of_score(score, above),
        }
    }

    /// Takes the members with these ranks away, returns how many there were.
    pub fn remove_ranks(&mut self, ranks: Range<usize>) -> usize {
        let ranks = ranks.start..ranks.end.min(self.len());
        match &mut self.form {
            Form::Packed(small) => small.remove_ranks(&ranks),
            Form::Trees(trees) => {
                for _ in ranks.clone() {
                    trees.remove_nth(ranks.start);
                }
            }
        }
        ranks.len()
    }

    /// Takes the lowest member away and gives it.
    pub fn pop_first(&mut self) -> Option<(ItemBytes, f64)> {
        self.pop(0)
    }

    /// Takes the highest member away and gives it.
    pub fn pop_last(&mut self) -> Option<(ItemBytes, f64)> {
        self.pop(self.len().checked_sub(1)?)
    }

    fn pop(&mut self, rank: usize) -> Option<(ItemBytes, f64)> {
        let (member, score) = self.nth(rank)?;
        let member = member.to_bytes();
        self.remove_ranks(rank..rank + 1);
        Some((member, score))
    }

    /// Calls `f` with about `count` members and scores from a cursor on (0 to begin), returns the
    /// cursor to go on with (0 at the end). A member that is there from the first call to the last
    /// is given at least once, whatever its score does in between. A small sorted set is given
    /// whole.
    pub fn scan(&self, cursor: u64, count: usize, mut f: impl FnMut(Item<'_>, f64)) -> u64 {
        match &self.form {
            Form::Packed(_) => {
                self.iter().for_each(|(member, score)| f(member, score));
                0
            }
            Form::Trees(trees) => trees.scan(cursor, count, f),
        }
    }

    /// What OBJECT ENCODING says.
    pub fn encoding(&self) -> &'static str {
        match &self.form {
            Form::Packed(_) => "listpack",
            Form::Trees(_) => "skiplist",
        }
    }

    /// Bytes allocated; an image counts what it shares.
    pub fn memory(&self) -> usize {
        match &self.form {
            Form::Packed(small) => small.memory(),
            Form::Trees(trees) => size_of::<Ordered>() + trees.memory(),
        }
    }

    /// Becomes trees.
    fn enlarge(&mut self) -> &mut Ordered {
        if let Form::Packed(small) = &self.form {
            let mut trees = Ordered::default();
            for (member, score) in small.iter() {
                member.with(|member| trees.insert(member, score));
            }
            self.form = Form::Trees(Box::new(trees));
        }
        match &mut self.form {
            Form::Trees(trees) => trees,
            Form::Packed(_) => unreachable!("it has just become trees"),
        }
    }
}

impl<'a> IntoIterator for &'a SortedSet {
    type Item = (Item<'a>, f64);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// A walk upwards over the members of a [`SortedSet`].
#[derive(Debug, Clone)]
pub struct Iter<'a> {
    form: IterForm<'a>,
    left: usize,
}

#[derive(Debug, Clone)]
enum IterForm<'a> {
    Packed(small::Iter<'a>),
    Trees(Ascending<'a, Scored>),
}

impl<'a> Iterator for Iter<'a> {
    type Item = (Item<'a>, f64);

    fn next(&mut self) -> Option<(Item<'a>, f64)> {
        let next = match &mut self.form {
            IterForm::Packed(small) => small.next(),
            IterForm::Trees(tree) => {
                tree.next().map(|at| (Item::Bytes(at.key()), score_of(at.word())))
            }
        }?;
        self.left -= 1;
        Some(next)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Iter<'_> {}

/// A walk downwards over the members of a [`SortedSet`].
#[derive(Debug, Clone)]
pub struct IterBack<'a> {
    form: IterBackForm<'a>,
    left: usize,
}

#[derive(Debug, Clone)]
enum IterBackForm<'a> {
    Packed(small::IterBack<'a>),
    Trees(Descending<'a, Scored>),
}

impl<'a> Iterator for IterBack<'a> {
    type Item = (Item<'a>, f64);

    fn next(&mut self) -> Option<(Item<'a>, f64)> {
        let next = match &mut self.form {
            IterBackForm::Packed(small) => small.next(),
            IterBackForm::Trees(tree) => {
                tree.next().map(|at| (Item::Bytes(at.key()), score_of(at.word())))
            }
        }?;
        self.left -= 1;
        Some(next)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for IterBack<'_> {}

#[cfg(test)]
mod tests;
