//! What HSCAN, SSCAN and ZSCAN have in common: the cursor, the options, the shape of the reply.
//!
//! The options are read after the key was found, as Valkey does: a missing key forgives them.

use crate::{Args, Error};
use caudal_text::glob::{self, Case};
use caudal_text::integer::{self, Decimal};
use caudal_value::Item;
use caudal_wire::Reply;

/// Elements visited by a call that does not say how many.
const COUNT_DEFAULT: usize = 10;

/// The options of a walk over one collection.
pub(crate) struct ScanOptions<'a> {
    /// About how many elements to visit, at least 1.
    pub(crate) count: usize,
    /// Leave out what belongs to the elements: NOVALUES or NOSCORES.
    pub(crate) bare: bool,
    pattern: Option<&'a [u8]>,
}

/// The cursor, which stands behind the key.
pub(crate) fn parse_cursor(args: Args<'_>) -> Result<u64, Error> {
    integer::parse_cursor(args.at(2)).ok_or(Error::text("ERR invalid cursor"))
}

impl<'a> ScanOptions<'a> {
    /// Reads the options behind the cursor. `bare` is the command's word for leaving out what
    /// belongs to the elements, if it has one.
    pub(crate) fn parse(args: Args<'a>, bare: Option<&str>) -> Result<ScanOptions<'a>, Error> {
        let mut options = ScanOptions { count: COUNT_DEFAULT, bare: false, pattern: None };
        let mut cursor = args.cursor(3);
        while cursor.left() > 0 {
            if cursor.left() > 1 && cursor.take("COUNT") {
                let count = usize::try_from(args.integer(cursor.index())?);
                options.count = count.ok().filter(|it| *it > 0).ok_or(Error::SYNTAX)?;
                cursor.next();
            } else if cursor.left() > 1 && cursor.take("MATCH") {
                options.pattern = cursor.next().filter(|pattern| *pattern != b"*");
            } else if bare.is_some_and(|word| cursor.take(word)) {
                options.bare = true;
            } else if cursor.take("NOVALUES") {
                return Err(Error::text("ERR NOVALUES option can only be used in HSCAN"));
            } else if cursor.take("NOSCORES") {
                return Err(Error::text("ERR NOSCORES option can only be used in ZSCAN"));
            } else {
                return Err(Error::SYNTAX);
            }
        }
        Ok(options)
    }

    /// Whether an element matches the pattern.
    pub(crate) fn wants(&self, element: Item<'_>) -> bool {
        self.pattern.is_none_or(|pattern| {
            element.with(|bytes| glob::matches(pattern, bytes, Case::Sensitive))
        })
    }
}

/// Replies with the cursor to go on with and what `walk` writes; `walk` returns the cursor and
/// the number of frames it wrote.
pub(crate) fn reply_scan(reply: &mut Reply<'_>, walk: impl FnOnce(&mut Reply<'_>) -> (u64, usize)) {
    // The cursor comes first on the wire and is known last.
    let mut found = caudal_wire::Output::default();
    let mut elements = Reply::new(&mut found, reply.protocol());
    let (next, frames) = walk(&mut elements);
    reply.array(2);
    reply.bulk(&Decimal::unsigned(next));
    reply.array(frames);
    reply.output().append(found);
}
