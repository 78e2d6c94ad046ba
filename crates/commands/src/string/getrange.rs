//! GETRANGE, and SUBSTR, its old name.

use super::text::Text;
use crate::{Args, Context, DONE, Group, KeyFlags, Outcome, Spec};
use std::ops::Range;

const fn spec(name: &'static str, since: &'static str) -> Spec {
    Spec::new(name, "Returns a part of the string at a key.")
        .group(Group::String)
        .since(since)
        .arity(4)
        .readonly()
        .complexity("O(N) with N the length of what is returned.")
        .key(1, KeyFlags::RO.and(KeyFlags::ACCESS))
}

pub(crate) const GETRANGE: Spec = spec("GETRANGE", "2.4.0").syntax("key start:int end:int");
pub(crate) const SUBSTR: Spec = spec("SUBSTR", "1.0.0").syntax("key start:int end:int");

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let (start, end) = (args.integer(2)?, args.integer(3)?);
    let key = context.key(args, 1);
    match context.keys.string(&key)?.map(Text::of) {
        None => context.reply.bulk(b""),
        Some(text) => context.reply.bulk(&text[range(start, end, text.len())]),
    }
    DONE
}

/// The bytes from `start` to `end`, both included and counted from the end if negative. Unlike with
/// lists, an end before the first byte is the first byte, unless both are negative and in the wrong
/// order.
fn range(start: i64, end: i64, len: usize) -> Range<usize> {
    if len == 0 || (start < 0 && end < 0 && start > end) {
        return 0..0;
    }
    let length = i64::try_from(len).expect("lengths stay below 2^63");
    let from_end = |index: i64| if index < 0 { index.saturating_add(length).max(0) } else { index };
    let (start, end) = (from_end(start), from_end(end).min(length - 1));
    if start > end {
        return 0..0;
    }
    let at = |index: i64| usize::try_from(index).expect("it was cut to the length");
    at(start)..at(end) + 1
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn ranges_are_cut_as_redis_cuts_them() {
        assert_eq!(range(0, -1, 3), 0..3);
        assert_eq!(range(-2, 100, 3), 1..3);
        assert_eq!(range(-100, -50, 3), 0..1);
        assert_eq!(range(-1, -5, 3), 0..0);
        assert_eq!(range(1, 0, 3), 0..0);
        assert_eq!(range(5, 10, 3), 0..0);
        assert_eq!(range(0, 0, 0), 0..0);
        assert_eq!(range(i64::MIN, i64::MAX, 3), 0..3);
    }
}
