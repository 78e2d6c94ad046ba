//! SSCAN.

use crate::context::reply_item;
use crate::scan::{self, ScanOptions};
use crate::{Args, Context, DONE, Group, KeyFlags, Outcome, Spec};

pub(crate) const SPEC: Spec =
    Spec::new("SSCAN", "Walks over the members of a set, piece by piece.")
        .syntax("key cursor:int [MATCH pattern:pattern] [COUNT count:int]")
        .group(Group::Set)
        .since("2.8.0")
        .arity(-3)
        .readonly()
        .tips(&["nondeterministic_output"])
        .complexity("O(1) for a call, O(N) for a whole walk with N the number of members.")
        .key(1, KeyFlags::RO.and(KeyFlags::ACCESS));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let cursor = scan::parse_cursor(args)?;
    let key = context.key(args, 1);
    let Some(set) = context.keys.set_of(&key)? else {
        scan::reply_scan(&mut context.reply, |_| (0, 0));
        return DONE;
    };
    let options = ScanOptions::parse(args, None)?;
    scan::reply_scan(&mut context.reply, |reply| {
        let mut frames = 0;
        let next = set.scan(cursor, options.count, |member| {
            if options.wants(member) {
                reply_item(reply, member);
                frames += 1;
            }
        });
        (next, frames)
    });
    DONE
}
