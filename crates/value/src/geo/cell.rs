//! Cells: the map cut in half again and again, so many times in each direction.

use super::Point;

/// Degrees east and west.
pub(super) const LONGITUDE_MAX: f64 = 180.0;
/// Degrees north and south at which a Mercator map is square (EPSG:900913).
pub(super) const LATITUDE_MAX: f64 = 85.051_128_78;
/// Degrees from the equator to a pole, the range of geohash.org's names.
const POLE: f64 = 90.0;

/// One of 2^step times 2^step parts of the map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// From the west, < 2^step, but for places on the map's very edge and scores of no place.
    longitude: u32,
    /// From the south, likewise.
    latitude: u32,
    /// 1..=26
    step: u32,
}

/// Where a cell lies, in degrees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounds {
    pub(super) west: f64,
    pub(super) east: f64,
    pub(super) south: f64,
    pub(super) north: f64,
}

/// The scores of the places in a cell: `from <= score < to`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scores {
    /// The lowest.
    pub from: f64,
    /// The first that is outside.
    pub to: f64,
}

impl Cell {
    /// Halvings in each direction for a score: 52 bits, which a double holds exactly.
    pub(super) const STEP_MAX: u32 = 26;

    /// The cell in which a place lies.
    pub(super) fn of(point: Point, step: u32) -> Cell {
        Cell::within(point, step, LATITUDE_MAX)
    }

    /// The same on a map that reaches from pole to pole.
    pub(super) fn in_degrees(point: Point, step: u32) -> Cell {
        Cell::within(point, step, POLE)
    }

    #[allow(clippy::cast_possible_truncation, reason = "at most 2^26, on the map's edge")]
    fn within(point: Point, step: u32, latitude_max: f64) -> Cell {
        let index =
            |degrees: f64, most: f64| ((degrees + most) / (most + most) * scale(step)) as u32;
        Cell {
            longitude: index(point.longitude, LONGITUDE_MAX),
            latitude: index(point.latitude, latitude_max),
            step,
        }
    }

    /// The cell that a score names, be it one of a place or not.
    pub(super) fn of_score(score: f64) -> Cell {
        let bits = bits_of(score);
        Cell { longitude: even_bits(bits >> 1), latitude: even_bits(bits), step: Cell::STEP_MAX }
    }

    /// The bits of its indexes in turns, longitude first.
    pub(super) fn bits(self) -> u64 {
        spread(self.longitude) << 1 | spread(self.latitude)
    }

    /// Where it lies.
    pub(super) fn bounds(self) -> Bounds {
        let degrees = |index: f64, most: f64| index / scale(self.step) * (most + most) - most;
        let (longitude, latitude) = (f64::from(self.longitude), f64::from(self.latitude));
        Bounds {
            west: degrees(longitude, LONGITUDE_MAX),
            east: degrees(longitude + 1.0, LONGITUDE_MAX),
            south: degrees(latitude, LATITUDE_MAX),
            north: degrees(latitude + 1.0, LATITUDE_MAX),
        }
    }

    /// The cell so many to the east and to the north; from the map's edge it goes on at the other.
    /// An index that does not change stays, be it beyond the edge.
    pub(super) fn neighbour(self, east: i32, north: i32) -> Cell {
        let moved = |index: u32, by: i32| match by {
            0 => index,
            _ => index.wrapping_add_signed(by) & ((1 << self.step) - 1),
        };
        Cell {
            longitude: moved(self.longitude, east),
            latitude: moved(self.latitude, north),
            step: self.step,
        }
    }

    /// The scores of the places in it.
    #[allow(clippy::cast_precision_loss, reason = "the bits below the step are zero")]
    pub fn scores(self) -> Scores {
        let shift = 2 * (Cell::STEP_MAX - self.step);
        let from = self.bits() << shift;
        let to = (self.bits() + 1) << shift;
        Scores { from: from as f64, to: to as f64 }
    }
}

fn scale(step: u32) -> f64 {
    f64::from(1_u32 << step)
}

/// A score as the bits of a cell. Scores that ZADD stored may be anything: what lies beyond 64 bits
/// becomes what it becomes in the reference on x86.
#[allow(clippy::cast_possible_truncation, reason = "any bits name a cell")]
fn bits_of(score: f64) -> u64 {
    const SIGNED_END: f64 = 9_223_372_036_854_775_808.0;
    if score < SIGNED_END {
        return (score as i64).cast_unsigned();
    }
    if score < 2.0 * SIGNED_END { score as u64 } else { 0 }
}

/// Puts a zero before each bit.
fn spread(index: u32) -> u64 {
    let mut bits = u64::from(index);
    for (shift, mask) in [
        (16, 0x0000_ffff_0000_ffff),
        (8, 0x00ff_00ff_00ff_00ff),
        (4, 0x0f0f_0f0f_0f0f_0f0f),
        (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555),
    ] {
        bits = (bits | bits << shift) & mask;
    }
    bits
}

/// Every second bit, the lowest first.
fn even_bits(bits: u64) -> u32 {
    let mut bits = bits & 0x5555_5555_5555_5555;
    for (shift, mask) in [
        (1, 0x3333_3333_3333_3333),
        (2, 0x0f0f_0f0f_0f0f_0f0f),
        (4, 0x00ff_00ff_00ff_00ff),
        (8, 0x0000_ffff_0000_ffff),
        (16, 0x0000_0000_ffff_ffff),
    ] {
        bits = (bits | bits >> shift) & mask;
    }
    u32::try_from(bits).expect("every second of 64 bits")
}
