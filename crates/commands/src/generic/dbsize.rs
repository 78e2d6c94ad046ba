//! DBSIZE.

use crate::{Args, Context, Group, Outcome, Spec};

pub(crate) const SPEC: Spec = Spec::new("DBSIZE", "Counts the keys of the selected database.")
    .group(Group::Server)
    .arity(1)
    .readonly()
    .fast()
    .categories(&["keyspace"])
    .tips(&["request_policy:all_shards", "response_policy:agg_sum"]);

pub(crate) fn apply(context: &mut Context<'_, '_>, _: Args<'_>) -> Outcome {
    let totals = (context.totals)(context.keys.database);
    context.reply_integer(i64::try_from(totals.keys).expect("counts stay below 2^63"))
}
