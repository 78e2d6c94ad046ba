//! ZSCORE, ZMSCORE.

use crate::{Args, Context, DONE, Group, KeyFlags, Outcome, Spec};
use caudal_wire::Reply;

const fn spec(name: &'static str, summary: &'static str, arity: i16) -> Spec {
    Spec::new(name, summary)
        .group(Group::SortedSet)
        .arity(arity)
        .readonly()
        .fast()
        .key(1, KeyFlags::RO.and(KeyFlags::ACCESS))
}

pub(crate) const ZMSCORE: Spec = spec("ZMSCORE", "Returns the scores of several members.", -3)
    .syntax("key member...")
    .since("6.2.0")
    .complexity("O(N) with N the number of members given.");
pub(crate) const ZSCORE: Spec =
    spec("ZSCORE", "Returns the score of a member.", 3).syntax("key member").since("1.2.0");

pub(crate) fn zscore(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    let set = context.keys.sorted_set(&key)?;
    reply_score(&mut context.reply, set.and_then(|set| set.score(args.at(2))));
    DONE
}

pub(crate) fn zmscore(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    let set = context.keys.sorted_set(&key)?;
    context.reply.array(args.len() - 2);
    for member in args.from(2) {
        reply_score(&mut context.reply, set.and_then(|set| set.score(member)));
    }
    DONE
}

fn reply_score(reply: &mut Reply<'_>, score: Option<f64>) {
    match score {
        Some(score) => reply.double(score),
        None => reply.null(),
    }
}
