//! Places on Earth as scores of a sorted set: 52 bits, longitude and latitude in turns.
//!
//! GEOADD stores scores, the searches read ranges of them. What must stay true: scores, decoded
//! coordinates and distances are Redis's to the last bit, for clients see them and files hold them.

mod cell;
mod shape;

pub use cell::{Cell, Scores};
pub use shape::Shape;

use cell::{Bounds, LATITUDE_MAX, LONGITUDE_MAX};

/// Redis's radius of the Earth in meters.
const EARTH_RADIUS_M: f64 = 6_372_797.560_856;

/// A place: degrees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// -180 <= longitude <= 180
    pub longitude: f64,
    /// -85.05112878 <= latitude <= 85.05112878, what a square map of the Earth shows
    pub latitude: f64,
}

impl Point {
    /// A place, if there is one with these degrees.
    pub fn new(longitude: f64, latitude: f64) -> Option<Point> {
        let is_on_map = longitude.abs() <= LONGITUDE_MAX && latitude.abs() <= LATITUDE_MAX;
        is_on_map.then_some(Point { longitude, latitude })
    }

    /// The middle of the cell that a score names. Any score names one.
    pub fn of_score(score: f64) -> Point {
        let Bounds { west, east, south, north } = Cell::of_score(score).bounds();
        let middle = |low: f64, high: f64, most: f64| ((low + high) / 2.0).clamp(-most, most);
        Point {
            longitude: middle(west, east, LONGITUDE_MAX),
            latitude: middle(south, north, LATITUDE_MAX),
        }
    }

    /// The score under which the place is kept.
    #[allow(clippy::cast_precision_loss, reason = "54 bits at most, the lowest two zero then")]
    pub fn score(self) -> f64 {
        Cell::of(self, Cell::STEP_MAX).bits() as f64
    }

    /// Its name as geohash.org has it, eleven letters.
    ///
    /// The last one is always zero: 52 bits make ten letters and two bits.
    pub fn geohash(self) -> [u8; 11] {
        const ALPHABET: &[u8; 32] = b"0123456789bcdefghjkmnpqrstuvwxyz";
        let bits = Cell::in_degrees(self, Cell::STEP_MAX).bits();
        let letter = |index: usize| match index {
            10 => ALPHABET[0],
            _ => ALPHABET[(bits >> (52 - 5 * (index + 1)) & 31) as usize],
        };
        std::array::from_fn(letter)
    }

    /// Meters to another place, along a great circle (the haversine formula).
    pub fn distance_m(self, to: Point) -> f64 {
        let half_width = ((to.longitude.to_radians() - self.longitude.to_radians()) / 2.0).sin();
        if half_width == 0.0 {
            return self.distance_north_m(to);
        }
        let (latitude, to_latitude) = (self.latitude.to_radians(), to.latitude.to_radians());
        let half_height = ((to_latitude - latitude) / 2.0).sin();
        let square = half_height * half_height
            + latitude.cos() * to_latitude.cos() * half_width * half_width;
        2.0 * EARTH_RADIUS_M * square.sqrt().asin()
    }

    /// Meters to another place's latitude.
    fn distance_north_m(self, to: Point) -> f64 {
        EARTH_RADIUS_M * (to.latitude.to_radians() - self.latitude.to_radians()).abs()
    }
}

#[cfg(test)]
mod tests;
