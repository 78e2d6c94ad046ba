//! Scores and distances against values of Redis, and covers against a look at every place.

use super::{Point, Shape};
use proptest::prelude::*;

fn point(longitude: f64, latitude: f64) -> Point {
    Point::new(longitude, latitude).unwrap()
}

#[test]
fn scores_and_coordinates_are_those_of_redis() {
    let palermo = point(13.361_389, 38.115_556);
    assert_eq!(palermo.score(), 3_479_099_956_230_698.0);
    let stored = Point::of_score(palermo.score());
    assert_eq!(format!("{:.17}", stored.longitude), "13.36138933897018433");
    assert_eq!(format!("{:.17}", stored.latitude), "38.11555639549629859");
    assert_eq!(&stored.geohash(), b"sqc8b49rny0");
    let catania = Point::of_score(point(15.087_269, 37.502_669).score());
    assert_eq!(format!("{:.4}", stored.distance_m(catania)), "166274.1516");
}

#[test]
fn places_on_the_edge_of_the_map_have_scores_too() {
    assert_eq!(point(180.0, 85.051_128_78).score(), 13_510_798_882_111_488.0);
    assert_eq!(point(-180.0, -85.051_128_78).score(), 0.0);
    assert_eq!(point(180.0, 0.0).score(), 10_133_099_161_583_616.0);
    assert_eq!(Point::new(180.1, 0.0), None);
    assert_eq!(Point::new(0.0, f64::NAN), None);
}

#[test]
fn any_score_is_some_place() {
    for score in [-5.0, 1e300, f64::INFINITY, f64::NEG_INFINITY, 1.5, 1.7e19, 2_f64.powi(53)] {
        let Point { longitude, latitude } = Point::of_score(score);
        assert!(Point::new(longitude, latitude).is_some(), "{score}");
    }
    assert_eq!(Point::of_score(-5.0), point(180.0, 85.051_128_78));
}

fn shapes() -> impl Strategy<Value = Shape> {
    let centre = (-180.0..180.0, -85.0..85.0).prop_map(|(x, y)| point(x, y));
    let size = prop_oneof![0.0..2e3, 0.0..2e5, 0.0..2e6];
    let circle = (centre.clone(), size.clone())
        .prop_map(|(centre, radius_m)| Shape::Circle { centre, radius_m });
    let rectangle = (centre.clone(), size.clone(), size)
        .prop_map(|(centre, width_m, height_m)| Shape::Rectangle { centre, width_m, height_m });
    let polygon =
        prop::collection::vec(centre, 3..9).prop_map(|corners| Shape::Polygon { corners });
    prop_oneof![circle, rectangle, polygon]
}

proptest! {
    #[test]
    fn places_inside_lie_in_the_cells_that_cover(
        shape in shapes(),
        offsets in prop::collection::vec((-1.0..1.0, -1.0..1.0), 50),
    ) {
        // Searches do not go around the edge of the map, and near a pole a circle may hold it.
        let centre = shape.centre();
        let cells = shape.cells();
        prop_assert!(!cells.is_empty() && cells.len() <= 9);
        let reach = (shape.reach_m() / 111_000.0).min(20.0);
        for (east, north) in offsets {
            let (east, north): (f64, f64) = (east, north);
            let latitude = centre.latitude + north * reach;
            let longitude = centre.longitude + east * reach / latitude.to_radians().cos();
            let is_far_from_edges = longitude.abs() < 170.0
                && centre.longitude.abs() < 170.0
                && latitude.abs() + reach < 80.0;
            let Some(place) = Point::new(longitude, latitude).filter(|_| is_far_from_edges) else {
                continue;
            };
            if shape.distance_inside_m(centre, place).is_some() {
                let score = place.score();
                let holds = cells.iter().any(|cell| {
                    let scores = cell.scores();
                    scores.from <= score && score < scores.to
                });
                prop_assert!(holds, "{:?} of {:?}", place, shape);
            }
        }
    }

    #[test]
    fn a_place_is_kept_to_within_a_meter(longitude in -180.0..180.0, latitude in -85.05..85.05) {
        let place = point(longitude, latitude);
        let stored = Point::of_score(place.score());
        prop_assert!(place.distance_m(stored) < 1.0);
        prop_assert_eq!(Point::of_score(stored.score()), stored);
    }
}
