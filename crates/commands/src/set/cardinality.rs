//! What SINTERCARD, SUNIONCARD and SDIFFCARD are asked: a number of keys, the keys, and where to
//! stop counting.

use crate::{Args, Error};
use caudal_text::integer;
use std::ops::Range;

/// The words of one of them.
pub(super) struct Cardinality {
    /// The arguments that are keys.
    pub(super) keys: Range<usize>,
    /// Where to stop counting.
    pub(super) limit: usize,
    /// APPROX: an estimate will do.
    pub(super) approximate: bool,
}

impl Cardinality {
    /// Reads them; `estimates` says whether APPROX is a word of the command.
    pub(super) fn parse(args: Args<'_>, estimates: bool) -> Result<Cardinality, Error> {
        let count = integer::parse_i64(args.at(1)).and_then(|count| usize::try_from(count).ok());
        let count = count.filter(|count| *count > 0);
        let count = count.ok_or(Error::text("ERR numkeys should be greater than 0"))?;
        if count > args.len() - 2 {
            let text = "ERR Number of keys can't be greater than number of args";
            return Err(Error::text(text));
        }
        let (keys, mut limit, mut approximate) = (2..2 + count, 0, false);
        let mut options = args.cursor(keys.end);
        while options.left() > 0 {
            if estimates && options.take("APPROX") {
                approximate = true;
                continue;
            }
            if !options.take("LIMIT") || options.left() == 0 {
                return Err(Error::SYNTAX);
            }
            let negative = Error::text("ERR LIMIT can't be negative");
            limit = args.positive(options.index()).map_err(|_| negative)?;
            options.next();
        }
        let limit = usize::try_from(limit).ok().filter(|limit| *limit > 0).unwrap_or(usize::MAX);
        Ok(Cardinality { keys, limit, approximate })
    }
}
