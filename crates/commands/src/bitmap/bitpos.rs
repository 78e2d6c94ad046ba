//! BITPOS.

use super::bits;
use super::range::Part;
use crate::string::text::Text;
use crate::{Args, Context, Error, Group, KeyFlags, Outcome, Spec};

pub(crate) const SPEC: Spec = Spec::new(
    "BITPOS",
    "Finds the first bit that is set, or not set, in the string at a key or in a part.",
)
.syntax("key bit:int [range(start:int [end-unit-block(end:int [unit<BYTE|BIT>@7.0.0])])]")
.group(Group::Bitmap)
.since("2.8.7")
.arity(-3)
.readonly()
.complexity("O(N) with N the bytes that are looked at.")
.key(1, KeyFlags::RO.and(KeyFlags::ACCESS));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    const BAD_BIT: Error = Error::text("ERR The bit argument must be 1 or 0.");
    let bit = match args.integer(2)? {
        0 => false,
        1 => true,
        _ => return Err(BAD_BIT),
    };
    let part = Part::parse(args, 3)?;
    let key = context.key(args, 1);
    let Some(text) = context.keys.string(&key)?.map(Text::of) else {
        return context.reply_integer(if bit { -1 } else { 0 });
    };
    let length = text.len() * 8;
    let found = match part.bits(text.len()) {
        None => None,
        // Behind the string all is zero, unless the client said where the part ends.
        Some(range) => {
            bits::find(&text, range, bit).or_else(|| (!bit && part.end.is_none()).then_some(length))
        }
    };
    match found {
        Some(at) => context.reply_count(at),
        None => context.reply_integer(-1),
    }
}
