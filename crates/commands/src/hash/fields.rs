//! `FIELDS numfields field ...`: the end of the commands on several fields of a hash.

use crate::{Args, Error};

/// The number of fields is not positive, or not theirs.
pub(super) const NUMBER: Error =
    Error::text("ERR numfields should be greater than 0 and match the provided number of fields");

/// The index of the word `FIELDS` behind options from word `from` on.
pub(super) fn find(args: Args<'_>, from: usize) -> Result<usize, Error> {
    // A number must follow it.
    let found = (from..args.len() - 1).find(|at| args.is(*at, "FIELDS"));
    found.ok_or(NUMBER)
}

/// The index of the first field behind the word `FIELDS` at `at`, where each field has `words`
/// words. `mismatch` is the error of a number that is not theirs.
pub(super) fn first(
    args: Args<'_>,
    at: usize,
    words: usize,
    mismatch: Error,
) -> Result<usize, Error> {
    let (count, first) = (args.integer(at + 1)?, at + 2);
    let given = args.len() - first;
    let fits = usize::try_from(count).is_ok_and(|count| {
        count > 0 && count.checked_mul(words).is_some_and(|words| words == given)
    });
    if fits { Ok(first) } else { Err(mismatch) }
}
