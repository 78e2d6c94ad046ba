//! `FIELDS numfields field ...`: the end of the commands on several fields of a hash.

use crate::{Args, Context, Error};

/// The number of fields is not positive, or not theirs.
pub(super) const NUMBER: Error =
    Error::text("ERR numfields should be greater than 0 and match the provided number of fields");

/// What is said of a field that does not exist.
pub(super) const NO_FIELD: i64 = -2;
/// What is said of a field that does not expire.
pub(super) const NO_EXPIRY: i64 = -1;

/// Replies with what became of each of `count` fields, and gives it back. No results: there is no
/// hash, so none of them exists.
pub(super) fn reply_each(
    context: &mut Context<'_, '_>,
    results: Option<Vec<i64>>,
    count: usize,
) -> Vec<i64> {
    let results = results.unwrap_or_else(|| vec![NO_FIELD; count]);
    context.reply.array(results.len());
    results.iter().for_each(|result| context.reply.integer(*result));
    results
}

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
