//! Lengths: `M`, `KM`, `FT`, `MI`.

use crate::{Args, Error};
use caudal_wire::Reply;

/// A unit of length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Unit {
    meters: f64,
}

impl Unit {
    pub(super) const METER: Unit = Unit { meters: 1.0 };

    /// The unit at `index`.
    pub(super) fn parse(args: Args<'_>, index: usize) -> Result<Unit, Error> {
        const UNITS: [(&str, f64); 4] =
            [("M", 1.0), ("KM", 1000.0), ("FT", 0.3048), ("MI", 1609.34)];
        const UNKNOWN: Error =
            Error::text("ERR unsupported unit provided. please use M, KM, FT, MI");
        let found = UNITS.into_iter().find(|(name, _)| args.is(index, name));
        found.map(|(_, meters)| Unit { meters }).ok_or(UNKNOWN)
    }

    pub(super) fn to_meters(self, length: f64) -> f64 {
        length * self.meters
    }

    pub(super) fn of_meters(self, meters: f64) -> f64 {
        meters / self.meters
    }
}

/// Replies with a distance: always four digits behind the point, a string in either protocol.
#[allow(clippy::cast_possible_truncation, reason = "the longest is half around the Earth")]
pub(super) fn reply_distance(reply: &mut Reply<'_>, distance: f64) {
    const SCALE: u64 = 10_000;
    let scaled = (distance * SCALE as f64).round_ties_even() as u64;
    reply.bulk(format!("{}.{:04}", scaled / SCALE, scaled % SCALE).as_bytes());
}
