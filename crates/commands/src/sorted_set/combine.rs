//! Unions, intersections and differences: their arguments, their inputs, their results.
//!
//! Inputs are sorted sets, or sets, whose members all have score 1. What must stay true: scores
//! are combined from the smallest input to the largest, so that sums round as Valkey's do.

use super::scored::Scored;
use crate::{Args, Context, DONE, Error, Outcome};
use caudal_keyspace::{Event, Key, Keys, SetExpiry};
use caudal_table::{NewValue, ValueRef};
use caudal_text::float;
use caudal_value::{Item, Object, Set, SortedSet};
use std::cmp::Ordering;

/// How the scores of a member in several inputs become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aggregate {
    Sum,
    Min,
    Max,
    /// How many inputs have the member, each counted by its weight.
    Count,
}

impl Aggregate {
    /// The score of a member that has `one` so far and `other` in the next input.
    pub(super) fn of(self, one: f64, other: f64) -> f64 {
        match self {
            // Two infinities that cancel out are zero.
            Aggregate::Sum | Aggregate::Count => {
                Some(one + other).filter(|sum| !sum.is_nan()).unwrap_or(0.0)
            }
            Aggregate::Min if other < one => other,
            Aggregate::Max if other > one => other,
            Aggregate::Min | Aggregate::Max => one,
        }
    }
}

/// What a command of these families accepts behind its keys.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grammar {
    /// WEIGHTS and AGGREGATE.
    pub(super) weighted: bool,
    /// WITHSCORES.
    pub(super) scores: bool,
    /// LIMIT.
    pub(super) limit: bool,
}

impl Grammar {
    /// ZUNION, ZINTER.
    pub(super) const WEIGHTED: Grammar = Grammar { weighted: true, scores: true, limit: false };
    /// ZUNIONSTORE, ZINTERSTORE.
    pub(super) const STORED: Grammar = Grammar { weighted: true, scores: false, limit: false };
}

/// The keys: which arguments they are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sources {
    first: usize,
    len: usize,
}

impl Sources {
    /// Reads the number of keys, at argument `at`.
    pub(super) fn parse(args: Args<'_>, at: usize, name: &str) -> Result<Sources, Error> {
        let count = args.integer(at)?;
        if count < 1 {
            let text = format!("ERR at least 1 input key is needed for '{name}' command");
            return Err(Error::new(text));
        }
        let (first, left) = (at + 1, args.len() - at - 1);
        match usize::try_from(count) {
            Ok(len) if len <= left => Ok(Sources { first, len }),
            _ => Err(Error::SYNTAX),
        }
    }

    /// The inputs, in the order of the arguments. Their types are checked before the options are
    /// read, as in Valkey.
    pub(super) fn inputs<'c>(
        self,
        keys: &'c Keys<'_, '_>,
        args: Args<'_>,
    ) -> Result<Vec<Input<'c>>, Error> {
        let sources = self.first..self.first + self.len;
        sources.map(|at| Input::find(keys, &keys.key(args.at(at)))).collect()
    }
}

/// The options behind the keys.
#[derive(Debug, Clone, Copy)]
pub(super) struct Options {
    pub(super) aggregate: Aggregate,
    pub(super) with_scores: bool,
    /// Members to count at most; zero: all.
    pub(super) limit: usize,
}

impl Options {
    /// Reads them, and gives the inputs their weights.
    pub(super) fn parse(
        args: Args<'_>,
        sources: Sources,
        grammar: Grammar,
        inputs: &mut [Input<'_>],
    ) -> Result<Options, Error> {
        let mut options = Options { aggregate: Aggregate::Sum, with_scores: false, limit: 0 };
        let mut cursor = args.cursor(sources.first + sources.len);
        while cursor.left() > 0 {
            if grammar.weighted && cursor.left() > inputs.len() && cursor.take("WEIGHTS") {
                for input in &mut *inputs {
                    let weight = args.float(cursor.index());
                    input.weight =
                        weight.map_err(|_| Error::text("ERR weight value is not a float"))?;
                    cursor.next();
                }
            } else if grammar.weighted && cursor.left() > 1 && cursor.take("AGGREGATE") {
                options.aggregate = match () {
                    () if cursor.take("SUM") => Aggregate::Sum,
                    () if cursor.take("MIN") => Aggregate::Min,
                    () if cursor.take("MAX") => Aggregate::Max,
                    () if cursor.take("COUNT") => Aggregate::Count,
                    () => return Err(Error::SYNTAX),
                };
            } else if grammar.scores && cursor.take("WITHSCORES") {
                options.with_scores = true;
            } else if grammar.limit && cursor.left() > 1 && cursor.take("LIMIT") {
                let limit = args.integer(cursor.index()).ok();
                let limit = limit.and_then(|limit| usize::try_from(limit).ok());
                options.limit = limit.ok_or(Error::text("ERR LIMIT can't be negative"))?;
                cursor.next();
            } else {
                return Err(Error::SYNTAX);
            }
        }
        for input in inputs {
            input.counts = options.aggregate == Aggregate::Count;
        }
        Ok(options)
    }
}

/// One input.
#[derive(Debug, Clone, Copy)]
pub(super) struct Input<'c> {
    collection: Collection<'c>,
    weight: f64,
    /// Each member's score is the weight alone.
    counts: bool,
}

#[derive(Debug, Clone, Copy)]
enum Collection<'c> {
    /// There is no such key.
    Nothing,
    Set(&'c Set),
    SortedSet(&'c SortedSet),
}

impl<'c> Input<'c> {
    fn find(keys: &'c Keys<'_, '_>, key: &Key<'_>) -> Result<Input<'c>, Error> {
        let collection = match keys.find(key).map(|record| record.value()) {
            None => Collection::Nothing,
            Some(ValueRef::Object(Object::Set(set))) => Collection::Set(set),
            Some(ValueRef::Object(Object::SortedSet(set))) => Collection::SortedSet(set),
            Some(_) => return Err(Error::WRONG_TYPE),
        };
        Ok(Input { collection, weight: 1.0, counts: false })
    }

    /// Number of members.
    pub(super) fn len(self) -> usize {
        match self.collection {
            Collection::Nothing => 0,
            Collection::Set(set) => set.len(),
            Collection::SortedSet(set) => set.len(),
        }
    }

    /// Whether it has a member.
    pub(super) fn contains(self, member: &[u8]) -> bool {
        match self.collection {
            Collection::Nothing => false,
            Collection::Set(set) => set.contains(member),
            Collection::SortedSet(set) => set.contains(member),
        }
    }

    /// The weighted score of a member.
    pub(super) fn score(self, member: &[u8]) -> Option<f64> {
        let score = match self.collection {
            Collection::Nothing => None,
            Collection::Set(set) => set.contains(member).then_some(1.0),
            Collection::SortedSet(set) => set.score(member),
        };
        score.map(|score| self.weigh(score))
    }

    /// All members with their weighted scores.
    pub(super) fn members(self) -> impl Iterator<Item = (Item<'c>, f64)> {
        let (set, sorted) = match self.collection {
            Collection::Nothing => (None, None),
            Collection::Set(set) => (Some(set), None),
            Collection::SortedSet(set) => (None, Some(set)),
        };
        let set = set.into_iter().flatten().map(|member| (member, 1.0));
        let sorted = sorted.into_iter().flatten();
        set.chain(sorted).map(move |(member, score)| (member, self.weigh(score)))
    }

    fn weigh(self, score: f64) -> f64 {
        if self.counts {
            return self.weight;
        }
        let weighted = self.weight * score;
        // Zero times infinity counts as zero.
        if weighted.is_nan() { 0.0 } else { weighted }
    }
}

/// Puts the smallest input first; equally large ones keep their order.
pub(super) fn smallest_first(inputs: &mut [Input<'_>]) {
    inputs.sort_by_key(|input| input.len());
}

/// Members and scores, in no order until [`Members::sort`].
#[derive(Debug, Default)]
pub(super) struct Members<'c>(pub(super) Vec<(Item<'c>, f64)>);

impl Members<'_> {
    /// Sorts by score, then by member, as a sorted set does.
    fn sort(&mut self) {
        self.0.sort_unstable_by(|(one, one_score), (other, other_score)| {
            let scores = one_score.partial_cmp(other_score).expect("no score is NaN");
            scores.then_with(|| compare(*one, *other))
        });
    }

    /// Replies with them.
    pub(super) fn reply(mut self, reply: &mut caudal_wire::Reply<'_>, with_scores: bool) {
        self.sort();
        let scored = Scored::with(with_scores);
        scored.open(reply, self.0.len());
        self.0.iter().for_each(|(member, score)| scored.member(reply, *member, *score));
    }

    /// Makes a sorted set of them.
    pub(super) fn collect(mut self, limits: &caudal_value::Limits) -> SortedSet {
        self.sort();
        let mut set = SortedSet::new();
        set.anticipate(self.0.len(), limits);
        for (member, score) in self.0 {
            member.with(|member| set.insert(member, score, limits));
        }
        set
    }
}

fn compare(one: Item<'_>, other: Item<'_>) -> Ordering {
    match (one, other) {
        (Item::Bytes(one), Item::Bytes(other)) => one.cmp(other),
        _ => one.with(|one| other.with(|other| one.cmp(other))),
    }
}

/// Stores what [`Aggregate`] made of several inputs. What other servers may not know of is handed
/// on as the members themselves.
pub(super) fn store_aggregate(
    context: &mut Context<'_, '_>,
    target: &Key<'_>,
    result: SortedSet,
    aggregate: Aggregate,
    event: &'static str,
) -> Outcome {
    if aggregate != Aggregate::Count || !context.keys.effects.wanted() {
        return store(context, target, result, event);
    }
    let mut words: Vec<Vec<u8>> = vec![b"ZADD".to_vec(), target.bytes.to_vec()];
    for (member, score) in result.iter() {
        let mut text = Vec::new();
        float::format_f64(score, &mut text);
        words.push(text);
        words.push(member.to_bytes().to_vec());
    }
    let (len, before) = (result.len(), context.keys.changes);
    store(context, target, result, event)?;
    if context.keys.changes > before {
        context.keys.effect(&[b"DEL", target.bytes]);
    }
    if len > 0 {
        let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        context.keys.effect(&words);
    }
    DONE
}

/// Stores a result, or removes the key if it is empty, and replies with its size.
pub(crate) fn store(
    context: &mut Context<'_, '_>,
    target: &Key<'_>,
    result: SortedSet,
    event: &'static str,
) -> Outcome {
    let len = result.len();
    if len > 0 {
        let value = NewValue::Object(Object::SortedSet(result));
        context.keys.set(target, value, SetExpiry::Clear);
        context.keys.changed(target, Event::sorted_set(event));
    } else if context.keys.remove(target) {
        context.keys.changed(target, Event::DEL);
    }
    context.reply_count(len)?;
    DONE
}
