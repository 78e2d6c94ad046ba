//! GEOHASH.

use super::reply_places;
use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};

pub(crate) const SPEC: Spec = Spec::new("GEOHASH", "Names members' places as geohash.org does.")
    .syntax("key [member...]")
    .group(Group::Geo)
    .since("3.2.0")
    .arity(-2)
    .readonly()
    .complexity("O(1) for each member.")
    .key(1, KeyFlags::RO.and(KeyFlags::ACCESS));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    reply_places(context, args, |reply, place| match place {
        Some(place) => reply.bulk(&place.geohash()),
        None => reply.null(),
    })
}
