//! What goes into the gaps of templates.
//!
//! Few keys and members, so that commands meet; the numbers are small, at the edges of what fits,
//! or no numbers. Times are far ahead or past: nothing expires while a test runs.

use crate::Random;

/// Keys of each type.
const KEYS: usize = 5;
/// Once in so many a key is of another type than the command wants.
const WRONG_TYPE_RARITY: usize = 25;
/// Once in so many a number is none, or does not fit.
const ODD_RARITY: usize = 25;
/// Once in so many a value is long.
const LONG_RARITY: usize = 40;
/// Longer than the listpacks' limit for one entry.
const LONG_BYTES: usize = 70;

const TYPES: [&str; 6] = ["string", "list", "set", "hash", "zset", "stream"];

const ODD_INTEGERS: [&str; 12] = [
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "4294967296",
    "-2147483649",
    "1.0",
    "+1",
    " 1",
    "01",
    "-0",
    "",
    "x",
];
const ODD_FLOATS: [&str; 10] =
    ["inf", "-inf", "nan", "1e400", "1e-400", "1e17", "0x10", "", "1.", "abc"];
const FLOATS: [&str; 10] =
    ["0", "1", "-1", "2.5", "-0.1", "3.0e3", "1e-3", "10.50", "17179869184", "0.333333333333"];
const VALUES: [&str; 10] = ["", "a", "10", "-7", "0", "hello world", "3.5", "1e5", "\r\n\0", "é"];
const PATTERNS: [&str; 8] = ["*", "string:*", "*:1", "?et:[0-2]", "[^s]*", "z*t:\\2", "m1*", "x"];
const JUNK: [&str; 10] = ["", "x", "-1", "NX", "GET", "COUNT", "LIMIT", "string:1", "*", "0"];
const LEX_BOUNDS: [&str; 9] = ["-", "+", "[m1", "(m1", "[m25", "(m3", "[", "(zz", "m1"];
/// Entries of a stream: few enough that commands meet.
const IDS: usize = 80;
const ODD_IDS: [&str; 8] =
    ["0-0", "7", "18446744073709551615-18446744073709551615", "-", "x", "1-x", "", "5-"];
/// Of BITFIELD.
const FIELDS: [&str; 11] = ["u1", "u4", "u8", "i8", "i5", "u16", "i32", "u63", "i64", "u64", "i0"];
const ENCODED_TYPES: [&str; 7] = ["string", "list", "set", "hash", "zset", "STRING", "stream"];

/// A word of a kind that templates name.
pub(crate) fn choose(kind: &str, random: &mut Random) -> Vec<u8> {
    let text = match kind {
        "key" => {
            let kind = *random.of(&TYPES);
            key(kind, random)
        }
        // HyperLogLogs are kept apart from other strings, most of which are none, and places from
        // sorted sets, most scores of which lie in one corner of the map.
        "string" | "list" | "set" | "hash" | "zset" | "stream" | "hll" | "geo" => {
            let wrong = random.once_in(WRONG_TYPE_RARITY);
            let kind = if wrong { *random.of(&TYPES) } else { kind };
            key(kind, random)
        }
        // Sorted sets of one score: the order of letters among several is not defined.
        "flat" => {
            let wrong = random.once_in(WRONG_TYPE_RARITY);
            let kind = if wrong { *random.of(&TYPES[..4]) } else { kind };
            key(kind, random)
        }
        "group" => format!("g{}", random.below(3)),
        "consumer" => format!("c{}", random.below(4)),
        "id" if random.once_in(ODD_RARITY) => (*random.of(&ODD_IDS)).to_owned(),
        "id" => format!("{}-{}", 1 + random.below(IDS), random.below(3)),
        "bound-id" if random.once_in(3) => (*random.of(&["-", "+", "0"])).to_owned(),
        "bound-id" if random.once_in(5) => format!("({}", 1 + random.below(IDS)),
        "bound-id" => choose_id(random),
        "new-id" if random.once_in(3) => format!("{}-*", 1 + random.below(IDS)),
        "new-id" => choose_id(random),
        "value" => return value(random),
        "member" => member(random),
        "integer" => integer(random, -20, 20),
        "index" => integer(random, -12, 12),
        "count" => integer(random, -1, 6),
        "positive" => integer(random, 1, 6),
        // Two thousand million members at random are an answer, but not one to wait for.
        "random-count" => {
            (*random.of(&["-3", "-1", "0", "1", "2", "5", "30", "1.0", "x"])).to_owned()
        }
        // Where to begin: what lies before the first is not defined.
        "from" => random.below(7).to_string(),
        "digit" => (*random.of(&["0", "0", "0", "1", "1", "1", "2", "x"])).to_owned(),
        "longitude" | "latitude" if random.once_in(ODD_RARITY) => {
            (*random.of(&["180", "-180", "85.05112878", "0", "190", "-86", "x"])).to_owned()
        }
        "longitude" | "latitude" => {
            format!("{}.{:06}", random.below(8), random.below(1_000_000))
        }
        "distance" if random.once_in(ODD_RARITY) => {
            (*random.of(&["0", "-1", "1e9", "x"])).to_owned()
        }
        "distance" => format!("{}.5", random.below(900)),
        "unit" => (*random.of(&["m", "km", "km", "km", "KM", "mi", "ft", "yd"])).to_owned(),
        "field" => (*random.of(&FIELDS)).to_owned(),
        "bit" if random.once_in(2) => format!("#{}", random.below(9)),
        "bit" | "offset" => integer(random, 0, 100),
        "float" | "score" | "weight" => float(random),
        "bound" if random.once_in(4) => (*random.of(&["-inf", "+inf"])).to_owned(),
        "bound" if random.once_in(4) => format!("({}", float(random)),
        "bound" => float(random),
        "lex" => (*random.of(&LEX_BOUNDS)).to_owned(),
        "seconds" => time(random, 1000),
        "milliseconds" => time(random, 1_000_000),
        // In the year 2100, or long ago.
        "at-seconds" => time(random, 4_102_444_800),
        "at-milliseconds" => time(random, 4_102_444_800_000),
        "timeout" => (*random.of(&["0.001", "0.002", "0.001", "-1", "x"])).to_owned(),
        "pattern" => (*random.of(&PATTERNS)).to_owned(),
        "type" => (*random.of(&ENCODED_TYPES)).to_owned(),
        "junk" => (*random.of(&JUNK)).to_owned(),
        _ => unreachable!("templates name no words of the kind {kind}"),
    };
    text.into_bytes()
}

fn choose_id(random: &mut Random) -> String {
    String::from_utf8_lossy(&choose("id", random)).into_owned()
}

fn key(kind: &str, random: &mut Random) -> String {
    format!("{kind}:{}", random.below(KEYS))
}

fn value(random: &mut Random) -> Vec<u8> {
    if random.once_in(LONG_RARITY) {
        return vec![b'v'; LONG_BYTES + random.below(100)];
    }
    random.of(&VALUES).as_bytes().to_vec()
}

fn member(random: &mut Random) -> String {
    match random.below(LONG_RARITY) {
        0 => format!("{}{}", "long".repeat(LONG_BYTES / 4), random.below(5)),
        1..10 => random.below(20).to_string(),
        10 => format!("m{}", random.below(400)),
        _ => format!("m{}", random.below(30)),
    }
}

fn integer(random: &mut Random, least: i64, most: i64) -> String {
    if random.once_in(ODD_RARITY) {
        return (*random.of(&ODD_INTEGERS)).to_owned();
    }
    let width = usize::try_from(most - least + 1).expect("least <= most");
    (least + i64::try_from(random.below(width)).expect("a small width")).to_string()
}

fn float(random: &mut Random) -> String {
    match random.below(ODD_RARITY) {
        0 => (*random.of(&ODD_FLOATS)).to_owned(),
        1..6 => (*random.of(&FLOATS)).to_owned(),
        _ => integer(random, -10, 10),
    }
}

/// Times so far ahead that a second's difference in when they are asked for shows nowhere else.
fn time(random: &mut Random, far: u64) -> String {
    match random.below(12) {
        0 => integer(random, -3, 0),
        1 if random.once_in(3) => (*random.of(&ODD_INTEGERS)).to_owned(),
        _ => (far * (1 + random.below(3) as u64)).to_string(),
    }
}
