//! GETBIT.

use super::{byte_of, offset};
use crate::string::text::Text;
use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};

pub(crate) const SPEC: Spec = Spec::new("GETBIT", "Returns a bit of the string at a key.")
    .syntax("key offset:int")
    .group(Group::Bitmap)
    .since("2.2.0")
    .arity(3)
    .readonly()
    .fast()
    .key(1, KeyFlags::RO.and(KeyFlags::ACCESS));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let offset = offset(context, args, 2)?;
    let key = context.key(args, 1);
    let text = context.keys.string(&key)?.map(Text::of);
    let byte = text.and_then(|text| text.get(byte_of(offset)).copied()).unwrap_or(0);
    context.reply_integer(i64::from(byte >> (7 - offset % 8) & 1))
}
