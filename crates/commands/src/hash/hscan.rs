//! HSCAN.

use crate::context::reply_item;
use crate::scan::{self, ScanOptions};
use crate::{Args, Context, DONE, Group, KeyFlags, Outcome, Spec};

pub(crate) const SPEC: Spec =
    Spec::new("HSCAN", "Walks over the fields of a hash, piece by piece.")
        .syntax("key cursor:int [MATCH pattern:pattern] [COUNT count:int] [NOVALUES]")
        .group(Group::Hash)
        .since("2.8.0")
        .arity(-3)
        .readonly()
        .complexity("O(1) for a call, O(N) for a whole walk with N the number of fields.")
        .tips(&["nondeterministic_output"])
        .key(1, KeyFlags::RO.and(KeyFlags::ACCESS));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let cursor = scan::parse_cursor(args)?;
    let key = context.key(args, 1);
    let Some(hash) = context.keys.hash(&key)? else {
        scan::reply_scan(&mut context.reply, |_| (0, 0));
        return DONE;
    };
    let options = ScanOptions::parse(args, Some("NOVALUES"))?;
    scan::reply_scan(&mut context.reply, |reply| {
        let mut frames = 0;
        let next = hash.scan(cursor, options.count, |field, value| {
            if options.wants(field) {
                reply_item(reply, field);
                frames += 1;
                if !options.bare {
                    reply_item(reply, value);
                    frames += 1;
                }
            }
        });
        (next, frames)
    });
    DONE
}
