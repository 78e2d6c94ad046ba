//! Commands on sets, as a client sees them; and that effects redo what commands did.

mod support;

use caudal_engine::local::{Client, Local, encode};
use caudal_wire::Frame;
use std::collections::BTreeSet;
use support::{
    check,
    replay::{Pair, draws},
    store,
};

const SYNTAX: &str = "-ERR syntax error";
const NOT_INTEGER: &str = "-ERR value is not an integer or out of range";
const NOT_POSITIVE: &str = "-ERR value is out of range, must be positive";
const WRONG_TYPE: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value";
const BEYOND_LONG: &str = "-ERR value is out of range, value must between -9223372036854775807 and \
                           9223372036854775807";

fn texts(frames: Vec<Frame>) -> Vec<String> {
    let text = |frame| match frame {
        Frame::Bulk(bytes) => String::from_utf8(bytes).expect("text"),
        other => panic!("a string: {other:?}"),
    };
    frames.into_iter().map(text).collect()
}

/// The members in an array or set, sorted.
fn members(local: &mut Local, client: Client, line: &str) -> Vec<String> {
    let words: Vec<&str> = line.split(' ').collect();
    let mut members = match local.call(client, &words) {
        Frame::Array(frames) | Frame::Set(frames) => texts(frames),
        other => panic!("{line}: {other:?}"),
    };
    members.sort();
    members
}

#[test]
fn members_are_added_removed_and_asked_for() {
    check(
        "SADD s 3 1 2 1 -> :3
        SADD s 1 -> :0
        SMEMBERS s -> [1 2 3]
        SADD s a -> :1
        SCARD s -> :4
        SCARD none -> :0
        SISMEMBER s a -> :1
        SISMEMBER s 01 -> :0
        SISMEMBER none a -> :0
        SMISMEMBER s a zz 3 -> [:1 :0 :1]
        SMISMEMBER none a b -> [:0 :0]
        SREM s a zz -> :1
        SREM none a -> :0
        SREM s 1 2 3 -> :3
        EXISTS s -> :0
        SMEMBERS s -> []",
    );
}

#[test]
fn another_type_is_refused_wherever_it_stands() {
    let (mut local, client) = store();
    local.say(client, "SET text x");
    local.say(client, "SADD s a");
    for line in [
        "SADD text a",
        "SREM text a",
        "SCARD text",
        "SISMEMBER text a",
        "SMISMEMBER text a",
        "SMEMBERS text",
        "SMOVE text s a",
        "SMOVE s text a",
        "SMOVE s text zz",
        "SPOP text",
        "SPOP text 0",
        "SRANDMEMBER text",
        "SRANDMEMBER text 1",
        "SINTER none text",
        "SINTER text none",
        "SINTER s none text",
        "SINTERCARD 2 none text",
        "SINTERSTORE d none text",
        "SUNION none text",
        "SUNIONSTORE d s text",
        "SDIFF none text",
        "SDIFF s text",
        "SDIFFSTORE d s text",
        "SSCAN text 0",
    ] {
        assert_eq!(local.say(client, line), WRONG_TYPE, "{line}");
    }
    assert_eq!(local.say(client, "SMOVE none text a"), ":0");
}

#[test]
fn a_member_moves_from_set_to_set() {
    check(
        "SADD s a b -> :2
        SADD t b -> :1
        SMOVE s t a -> :1
        SMOVE s t zz -> :0
        SMOVE s s b -> :1
        SMOVE s s zz -> :0
        SMOVE s t b -> :1
        EXISTS s -> :0
        SCARD t -> :2
        SMOVE t new a -> :1
        SMEMBERS new -> [a]
        SMOVE none t a -> :0",
    );
}

#[test]
fn sets_are_intersected_united_and_subtracted() {
    let (mut local, client) = store();
    local.say(client, "SADD one 1 2 3 a b");
    local.say(client, "SADD two 2 3 a c");
    local.say(client, "SADD three 3 a zz");
    for (line, expected) in [
        ("SINTER one two three", "3 a"),
        ("SINTER one", "1 2 3 a b"),
        ("SINTER one none two", ""),
        ("SUNION one three none", "1 2 3 a b zz"),
        ("SUNION none one", "1 2 3 a b"),
        ("SUNION none", ""),
        ("SDIFF one two three", "1 b"),
        ("SDIFF one", "1 2 3 a b"),
        ("SDIFF one none", "1 2 3 a b"),
        ("SDIFF one two one", ""),
        ("SDIFF none one", ""),
    ] {
        let (command, keys) = line.split_once(' ').expect("keys");
        assert_eq!(members(&mut local, client, line).join(" "), expected, "{line}");
        local.say(client, "SET d text");
        let count = expected.split_whitespace().count();
        let stored = local.say(client, &format!("{command}STORE d {keys}"));
        assert_eq!(stored, format!(":{count}"), "{line}");
        assert_eq!(local.say(client, "EXISTS d"), format!(":{}", usize::from(count > 0)));
        assert_eq!(members(&mut local, client, "SMEMBERS d").join(" "), expected, "{line}");
    }
    assert_eq!(local.say(client, "SDIFFSTORE one one two"), ":2");
    assert_eq!(members(&mut local, client, "SMEMBERS one"), ["1", "b"]);
    assert_eq!(local.say(client, "SINTERSTORE two two three"), ":2");
    assert_eq!(local.say(client, "SUNIONSTORE three one two three"), ":5");
}

#[test]
fn large_sets_give_what_small_ones_give() {
    let (mut local, client) = store();
    let model = |from: usize, to: usize| (from..to).map(|it| it.to_string()).collect();
    let sets: [BTreeSet<String>; 3] = [model(0, 2000), model(1000, 3000), model(1990, 2010)];
    for (key, set) in ["a", "b", "c"].iter().zip(&sets) {
        let words: Vec<&str> =
            ["SADD", key].into_iter().chain(set.iter().map(|it| it.as_str())).collect();
        assert_eq!(local.call(client, &words), Frame::Integer(set.len() as i64));
    }
    let [a, b, c] = &sets;
    let cases: [(&str, BTreeSet<String>); 6] = [
        ("SINTER a b", a & b),
        ("SINTER a b c", &(a & b) & c),
        ("SUNION a b c", &(a | b) | c),
        ("SDIFF a b", a - b),
        ("SDIFF a c", a - c),
        ("SDIFF c a b", &(c - a) - b),
    ];
    for (line, expected) in cases {
        let expected: Vec<String> = expected.into_iter().collect();
        assert_eq!(members(&mut local, client, line), expected, "{line}");
        let (command, keys) = line.split_once(' ').expect("keys");
        local.say(client, &format!("{command}STORE d {keys}"));
        assert_eq!(members(&mut local, client, "SMEMBERS d"), expected, "{line}");
    }
    assert_eq!(local.say(client, "SCARD a"), ":2000");
    assert_eq!(members(&mut local, client, "SMEMBERS b"), b.iter().cloned().collect::<Vec<_>>());
    // A result is kept as small as if it had been added anew.
    local.say(client, "SDIFFSTORE d c a");
    assert_eq!(local.say(client, "OBJECT ENCODING d"), "intset");
}

#[test]
fn an_intersection_can_be_counted_up_to_a_limit() {
    check(&format!(
        "SADD a 1 2 3 4 -> :4
        SADD b 2 3 4 5 -> :4
        SINTERCARD 2 a b -> :3
        SINTERCARD 2 a b LIMIT 2 -> :2
        SINTERCARD 2 a b limit 0 -> :3
        SINTERCARD 2 a none -> :0
        SINTERCARD 1 a LIMIT 1 LIMIT 2 -> :2
        SINTERCARD 0 a -> -ERR numkeys should be greater than 0
        SINTERCARD x a -> -ERR numkeys should be greater than 0
        SINTERCARD 2 a -> -ERR Number of keys can't be greater than number of args
        SINTERCARD 1 a LIMIT -1 -> -ERR LIMIT can't be negative
        SINTERCARD 1 a LIMIT x -> -ERR LIMIT can't be negative
        SINTERCARD 1 a LIMIT -> {SYNTAX}
        SINTERCARD 1 a UP 1 -> {SYNTAX}"
    ));
}

#[test]
fn random_members_come_in_the_shapes_of_the_reference() {
    check(&format!(
        "SADD s a -> :1
        SRANDMEMBER s -> a
        SRANDMEMBER s -3 -> [a a a]
        SRANDMEMBER s 5 -> [a]
        SRANDMEMBER s 0 -> []
        SRANDMEMBER none -> (nil)
        SRANDMEMBER none 1 -> []
        SRANDMEMBER s x -> {NOT_INTEGER}
        SRANDMEMBER s 1 2 -> {SYNTAX}
        SRANDMEMBER none -9223372036854775808 -> {BEYOND_LONG}
        SRANDMEMBER s -9223372036854775807 -> -ERR value is out of range
        SPOP none -> (nil)
        SPOP none 1 -> []
        SPOP s 0 -> []
        SPOP s -1 -> {NOT_POSITIVE}
        SPOP s x -> {NOT_POSITIVE}
        SPOP s 1 2 -> {SYNTAX}
        SPOP s -> a
        EXISTS s -> :0"
    ));
    let (mut local, client) = store();
    local.say(client, "HELLO 3");
    local.say(client, "SADD s a");
    for (line, reply) in [
        ("SRANDMEMBER s 1", "*1\r\n$1\r\na\r\n"),
        ("SMEMBERS s", "~1\r\n$1\r\na\r\n"),
        ("SMEMBERS none", "~0\r\n"),
        ("SINTER s s", "~1\r\n$1\r\na\r\n"),
        ("SUNION s s", "~1\r\n$1\r\na\r\n"),
        ("SDIFF s none", "~1\r\n$1\r\na\r\n"),
        ("SPOP s 0", "~0\r\n"),
        ("SPOP none", "_\r\n"),
        ("SPOP s 2", "~1\r\n$1\r\na\r\n"),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        local.send(client, &encode(&words));
        assert_eq!(String::from_utf8_lossy(&local.receive(client)), reply, "{line}");
    }
}

#[test]
fn random_members_are_members_and_differ_where_they_must() {
    for size in [5, 200, 2000] {
        let (mut local, client) = store();
        for number in 0..size {
            local.say(client, &format!("SADD s m{number}"));
        }
        let all: BTreeSet<String> = members(&mut local, client, "SMEMBERS s").into_iter().collect();
        for count in [1, 3, size / 2, size - 1, size, size + 1] {
            let drawn = members(&mut local, client, &format!("SRANDMEMBER s {count}"));
            let different: BTreeSet<String> = drawn.iter().cloned().collect();
            assert_eq!((drawn.len(), different.len()), (count.min(size), count.min(size)));
            assert!(different.is_subset(&all));
        }
        assert_eq!(members(&mut local, client, "SRANDMEMBER s -5000").len(), 5000);
        let taken = members(&mut local, client, &format!("SPOP s {}", size - 2));
        let taken: BTreeSet<String> = taken.into_iter().collect();
        let left: BTreeSet<String> =
            members(&mut local, client, "SMEMBERS s").into_iter().collect();
        assert_eq!((taken.len(), left.len()), (size - 2, 2));
        assert_eq!(&taken | &left, all);
        assert_eq!(members(&mut local, client, "SPOP s 100").len(), 2);
        assert_eq!(local.say(client, "EXISTS s"), ":0");
    }
}

#[test]
fn every_member_is_as_likely_as_any_other() {
    let (mut local, client) = store();
    for number in 0..600 {
        local.say(client, &format!("SADD s {number}"));
    }
    local.say(client, "SADD s word");
    let mut times = vec![0u32; 601];
    for _ in 0..20 {
        for member in members(&mut local, client, "SRANDMEMBER s -3005") {
            times[member.parse::<usize>().unwrap_or(600)] += 1;
        }
    }
    // 100 each with a deviation of 10.
    assert!(times.iter().all(|times| (40..170).contains(times)));
}

#[test]
fn a_walk_gives_every_member_that_stays() {
    check(&format!(
        "SADD s a b 1 -> :3
        SSCAN none 0 -> [0 []]
        SSCAN none 0 COUNT 0 -> [0 []]
        SSCAN s 0 MATCH [a1] -> [0 [a 1]]
        SSCAN s 0 MATCH a* MATCH b* COUNT 1 -> [0 [b]]
        SSCAN s x -> -ERR invalid cursor
        SSCAN none x -> -ERR invalid cursor
        SSCAN s 0 COUNT 0 -> {SYNTAX}
        SSCAN s 0 COUNT x -> {NOT_INTEGER}
        SSCAN s 0 COUNT -> {SYNTAX}
        SSCAN s 0 UP 1 -> {SYNTAX}
        SSCAN s 0 NOVALUES -> -ERR NOVALUES option can only be used in HSCAN"
    ));
    let (mut local, client) = store();
    for number in 0..3000 {
        local.say(client, &format!("SADD s m{number}"));
    }
    let (mut cursor, mut seen, mut calls) = ("0".to_owned(), BTreeSet::new(), 0);
    loop {
        let reply = local.call(client, &["SSCAN", "s", &cursor, "COUNT", "50"]);
        let Frame::Array(mut parts) = reply else { panic!("{reply:?}") };
        let Some(Frame::Array(found)) = parts.pop() else { panic!("members") };
        assert!(found.len() <= 60);
        seen.extend(texts(found));
        cursor = texts(parts).remove(0);
        calls += 1;
        // Members come and go beside those that stay.
        local.say(client, &format!("SREM s m{}", calls * 2));
        local.say(client, &format!("SADD s new{calls}"));
        if cursor == "0" {
            break;
        }
    }
    assert!((50..80).contains(&calls), "{calls}");
    let stays = (0..3000).filter(|number| number % 2 == 1 || *number > 2 * calls);
    assert!(stays.map(|number| format!("m{number}")).all(|member| seen.contains(&member)));
}

#[test]
fn encodings_change_where_the_reference_changes_them() {
    check(
        "SADD s 1 2 -> :2
        OBJECT ENCODING s -> intset
        SADD s a -> :1
        OBJECT ENCODING s -> listpack
        SADD t 1 2 3 -> :3
        SINTERSTORE d s t -> :2
        OBJECT ENCODING d -> intset
        SUNIONSTORE d s t -> :4
        OBJECT ENCODING d -> listpack
        SADD long aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa -> :1
        OBJECT ENCODING long -> hashtable",
    );
}

#[test]
fn a_watched_set_that_changed_stops_a_transaction() {
    let (mut local, client) = store();
    let other = local.connect(0);
    for (change, reply) in [
        ("SADD s x", "(nil)"),
        ("SADD s a", "[PONG]"),
        ("SREM s a", "(nil)"),
        ("SREM s x", "[PONG]"),
        ("SPOP s", "(nil)"),
        ("SPOP s 0", "[PONG]"),
        ("SMOVE s t a", "(nil)"),
        ("SMOVE s s a", "[PONG]"),
        ("SUNIONSTORE s none", "(nil)"),
        ("SINTERSTORE t none", "[PONG]"),
    ] {
        local.say(client, "DEL s t");
        local.say(client, "SADD s a b");
        local.say(client, "WATCH s t");
        local.say(other, change);
        local.say(client, "MULTI");
        local.say(client, "PING");
        assert_eq!(local.say(client, "EXEC"), reply, "{change}");
    }
}

#[test]
fn a_result_has_no_expiry_and_an_expired_set_is_none() {
    let (mut local, client) = store();
    local.say(client, "SADD s a");
    local.say(client, "SADD d b");
    local.say(client, "PEXPIRE d 1000");
    local.say(client, "SUNIONSTORE d s d");
    assert_eq!(local.say(client, "PTTL d"), ":-1");
    local.say(client, "PEXPIRE s 1000");
    local.advance_ms(1001);
    assert_eq!(local.say(client, "SINTERCARD 2 s d"), ":0");
    assert_eq!(local.say(client, "SADD s b"), ":1");
    assert_eq!(local.say(client, "SMEMBERS s"), "[b]");
}

#[test]
fn what_was_taken_at_random_is_named_in_effects() {
    let (mut local, client) = store();
    local.worker(0).listen_to_effects();
    local.say(client, "SADD s a");
    local.say(client, "SPOP s");
    local.say(client, "SADD s a");
    local.say(client, "SPOP s 1");
    local.say(client, "SPOP s 1");
    let effects = local.worker(0).take_effects();
    let mut expected = Vec::new();
    let lines: [&[&str]; 5] = [
        &["SELECT", "0"],
        &["SADD", "s", "a"],
        &["SREM", "s", "a"],
        &["SADD", "s", "a"],
        &["UNLINK", "s"],
    ];
    lines.iter().for_each(|words| expected.extend(encode(words)));
    assert_eq!(String::from_utf8_lossy(&effects), String::from_utf8_lossy(&expected));
    for number in 0..3000 {
        local.say(client, &format!("SADD s {number}"));
    }
    local.worker(0).take_effects();
    local.say(client, "SPOP s 2500");
    let effects = String::from_utf8(local.worker(0).take_effects()).expect("text");
    assert_eq!(effects.matches("SREM").count(), 3);
}

fn random_command(draw: &mut impl FnMut(usize) -> usize) -> String {
    let key = ["a", "b", "c"][draw(3)];
    let other = ["a", "b", "c"][draw(3)];
    let third = ["a", "b", "none"][draw(3)];
    let member = ["1", "22", "x", "yy", "zzz", "-7"][draw(6)];
    match draw(10) {
        0..3 => format!("SADD {key} {member} {}", draw(20)),
        3 => format!("SREM {key} {member} {}", draw(20)),
        4 => format!("SMOVE {key} {other} {member}"),
        5 => format!("SPOP {key}"),
        6 => format!("SPOP {key} {}", draw(4)),
        7 => format!("SINTERSTORE {key} {other} {third}"),
        8 => format!("SUNIONSTORE {key} {other} {third}"),
        _ => format!("SDIFFSTORE {key} {other} {third}"),
    }
}

#[test]
fn effects_redo_what_commands_did() {
    for seed in 1..=20 {
        let (mut draw, mut pair) = (draws(seed), Pair::new());
        for _ in 0..500 {
            let command = random_command(&mut draw);
            pair.run(&command, 0);
            for key in ["a", "b", "c"] {
                let dump = format!("SMEMBERS {key}");
                pair.compare(&command, |local, client| members(local, client, &dump));
            }
        }
    }
}
