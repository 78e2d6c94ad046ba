//! Commands on lists, as a client sees them; and that effects redo what commands did.

mod support;

use caudal_engine::local::encode;
use support::{
    check,
    replay::{Pair, draws},
    run_bytes, store,
};

const SYNTAX: &str = "-ERR syntax error";
const NOT_INTEGER: &str = "-ERR value is not an integer or out of range";
const NOT_POSITIVE: &str = "-ERR value is out of range, must be positive";
const WRONG_TYPE: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value";

/// Runs lines of the form `command -> bytes of the reply`, with `CRLF` written as a slash.
fn check_bytes(script: &str) {
    let (mut local, client) = store();
    run_bytes(&mut local, client, script);
}

#[test]
fn elements_are_pushed_and_popped_at_both_ends() {
    check(
        "RPUSH l b c -> :2
        LPUSH l a z -> :4
        LRANGE l 0 -1 -> [z a b c]
        LLEN l -> :4
        LPOP l -> z
        RPOP l -> c
        LPOP l 5 -> [a b]
        EXISTS l -> :0
        LLEN l -> :0
        RPUSH l 1 2 3 4 -> :4
        RPOP l 3 -> [4 3 2]
        LPUSHX none a -> :0
        RPUSHX none a -> :0
        EXISTS none -> :0
        LPUSHX l 0 00 -> :3
        RPUSHX l 9 -> :4
        LRANGE l 0 -1 -> [00 0 1 9]",
    );
}

#[test]
fn pops_of_nothing_have_their_own_shapes() {
    check_bytes(
        "LPOP none -> $-1/
        LPOP none 2 -> *-1/
        RPOP none 0 -> *-1/
        RPUSH l 1 -> :1/
        LPOP l 0 -> *0/
        LMPOP 1 none LEFT -> *-1/
        LPOS none a -> $-1/
        LPOS none a COUNT 1 -> *0/
        LMOVE none l LEFT LEFT -> $-1/
        RPOPLPUSH none l -> $-1/",
    );
    check_bytes(
        "CLIENT REPLY ON -> +OK/
        LINDEX none 0 -> $-1/",
    );
    let (mut local, client) = store();
    local.say(client, "HELLO 3");
    for line in ["LPOP none", "LPOP none 2", "LMPOP 1 none LEFT", "LMOVE none l LEFT LEFT"] {
        let words: Vec<&str> = line.split(' ').collect();
        local.send(client, &encode(&words));
        assert_eq!(local.receive(client), b"_\r\n", "{line}");
    }
}

#[test]
fn counts_are_checked_before_the_key() {
    check(&format!(
        "SET text x -> OK
        LPOP text -1 -> {NOT_POSITIVE}
        RPOP text x -> {NOT_POSITIVE}
        LPOP text 0 -> {WRONG_TYPE}
        LPOP l 1 2 -> -ERR wrong number of arguments for 'lpop' command
        RPOP l 1 2 -> -ERR wrong number of arguments for 'rpop' command
        RPUSH l 1 -> :1
        LPOP l 9223372036854775807 -> [1]"
    ));
}

#[test]
fn another_type_is_refused() {
    let (mut local, client) = store();
    local.say(client, "SET text x");
    local.say(client, "RPUSH l a");
    for line in [
        "LPUSH text a",
        "RPUSHX text a",
        "LPOP text",
        "LLEN text",
        "LINDEX text 0",
        "LINDEX text x",
        "LRANGE text 0 1",
        "LINSERT text BEFORE a b",
        "LSET text x a",
        "LREM text 0 a",
        "LTRIM text 0 1",
        "LPOS text a",
        "LMOVE text l LEFT LEFT",
        "LMOVE l text LEFT LEFT",
        "RPOPLPUSH l text",
        "LMPOP 2 none text LEFT",
        "BLPOP text 1",
    ] {
        assert_eq!(local.say(client, line), WRONG_TYPE, "{line}");
    }
    assert_eq!(local.say(client, "LMOVE none text LEFT LEFT"), "(nil)");
    assert_eq!(local.say(client, "LRANGE l 0 -1"), "[a]");
}

#[test]
fn the_first_list_that_is_there_gives_several() {
    check(&format!(
        "RPUSH l 1 2 3 4 -> :4
        LMPOP 2 none l LEFT -> [l [1]]
        LMPOP 2 none l RIGHT COUNT 2 -> [l [4 3]]
        lmpop 1 l left count 10 -> [l [2]]
        EXISTS l -> :0
        LMPOP 0 l LEFT -> -ERR numkeys should be greater than 0
        LMPOP x l LEFT -> -ERR numkeys should be greater than 0
        LMPOP 2 l LEFT -> {SYNTAX}
        LMPOP 9223372036854775807 l LEFT -> {SYNTAX}
        LMPOP 1 l UP -> {SYNTAX}
        LMPOP 1 l LEFT COUNT 0 -> -ERR count should be greater than 0
        LMPOP 1 l LEFT COUNT x -> -ERR count should be greater than 0
        LMPOP 1 l LEFT COUNT 1 COUNT 2 -> {SYNTAX}
        LMPOP 1 l LEFT COUNT -> {SYNTAX}"
    ));
}

#[test]
fn elements_are_found_by_index() {
    check(&format!(
        "RPUSH l a b c -> :3
        LINDEX l 0 -> a
        LINDEX l -1 -> c
        LINDEX l 3 -> (nil)
        LINDEX l -4 -> (nil)
        LINDEX l x -> {NOT_INTEGER}
        LINDEX none x -> (nil)
        LRANGE l -100 1 -> [a b]
        LRANGE l 1 100 -> [b c]
        LRANGE l 2 1 -> []
        LRANGE none 0 -1 -> []
        LRANGE none 0 x -> {NOT_INTEGER}
        LSET l -1 z -> OK
        LSET l 0 12 -> OK
        LRANGE l 0 -1 -> [12 b z]
        LSET l 3 x -> -ERR index out of range
        LSET l -4 x -> -ERR index out of range
        LSET l x x -> {NOT_INTEGER}
        LSET none x x -> -ERR no such key"
    ));
}

#[test]
fn elements_are_inserted_and_removed_by_value() {
    check(&format!(
        "RPUSH l a b a c a -> :5
        LINSERT l BEFORE a 1 -> :6
        LINSERT l after c 2 -> :7
        LRANGE l 0 -1 -> [1 a b a c 2 a]
        LINSERT l BEFORE none 1 -> :-1
        LINSERT none BEFORE a 1 -> :0
        LINSERT l BESIDE a 1 -> {SYNTAX}
        LREM l 1 a -> :1
        LREM l -1 a -> :1
        LREM l 0 none -> :0
        LREM none 0 a -> :0
        LREM l x a -> {NOT_INTEGER}
        LREM none -9223372036854775808 a -> -ERR value is out of range, value must between \
         -9223372036854775807 and 9223372036854775807
        LRANGE l 0 -1 -> [1 b a c 2]
        LTRIM l 1 -2 -> OK
        LRANGE l 0 -1 -> [b a c]
        LTRIM l 5 9 -> OK
        EXISTS l -> :0
        LTRIM none 0 1 -> OK
        LTRIM none 0 x -> {NOT_INTEGER}
        RPUSH l a a -> :2
        LREM l 0 a -> :2
        EXISTS l -> :0"
    ));
}

#[test]
fn a_count_has_its_opposite() {
    check(
        "RPUSH l a b a -> :3
        LREM l -9223372036854775807 b -> :1
        LREM l -9223372036854775808 a -> -ERR value is out of range, value must between \
            -9223372036854775807 and 9223372036854775807
        LREM none -9223372036854775808 a -> -ERR value is out of range, value must between \
            -9223372036854775807 and 9223372036854775807
        LLEN l -> :2",
    );
}

#[test]
fn places_of_a_value_are_counted_from_either_end() {
    check(&format!(
        "RPUSH l a b c a b a 7 -> :7
        LPOS l a -> :0
        LPOS l 7 -> :6
        LPOS l a RANK 2 -> :3
        LPOS l a RANK -1 -> :5
        LPOS l a RANK 5 COUNT 10 -> []
        LPOS l a RANK -2 COUNT 0 -> [:3 :0]
        LPOS l a COUNT 0 MAXLEN 3 -> [:0]
        LPOS l a COUNT 2 -> [:0 :3]
        LPOS l a RANK 5 -> (nil)
        LPOS l zz -> (nil)
        LPOS l zz COUNT 1 -> []
        LPOS l a RANK -1 MAXLEN 1 -> (nil)
        LPOS l a RANK 0 -> -ERR RANK can't be zero: use 1 to start from the first match, 2 from \
         the second ... or use negative to start from the end of the list
        LPOS l a RANK -9223372036854775808 -> -ERR value is out of range, value must between \
         -9223372036854775807 and 9223372036854775807
        LPOS l a RANK x -> {NOT_INTEGER}
        LPOS l a COUNT -1 -> -ERR COUNT can't be negative
        LPOS l a MAXLEN x -> -ERR MAXLEN can't be negative
        LPOS l a RANK -> {SYNTAX}
        LPOS none a UP 1 -> {SYNTAX}"
    ));
}

#[test]
fn an_element_moves_between_lists_or_within_one() {
    check(&format!(
        "RPUSH l a b c -> :3
        LMOVE l m LEFT RIGHT -> a
        RPOPLPUSH l m -> c
        LRANGE m 0 -1 -> [c a]
        lmove m m left right -> c
        LRANGE m 0 -1 -> [a c]
        RPOPLPUSH m m -> c
        LRANGE m 0 -1 -> [c a]
        LMOVE l l LEFT LEFT -> b
        LMOVE l m RIGHT RIGHT -> b
        EXISTS l -> :0
        LRANGE m 0 -1 -> [c a b]
        LMOVE l m UP RIGHT -> {SYNTAX}"
    ));
}

#[test]
fn a_list_keeps_its_time_and_an_expired_one_is_none() {
    let (mut local, client) = store();
    local.say(client, "RPUSH l a b");
    local.say(client, "PEXPIRE l 1000");
    local.say(client, "RPUSH l c");
    local.say(client, "LPOP l");
    assert_eq!(local.say(client, "PTTL l"), ":1000");
    local.advance_ms(1001);
    assert_eq!(local.say(client, "LLEN l"), ":0");
    assert_eq!(local.say(client, "LPUSHX l a"), ":0");
    assert_eq!(local.say(client, "RPUSH l z"), ":1");
    assert_eq!(local.say(client, "PTTL l"), ":-1");
}

#[test]
fn a_watched_list_that_changed_stops_a_transaction() {
    let (mut local, client) = store();
    let other = local.connect(0);
    for (change, reply) in [
        ("RPUSH l x", "(nil)"),
        ("LPOP l", "(nil)"),
        ("LSET l 0 a", "(nil)"),
        ("LTRIM l 0 -1", "(nil)"),
        ("LREM l 0 none", "[PONG]"),
        ("LPOP l 0", "[PONG]"),
        ("LINSERT l BEFORE none x", "[PONG]"),
        ("RPUSHX none x", "[PONG]"),
        ("LMOVE l l LEFT RIGHT", "(nil)"),
    ] {
        local.say(client, "DEL l");
        local.say(client, "RPUSH l a b");
        local.say(client, "WATCH l none");
        local.say(other, change);
        local.say(client, "MULTI");
        local.say(client, "PING");
        assert_eq!(local.say(client, "EXEC"), reply, "{change}");
    }
}

#[test]
fn a_long_list_is_the_same_list() {
    let (mut local, client) = store();
    let mut model = std::collections::VecDeque::new();
    for number in 0..5000 {
        let element = format!("element:{number}");
        if number % 3 == 0 {
            local.say(client, &format!("LPUSH l {element}"));
            model.push_front(element);
        } else {
            local.say(client, &format!("RPUSH l {element}"));
            model.push_back(element);
        }
    }
    let range: Vec<String> = model.range(1000..3001).cloned().collect();
    assert_eq!(local.say(client, "LRANGE l 1000 3000"), format!("[{}]", range.join(" ")));
    assert_eq!(local.say(client, "LINDEX l 4321"), model[4321]);
    assert_eq!(local.say(client, &format!("LPOS l {}", model[4000])), ":4000");
    let last: Vec<String> = model.range(4900..).rev().cloned().collect();
    assert_eq!(local.say(client, "RPOP l 100"), format!("[{}]", last.join(" ")));
}

fn random_command(draw: &mut impl FnMut(usize) -> usize) -> String {
    let key = ["a", "b", "c"][draw(3)];
    let other = ["a", "b", "c"][draw(3)];
    let value = ["1", "22", "x", "a rather longer value"][draw(4)].replace(' ', "_");
    let index = draw(7).wrapping_sub(3).cast_signed();
    let side = ["LEFT", "RIGHT"][draw(2)];
    match draw(16) {
        0 => format!("RPUSH {key} {value} {index}"),
        1 => format!("LPUSH {key} {value}"),
        2 => format!("LPOP {key}"),
        3 => format!("RPOP {key} {}", draw(3)),
        4 => format!("LMPOP 2 {key} {other} {side} COUNT 2"),
        5 => format!("LMOVE {key} {other} {side} RIGHT"),
        6 => format!("RPOPLPUSH {key} {other}"),
        7 => format!("BLMOVE {key} {key} {side} LEFT 0.001"),
        8 => format!("BRPOP {key} {other} 0.001"),
        9 => format!("BLMPOP 0.001 1 {key} {side} COUNT 3"),
        10 => format!("LINSERT {key} AFTER {value} {index}"),
        11 => format!("LSET {key} {index} {value}"),
        12 => format!("LREM {key} {index} {value}"),
        13 => format!("LTRIM {key} {index} -1"),
        14 => format!("LPUSHX {key} {value}"),
        _ => format!("BRPOPLPUSH {key} {other} 0.001"),
    }
}

#[test]
fn effects_redo_what_commands_did() {
    for seed in 1..=20 {
        let (mut draw, mut pair) = (draws(seed), Pair::new());
        for _ in 0..500 {
            let command = random_command(&mut draw);
            let effects = pair.run(&command, 1);
            assert!(!effects.contains("\r\nB"), "{command} blocks");
            for key in ["a", "b", "c"] {
                let dump = format!("LRANGE {key} 0 -1");
                pair.compare(&command, |local, client| local.say(client, &dump));
            }
        }
    }
}
