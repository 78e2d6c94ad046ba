//! SETBIT.

use super::{byte_of, offset};
use crate::string::edit;
use crate::{Args, Context, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;
use caudal_text::integer;

pub(crate) const SPEC: Spec =
    Spec::new("SETBIT", "Sets a bit of the string at a key and returns what it was.")
        .syntax("key offset:int value:int")
        .group(Group::Bitmap)
        .since("2.2.0")
        .arity(4)
        .write()
        .deny_oom()
        .key(1, KeyFlags::RW.and(KeyFlags::ACCESS).and(KeyFlags::UPDATE));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    const BAD_BIT: Error = Error::text("ERR bit is not an integer or out of range");
    let offset = offset(context, args, 2)?;
    let is_set = match integer::parse_i64(args.at(3)) {
        Some(0) => false,
        Some(1) => true,
        _ => return Err(BAD_BIT),
    };
    let (key, byte, mask) = (context.key(args, 1), byte_of(offset), 0x80 >> (offset % 8));
    let set = |text: &mut [u8]| {
        let was_set = text[byte] & mask != 0;
        text[byte] = if is_set { text[byte] | mask } else { text[byte] & !mask };
        was_set
    };
    let (was_set, grew) = edit::change(&mut context.keys, &key, byte + 1, set)?;
    if grew || was_set != is_set {
        context.keys.changed(&key, Event::string("setbit"));
    }
    context.reply_integer(i64::from(was_set))
}
