//! PFCOUNT.
//!
//! The count of one key is kept in its string, so this reader writes: its key is locked for that.

use super::find;
use crate::string::edit;
use crate::{Args, Context, Flags, Group, KeyFlags, Outcome, Spec};
use caudal_value::hll::{self, Registers};

pub(crate) const SPEC: Spec =
    Spec::new("PFCOUNT", "Estimates how many different elements HyperLogLogs have seen together.")
        .syntax("key...")
        .group(Group::HyperLogLog)
        .since("2.8.9")
        .arity(-2)
        .readonly()
        .flag(Flags::MAY_REPLICATE)
        .complexity("O(1) for one key, mostly without a look at its registers; O(N) for N keys.")
        .key_range(1, -1, 1, KeyFlags::RW.and(KeyFlags::ACCESS))
        .key_note("a HyperLogLog keeps its estimate for the next time");

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let count = if args.len() == 2 { of_one(context, args)? } else { of_many(context, args)? };
    context.reply_integer(i64::try_from(count).unwrap_or(i64::MAX))
}

fn of_one(context: &mut Context<'_, '_>, args: Args<'_>) -> Result<u64, crate::Error> {
    let key = context.key(args, 1);
    let Some((text, _)) = find(&context.keys, &key)? else { return Ok(0) };
    if let Some(count) = hll::kept_count(&text) {
        return Ok(count);
    }
    let count = hll::count(&text)?;
    let keep = |text: &mut [u8]| hll::keep_count(text, count);
    edit::change(&mut context.keys, &key, 0, keep)?;
    context.keys.changed_quietly(&key);
    Ok(count)
}

fn of_many(context: &mut Context<'_, '_>, args: Args<'_>) -> Result<u64, crate::Error> {
    let mut registers = Registers::default();
    for index in 1..args.len() {
        if let Some((text, _)) = find(&context.keys, &context.key(args, index))? {
            registers.merge(&text)?;
        }
    }
    Ok(registers.count())
}
