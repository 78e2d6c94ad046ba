//! A large sorted set: a tree by (score, member), and a tree from a member's hash to its score.
//!
//! Each member is stored once, in the first tree. The second gives the score under which to look
//! for it there. Members with one hash and one score are told apart there by a number, which
//! belongs to none of them. What must stay true: the trees have equally many entries, one in each
//! for each member.

use crate::item::Item;
use crate::seed;
use crate::sorted_set::Change;
use crate::tree::{Entry, Scored, Scores, Tree};
use smallvec::SmallVec;

/// Both trees.
#[derive(Debug, Clone, Default)]
pub(super) struct Ordered {
    pub(super) order: Tree<Scored>,
    index: Tree<Scores>,
}

impl Ordered {
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    pub(super) fn memory(&self) -> usize {
        self.order.memory() + self.index.memory()
    }

    pub(super) fn score(&self, member: &[u8]) -> Option<f64> {
        self.find(seed::hash(member), member).map(score_of)
    }

    pub(super) fn rank(&self, member: &[u8]) -> Option<usize> {
        let word = self.find(seed::hash(member), member)?;
        Some(self.order.rank(word, member).expect("both trees hold each member"))
    }

    /// Gives a member a score, which is neither NaN nor a negative zero.
    pub(super) fn insert(&mut self, member: &[u8], score: f64) -> Change {
        let (hash, word) = (seed::hash(member), word_of(score));
        let old = self.find(hash, member);
        match old {
            Some(old) if old == word => return Change::Unchanged,
            Some(old) => {
                self.order.remove_found(old, member);
                self.renote(hash, old, word);
            }
            None => self.note(hash, word),
        }
        self.order.insert(&Entry::new(word, member));
        if old.is_some() { Change::Updated } else { Change::Added }
    }

    pub(super) fn remove(&mut self, member: &[u8]) -> Option<f64> {
        let hash = seed::hash(member);
        let word = self.find(hash, member)?;
        self.order.remove_found(word, member);
        self.forget(hash, word);
        Some(score_of(word))
    }

    pub(super) fn remove_nth(&mut self, rank: usize) {
        if let Some(place) = self.order.nth(rank) {
            let (word, member) = (place.word(), SmallVec::<[u8; 64]>::from_slice(place.key()));
            self.order.remove_found(word, &member);
            self.forget(seed::hash(&member), word);
        }
    }

    pub(super) fn rank_of_score(&self, score: f64, above: bool) -> usize {
        // Adding zero makes a negative zero positive, as scores are kept.
        let word = word_of(score + 0.0);
        // Scores are no NaN, so there is a word above each of them.
        let (Ok(rank) | Err(rank)) = self.order.rank(word + u64::from(above), &[]);
        rank
    }

    pub(super) fn rank_of_member(&self, member: &[u8], above: bool) -> usize {
        let Some(first) = self.order.nth(0) else {
            return 0;
        };
        match self.order.rank(first.word(), member) {
            Ok(rank) => rank + usize::from(above),
            Err(rank) => rank,
        }
    }

    /// Goes through the index, whose order no change of a score touches, and finds the members of a
    /// stretch of it among those with its scores.
    pub(super) fn scan(&self, cursor: u64, count: usize, mut f: impl FnMut(Item<'_>, f64)) -> u64 {
        let mut stretch = Stretch::default();
        let mut next = stretch.read(&self.index, cursor, count);
        // Where many members share a score, all of them are looked at: then more are given at once.
        let looked_at: usize =
            stretch.scores.iter().map(|score| self.with_score(*score).len()).sum();
        if looked_at / LOOKS_PER_MEMBER > count {
            next = stretch.read(&self.index, cursor, looked_at / LOOKS_PER_MEMBER);
        }
        for &word in &stretch.scores {
            let ranks = self.with_score(word);
            for place in self.order.iter_from(ranks.start).take(ranks.len()) {
                let hash = seed::hash(place.key());
                if stretch.first <= hash && hash <= stretch.last {
                    f(Item::Bytes(place.key()), score_of(word));
                }
            }
        }
        next
    }

    /// The ranks of the members with a score.
    fn with_score(&self, word: u64) -> std::ops::Range<usize> {
        let (Ok(start) | Err(start)) = self.order.rank(word, &[]);
        let (Ok(end) | Err(end)) = self.order.rank(word + 1, &[]);
        start..end
    }

    /// Adds a score to the index, under the first number that is free.
    fn note(&mut self, hash: u32, word: u64) {
        let mut keys = numbered(word);
        let added = keys.any(|key| self.index.insert(&Entry::new(hash, &key)));
        assert!(added, "hashes have a secret seed: 256 members do not share one");
    }

    /// Replaces a score in the index.
    fn renote(&mut self, hash: u32, old: u64, new: u64) {
        let [first_old, first_new] = [old, new].map(|word| numbered(word).next());
        let (Some(old_key), Some(new_key)) = (first_old, first_new) else {
            unreachable!("each score has keys");
        };
        let one = self.index.find(hash, &old_key).is_some();
        if !one || !self.index.replace_key(hash, &old_key, &new_key) {
            self.forget(hash, old);
            self.note(hash, new);
        }
    }

    /// Takes a score out of the index. Which of several equal ones does not matter.
    fn forget(&mut self, hash: u32, word: u64) {
        let removed = numbered(word).any(|key| self.index.remove(hash, &key));
        assert!(removed, "both trees hold each member");
    }

    /// The word under which the member stands.
    fn find(&self, hash: u32, member: &[u8]) -> Option<u64> {
        let found = |word: &u64| self.order.find(*word, member).is_some();
        let first = self.index.first_with(hash)?;
        let word = word_at(first.key());
        if found(&word) {
            return Some(word);
        }
        // Another member may have the same hash.
        let (Ok(index) | Err(index)) = self.index.rank(hash, &[]);
        let same = self.index.iter_from(index).take_while(|place| place.word() == hash);
        same.map(|place| word_at(place.key())).find(found)
    }
}

/// How many members a scan looks at to give one, at most.
const LOOKS_PER_MEMBER: usize = 64;

/// A part of the index: all entries with hashes in `first..=last`.
#[derive(Default)]
struct Stretch {
    first: u32,
    last: u32,
    /// The scores that occur, ascending.
    scores: Vec<u64>,
}

impl Stretch {
    fn read(&mut self, index: &Tree<Scores>, cursor: u64, count: usize) -> u64 {
        self.scores.clear();
        self.first = u32::try_from(cursor).unwrap_or(u32::MAX);
        let next = index.scan(cursor, count, |place| {
            self.last = place.word();
            self.scores.push(word_at(place.key()));
        });
        self.scores.sort_unstable();
        self.scores.dedup();
        next
    }
}

/// The integer that sorts as the score does.
fn word_of(score: f64) -> u64 {
    let bits = score.to_bits();
    if score.is_sign_negative() { !bits } else { bits | SIGN }
}

/// The score of a word.
pub(super) fn score_of(word: u64) -> f64 {
    f64::from_bits(if word & SIGN == 0 { !word } else { word & !SIGN })
}

const SIGN: u64 = 1 << 63;

/// The keys that a score can have in the index.
fn numbered(word: u64) -> impl Iterator<Item = [u8; 9]> {
    (0..=u8::MAX).map(move |number| {
        let mut key = [number; 9];
        key[..8].copy_from_slice(&word.to_be_bytes());
        key
    })
}

/// The word of a key in the index.
fn word_at(key: &[u8]) -> u64 {
    u64::from_be_bytes(*key.first_chunk().expect("the index holds eight bytes"))
}
