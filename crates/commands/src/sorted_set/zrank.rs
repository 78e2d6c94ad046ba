//! ZRANK, ZREVRANK.

use crate::{Args, Context, DONE, Error, Group, KeyFlags, Outcome, Spec};

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary)
        .group(Group::SortedSet)
        .since("2.0.0")
        .arity(-3)
        .readonly()
        .fast()
        .complexity("O(log(N)) with N the number of members in the sorted set.")
        .key(1, KeyFlags::RO.and(KeyFlags::ACCESS))
}

pub(crate) const ZRANK: Spec =
    spec("ZRANK", "Returns how many members are below a member.").syntax("key member [WITHSCORE]");
pub(crate) const ZREVRANK: Spec = spec("ZREVRANK", "Returns how many members are above a member.")
    .syntax("key member [WITHSCORE]");

pub(crate) fn zrank(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    rank(context, args, "zrank", false)
}

pub(crate) fn zrevrank(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    rank(context, args, "zrevrank", true)
}

fn rank(context: &mut Context<'_, '_>, args: Args<'_>, name: &str, reverse: bool) -> Outcome {
    let with_score = match args.len() {
        3 => false,
        4 if args.is(3, "WITHSCORE") => true,
        4 => return Err(Error::SYNTAX),
        _ => return Err(Error::arity(name)),
    };
    let (key, member) = (context.key(args, 1), args.at(2));
    let set = context.keys.sorted_set(&key)?;
    let Some((set, rank)) = set.and_then(|set| Some((set, set.rank(member)?))) else {
        if with_score {
            context.reply.null_array();
        } else {
            context.reply.null();
        }
        return DONE;
    };
    let rank = if reverse { set.len() - 1 - rank } else { rank };
    if !with_score {
        return context.reply_count(rank);
    }
    let score = set.nth(if reverse { set.len() - 1 - rank } else { rank }).map(|(_, score)| score);
    context.reply.array(2);
    context.reply_count(rank)?;
    context.reply.double(score.expect("the member has a rank"));
    DONE
}
