//! GEODIST.

use super::place_of;
use super::unit::{Unit, reply_distance};
use crate::{Args, Context, DONE, Error, Group, KeyFlags, Outcome, Spec};

pub(crate) const SPEC: Spec = Spec::new("GEODIST", "Returns the distance between two members.")
    .syntax("key member1 member2 [unit<M|KM|FT|MI>]")
    .group(Group::Geo)
    .since("3.2.0")
    .arity(-4)
    .readonly()
    .key(1, KeyFlags::RO.and(KeyFlags::ACCESS));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let unit = match args.len() {
        4 => Unit::METER,
        5 => Unit::parse(args, 4)?,
        _ => return Err(Error::SYNTAX),
    };
    let key = context.key(args, 1);
    let set = context.keys.sorted_set(&key)?;
    match (place_of(set, args.at(2)), place_of(set, args.at(3))) {
        (Some(from), Some(to)) => {
            reply_distance(&mut context.reply, unit.of_meters(from.distance_m(to)));
        }
        _ => context.reply.null(),
    }
    DONE
}
