//! LMPOP: elements of the first list that has any. BLMPOP waits for one.

use super::{End, pop_array};
use crate::{Args, Context, DONE, Error, Group, KeyFlags, Outcome, Spec};
use caudal_text::integer::Decimal;
use std::ops::Range;

pub(crate) const SPEC: Spec =
    Spec::new("LMPOP", "Takes elements from one end of the first list that is not empty.")
        .syntax("numkeys:int key... where<LEFT|RIGHT> [COUNT count:int]")
        .group(Group::List)
        .since("7.0.0")
        .arity(-4)
        .write()
        .complexity("O(N+M) with N the number of keys and M the number of elements returned.")
        .key_count(1, KeyFlags::RW.and(KeyFlags::ACCESS).and(KeyFlags::DELETE));

/// What LMPOP and BLMPOP are told.
pub(super) struct MultiPop {
    /// The arguments that are keys.
    pub(super) keys: Range<usize>,
    pub(super) end: End,
    pub(super) count: usize,
}

impl MultiPop {
    /// Reads from the number of keys on, which stands at argument `first`.
    pub(super) fn parse(args: Args<'_>, first: usize) -> Result<MultiPop, Error> {
        let no_keys = Error::text("ERR numkeys should be greater than 0");
        let keys = first + 1..first.saturating_add(at_least_one(args, first).ok_or(no_keys)?) + 1;
        let end = End::parse(args, keys.end)?;
        let mut options = args.cursor(keys.end + 1);
        let mut count = None;
        while options.left() > 0 {
            if count.is_some() || !options.take("COUNT") || options.left() == 0 {
                return Err(Error::SYNTAX);
            }
            let no_count = Error::text("ERR count should be greater than 0");
            count = Some(at_least_one(args, options.index()).ok_or(no_count)?);
            options.next();
        }
        Ok(MultiPop { keys, end, count: count.unwrap_or(1) })
    }

    /// Takes from the first list that is there, and replies with its key and the elements. False:
    /// there is none.
    pub(super) fn take(
        &self,
        context: &mut Context<'_, '_>,
        args: Args<'_>,
    ) -> Result<bool, Error> {
        for index in self.keys.clone() {
            let key = context.key(args, index);
            if context.keys.list_mut(&key)?.is_none() {
                continue;
            }
            context.reply.array(2);
            context.reply.bulk(key.bytes);
            let popped = pop_array(context, &key, self.end, self.count)?.unwrap_or_default();
            if context.keys.effects.wanted() {
                let count = Decimal::unsigned(popped as u64);
                let command = self.end.pop_command().as_bytes();
                context.keys.effect(&[command, key.bytes, count.as_bytes()]);
            }
            return Ok(true);
        }
        Ok(false)
    }
}

fn at_least_one(args: Args<'_>, index: usize) -> Option<usize> {
    let number = caudal_text::integer::parse_i64(args.at(index))?;
    usize::try_from(number).ok().filter(|number| *number > 0)
}

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let pop = MultiPop::parse(args, 1)?;
    if !pop.take(context, args)? {
        context.reply.null_array();
    }
    DONE
}
