//! PFMERGE.

use super::find;
use crate::string::edit;
use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::{Event, SetExpiry};
use caudal_value::hll::{self, Encoding, Registers};

pub(crate) const SPEC: Spec =
    Spec::new("PFMERGE", "Lets a HyperLogLog have seen what others have seen.")
        .syntax("destkey:key [sourcekey:key...]")
        .group(Group::HyperLogLog)
        .since("2.8.9")
        .arity(-2)
        .write()
        .deny_oom()
        .complexity("O(N) with N the number of HyperLogLogs, each of constant cost, a high one.")
        .key(1, KeyFlags::RW.and(KeyFlags::ACCESS).and(KeyFlags::INSERT))
        .key_range(2, -1, 1, KeyFlags::RO.and(KeyFlags::ACCESS));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let mut registers = Registers::default();
    let mut is_dense = false;
    // The target is a source too.
    for index in 1..args.len() {
        if let Some((text, encoding)) = find(&context.keys, &context.key(args, index))? {
            is_dense |= encoding == Encoding::Dense;
            registers.merge(&text)?;
        }
    }
    let target = context.key(args, 1);
    let found = find(&context.keys, &target)?;
    let mut text = found.map_or_else(hll::empty, |(text, _)| text.to_vec());
    if is_dense {
        hll::make_dense(&mut text)?;
    }
    registers.raise_in(&mut text, context.keys.limits.hll_sparse_bytes_max)?;
    hll::outdate_count(&mut text);
    edit::store(&mut context.keys, &target, text, SetExpiry::Keep);
    context.keys.changed(&target, Event::string("pfadd"));
    context.reply_ok()
}
