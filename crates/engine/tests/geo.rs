//! Commands on places, as a client sees them.

mod support;

use caudal_engine::local::{Client, Local, encode};
use support::{run, store};

/// A store with two towns of Sicily.
fn sicily() -> (Local, Client) {
    let (mut local, client) = store();
    let towns = "GEOADD g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania";
    assert_eq!(local.say(client, towns), ":2");
    (local, client)
}

#[test]
fn places_are_scores_of_a_sorted_set() {
    let (mut local, client) = sicily();
    run(
        &mut local,
        client,
        "ZSCORE g Palermo -> 3479099956230698
        GEOPOS g Palermo nope -> [[13.36138933897018433 38.11555639549629859] (nil)]
        GEOPOS none a -> [(nil)]
        GEOPOS g -> []
        GEOHASH g Palermo nope Catania -> [sqc8b49rny0 (nil) sqdtr74hyu0]
        GEOADD g NX 1 1 Palermo -> :0
        GEOADD g XX 1 1 Siracusa -> :0
        GEOADD g XX CH 13.361389 38.2 Palermo -> :1
        GEOADD g CH 13.361389 38.2 Palermo -> :0
        TYPE g -> zset",
    );
}

#[test]
fn a_member_too_long_makes_the_set_large_even_if_it_is_not_added() {
    let (mut local, client) = sicily();
    let long = "x".repeat(65);
    assert_eq!(local.say(client, "OBJECT ENCODING g"), "listpack");
    assert_eq!(local.say(client, &format!("GEOADD g XX 1 1 {long}")), ":0");
    assert_eq!(local.say(client, "OBJECT ENCODING g"), "skiplist");
    assert_eq!(local.say(client, &format!("GEOADD none XX 1 1 {long}")), ":0");
    assert_eq!(local.say(client, "EXISTS none"), ":0");
}

#[test]
fn adding_refuses_what_is_no_place() {
    let (mut local, client) = store();
    run(
        &mut local,
        client,
        "GEOADD g 1 2 a 3 -> -ERR syntax error
        GEOADD g NX XX 1 2 a -> -ERR syntax error
        GEOADD g GT 1 2 a -> -ERR syntax error
        GEOADD g NX 1 2 -> -ERR syntax error
        GEOADD g x 2 a -> -ERR value is not a valid float
        GEOADD g 1 nan a -> -ERR value is not a valid float
        GEOADD g 181 2 a -> -ERR invalid longitude,latitude pair 181.000000,2.000000
        GEOADD g 1 1 a inf 3 b -> -ERR invalid longitude,latitude pair inf,3.000000
        GEOADD g 1 85.06 a -> -ERR invalid longitude,latitude pair 1.000000,85.060000
        EXISTS g -> :0
        RPUSH l a -> :1
        GEOADD l 1 2 a -> -WRONGTYPE Operation against a key holding the wrong kind of value",
    );
}

#[test]
fn distances_have_four_digits_behind_the_point() {
    let (mut local, client) = sicily();
    run(
        &mut local,
        client,
        "GEODIST g Palermo Catania -> 166274.1516
        GEODIST g Palermo Catania KM -> 166.2742
        GEODIST g Palermo Catania mi -> 103.3182
        GEODIST g Palermo Catania ft -> 545518.8700
        GEODIST g Palermo Palermo -> 0.0000
        GEODIST g Palermo nope -> (nil)
        GEODIST none a b foo -> -ERR unsupported unit provided. please use M, KM, FT, MI
        GEODIST g Palermo Catania km x -> -ERR syntax error",
    );
}

#[test]
fn a_circle_finds_what_is_within() {
    let (mut local, client) = sicily();
    run(
        &mut local,
        client,
        "GEORADIUS g 15 37 200 km -> [Palermo Catania]
        GEORADIUS g 15 37 100 km -> [Catania]
        GEORADIUS g 15 37 200 km WITHDIST WITHHASH ASC
            -> [[Catania 56.4413 :3479447370796909] [Palermo 190.4424 :3479099956230698]]
        GEORADIUS g 15 37 200 km COUNT 1 -> [Catania]
        GEORADIUS g 15 37 200 km COUNT 1 DESC -> [Palermo]
        GEORADIUS g 15 37 200 km ANY COUNT 1 -> [Palermo]
        GEORADIUS_RO g 15 37 200 km DESC ASC -> [Catania Palermo]
        GEORADIUSBYMEMBER g Palermo 200 km WITHDIST -> [[Palermo 0.0000] [Catania 166.2742]]
        GEORADIUSBYMEMBER_RO g Palermo 1 m -> [Palermo]
        GEOSEARCH g FROMLONLAT 15 37 BYRADIUS 200 km WITHCOORD COUNT 1
            -> [[Catania [15.08726745843887329 37.50266842333162032]]]
        GEORADIUS none 15 37 1 km -> []
        GEORADIUSBYMEMBER none m x foo -> []",
    );
}

#[test]
fn a_member_just_inside_the_radius_near_the_pole_is_found() {
    let (mut local, client) = store();
    run(
        &mut local,
        client,
        "GEOADD k -0.15307903289794921875 85 n1 0.3515625 85.00019260486917005437 n2 -> :2
        GEODIST k n1 n2 -> 4891.9380
        GEORADIUSBYMEMBER k n1 4891.94 m -> [n1 n2]",
    );
}

#[test]
fn a_box_and_a_polygon_find_what_is_within() {
    let (mut local, client) = sicily();
    run(
        &mut local,
        client,
        "GEOSEARCH g FROMMEMBER Palermo BYBOX 400 400 km ASC -> [Palermo Catania]
        GEOSEARCH g FROMMEMBER Palermo BYBOX 200 400 km -> [Palermo]
        GEOSEARCH g BYBOX 0 0 km FROMMEMBER Palermo -> [Palermo]
        GEOSEARCH g BYPOLYGON 3 13 37 14 39 16 37 WITHDIST -> [[Catania 68853.1583]]
        GEOSEARCH g BYPOLYGON 4 12 36 12 39 16 39 16 36 -> [Palermo Catania]
        GEOSEARCH g BYPOLYGON 3 1 1 2 2 3 1 -> []",
    );
}

#[test]
fn what_is_found_can_be_stored_by_place_or_by_distance() {
    let (mut local, client) = sicily();
    run(
        &mut local,
        client,
        "GEORADIUS g 15 37 200 km STORE d -> :2
        ZRANGE d 0 -1 WITHSCORES -> [Palermo 3479099956230698 Catania 3479447370796909]
        GEORADIUS g 15 37 200 km STOREDIST d -> :2
        ZRANGE d 0 -1 -> [Catania Palermo]
        GEORADIUS g 15 37 200 km STORE d STOREDIST e -> :2
        ZRANGE e 0 -1 -> [Catania Palermo]
        GEORADIUS g 15 37 1 km STORE d -> :0
        EXISTS d -> :0
        GEORADIUSBYMEMBER g Palermo 1 km STORE g -> :1
        ZCARD g -> :1
        GEOSEARCHSTORE d g FROMMEMBER Palermo BYRADIUS 1 km STOREDIST -> :1
        ZSCORE d Palermo -> 0
        GEOSEARCHSTORE d none FROMMEMBER Palermo BYRADIUS 1 km -> :0
        EXISTS d -> :0
        COMMAND GETKEYS GEORADIUS g 0 0 1 km STORE d -> [g d]
        COMMAND GETKEYS GEORADIUS g 0 0 1 km STORE -> [g]",
    );
}

#[test]
fn searches_are_refused_with_the_reason() {
    let (mut local, client) = sicily();
    run(
        &mut local,
        client,
        "GEORADIUS g 15 37 x km -> -ERR need numeric radius
        GEORADIUS g 15 37 -1 km -> -ERR radius cannot be negative
        GEORADIUS g 15 37 1 yd -> -ERR unsupported unit provided. please use M, KM, FT, MI
        GEORADIUS g 15 37 1 km COUNT 0 -> -ERR COUNT must be > 0
        GEORADIUS g 15 37 1 km COUNT x -> -ERR value is not an integer or out of range
        GEORADIUS g 15 37 1 km COUNT -> -ERR syntax error
        GEORADIUS g 15 37 1 km ANY -> -ERR the ANY argument requires COUNT argument
        GEORADIUS_RO g 15 37 1 km STORE d -> -ERR syntax error
        GEORADIUSBYMEMBER g nope 1 km FOO -> -ERR member nope does not exist
        GEOSEARCH g BYBOX 1 1 km ASC ASC
        -> -ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for GEOSEARCH
        GEOSEARCH g FROMMEMBER Palermo ASC ASC ASC
        -> -ERR exactly one of BYRADIUS, BYBOX and BYPOLYGON can be specified for GEOSEARCH
        GEOSEARCH g FROMMEMBER Palermo FROMLONLAT 1 1 BYRADIUS 1 km -> -ERR syntax error
        GEOSEARCH g FROMMEMBER Palermo BYRADIUS 1 km BYBOX 1 1 km -> -ERR syntax error
        GEOSEARCH g FROMMEMBER Palermo BYBOX x 1 km -> -ERR need numeric width
        GEOSEARCH g FROMMEMBER Palermo BYBOX 1 x km -> -ERR need numeric height
        GEOSEARCH g FROMMEMBER Palermo BYBOX 1 -1 km -> -ERR height or width cannot be negative
        GEOSEARCH g BYPOLYGON x 13 37 14 39 -> -ERR invalid number of vertices
        GEOSEARCH g BYPOLYGON 2 13 37 14 39
            -> -ERR GEOSEARCH BYPOLYGON must have at least 3 vertices
        GEOSEARCH g BYPOLYGON 3 13 37 14 39 16
            -> -ERR GEOSEARCH BYPOLYGON must have at least 3 vertices
        GEOSEARCH g FROMMEMBER Palermo BYPOLYGON 3 13 37 14 39 16 37 -> -ERR syntax error
        RPUSH l a -> :1
        GEOSEARCH l FROMMEMBER a BYRADIUS x y
            -> -WRONGTYPE Operation against a key holding the wrong kind of value",
    );
}

#[test]
fn storing_does_not_go_with_what_is_only_answered() {
    const TEXT: &str = "is not compatible with WITHDIST, WITHHASH and WITHCOORD options";
    let (mut local, client) = sicily();
    let radius = local.say(client, "GEORADIUS g 15 37 1 km STORE d WITHDIST");
    assert_eq!(radius, format!("-ERR STORE option in GEORADIUS {TEXT}"));
    let search = "GEOSEARCHSTORE d g FROMMEMBER Palermo BYRADIUS 1 km WITHHASH";
    assert_eq!(local.say(client, search), format!("-ERR GEOSEARCHSTORE {TEXT}"));
}

#[test]
fn coordinates_are_doubles_in_resp3_and_distances_are_not() {
    let (mut local, client) = sicily();
    local.say(client, "HELLO 3");
    let words =
        ["GEOSEARCH", "g", "FROMMEMBER", "Palermo", "BYRADIUS", "1", "m", "WITHDIST", "WITHCOORD"];
    local.send(client, &encode(&words));
    assert_eq!(
        String::from_utf8(local.receive(client)).unwrap(),
        "*1\r\n*3\r\n$7\r\nPalermo\r\n$6\r\n0.0000\r\n\
         *2\r\n,13.36138933897018433\r\n,38.11555639549629859\r\n"
    );
    local.send(client, &encode(&["GEOPOS", "g", "nope"]));
    assert_eq!(local.receive(client), b"*1\r\n_\r\n");
}

#[test]
fn searching_many_places_finds_each_that_is_near() {
    let (mut local, client) = store();
    let place = |number: u32| (f64::from(number % 60) * 0.01, f64::from(number / 60) * 0.01);
    for number in 0..3600 {
        let (longitude, latitude) = place(number);
        local.say(client, &format!("GEOADD g {longitude} {latitude} {number}"));
    }
    for centre in [0, 1830, 3599, 77] {
        for meters in [1, 1500, 5000, 40_000] {
            let (longitude, latitude) = place(centre);
            let line = format!("GEORADIUS g {longitude} {latitude} {meters} m");
            let found = local.say(client, &line).split(' ').count();
            let line = format!("GEOSEARCHSTORE d g FROMMEMBER {centre} BYRADIUS {meters} m");
            assert_eq!(local.say(client, &line), format!(":{found}"));
            let near = (0..3600).filter(|other| {
                let (x, y) = place(*other);
                let degrees = (x - longitude).hypot(y - latitude);
                degrees * 111_226.0 < f64::from(meters) - 2.0
            });
            assert!(found >= near.count(), "{meters} m around {centre}");
        }
    }
}
