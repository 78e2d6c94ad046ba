//! Commands on HyperLogLogs, as a client sees them.

mod support;

use caudal_engine::local::{Client, Local};
use caudal_wire::Frame;
use support::{check, run, store};

const FOREIGN: &str = "-WRONGTYPE Key is not a valid HyperLogLog string value.";
const CORRUPT: &str = "-INVALIDOBJ Corrupted HLL object detected";

/// Lets `key` see the numbers of a range.
fn add(local: &mut Local, client: Client, key: &str, numbers: std::ops::Range<u32>) {
    for number in numbers {
        local.say(client, &format!("PFADD {key} {number}"));
    }
}

#[test]
fn elements_are_counted_once() {
    check(
        "PFADD h a b c a -> :1
        PFADD h a -> :0
        PFADD h -> :0
        PFCOUNT h -> :3
        PFADD h d -> :1
        PFCOUNT h -> :4
        PFADD e -> :1
        PFCOUNT e -> :0
        PFCOUNT none -> :0
        PFCOUNT h none e -> :4
        TYPE h -> string
        OBJECT ENCODING h -> raw",
    );
}

#[test]
fn the_string_is_that_of_redis() {
    check(
        r#"PFADD h a -> :1
        GET h -> "HYLL\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80q\xa6\x84NW"
        PFCOUNT h -> :1
        GET h -> "HYLL\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00q\xa6\x84NW"
        SET other "HYLL\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00q\xa6\x84NW" -> OK
        PFADD other b -> :1
        GET other -> "HYLL\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x80q\xa6\x84K\xfb\x80BZ"
        PFCOUNT other -> :2
        PFMERGE none other -> OK
        PFCOUNT none -> :2"#,
    );
}

#[test]
fn many_elements_make_it_dense_and_the_count_stays_near() {
    let (mut local, client) = store();
    local.say(client, "PFADD h start");
    local.say(client, "EXPIRE h 100");
    add(&mut local, client, "h", 0..5000);
    assert_eq!(local.say(client, "PFDEBUG ENCODING h"), "dense");
    assert_eq!(local.say(client, "STRLEN h"), ":12304");
    let Frame::Integer(count) = local.call(client, &["PFCOUNT", "h"]) else { panic!() };
    assert!((4800..5200).contains(&count), "{count}");
    assert_eq!(local.say(client, "TTL h"), ":100");
    assert_eq!(local.say(client, "PFADD h 77"), ":0");
    assert_eq!(local.say(client, "PFADD h one-more another and-another"), ":1");
}

#[test]
fn the_limit_of_the_sparse_form_can_be_set() {
    let (mut local, client) = store();
    run(
        &mut local,
        client,
        "CONFIG SET hll-sparse-max-bytes 30 -> OK
        PFADD h a b -> :1
        PFDEBUG ENCODING h -> sparse
        PFADD h c d e f g h i -> :1
        PFDEBUG ENCODING h -> dense
        CONFIG SET hll-sparse-max-bytes 20000 -> OK",
    );
    add(&mut local, client, "wide", 0..3000);
    assert_eq!(local.say(client, "PFDEBUG ENCODING wide"), "sparse");
}

#[test]
fn merging_is_seeing_what_all_have_seen() {
    let (mut local, client) = store();
    add(&mut local, client, "a", 0..1000);
    add(&mut local, client, "b", 500..1500);
    add(&mut local, client, "both", 0..1500);
    let together = local.say(client, "PFCOUNT a b");
    assert_eq!(local.say(client, "PFCOUNT both"), together);
    assert_eq!(local.say(client, "PFMERGE a b"), "OK");
    assert_eq!(local.say(client, "PFCOUNT a"), together);
    assert_eq!(local.say(client, "PFMERGE made a b none"), "OK");
    assert_eq!(local.say(client, "PFCOUNT made"), together);
    assert_eq!(local.say(client, "PFMERGE alone"), "OK");
    assert_eq!(local.say(client, "PFCOUNT alone"), ":0");
    add(&mut local, client, "wide", 0..4000);
    assert_eq!(local.say(client, "PFMERGE alone wide"), "OK");
    assert_eq!(local.say(client, "PFDEBUG ENCODING alone"), "dense");
}

#[test]
fn a_damaged_one_is_refused_and_nothing_is_made_of_it() {
    let (mut local, client) = store();
    run(&mut local, client, "PFADD h a -> :1\nAPPEND h hello -> :26\nPFADD g a b -> :1");
    for command in ["PFCOUNT h", "PFMERGE x h", "PFCOUNT g h", "PFDEBUG GETREG h", "PFMERGE h g"] {
        assert_eq!(local.say(client, command), CORRUPT, "{command}");
    }
    assert_eq!(local.say(client, "EXISTS x"), ":0");
    local.say(client, r#"SET cut "HYLL\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x7f""#);
    assert_eq!(local.say(client, "PFADD cut a"), CORRUPT);
    assert_eq!(local.say(client, "PFCOUNT cut"), CORRUPT);
    local.say(client, r#"SET kept "HYLL\x01\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00""#);
    assert_eq!(local.say(client, "PFCOUNT kept"), ":5");
}

#[test]
fn other_strings_and_types_are_refused() {
    let (mut local, client) = store();
    run(&mut local, client, "SET s foo -> OK\nSET n 12 -> OK\nRPUSH l a -> :1");
    for command in ["PFADD s a", "PFCOUNT s", "PFMERGE s", "PFMERGE d s", "PFCOUNT n none"] {
        assert_eq!(local.say(client, command), FOREIGN, "{command}");
    }
    for command in ["PFADD l a", "PFCOUNT l", "PFMERGE d l", "PFDEBUG ENCODING l"] {
        let text = "-WRONGTYPE Operation against a key holding the wrong kind of value";
        assert_eq!(local.say(client, command), text, "{command}");
    }
}

#[test]
fn the_inside_can_be_seen() {
    let (mut local, client) = store();
    run(
        &mut local,
        client,
        "PFADD h a b -> :1
        PFDEBUG DECODE h -> \"Z:12711 v:2,1 Z:3068 v:1,1 Z:603\"
        PFDEBUG TODENSE h -> :1
        PFDEBUG TODENSE h -> :0
        PFDEBUG DECODE h -> -ERR HLL encoding is not sparse
        PFDEBUG FOO h -> -ERR Unknown PFDEBUG subcommand 'FOO'
        PFDEBUG FOO none -> -ERR The specified key does not exist
        PFDEBUG SIMD OFF -> disabled
        PFCOUNT h -> :2
        PFSELFTEST -> OK",
    );
    let Frame::Array(registers) = local.call(client, &["PFDEBUG", "GETREG", "h"]) else { panic!() };
    assert_eq!(registers.len(), 16_384);
    assert_eq!(registers[12_711], Frame::Integer(2));
    assert_eq!(registers.iter().filter(|it| **it != Frame::Integer(0)).count(), 2);
}

#[test]
fn counting_writes_its_count_and_so_tells_watchers() {
    let (mut local, client) = store();
    let other = local.connect(0);
    let mut commits = |command: &str| {
        local.say(client, "WATCH h");
        local.say(other, command);
        local.say(client, "MULTI");
        local.say(client, "EXEC") != "(nil)"
    };
    assert!(!commits("PFADD h a"));
    assert!(commits("PFADD h a"));
    assert!(!commits("PFCOUNT h"));
    assert!(commits("PFCOUNT h"));
    assert!(!commits("PFMERGE h"));
}
