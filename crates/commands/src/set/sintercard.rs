//! SINTERCARD.

use super::{sinter::each_common, sources};
use crate::{Args, Context, Error, Group, KeyFlags, Outcome, Spec};
use caudal_text::integer;
use std::ops::{ControlFlow, Range};

pub(crate) const SPEC: Spec =
    Spec::new("SINTERCARD", "Returns how many members all sets have, or that they are many.")
        .group(Group::Set)
        .since("7.0.0")
        .arity(-3)
        .readonly()
        .complexity("O(N*M) with N the members of the smallest set and M the number of sets.")
        .key_count(1, KeyFlags::RO.and(KeyFlags::ACCESS));

struct SInterCard {
    /// The arguments that are keys.
    keys: Range<usize>,
    /// Where to stop counting.
    limit: usize,
}

impl SInterCard {
    fn parse(args: Args<'_>) -> Result<SInterCard, Error> {
        let count = integer::parse_i64(args.at(1)).and_then(|count| usize::try_from(count).ok());
        let count = count.filter(|count| *count > 0);
        let count = count.ok_or(Error::text("ERR numkeys should be greater than 0"))?;
        if count > args.len() - 2 {
            let text = "ERR Number of keys can't be greater than number of args";
            return Err(Error::text(text));
        }
        let (keys, mut limit) = (2..2 + count, 0);
        let mut options = args.cursor(keys.end);
        while options.left() > 0 {
            if !options.take("LIMIT") || options.left() == 0 {
                return Err(Error::SYNTAX);
            }
            let negative = Error::text("ERR LIMIT can't be negative");
            limit = args.positive(options.index()).map_err(|_| negative)?;
            options.next();
        }
        let limit = usize::try_from(limit).ok().filter(|limit| *limit > 0).unwrap_or(usize::MAX);
        Ok(SInterCard { keys, limit })
    }
}

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let SInterCard { keys, limit } = SInterCard::parse(args)?;
    let mut count = 0;
    each_common(sources(&context.keys, args, keys)?, |_, _| {
        count += 1;
        if count < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    context.reply_count(count)
}
