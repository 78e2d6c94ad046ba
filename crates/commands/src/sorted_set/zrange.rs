//! ZRANGE and the five commands that it replaces.

use super::bounds::{Bounds, By};
use super::scored::Scored;
use crate::{Args, Context, DONE, Error, Group, KeyFlags, Outcome, Spec};
use caudal_value::{Item, SortedSet};

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary)
        .group(Group::SortedSet)
        .arity(-4)
        .readonly()
        .complexity("O(log(N)+M) with N members in the sorted set, M of them returned.")
        .key(1, KeyFlags::RO.and(KeyFlags::ACCESS))
}

pub(crate) const ZRANGE: Spec =
    spec("ZRANGE", "Returns the members between two ranks, scores or members.")
        .syntax(
            "key start stop [sortby<BYSCORE|BYLEX>@6.2.0] [REV@6.2.0] \
             [LIMIT limit(offset:int count:int)@6.2.0] [WITHSCORES]",
        )
        .since("1.2.0");
pub(crate) const ZRANGEBYLEX: Spec =
    spec("ZRANGEBYLEX", "Returns the members between two, where all have one score.")
        .syntax("key min max [LIMIT limit(offset:int count:int)]")
        .since("2.8.9");
pub(crate) const ZRANGEBYSCORE: Spec =
    spec("ZRANGEBYSCORE", "Returns the members with scores in a range.")
        .syntax("key min:double max:double [WITHSCORES@2.0.0] [LIMIT limit(offset:int count:int)]")
        .since("1.0.5");
pub(crate) const ZREVRANGE: Spec =
    spec("ZREVRANGE", "Returns the members between two ranks, highest first.")
        .syntax("key start:int stop:int [WITHSCORES]")
        .since("1.2.0");
pub(crate) const ZREVRANGEBYLEX: Spec =
    spec("ZREVRANGEBYLEX", "Returns the members between two, last first.")
        .syntax("key max min [LIMIT limit(offset:int count:int)]")
        .since("2.8.9");
pub(crate) const ZREVRANGEBYSCORE: Spec =
    spec("ZREVRANGEBYSCORE", "Returns the members with scores in a range, highest first.")
        .syntax("key max:double min:double [WITHSCORES] [LIMIT limit(offset:int count:int)]")
        .since("2.2.0");

/// What a command's name leaves open; its options decide.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grammar {
    /// None: ranks, or as BYSCORE or BYLEX say.
    pub(super) by: Option<By>,
    /// None: upwards, or downwards with REV.
    pub(super) reverse: Option<bool>,
    /// Whether WITHSCORES is an option.
    pub(super) scores: bool,
    /// Argument of the first bound.
    pub(super) first: usize,
}

pub(crate) fn zrange(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    reply_range(context, args, None, None)
}

pub(crate) fn zrangebylex(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    reply_range(context, args, Some(By::Lex), Some(false))
}

pub(crate) fn zrangebyscore(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    reply_range(context, args, Some(By::Score), Some(false))
}

pub(crate) fn zrevrange(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    reply_range(context, args, Some(By::Rank), Some(true))
}

pub(crate) fn zrevrangebylex(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    reply_range(context, args, Some(By::Lex), Some(true))
}

pub(crate) fn zrevrangebyscore(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    reply_range(context, args, Some(By::Score), Some(true))
}

fn reply_range(
    context: &mut Context<'_, '_>,
    args: Args<'_>,
    by: Option<By>,
    reverse: Option<bool>,
) -> Outcome {
    let range = ZRange::parse(args, Grammar { by, reverse, scores: true, first: 2 })?;
    let key = context.key(args, 1);
    let Some(set) = context.keys.sorted_set(&key)? else {
        context.reply.array(0);
        return DONE;
    };
    let stretch = range.within(set);
    let scored = Scored::with(range.with_scores);
    scored.open(&mut context.reply, stretch.len);
    stretch.each(set, |member, score| scored.member(&mut context.reply, member, score));
    DONE
}

/// A range with its options.
#[derive(Debug)]
pub(super) struct ZRange<'a> {
    bounds: Bounds<'a>,
    reverse: bool,
    /// Members to leave out; negative: all of them.
    offset: i64,
    /// Members to give at most; negative: all.
    count: i64,
    pub(super) with_scores: bool,
}

impl<'a> ZRange<'a> {
    /// Reads bounds and options.
    pub(super) fn parse(args: Args<'a>, grammar: Grammar) -> Result<ZRange<'a>, Error> {
        let (mut by, mut reverse) = (grammar.by, grammar.reverse);
        let (mut offset, mut count, mut with_scores) = (0, -1, false);
        let mut cursor = args.cursor(grammar.first + 2);
        while cursor.left() > 0 {
            if grammar.scores && cursor.take("WITHSCORES") {
                with_scores = true;
            } else if cursor.left() > 2 && cursor.take("LIMIT") {
                offset = args.integer(cursor.index())?;
                count = args.integer(cursor.index() + 1)?;
                cursor.next();
                cursor.next();
            } else if reverse.is_none() && cursor.take("REV") {
                reverse = Some(true);
            } else if by.is_none() && cursor.take("BYLEX") {
                by = Some(By::Lex);
            } else if by.is_none() && cursor.take("BYSCORE") {
                by = Some(By::Score);
            } else {
                return Err(Error::SYNTAX);
            }
        }
        let (by, reverse) = (by.unwrap_or(By::Rank), reverse.unwrap_or(false));
        // A count of -1 is what LIMIT is without: Valkey takes it for no LIMIT, offset and all.
        if by == By::Rank && count != -1 {
            return Err(Error::text(
                "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or \
                 BYLEX",
            ));
        }
        if by == By::Lex && with_scores {
            return Err(Error::text(
                "ERR syntax error, WITHSCORES not supported in combination with BYLEX",
            ));
        }
        let (first, second) = (grammar.first, grammar.first + 1);
        let swapped = reverse && by != By::Rank;
        let (low, high) = if swapped { (second, first) } else { (first, second) };
        let bounds = Bounds::parse(args, by, low, high)?;
        let offset = if by == By::Rank { 0 } else { offset };
        Ok(ZRange { bounds, reverse, offset, count, with_scores })
    }

    /// The part of a set that it is.
    pub(super) fn within(&self, set: &SortedSet) -> Stretch {
        let ranks = self.bounds.ranks(set, self.reverse);
        let offset = usize::try_from(self.offset).map_or(ranks.len(), |it| it.min(ranks.len()));
        let left = ranks.len() - offset;
        let len = usize::try_from(self.count).map_or(left, |count| count.min(left));
        // With nothing left, the rank is not used.
        let first = match self.reverse {
            true => (ranks.end - offset).saturating_sub(1),
            false => ranks.start + offset,
        };
        Stretch { first, len, reverse: self.reverse }
    }
}

/// Members next to each other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stretch {
    /// Rank of the first one.
    first: usize,
    pub(super) len: usize,
    /// Downwards from there.
    reverse: bool,
}

impl Stretch {
    /// Calls `each` with the members.
    pub(super) fn each(self, set: &SortedSet, mut each: impl FnMut(Item<'_>, f64)) {
        if self.len == 0 {
            return;
        }
        if self.reverse {
            let members = set.iter_back_from(self.first).take(self.len);
            members.for_each(|(member, score)| each(member, score));
        } else {
            let members = set.iter_from(self.first).take(self.len);
            members.for_each(|(member, score)| each(member, score));
        }
    }
}
