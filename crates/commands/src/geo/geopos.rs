//! GEOPOS.

use super::{reply_places, reply_point};
use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};

pub(crate) const SPEC: Spec = Spec::new("GEOPOS", "Returns members' longitudes and latitudes.")
    .syntax("key [member...]")
    .group(Group::Geo)
    .since("3.2.0")
    .arity(-2)
    .readonly()
    .complexity("O(1) for each member.")
    .key(1, KeyFlags::RO.and(KeyFlags::ACCESS));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    reply_places(context, args, |reply, place| match place {
        Some(place) => reply_point(reply, place),
        None => reply.null_array(),
    })
}
