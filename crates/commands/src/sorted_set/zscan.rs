//! ZSCAN.

use crate::context::reply_item;
use crate::scan::{self, ScanOptions};
use crate::{Args, Context, DONE, Group, KeyFlags, Outcome, Spec};

pub(crate) const SPEC: Spec =
    Spec::new("ZSCAN", "Walks over the members of a sorted set, piece by piece.")
        .syntax("key cursor:int [MATCH pattern:pattern] [COUNT count:int] [NOSCORES]")
        .group(Group::SortedSet)
        .since("2.8.0")
        .arity(-3)
        .readonly()
        .complexity("O(1) for a call, O(N) for a whole walk with N the number of members.")
        .tips(&["nondeterministic_output"])
        .key(1, KeyFlags::RO.and(KeyFlags::ACCESS));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let cursor = scan::parse_cursor(args)?;
    let key = context.key(args, 1);
    let Some(set) = context.keys.sorted_set(&key)? else {
        scan::reply_scan(&mut context.reply, |_| (0, 0));
        return DONE;
    };
    let options = ScanOptions::parse(args, Some("NOSCORES"))?;
    scan::reply_scan(&mut context.reply, |reply| {
        let mut frames = 0;
        let next = set.scan(cursor, options.count, |member, score| {
            if options.wants(member) {
                reply_item(reply, member);
                frames += 1;
                if !options.bare {
                    reply.bulk_double(score);
                    frames += 1;
                }
            }
        });
        (next, frames)
    });
    DONE
}
