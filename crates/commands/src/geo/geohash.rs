//! GEOHASH.

use super::place_of;
use crate::{Args, Context, DONE, Group, KeyFlags, Outcome, Spec};

pub(crate) const SPEC: Spec = Spec::new("GEOHASH", "Names members' places as geohash.org does.")
    .group(Group::Geo)
    .since("3.2.0")
    .arity(-2)
    .readonly()
    .complexity("O(1) for each member.")
    .key(1, KeyFlags::RO.and(KeyFlags::ACCESS));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    let set = context.keys.sorted_set(&key)?;
    let members = args.from(2);
    context.reply.array(members.len());
    for member in members {
        match place_of(set, member) {
            Some(place) => context.reply.bulk(&place.geohash()),
            None => context.reply.null(),
        }
    }
    DONE
}
