//! Commands on keys of any type, as a client sees them; and that effects redo what commands did.

mod support;

use caudal_engine::local::{Client, Local};
use caudal_wire::Frame;
use std::collections::{BTreeMap, BTreeSet};
use support::{
    check,
    replay::{Pair, draws},
    run, store,
};

const SYNTAX: &str = "-ERR syntax error";
const NOT_INTEGER: &str = "-ERR value is not an integer or out of range";

#[test]
fn keys_are_removed_counted_and_touched() {
    check(
        "MSET a 1 b 2 c 3 -> OK
        EXISTS a a b none -> :3
        TOUCH a a none -> :2
        DEL a none a -> :1
        UNLINK b c -> :2
        DEL none -> :0
        DBSIZE -> :0
        DEL -> -ERR wrong number of arguments for 'del' command",
    );
}

#[test]
fn the_type_is_a_status_and_an_empty_name_is_a_name() {
    let (mut local, client) = store();
    assert_eq!(local.call(client, &["TYPE", "none"]), Frame::Status(b"none".to_vec()));
    local.say(client, "SET \"\" v");
    assert_eq!(local.call(client, &["TYPE", ""]), Frame::Status(b"string".to_vec()));
    assert_eq!(names(&mut local, client, "COUNT 100000"), BTreeSet::from([String::new()]));
}

#[test]
fn expiries_compare_strictly_and_none_counts_as_never() {
    check(
        "SET k v -> OK
        EXPIRE k 100 GT -> :0
        EXPIRE k 100 XX -> :0
        EXPIRE k 100 LT -> :1
        EXPIRE k 100 GT -> :0
        EXPIRE k 100 LT -> :0
        EXPIRE k 200 NX -> :0
        EXPIRE k 200 GT -> :1
        EXPIRE k 300 XX GT gt -> :1
        EXPIRE k -1 GT -> :0
        EXISTS k -> :1
        PERSIST k -> :1
        PERSIST k -> :0
        TTL k -> :-1
        EXPIRE k 100 NX -> :1
        PERSIST none -> :0
        EXPIRE none 100 -> :0",
    );
}

#[test]
fn an_expiry_that_is_over_removes_the_key_at_once() {
    check(
        "SET k v -> OK
        EXPIRE k -1 -> :1
        EXISTS k -> :0
        SET k v -> OK
        EXPIRE k 0 -> :1
        EXISTS k -> :0
        SET k v -> OK
        EXPIREAT k 1 -> :1
        DBSIZE -> :0
        SET k v -> OK
        PEXPIREAT k -9223372036854775808 -> :1
        SET k v -> OK
        PEXPIRE k -9223372036854775808 -> :1
        EXISTS k -> :0
        PEXPIREAT none 1 -> :0",
    );
}

#[test]
fn an_expiry_that_overflows_is_refused() {
    check(
        "SET k v -> OK
        EXPIRE k 18446744073709561 -> -ERR invalid expire time in 'expire' command
        EXPIRE k 9223372036854775807 -> -ERR invalid expire time in 'expire' command
        PEXPIRE k 9223372036854775807 -> -ERR invalid expire time in 'pexpire' command
        EXPIRE k -9223372036854775808 -> -ERR invalid expire time in 'expire' command
        EXPIREAT none 9223372036854775807 -> -ERR invalid expire time in 'expireat' command
        PEXPIREAT k 9223372036854775807 -> :1
        PEXPIRETIME k -> :9223372036854775807
        EXPIRETIME k -> :9223372036854776
        GET k -> v
        EXPIRE k abc -> -ERR value is not an integer or out of range
        EXPIRE none abc -> -ERR value is not an integer or out of range
        EXPIRE k abc foo -> -ERR Unsupported option foo
        EXPIRE k 1 NX GT -> -ERR NX and XX, GT or LT options at the same time are not compatible
        EXPIRE k 1 GT LT -> -ERR GT and LT options at the same time are not compatible",
    );
}

#[test]
fn a_key_is_gone_when_its_time_is_over() {
    let (mut local, client) = store();
    run(
        &mut local,
        client,
        "SET k v PX 1500 -> OK
        SET stays v -> OK
        TTL k -> :2
        PTTL k -> :1500
        TTL stays -> :-1
        TTL none -> :-2
        PTTL none -> :-2
        EXPIRETIME none -> :-2
        PEXPIRETIME stays -> :-1",
    );
    local.advance_ms(1500);
    assert_eq!(local.say(client, "PTTL k"), ":0");
    local.advance_ms(1);
    run(
        &mut local,
        client,
        "EXISTS k -> :0
        TYPE k -> none
        TTL k -> :-2
        RENAME k x -> -ERR no such key
        COPY k x -> :0
        MOVE k 1 -> :0
        PERSIST k -> :0
        EXPIRE k 10 -> :0
        KEYS * -> [stays]
        RANDOMKEY -> stays
        DEL k -> :0
        COPY stays k -> :1
        TTL k -> :-1",
    );
    assert_eq!(names(&mut local, client, ""), BTreeSet::from(["k".into(), "stays".into()]));
}

#[test]
fn expired_keys_leave_the_count_within_seconds() {
    let (mut local, client) = store();
    for index in 0..100 {
        local.say(client, &format!("SET k{index} v PX 100"));
    }
    for _ in 0..40 {
        local.advance_ms(100);
    }
    assert_eq!(local.say(client, "DBSIZE"), ":0");
}

#[test]
fn an_expired_key_that_was_missed_leaves_the_count_at_once() {
    let (mut local, client) = store();
    local.say(client, "SET k v PX 10");
    local.advance_ms(11);
    assert_eq!(local.say(client, "GET k"), "(nil)");
    assert_eq!(local.say(client, "DBSIZE"), ":0");
}

#[test]
fn a_new_name_takes_the_expiry_along() {
    check(
        "SET a 1 EX 100 -> OK
        SET b 2 -> OK
        RENAME a b -> OK
        TTL b -> :100
        EXISTS a -> :0
        SET a 3 -> OK
        RENAME a b -> OK
        TTL b -> :-1
        RENAMENX b b -> :0
        RENAME b b -> OK
        RENAME none none -> -ERR no such key
        RENAME none b -> -ERR no such key
        RENAMENX none b -> -ERR no such key
        SET c 4 -> OK
        RENAMENX b c -> :0
        RENAMENX b d -> :1
        MGET b c d -> [(nil) 4 3]",
    );
}

#[test]
fn keys_are_copied_and_moved_between_databases() {
    check(
        "SET a 1 EX 100 -> OK
        COPY a b DB 1 -> :1
        COPY a a -> -ERR source and destination objects are the same
        COPY a a DB 0 -> -ERR source and destination objects are the same
        COPY none none -> -ERR source and destination objects are the same
        COPY a c -> :1
        TTL c -> :100
        COPY a c -> :0
        SET a 2 -> OK
        COPY a c replace -> :1
        GET c -> 2
        TTL c -> :-1
        COPY none d -> :0
        COPY a d REPLACE DB 1 DB 2 -> :1
        COPY a d DB 99 -> -ERR DB index is out of range
        COPY none d DB -1 -> -ERR DB index is out of range
        COPY a d DB 99 foo -> -ERR DB index is out of range
        COPY a d DB x -> -ERR value is not an integer or out of range
        COPY a d DB -> -ERR syntax error
        COPY a d foo -> -ERR syntax error
        MOVE a 0 -> -ERR source and destination objects are the same
        MOVE a 99 -> -ERR DB index is out of range
        MOVE a x -> -ERR value is not an integer or out of range
        MOVE a 1 -> :1
        EXISTS a -> :0
        MOVE a 1 -> :0
        SET b 3 -> OK
        MOVE b 1 -> :0
        SELECT 1 -> OK
        MGET a b -> [2 1]
        TTL b -> :100
        DBSIZE -> :2
        SELECT 2 -> OK
        KEYS * -> [d]",
    );
}

#[test]
fn a_copy_has_a_life_of_its_own() {
    check(
        "SET a foo -> OK
        COPY a b -> :1
        APPEND b bar -> :6
        GET a -> foo
        COPY b a REPLACE -> :1
        DEL b -> :1
        GET a -> foobar",
    );
}

#[test]
fn strings_tell_their_encoding() {
    let (mut local, client) = store();
    run(
        &mut local,
        client,
        "SET i 123 -> OK
        OBJECT ENCODING i -> int
        SET s short -> OK
        OBJECT ENCODING s -> embstr
        APPEND s x -> :6
        OBJECT ENCODING s -> raw
        EXPIRE s 100 -> :1
        OBJECT ENCODING s -> raw
        PERSIST s -> :1
        OBJECT ENCODING s -> raw
        APPEND i 4 -> :4
        OBJECT ENCODING i -> raw
        INCR i -> :1235
        OBJECT ENCODING i -> int
        SETRANGE i 0 9 -> :4
        OBJECT ENCODING i -> raw
        SET s again -> OK
        OBJECT ENCODING s -> embstr
        APPEND new 12 -> :2
        OBJECT ENCODING new -> int
        SETRANGE range 0 v -> :1
        OBJECT ENCODING range -> raw
        INCRBYFLOAT f 6 -> 6
        OBJECT ENCODING f -> embstr
        SET n 12345678901234567890 -> OK
        OBJECT ENCODING n -> embstr
        OBJECT ENCODING none -> (nil)",
    );
    for (key, value, encoding) in [(1, 112, "embstr"), (1, 113, "raw"), (31, 82, "embstr")] {
        local.say(client, &format!("SET {} {}", "k".repeat(key), "v".repeat(value)));
        let reply = local.say(client, &format!("OBJECT ENCODING {}", "k".repeat(key)));
        assert_eq!(reply, encoding, "{key} {value}");
    }
    for (key, value, encoding) in [(32, 79, "embstr"), (32, 80, "raw"), (150, 0, "raw")] {
        local.call(client, &["SET", &"k".repeat(key), &"v".repeat(value)]);
        let reply = local.say(client, &format!("OBJECT ENCODING {}", "k".repeat(key)));
        assert_eq!(reply, encoding, "{key} {value}");
    }
}

#[test]
fn idle_time_counts_from_the_last_use() {
    let (mut local, client) = store();
    local.say(client, "SET k v");
    local.advance_ms(7000);
    run(
        &mut local,
        client,
        "TTL k -> :-1
        EXISTS k -> :1
        TYPE k -> string
        OBJECT IDLETIME k -> :7
        OBJECT REFCOUNT k -> :1
        TOUCH k -> :1
        OBJECT IDLETIME k -> :0",
    );
    local.advance_ms(3000);
    run(
        &mut local,
        client,
        "OBJECT IDLETIME k -> :3
        GET k -> v
        OBJECT IDLETIME k -> :0
        OBJECT IDLETIME none -> (nil)
        OBJECT FREQ none -> (nil)
        OBJECT REFCOUNT none -> (nil)
        OBJECT nosuch k -> -ERR unknown subcommand 'nosuch'. Try OBJECT HELP.
        OBJECT -> -ERR wrong number of arguments for 'object' command
        OBJECT ENCODING -> -ERR wrong number of arguments for 'object|encoding' command",
    );
    let reply = local.say(client, "OBJECT FREQ k");
    assert!(reply.starts_with("-ERR An LFU maxmemory policy is not selected"), "{reply}");
    let Frame::Array(help) = local.call(client, &["OBJECT", "HELP"]) else { panic!("an array") };
    assert!(help.iter().all(|line| matches!(line, Frame::Status(_))));
}

#[test]
fn keys_finds_names_by_pattern() {
    let (mut local, client) = store();
    run(
        &mut local,
        client,
        "MSET hello 1 hallo 2 hxllo 3 other 4 -> OK
        KEYS o* -> [other]
        KEYS none* -> []
        KEYS \"\" -> []
        KEYS h\\*llo -> []",
    );
    let Frame::Array(found) = local.call(client, &["KEYS", "h[ae]llo"]) else { panic!("an array") };
    assert_eq!(found.len(), 2);
    let Frame::Array(found) = local.call(client, &["KEYS", "*"]) else { panic!("an array") };
    assert_eq!(found.len(), 4);
}

#[test]
fn random_keys_come_from_the_selected_database() {
    let (mut local, client) = store();
    assert_eq!(local.say(client, "RANDOMKEY"), "(nil)");
    local.say(client, "MSET a 1 b 2 c 3");
    let drawn: BTreeSet<String> = (0..200).map(|_| local.say(client, "RANDOMKEY")).collect();
    assert_eq!(drawn, BTreeSet::from(["a".into(), "b".into(), "c".into()]));
    local.say(client, "SELECT 1");
    assert_eq!(local.say(client, "RANDOMKEY"), "(nil)");
}

/// All names that a whole SCAN gives.
fn names(local: &mut Local, client: Client, options: &str) -> BTreeSet<String> {
    let (mut cursor, mut names) = ("0".to_owned(), BTreeSet::new());
    loop {
        let words = format!("SCAN {cursor} {options}");
        let words = caudal_text::words::split(words.as_bytes()).expect("balanced quotes");
        let Frame::Array(page) = local.call(client, &words) else { panic!("{words:?}") };
        let [Frame::Bulk(next), Frame::Array(found)] = &page[..] else { panic!("{page:?}") };
        for name in found {
            let Frame::Bulk(name) = name else { panic!("{name:?}") };
            names.insert(String::from_utf8(name.clone()).expect("names are text"));
        }
        cursor = String::from_utf8(next.clone()).expect("cursors are digits");
        if cursor == "0" {
            return names;
        }
    }
}

#[test]
fn scan_gives_every_key_that_is_there_throughout() {
    let (mut local, client) = store();
    for index in 0..5000 {
        local.say(client, &format!("SET s:{index} v"));
    }
    let (mut cursor, mut found, mut round) = ("0".to_owned(), BTreeSet::new(), 0);
    loop {
        let reply = local.call(client, &["SCAN", &cursor, "COUNT", "100", "MATCH", "s:*"]);
        let Frame::Array(page) = reply else { panic!("an array") };
        let [Frame::Bulk(next), Frame::Array(names)] = &page[..] else { panic!("{page:?}") };
        found.extend(names.iter().cloned().map(|name| match name {
            Frame::Bulk(name) => name,
            other => panic!("{other:?}"),
        }));
        for index in 0..50 {
            local.say(client, &format!("SET other:{round}:{index} v"));
            if index % 10 > 0 {
                local.say(client, &format!("DEL other:{round}:{index}"));
            }
        }
        round += 1;
        cursor = String::from_utf8(next.clone()).expect("cursors are digits");
        if cursor == "0" {
            break;
        }
        assert!(round < 2000, "a walk ends");
    }
    assert_eq!(found.len(), 5000);
}

#[test]
fn the_first_call_of_scan_shows_a_small_database_whole() {
    let (mut local, client) = store();
    assert_eq!(local.say(client, "SCAN 0"), "[0 []]");
    local.say(client, "SET \"\" v");
    assert_eq!(local.say(client, "SCAN 0"), "[0 [\"\"]]");
    // The empty name matches `*`, and no other row of stars.
    assert_eq!(local.say(client, "SCAN 0 MATCH *"), "[0 [\"\"]]");
    assert_eq!(local.say(client, "SCAN 0 MATCH **"), "[0 []]");
    assert_eq!(local.say(client, "KEYS **"), "[]");
}

#[test]
fn database_numbers_are_32_bit_numbers_of_a_database() {
    let beyond = "-ERR value is out of range, value must between -2147483648 and 2147483647";
    let (mut local, client) = store();
    local.say(client, "SET a v");
    for command in ["SELECT", "MOVE a", "COPY a b DB"] {
        let mut say = |number| local.say(client, &format!("{command} {number}"));
        for number in ["2147483648", "-2147483649", "9223372036854775807"] {
            assert_eq!(say(number), beyond, "{command} {number}");
        }
        for number in ["16", "-1", "2147483647", "-2147483648"] {
            assert_eq!(say(number), "-ERR DB index is out of range", "{command} {number}");
        }
        for number in ["9223372036854775808", "x", "01", ""] {
            let number = if number.is_empty() { "\"\"" } else { number };
            assert_eq!(say(number), NOT_INTEGER, "{command} {number}");
        }
    }
    assert_eq!(local.say(client, "COPY a b DB 2 REPLACE"), ":1");
    assert_eq!(local.say(client, "COPY a b REPLACE DB 2"), ":1");
}

#[test]
fn scan_filters_and_checks_its_words() {
    let (mut local, client) = store();
    local.say(client, "MSET a 1 b 2 ab 3");
    assert_eq!(names(&mut local, client, "MATCH a*").len(), 2);
    assert_eq!(names(&mut local, client, "TYPE STRING COUNT 9223372036854775807").len(), 3);
    assert_eq!(names(&mut local, client, "TYPE stream").len(), 0);
    for options in ["COUNT 0", "COUNT -1", "COUNT", "MATCH", "TYPE", "foo", "foo bar"] {
        assert_eq!(local.say(client, &format!("SCAN 0 {options}")), SYNTAX, "{options}");
    }
    assert_eq!(local.say(client, "SCAN 0 COUNT x"), NOT_INTEGER);
    run(
        &mut local,
        client,
        "SCAN 0 TYPE nosuch -> -ERR unknown type name 'nosuch'
        SCAN 0 NOVALUES -> -ERR NOVALUES option can only be used in HSCAN
        SCAN x -> -ERR invalid cursor
        SCAN -1 -> -ERR invalid cursor
        SCAN 18446744073709551616 -> -ERR invalid cursor
        SCAN 18446744073709551615 -> [0 []]
        SCAN -> -ERR wrong number of arguments for 'scan' command",
    );
}

#[test]
fn whole_database_commands_run_in_a_transaction() {
    check(
        "SET a 1 -> OK
        MULTI -> OK
        KEYS * -> QUEUED
        RANDOMKEY -> QUEUED
        DBSIZE -> QUEUED
        COPY a b DB 1 -> QUEUED
        MOVE a 2 -> QUEUED
        EXEC -> [[a] a :1 :1 :1]",
    );
}

/// What clients can see of some databases: type, text and expiry of each key.
fn digest(local: &mut Local, client: Client) -> BTreeMap<(u8, String), String> {
    let mut digest = BTreeMap::new();
    for database in 0..3 {
        local.say(client, &format!("SELECT {database}"));
        for name in names(local, client, "COUNT 100000") {
            let text = format!(
                "{} {} {}",
                local.say(client, &format!("TYPE {name}")),
                local.say(client, &format!("GET {name}")),
                local.say(client, &format!("PEXPIRETIME {name}")),
            );
            digest.insert((database, name), text);
        }
    }
    digest
}

/// A command on few keys and values, so that they meet.
fn random_command(mut draw: impl FnMut(usize) -> usize) -> String {
    const TEMPLATES: &[&str] = &[
        "SET k v",
        "SET k v",
        "SET k v EX t",
        "SET k v PX t",
        "SET k v KEEPTTL",
        "SET k v GET",
        "SET k v NX",
        "SET k v XX GET",
        "SET k v IFEQ v",
        "SET k GET IFEQ GET GET EX t",
        "SET k v EXAT 1",
        "SET k GET GET",
        "SETEX k t v",
        "PSETEX k t v",
        "SETNX k v",
        "GETSET k v",
        "GETDEL k",
        "GETEX k",
        "GETEX k EX t",
        "GETEX k PX t",
        "GETEX k PERSIST",
        "GETEX k EXAT 1",
        "MSET k v k v",
        "MSETNX k v k v",
        "MSETEX 2 k v k v EX t",
        "MSETEX 2 k v k v XX PX t NX",
        "MSETEX 2 k v k v PX t XX",
        "MSETEX 1 k v EXAT 1",
        "APPEND k v",
        "SETRANGE k n v",
        "INCR k",
        "DECRBY k n",
        "INCRBYFLOAT k 0.5",
        "DELIFEQ k v",
        "DEL k k",
        "UNLINK k",
        "EXPIRE k t",
        "EXPIRE k t NX",
        "PEXPIRE k t GT",
        "EXPIREAT k 1",
        "EXPIRE k n LT",
        "PERSIST k",
        "RENAME k k",
        "RENAMENX k k",
        "COPY k k",
        "COPY k k REPLACE",
        "COPY k k DB d REPLACE",
        "MOVE k d",
        "TOUCH k",
        "SELECT d",
        "GET k",
    ];
    let template = TEMPLATES[draw(TEMPLATES.len())];
    let words = template.split(' ').map(|word| match word {
        "k" => format!("k{}", draw(6)),
        "v" => ["7", "text", "GET", "12345", "\"\"", "1.5"][draw(6)].to_owned(),
        "t" => [1, 5, 40, 3000][draw(4)].to_string(),
        "n" => draw(40).to_string(),
        "d" => draw(3).to_string(),
        other => other.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn effects_redo_what_commands_did() {
    for seed in 1..=20 {
        let (mut draw, mut pair) = (draws(seed), Pair::new());
        for _ in 0..400 {
            if draw(8) == 0 {
                pair.pass(draw(3000) as u64);
            }
            pair.run(&random_command(&mut draw), 0);
        }
        pair.catch_up();
        pair.compare(&format!("seed {seed}"), digest);
    }
}
