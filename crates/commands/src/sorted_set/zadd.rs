//! ZADD, ZINCRBY.

use crate::{Args, Context, DONE, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;
use caudal_value::{Change, Limits, SortedSet};
use smallvec::SmallVec;

pub(crate) const ZADD: Spec = Spec::new("ZADD", "Adds members with scores, or changes scores.")
    .syntax(
        "key [condition<NX|XX>@3.0.2] [comparison<GT|LT>@6.2.0] [change=CH@3.0.2] \
         [increment=INCR@3.0.2] data(score:double member)...",
    )
    .group(Group::SortedSet)
    .since("1.2.0")
    .arity(-4)
    .write()
    .deny_oom()
    .fast()
    .complexity("O(log(N)) for each member, with N the number of members in the sorted set.")
    .key(1, KeyFlags::RW.and(KeyFlags::UPDATE));

pub(crate) const ZINCRBY: Spec = Spec::new("ZINCRBY", "Adds to the score of a member.")
    .syntax("key increment:int member")
    .group(Group::SortedSet)
    .since("1.2.0")
    .arity(4)
    .write()
    .deny_oom()
    .fast()
    .complexity("O(log(N)) with N the number of members in the sorted set.")
    .key(1, KeyFlags::RW.and(KeyFlags::ACCESS).and(KeyFlags::UPDATE));

/// Which members ZADD may add or change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// All.
    Any,
    /// NX: add only.
    Add,
    /// Add, and change to a higher score (GT) or a lower one (LT).
    AddOr(Order),
    /// XX: change only.
    Update,
    /// XX with GT or LT: change only, to a higher or a lower score.
    UpdateTo(Order),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Higher,
    Lower,
}

impl Rule {
    fn of(nx: bool, xx: bool, gt: bool, lt: bool) -> Result<Rule, Error> {
        if nx && xx {
            return Err(Error::text("ERR XX and NX options at the same time are not compatible"));
        }
        if u8::from(nx) + u8::from(gt) + u8::from(lt) > 1 {
            return Err(Error::text(
                "ERR GT, LT, and/or NX options at the same time are not compatible",
            ));
        }
        let order = if gt { Order::Higher } else { Order::Lower };
        Ok(match (nx, xx, gt || lt) {
            (true, ..) => Rule::Add,
            (_, true, true) => Rule::UpdateTo(order),
            (_, true, false) => Rule::Update,
            (_, false, true) => Rule::AddOr(order),
            (_, false, false) => Rule::Any,
        })
    }

    /// Whether a member that has `old`, or is not there, may get `new`.
    fn allows(self, old: Option<f64>, new: f64) -> bool {
        match (self, old) {
            (Rule::Any, _) | (Rule::Add | Rule::AddOr(_), None) | (Rule::Update, Some(_)) => true,
            (Rule::Add, Some(_)) | (Rule::Update | Rule::UpdateTo(_), None) => false,
            (Rule::AddOr(order) | Rule::UpdateTo(order), Some(old)) => match order {
                Order::Higher => new > old,
                Order::Lower => new < old,
            },
        }
    }
}

/// What a ZADD asks for.
struct Zadd {
    rule: Rule,
    /// CH: reply with the number of changed members, not only of new ones.
    count_changes: bool,
    /// INCR: the score is added, and the sum is the reply.
    increment: bool,
    /// Argument of the first score; a member follows each.
    first: usize,
    scores: SmallVec<[f64; 4]>,
}

impl Zadd {
    fn parse(args: Args<'_>) -> Result<Zadd, Error> {
        let mut cursor = args.cursor(2);
        let [mut nx, mut xx, mut gt, mut lt, mut count_changes, mut increment] = [false; 6];
        loop {
            let option = if cursor.take("NX") {
                &mut nx
            } else if cursor.take("XX") {
                &mut xx
            } else if cursor.take("GT") {
                &mut gt
            } else if cursor.take("LT") {
                &mut lt
            } else if cursor.take("CH") {
                &mut count_changes
            } else if cursor.take("INCR") {
                &mut increment
            } else {
                break;
            };
            *option = true;
        }
        if cursor.left() == 0 || cursor.left() % 2 == 1 {
            return Err(Error::SYNTAX);
        }
        let rule = Rule::of(nx, xx, gt, lt)?;
        if increment && cursor.left() > 2 {
            return Err(Error::text("ERR INCR option supports a single increment-element pair"));
        }
        let first = cursor.index();
        let scores = (first..args.len()).step_by(2).map(|at| args.float(at));
        let scores = scores.collect::<Result<_, _>>()?;
        Ok(Zadd { rule, count_changes, increment, first, scores })
    }

    /// Adds the members; returns how many are new, and how many others changed.
    fn add(&self, args: Args<'_>, set: &mut SortedSet, limits: &Limits) -> (usize, usize) {
        set.anticipate(self.scores.len(), limits);
        let (mut added, mut updated) = (0, 0);
        for (index, &score) in self.scores.iter().enumerate() {
            let member = args.at(self.first + 2 * index + 1);
            if self.rule != Rule::Any && !self.rule.allows(set.score(member), score) {
                set.pass_over(member, limits);
                continue;
            }
            match set.insert(member, score, limits) {
                Change::Added => added += 1,
                Change::Updated => updated += 1,
                Change::Unchanged => {}
            }
        }
        (added, updated)
    }
}

pub(crate) fn zadd(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let zadd = Zadd::parse(args)?;
    if zadd.increment {
        return increment(context, args, zadd.rule, zadd.scores[0], args.at(zadd.first + 1));
    }
    let key = context.key(args, 1);
    let (added, updated) =
        context.keys.change_sorted_set(&key, |set, limits| zadd.add(args, set, limits))?;
    if added + updated > 0 {
        context.keys.changed(&key, Event::sorted_set("zadd"));
    }
    context.reply_count(if zadd.count_changes { added + updated } else { added })
}

pub(crate) fn zincrby(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    // Valkey reads ZADD's options here too, and is then left with half a pair.
    if ["NX", "XX", "GT", "LT", "CH", "INCR"].iter().any(|option| args.is(2, option)) {
        return Err(Error::SYNTAX);
    }
    increment(context, args, Rule::Any, args.float(2)?, args.at(3))
}

fn increment(
    context: &mut Context<'_, '_>,
    args: Args<'_>,
    rule: Rule,
    delta: f64,
    member: &[u8],
) -> Outcome {
    let key = context.key(args, 1);
    let result = context.keys.change_sorted_set(&key, |set, limits| {
        let old = set.score(member);
        // What is added to nothing keeps its sign: a negative zero is answered as one.
        let new = old.map_or(delta, |old| old + delta);
        if new.is_nan() {
            return Err(Error::text("ERR resulting score is not a number (NaN)"));
        }
        let allowed = rule.allows(old, new);
        Ok(allowed.then(|| (new, set.insert(member, new, limits))))
    })??;
    let Some((score, change)) = result else { return context.reply_null() };
    if change != Change::Unchanged {
        context.keys.changed(&key, Event::sorted_set("zincr"));
    }
    context.reply.double(score);
    DONE
}
