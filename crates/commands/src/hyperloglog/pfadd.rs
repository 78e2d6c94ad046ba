//! PFADD.

use super::find;
use crate::string::edit;
use crate::{Args, Context, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::{Event, SetExpiry};
use caudal_value::hll::{self, Encoding};

pub(crate) const SPEC: Spec =
    Spec::new("PFADD", "Lets the HyperLogLog at a key see elements, making it if there is none.")
        .syntax("key [element...]")
        .group(Group::HyperLogLog)
        .since("2.8.9")
        .arity(-2)
        .write()
        .deny_oom()
        .fast()
        .complexity("O(1) for each element.")
        .key(1, KeyFlags::RW.and(KeyFlags::INSERT));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    let found = find(&context.keys, &key)?.map(|(text, encoding)| match encoding {
        Encoding::Dense => None,
        Encoding::Sparse => Some(text.to_vec()),
    });
    let is_new = found.is_none();
    let changed = match found.unwrap_or_else(|| Some(hll::empty())) {
        None => {
            let add = |text: &mut [u8]| add_dense(text, args);
            edit::change(&mut context.keys, &key, 0, add)?.0?
        }
        Some(mut text) => {
            let bytes_max = context.keys.limits.hll_sparse_bytes_max;
            let mut changed = is_new;
            for element in args.from(2) {
                changed |= hll::add(&mut text, element, bytes_max)?;
            }
            if changed {
                hll::outdate_count(&mut text);
                edit::store(&mut context.keys, &key, text, SetExpiry::Keep);
            }
            changed
        }
    };
    if changed {
        context.keys.changed(&key, Event::string("pfadd"));
    }
    context.reply_integer(i64::from(changed))
}

fn add_dense(text: &mut [u8], args: Args<'_>) -> Result<bool, Error> {
    let mut changed = false;
    for element in args.from(2) {
        changed |= hll::add_dense(text, element)?;
    }
    if changed {
        hll::outdate_count(text);
    }
    Ok(changed)
}
