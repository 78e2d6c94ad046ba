//! What a search looks in, and the cells that cover it.

use super::cell::{Bounds, Cell};
use super::{EARTH_RADIUS_M, Point};

/// A part of the map.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// All that is not farther away.
    Circle {
        /// Its middle.
        centre: Point,
        /// Meters, not negative.
        radius_m: f64,
    },
    /// All that is not farther away in either direction.
    Rectangle {
        /// Its middle.
        centre: Point,
        /// Meters from west to east, not negative.
        width_m: f64,
        /// Meters from south to north, not negative.
        height_m: f64,
    },
    /// All that is inside, on the map.
    Polygon {
        /// At least three.
        corners: Vec<Point>,
    },
}

impl Shape {
    /// From where distances are measured.
    pub fn centre(&self) -> Point {
        match self {
            Shape::Circle { centre, .. } | Shape::Rectangle { centre, .. } => *centre,
            Shape::Polygon { corners } => middle_of(corners),
        }
    }

    /// Meters from the centre to a place, if it is inside.
    pub fn distance_inside_m(&self, centre: Point, place: Point) -> Option<f64> {
        match self {
            Shape::Circle { radius_m, .. } => {
                Some(centre.distance_m(place)).filter(|distance| distance <= radius_m)
            }
            Shape::Rectangle { width_m, height_m, .. } => {
                if place.distance_north_m(centre) > height_m / 2.0 {
                    return None;
                }
                let beside = Point { longitude: centre.longitude, latitude: place.latitude };
                (place.distance_m(beside) <= width_m / 2.0).then(|| centre.distance_m(place))
            }
            Shape::Polygon { corners } => {
                surrounds(corners, place).then(|| centre.distance_m(place))
            }
        }
    }

    /// The cells that cover the shape, each once, in the order of Redis's answers: the middle one
    /// first.
    pub fn cells(&self) -> Vec<Cell> {
        /// East and north.
        const AROUND: [(i32, i32); 9] =
            [(0, 0), (0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1)];
        let (centre, wanted) = (self.centre(), self.bounds());
        let mut step = step_for(self.reach_m(), centre.latitude);
        let mut middle = Cell::of(centre, step);
        if step > 1 && !reaches(middle, &wanted) {
            step -= 1;
            middle = Cell::of(centre, step);
        }
        let own = middle.bounds();
        // Two halvings make sixteen cells; with fewer, a neighbour may be one on the other side.
        let is_needed = |(east, north): &(i32, i32)| {
            step < 2
                || !(*north < 0 && own.south < wanted.south
                    || *north > 0 && own.north > wanted.north
                    || *east < 0 && own.west < wanted.west
                    || *east > 0 && own.east > wanted.east)
        };
        let cells = AROUND.iter().filter(|at| is_needed(at));
        let mut covering: Vec<Cell> = Vec::with_capacity(AROUND.len());
        for cell in cells.map(|(east, north)| middle.neighbour(*east, *north)) {
            if !covering.contains(&cell) {
                covering.push(cell);
            }
        }
        covering
    }

    /// Meters from the centre within which all of the shape lies.
    pub(super) fn reach_m(&self) -> f64 {
        match self {
            Shape::Circle { radius_m, .. } => *radius_m,
            Shape::Rectangle { width_m, height_m, .. } => {
                let (width, height) = (width_m / 2.0, height_m / 2.0);
                (width * width + height * height).sqrt()
            }
            Shape::Polygon { corners } => {
                let (centre, Bounds { west, east, south, north }) =
                    (self.centre(), around(corners));
                let frame = [(west, south), (west, north), (east, south), (east, north)];
                let distance = |(longitude, latitude): &(f64, f64)| {
                    centre.distance_m(Point { longitude: *longitude, latitude: *latitude })
                };
                frame.iter().map(distance).fold(0.0, f64::max)
            }
        }
    }

    /// The degrees between which the shape lies.
    fn bounds(&self) -> Bounds {
        let (centre, width_m, height_m) = match self {
            Shape::Circle { centre, radius_m } => (centre, *radius_m, *radius_m),
            Shape::Rectangle { centre, width_m, height_m } => {
                (centre, width_m / 2.0, height_m / 2.0)
            }
            Shape::Polygon { corners } => return around(corners),
        };
        let north = (height_m / EARTH_RADIUS_M).to_degrees();
        let east_at =
            |latitude: f64| (width_m / EARTH_RADIUS_M / latitude.to_radians().cos()).to_degrees();
        // A degree of longitude is shortest on the side that is nearer to its pole.
        let east = if centre.latitude < 0.0 {
            east_at(centre.latitude - north)
        } else {
            east_at(centre.latitude + north)
        };
        Bounds {
            west: centre.longitude - east,
            east: centre.longitude + east,
            south: centre.latitude - north,
            north: centre.latitude + north,
        }
    }
}

/// How often the map is halved so that a cell is about as large as a search that reaches so far.
fn step_for(reach_m: f64, latitude: f64) -> u32 {
    /// Half of the equator, in meters.
    const MAP_M: f64 = 20_037_726.37;
    if reach_m == 0.0 {
        return Cell::STEP_MAX;
    }
    let (mut step, mut reach_m) = (1, reach_m);
    while reach_m < MAP_M {
        reach_m *= 2.0;
        step += 1;
    }
    // Two less, so that the middle cell and those around it are surely enough; and towards a pole
    // cells become narrow.
    step -= 2 + i32::from(latitude.abs() > 66.0) + i32::from(latitude.abs() > 80.0);
    step.clamp(1, Cell::STEP_MAX as i32).unsigned_abs()
}

/// Whether a cell and those around it reach as far as the bounds.
fn reaches(middle: Cell, wanted: &Bounds) -> bool {
    let beside = |east, north| middle.neighbour(east, north).bounds();
    // Said so that bounds which are no numbers, of a circle around a pole, are reached.
    !(beside(0, 1).north < wanted.north
        || beside(0, -1).south > wanted.south
        || beside(1, 0).east < wanted.east
        || beside(-1, 0).west > wanted.west)
}

/// The degrees between which places lie.
fn around(places: &[Point]) -> Bounds {
    let least = |of: fn(&Point) -> f64| places.iter().map(of).fold(f64::INFINITY, f64::min);
    let most = |of: fn(&Point) -> f64| places.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
    Bounds {
        west: least(|place| place.longitude),
        east: most(|place| place.longitude),
        south: least(|place| place.latitude),
        north: most(|place| place.latitude),
    }
}

/// The place towards which the corners lie, seen from the middle of the Earth, on average.
fn middle_of(corners: &[Point]) -> Point {
    let count = corners.len() as f64;
    let [mut x, mut y, mut z] = [0.0; 3];
    for corner in corners {
        let (longitude, latitude) = (corner.longitude.to_radians(), corner.latitude.to_radians());
        x += latitude.cos() * longitude.cos();
        y += latitude.cos() * longitude.sin();
        z += latitude.sin();
    }
    let [x, y, z] = [x / count, y / count, z / count];
    Point {
        longitude: y.atan2(x).to_degrees(),
        latitude: z.atan2((x * x + y * y).sqrt()).to_degrees(),
    }
}

/// Whether a polygon has a place inside: a line to the east from there crosses its sides an odd
/// number of times.
fn surrounds(corners: &[Point], place: Point) -> bool {
    let previous = corners.iter().cycle().skip(corners.len() - 1);
    let crossings = corners.iter().zip(previous).filter(|(one, other)| {
        let is_beside = (one.latitude > place.latitude) != (other.latitude > place.latitude);
        is_beside
            && place.longitude
                < (other.longitude - one.longitude) * (place.latitude - one.latitude)
                    / (other.latitude - one.latitude)
                    + one.longitude
    });
    crossings.count() % 2 == 1
}
