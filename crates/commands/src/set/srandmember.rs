//! SRANDMEMBER.

use crate::context::reply_item;
use crate::sample::Sample;
use crate::{Args, Context, DONE, Error, Group, KeyFlags, Outcome, Spec};

pub(crate) const SPEC: Spec = Spec::new("SRANDMEMBER", "Returns random members of a set.")
    .syntax("key [count:int@2.6.0]")
    .group(Group::Set)
    .arity(-2)
    .readonly()
    .tips(&["nondeterministic_output"])
    .complexity("O(N log M) with N the count and M the number of members.")
    .key(1, KeyFlags::RO.and(KeyFlags::ACCESS));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let sample = match args.len() {
        2 => None,
        3 => Some(Sample::parse(args, 2)?),
        _ => return Err(Error::SYNTAX),
    };
    let key = context.key(args, 1);
    let set = context.keys.set_of(&key)?;
    let (reply, random) = (&mut context.reply, &mut *context.random);
    match (set, sample) {
        (None, None) => reply.null(),
        (None, Some(_)) => reply.array(0),
        (Some(set), None) => {
            reply_item(reply, set.nth(random.below(set.len())).expect("below the length"));
        }
        (Some(set), Some(sample)) => {
            let len = set.len();
            reply.array(sample.len(len, set.memory())?);
            let each = |item| reply_item(reply, item);
            sample.draw(random, len, set.iter(), |index| set.nth(index), each);
        }
    }
    DONE
}
