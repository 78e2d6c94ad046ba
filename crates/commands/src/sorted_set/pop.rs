//! Taking the lowest or highest members of a sorted set: what all pops share.

use super::scored::Scored;
use crate::{Args, Context, Error};
use caudal_keyspace::{Event, Key};
use caudal_wire::Reply;

/// Which end to take from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The lowest scores.
    Min,
    /// The highest scores.
    Max,
}

impl End {
    /// Reads `MIN` or `MAX`.
    pub(super) fn parse(args: Args<'_>, index: usize) -> Result<End, Error> {
        match () {
            () if args.is(index, "MIN") => Ok(End::Min),
            () if args.is(index, "MAX") => Ok(End::Max),
            () => Err(Error::SYNTAX),
        }
    }

    /// The command that redoes a pop from one key.
    pub(super) fn command(self) -> &'static [u8] {
        match self {
            End::Min => b"ZPOPMIN",
            End::Max => b"ZPOPMAX",
        }
    }

    fn event(self) -> Event {
        match self {
            End::Min => Event::sorted_set("zpopmin"),
            End::Max => Event::sorted_set("zpopmax"),
        }
    }
}

/// Takes up to `count` members away and writes them, behind what `begin` writes. Returns how many;
/// none, and nothing is written, if there is no such key.
pub(super) fn pop(
    context: &mut Context<'_, '_>,
    key: &Key<'_>,
    (end, count): (End, usize),
    scored: Scored,
    begin: impl FnOnce(&mut Reply<'_>),
) -> Result<Option<usize>, Error> {
    let Some(set) = context.keys.sorted_set_mut(key)? else { return Ok(None) };
    let (len, reply) = (set.len(), &mut context.reply);
    let count = count.min(len);
    begin(reply);
    scored.open(reply, count);
    if count == 0 {
        return Ok(Some(0));
    }
    match end {
        End::Min => {
            set.iter().take(count).for_each(|(member, score)| scored.member(reply, member, score));
            set.remove_ranks(0..count);
        }
        End::Max => {
            let members = set.iter_back_from(len - 1).take(count);
            members.for_each(|(member, score)| scored.member(reply, member, score));
            set.remove_ranks(len - count..len);
        }
    }
    context.keys.changed(key, end.event());
    context.keys.drop_empty_sorted_set(key);
    Ok(Some(count))
}

/// What ZMPOP and BZMPOP ask for.
#[derive(Debug, Clone, Copy)]
pub(super) struct ManyPop {
    /// Argument of the first key.
    first: usize,
    keys: usize,
    end: End,
    count: usize,
}

impl ManyPop {
    /// Reads the arguments from the number of keys on, which stands at `at`.
    pub(super) fn parse(args: Args<'_>, at: usize) -> Result<ManyPop, Error> {
        const NO_KEYS: Error = Error::text("ERR numkeys should be greater than 0");
        const NO_COUNT: Error = Error::text("ERR count should be greater than 0");
        let positive = |index| args.integer(index).ok().and_then(|it| usize::try_from(it).ok());
        let keys = positive(at).filter(|keys| *keys > 0).ok_or(NO_KEYS)?;
        let first = at + 1;
        let behind = first.checked_add(keys).filter(|it| *it < args.len()).ok_or(Error::SYNTAX)?;
        let mut pop = ManyPop { first, keys, end: End::parse(args, behind)?, count: 1 };
        match args.len() - behind {
            1 => {}
            3 if args.is(behind + 1, "COUNT") => {
                pop.count = positive(behind + 2).filter(|it| *it > 0).ok_or(NO_COUNT)?;
            }
            // A bad count is complained about before what follows it.
            4.. if args.is(behind + 1, "COUNT") => {
                positive(behind + 2).filter(|it| *it > 0).ok_or(NO_COUNT)?;
                return Err(Error::SYNTAX);
            }
            _ => return Err(Error::SYNTAX),
        }
        Ok(pop)
    }

    /// Pops from the first key that has members, and replies. False: none has.
    pub(super) fn apply(
        self,
        context: &mut Context<'_, '_>,
        args: Args<'_>,
    ) -> Result<bool, Error> {
        for index in self.first..self.first + self.keys {
            let key = context.key(args, index);
            let what = (self.end, self.count);
            let popped = pop(context, &key, what, Scored::InPairs, |reply| {
                reply.array(2);
                reply.bulk(key.bytes);
            })?;
            let Some(popped) = popped else { continue };
            if context.keys.effects.wanted() {
                let popped = popped.to_string();
                context.keys.effect(&[self.end.command(), key.bytes, popped.as_bytes()]);
            }
            return Ok(true);
        }
        Ok(false)
    }
}
