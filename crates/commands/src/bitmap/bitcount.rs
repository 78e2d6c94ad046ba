//! BITCOUNT.

use super::bits;
use super::range::Part;
use crate::string::text::Text;
use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};

pub(crate) const SPEC: Spec =
    Spec::new("BITCOUNT", "Counts the bits that are set in the string at a key, or in a part.")
        .syntax("key [range(start:int [end-unit-block(end:int [unit<BYTE|BIT>@7.0.0])])]")
        .group(Group::Bitmap)
        .since("2.6.0")
        .arity(-2)
        .readonly()
        .complexity("O(N) with N the bytes that are looked at.")
        .key(1, KeyFlags::RO.and(KeyFlags::ACCESS));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let part = Part::parse(args, 2)?;
    let key = context.key(args, 1);
    let Some(text) = context.keys.string(&key)?.map(Text::of) else {
        return context.reply_integer(0);
    };
    // An end before the start counts nothing, even where both lie before the first byte.
    let is_backwards = part.end.is_some_and(|end| part.start < 0 && end < 0 && part.start > end);
    let count = match part.bits(text.len()) {
        Some(range) if !is_backwards => bits::count(&text, range),
        _ => 0,
    };
    context.reply_count(count)
}
