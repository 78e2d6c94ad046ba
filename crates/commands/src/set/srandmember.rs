//! SRANDMEMBER.

use super::sample;
use crate::context::reply_item;
use crate::{Args, Context, DONE, Error, Group, KeyFlags, Outcome, Random, Spec};
use caudal_value::Set;
use caudal_wire::Reply;

pub(crate) const SPEC: Spec = Spec::new("SRANDMEMBER", "Returns random members of a set.")
    .group(Group::Set)
    .arity(-2)
    .readonly()
    .tips(&["nondeterministic_output"])
    .complexity("O(N log M) with N the count and M the number of members.")
    .key(1, KeyFlags::RO.and(KeyFlags::ACCESS));

/// A count below zero may be any; a reply that would pass this many bytes is refused instead.
const REPEATED_BYTES_MAX: u64 = 1 << 30;
/// Of a member's share in a reply, beside its own.
const FRAME_BYTES: u64 = 16;

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let count = match args.len() {
        2 => None,
        3 => Some(args.signed_count(2)?),
        _ => return Err(Error::SYNTAX),
    };
    let key = context.key(args, 1);
    let set = context.keys.set_of(&key)?;
    let (reply, random) = (&mut context.reply, &mut *context.random);
    match (set, count) {
        (None, None) => reply.null(),
        (None, Some(_)) => reply.array(0),
        (Some(set), None) => {
            reply_item(reply, set.nth(random.below(set.len())).expect("below the length"));
        }
        (Some(set), Some(count)) if count < 0 => {
            reply_repeated(reply, set, count.unsigned_abs(), random)?;
        }
        (Some(set), Some(count)) => {
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            reply_different(reply, set, count, random);
        }
    }
    DONE
}

/// `count` members, each drawn from all.
fn reply_repeated(
    reply: &mut Reply<'_>,
    set: &Set,
    count: u64,
    random: &mut Random,
) -> Result<(), Error> {
    let share = set.memory() as u64 / set.len() as u64 + FRAME_BYTES;
    if count.saturating_mul(share) > REPEATED_BYTES_MAX {
        return Err(Error::text("ERR value is out of range"));
    }
    reply.array(usize::try_from(count).expect("below the limit"));
    for _ in 0..count {
        reply_item(reply, set.nth(random.below(set.len())).expect("below the length"));
    }
    Ok(())
}

/// `count` different members, or all.
fn reply_different(reply: &mut Reply<'_>, set: &Set, count: usize, random: &mut Random) {
    reply.array(count.min(set.len()));
    if count >= set.len() {
        set.iter().for_each(|item| reply_item(reply, item));
    } else {
        sample::each_of(set, count, random, |item| reply_item(reply, item));
    }
}
