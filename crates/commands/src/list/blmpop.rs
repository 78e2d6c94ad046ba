//! BLMPOP.

use super::lmpop::MultiPop;
use crate::{Args, Context, DONE, Group, KeyFlags, Outcome, Spec};
use caudal_table::Kind;

pub(crate) const SPEC: Spec =
    Spec::new("BLMPOP", "LMPOP that waits until one of the lists has an element.")
        .syntax("timeout:double numkeys:int key... where<LEFT|RIGHT> [COUNT count:int]")
        .group(Group::List)
        .since("7.0.0")
        .arity(-5)
        .write()
        .blocking()
        .complexity("O(N+M) with N the number of keys and M the number of elements returned.")
        .key_count(2, KeyFlags::RW.and(KeyFlags::ACCESS).and(KeyFlags::DELETE));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let pop = MultiPop::parse(args, 2)?;
    let timeout_ms = args.timeout(1)?;
    if pop.take(context, args)? {
        return DONE;
    }
    context.wait(timeout_ms, Kind::List)
}
