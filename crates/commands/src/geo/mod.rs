//! Commands on places on Earth, kept as the scores of sorted sets.

mod geoadd;
mod geodist;
mod geohash;
mod geopos;
mod georadius;
mod geosearch;
mod search;
mod terms;
mod unit;

use crate::{Args, Command, Context, DONE, Error, Outcome};
use caudal_value::SortedSet;
use caudal_value::geo::Point;
use caudal_wire::Reply;

/// The family, in the order of the reference.
pub(crate) const COMMANDS: &[Command] = &[
    Command::new(geoadd::SPEC, geoadd::apply),
    Command::new(geodist::SPEC, geodist::apply),
    Command::new(geohash::SPEC, geohash::apply),
    Command::new(geopos::SPEC, geopos::apply),
    Command::new(georadius::GEORADIUS, georadius::georadius),
    Command::new(georadius::GEORADIUSBYMEMBER, georadius::georadiusbymember),
    Command::new(georadius::GEORADIUSBYMEMBER_RO, georadius::georadiusbymember_ro),
    Command::new(georadius::GEORADIUS_RO, georadius::georadius_ro),
    Command::new(geosearch::GEOSEARCH, geosearch::geosearch),
    Command::new(geosearch::GEOSEARCHSTORE, geosearch::geosearchstore),
];

/// The longitude at `index` with the latitude behind it.
fn point(args: Args<'_>, index: usize) -> Result<Point, Error> {
    let (longitude, latitude) = (args.float(index)?, args.float(index + 1)?);
    Point::new(longitude, latitude).ok_or_else(|| {
        Error::new(format!("ERR invalid longitude,latitude pair {longitude:.6},{latitude:.6}"))
    })
}

/// Where a member is.
fn place_of(set: Option<&SortedSet>, member: &[u8]) -> Option<Point> {
    set?.score(member).map(Point::of_score)
}

/// Replies for each member from the second argument on with what `reply` says of its place.
fn reply_places(
    context: &mut Context<'_, '_>,
    args: Args<'_>,
    reply: fn(&mut Reply<'_>, Option<Point>),
) -> Outcome {
    let key = context.key(args, 1);
    let set = context.keys.sorted_set(&key)?;
    let members = args.from(2);
    context.reply.array(members.len());
    members.for_each(|member| reply(&mut context.reply, place_of(set, member)));
    DONE
}

/// Replies with longitude and latitude, to seventeen digits behind the point.
fn reply_point(reply: &mut Reply<'_>, point: Point) {
    reply.array(2);
    for degrees in [point.longitude, point.latitude] {
        let text = format!("{degrees:.17}");
        let text = text.trim_end_matches('0').trim_end_matches('.');
        reply.double_text(text.as_bytes());
    }
}
