//! Entries of streams, as clients see them: adding, cutting, reading.

mod support;

use caudal_engine::local::{BEGIN_MS, Client, Local};
use support::{run_naming, store};

const WRONG_TYPE: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value";
const BAD_ID: &str = "-ERR Invalid stream ID specified as stream command argument";

/// Replies by name.
const NAMES: [(&str, &str); 2] = [("WRONG_TYPE", WRONG_TYPE), ("BAD_ID", BAD_ID)];

/// Runs lines of the form `command -> reply`.
fn check(script: &str) {
    let (mut local, client) = store();
    run(&mut local, client, script);
}

fn run(local: &mut Local, client: Client, script: &str) {
    run_naming(local, client, script, &NAMES);
}

#[test]
fn entries_are_added_and_read_in_order() {
    check(
        "XADD s 1-1 a 1 -> 1-1
        XADD s 2 name ada born 1815 -> 2-0
        XADD s 2-* b \"\" -> 2-1
        XLEN s -> :3
        XLEN none -> :0
        XRANGE s - + -> [[1-1 [a 1]] [2-0 [name ada born 1815]] [2-1 [b \"\"]]]
        XREVRANGE s + - COUNT 2 -> [[2-1 [b \"\"]] [2-0 [name ada born 1815]]]
        XRANGE s 2 2 -> [[2-0 [name ada born 1815]] [2-1 [b \"\"]]]
        XRANGE s (1-1 (2-1 -> [[2-0 [name ada born 1815]]]
        XRANGE s - + COUNT 0 -> (nil)
        XRANGE s - + COUNT -1 -> (nil)
        XRANGE none - + COUNT 0 -> []
        XREVRANGE s 1 2 -> []
        TYPE s -> stream
        OBJECT ENCODING s -> stream
        SCAN 0 TYPE stream -> [0 [s]]",
    );
}

#[test]
fn ids_come_from_the_clock_but_never_go_back() {
    let (mut local, client) = store();
    assert_eq!(local.say(client, "XADD s * a 1"), format!("{BEGIN_MS}-0"));
    assert_eq!(local.say(client, "XADD s * a 1"), format!("{BEGIN_MS}-1"));
    assert_eq!(local.say(client, &format!("XADD s {}-5 a 1", BEGIN_MS + 9)), {
        format!("{}-5", BEGIN_MS + 9)
    });
    assert_eq!(local.say(client, "XADD s * a 1"), format!("{}-6", BEGIN_MS + 9));
    local.advance_ms(10);
    assert_eq!(local.say(client, "XADD s * a 1"), format!("{}-0", BEGIN_MS + 10));
}

#[test]
fn ids_must_grow_and_end_some_day() {
    let small = "-ERR The ID specified in XADD is equal or smaller than the target stream top item";
    let zero = "-ERR The ID specified in XADD must be greater than 0-0";
    let full = "-ERR The stream has exhausted the last possible ID, unable to add more items";
    check(&format!(
        "XADD none NOMKSTREAM * a 1 -> (nil)
        XADD none NOMKSTREAM 0-0 a 1 -> {zero}
        EXISTS none -> :0
        XADD s 5-* a 1 -> 5-0
        XADD s 5-* a 1 -> 5-1
        XADD s 4-* a 1 -> {small}
        XADD s 5-1 a 1 -> {small}
        XADD s 0-0 a 1 -> {zero}
        XADD new 0-0 a 1 -> {zero}
        EXISTS new -> :0
        XADD z 0-* a 1 -> 0-1
        XADD e 18446744073709551615-18446744073709551614 a b -> \
            18446744073709551615-18446744073709551614
        XADD e * a b -> 18446744073709551615-18446744073709551615
        XADD e * a b -> {full}
        XADD e 18446744073709551615-* a b -> {full}"
    ));
}

#[test]
fn words_that_are_no_ids_are_refused() {
    check(
        "XADD s - a 1 -> BAD_ID
        XADD s 1- a 1 -> BAD_ID
        XADD s -1 a 1 -> BAD_ID
        XADD s 1-x a 1 -> BAD_ID
        XADD s 18446744073709551616 a 1 -> BAD_ID
        XADD s 007-+3 a 1 -> 7-3
        XRANGE s (- + -> BAD_ID
        XRANGE s ( + -> BAD_ID
        XRANGE none x + -> BAD_ID
        XRANGE s (18446744073709551615-18446744073709551615 + -> \
            -ERR invalid start ID for the interval
        XRANGE s - (0-0 -> -ERR invalid end ID for the interval
        XDEL s 7-3 x -> BAD_ID
        XLEN s -> :1
        XDEL none x -> :0
        XRANGE s - + COUNT -> -ERR syntax error
        XRANGE s - + COUNT x -> -ERR value is not an integer or out of range
        XRANGE s - + x -> -ERR syntax error",
    );
}

#[test]
fn other_types_are_refused() {
    check(
        "SET t x -> OK
        XADD t * a 1 -> WRONG_TYPE
        XLEN t -> WRONG_TYPE
        XDEL t 1 -> WRONG_TYPE
        XTRIM t MAXLEN 1 -> WRONG_TYPE
        XRANGE t - + COUNT 0 -> WRONG_TYPE
        XREAD STREAMS t x -> WRONG_TYPE
        XADD s 1 a 1 -> 1-0
        GET s -> WRONG_TYPE
        LPUSH s a -> WRONG_TYPE",
    );
}

#[test]
fn fields_need_values() {
    let arity = "-ERR wrong number of arguments for 'xadd' command";
    check(&format!(
        "XADD s * a -> {arity}
        XADD s * a 1 b -> {arity}
        XADD s 9-9 -> {arity}
        XADD s MAXLEN 3 9-9 -> {arity}
        XADD s NOMKSTREAM 9-9 a b c -> {arity}
        XDEL s -> -ERR wrong number of arguments for 'xdel' command
        XTRIM s MAXLEN -> -ERR wrong number of arguments for 'xtrim' command"
    ));
}

#[test]
fn a_stream_without_entries_stays() {
    check(
        "XADD s MAXLEN 0 8-0 a 1 -> 8-0
        XLEN s -> :0
        EXISTS s -> :1
        XADD s 7-0 a 1 -> \
            -ERR The ID specified in XADD is equal or smaller than the target stream top item
        XADD s 9-0 a 1 -> 9-0
        XDEL s 9-0 9-0 1-1 -> :1
        XRANGE s - + -> []
        XREVRANGE s + - -> []
        XREAD STREAMS s + -> (nil)
        COPY s t -> :1
        RENAME t u -> OK
        XLEN u -> :0",
    );
}

#[test]
fn the_oldest_entries_are_cut_off() {
    check(
        "XADD s 1 a 1 -> 1-0
        XADD s 2 a 2 -> 2-0
        XADD s 3 a 3 -> 3-0
        XADD s MAXLEN = 3 4 a 4 -> 4-0
        XRANGE s - + COUNT 1 -> [[2-0 [a 2]]]
        XTRIM s MAXLEN 5 -> :0
        XTRIM s MINID 3-0 -> :1
        XTRIM s MINID = 3-0 -> :0
        XTRIM none MAXLEN 0 -> :0
        XTRIM s MAXLEN ~ 1 -> :0
        XADD s MINID 4 9-0 a 9 -> 9-0
        XRANGE s - + -> [[4-0 [a 4]] [9-0 [a 9]]]
        XADD s MINID 99 10-0 a 9 -> 10-0
        XLEN s -> :0",
    );
}

#[test]
fn bad_cuts_are_refused() {
    let no_sign = "-ERR syntax error, LIMIT cannot be used without the special ~ option";
    let no_cut = "-ERR syntax error, LIMIT cannot be used without specifying a trimming strategy";
    let both = "-ERR syntax error, MAXLEN and MINID options at the same time are not compatible";
    check(&format!(
        "XADD s MAXLEN 9 LIMIT 10 7-0 a 1 -> {no_sign}
        XADD s MAXLEN = 9 LIMIT 0 7-0 a 1 -> {no_sign}
        XADD s LIMIT 3 7-0 a 1 -> {no_cut}
        XADD s LIMIT 0 7-0 a 1 -> {no_sign}
        XADD s LIMIT -3 7-0 a 1 -> -ERR The LIMIT argument must be >= 0.
        XADD s MAXLEN -1 7-0 a 1 -> -ERR The MAXLEN argument must be >= 0.
        XADD s MAXLEN x 7-0 a 1 -> -ERR value is not an integer or out of range
        XADD s MAXLEN 3 MINID 3 7-0 a 1 -> {both}
        XTRIM s MAXLEN 3 MAXLEN 3 -> {both}
        XTRIM s x 3 -> -ERR syntax error
        XTRIM s NOMKSTREAM MAXLEN 3 -> -ERR syntax error
        XTRIM s LIMIT 3 -> {no_cut}
        XTRIM s LIMIT 0 LIMIT 0 -> \
            -ERR syntax error, XTRIM must be called with a trimming strategy
        XTRIM s MINID x -> BAD_ID
        EXISTS s -> :0"
    ));
}

#[test]
fn approximate_cuts_take_whole_blocks() {
    let (mut local, client) = store();
    run(&mut local, client, "CONFIG SET stream-node-max-entries 10 -> OK");
    for ms in 1..=95 {
        local.say(client, &format!("XADD s {ms} a 1"));
    }
    run(
        &mut local,
        client,
        "XTRIM s MAXLEN ~ 60 -> :30
        XTRIM s MAXLEN ~ 60 LIMIT 4 -> :0
        XTRIM s MINID ~ 65 LIMIT 15 -> :10
        XTRIM s MINID ~ 65 LIMIT 0 -> :20
        XLEN s -> :35
        XADD s MAXLEN ~ 30 96-0 a 1 -> 96-0
        XLEN s -> :36
        XADD s MAXLEN ~ 26 97-0 a 1 -> 97-0
        XLEN s -> :27",
    );
}

#[test]
fn nodes_are_as_large_as_the_directives_say() {
    let (mut local, client) = store();
    let blocks = |local: &mut Local| {
        let said = local.say(client, "XINFO STREAM s");
        let at = said.find("radix-tree-keys :").expect("the field") + "radix-tree-keys :".len();
        said[at..].split(' ').next().unwrap().parse::<u32>().unwrap()
    };
    run(&mut local, client, "CONFIG SET stream-node-max-bytes 300 -> OK");
    let value = "v".repeat(100);
    for ms in 1..=10 {
        local.say(client, &format!("XADD s {ms} a {value}"));
    }
    assert_eq!(blocks(&mut local), 5);
    run(&mut local, client, "CONFIG SET stream-node-max-bytes 0 -> OK");
    run(&mut local, client, "CONFIG SET stream-node-max-entries 0 -> OK");
    for ms in 11..=500 {
        local.say(client, &format!("XADD s {ms} a {value}"));
    }
    assert_eq!(blocks(&mut local), 5);
}

#[test]
fn several_streams_are_read_at_once() {
    check(
        "XADD s 1-0 a 1 -> 1-0
        XADD s 2-0 a 2 -> 2-0
        XADD t 5-0 b 1 -> 5-0
        XREAD STREAMS s t 0 0 -> [[s [[1-0 [a 1]] [2-0 [a 2]]]] [t [[5-0 [b 1]]]]]
        XREAD COUNT 1 STREAMS s none t 1 0 5 -> [[s [[2-0 [a 2]]]]]
        XREAD STREAMS s + -> [[s [[2-0 [a 2]]]]]
        XREAD STREAMS none + -> (nil)
        XREAD STREAMS s $ -> (nil)
        XREAD COUNT 0 STREAMS s 0 -> [[s [[1-0 [a 1]] [2-0 [a 2]]]]]
        XREAD COUNT -1 STREAMS s 1-0 -> [[s [[2-0 [a 2]]]]]
        COMMAND GETKEYS XREAD COUNT 1 STREAMS a b 0 0 -> [a b]",
    );
}

#[test]
fn in_resp3_streams_are_a_map() {
    let (mut local, client) = store();
    local.say(client, "HELLO 3");
    run(
        &mut local,
        client,
        "XADD s 1-0 a 1 -> 1-0
        XREAD COUNT 1 STREAMS s 0-0 -> {s: [[1-0 [a 1]]]}
        XREAD STREAMS s s 0 0 -> {s: [[1-0 [a 1]]] s: [[1-0 [a 1]]]}
        XREAD STREAMS s 9-0 -> (nil)
        XRANGE s - + COUNT 0 -> (nil)
        XRANGE s - + -> [[1-0 [a 1]]]",
    );
}

#[test]
fn bad_readings_are_refused() {
    let only = |option: &str| {
        format!(
            "-ERR The {option} option is only supported by XREADGROUP. You called XREAD instead."
        )
    };
    check(&format!(
        "XREAD STREAMS s t 0 -> -ERR Unbalanced 'xread' list of streams: for each stream key an \
            ID or '$' must be specified.
        XREAD COUNT 1 STREAMS -> -ERR syntax error
        XREAD COUNT x STREAMS s 0 -> -ERR value is not an integer or out of range
        XREAD BLOCK x STREAMS s 0 -> -ERR timeout is not an integer or out of range
        XREAD BLOCK -1 STREAMS s 0 -> -ERR timeout is negative
        XREAD x STREAMS s 0 -> -ERR syntax error
        XREAD GROUP g c STREAMS s 0 -> {}
        XREAD NOACK STREAMS s 0 -> {}
        XREAD STREAMS s > -> -ERR The > ID can be specified only when calling XREADGROUP using \
            the GROUP <group> <consumer> option.
        XREAD STREAMS s - -> BAD_ID
        XREAD STREAMS s (1 -> BAD_ID",
        only("GROUP"),
        only("NOACK"),
    ));
}

#[test]
fn words_that_look_like_options_may_be_keys() {
    check(
        "XADD STREAMS 1-0 a 1 -> 1-0
        XADD BLOCK 1-0 a 1 -> 1-0
        XREAD STREAMS STREAMS BLOCK 0 0 -> [[STREAMS [[1-0 [a 1]]]] [BLOCK [[1-0 [a 1]]]]]
        XREAD BLOCK 10 STREAMS BLOCK 0 -> [[BLOCK [[1-0 [a 1]]]]]
        XREAD COUNT STREAMS STREAMS s 0 -> -ERR value is not an integer or out of range
        XGROUP CREATE BLOCK STREAMS 0 -> OK
        XREADGROUP NOACK GROUP STREAMS STREAMS STREAMS BLOCK > -> [[BLOCK [[1-0 [a 1]]]]]",
    );
}

#[test]
fn watchers_see_entries_come_and_go() {
    let (mut local, client) = store();
    let other = local.connect(0);
    let mut touches = |line: &str| {
        local.say(client, "WATCH s");
        local.say(other, line);
        local.say(client, "MULTI");
        local.say(client, "PING");
        local.say(client, "EXEC") == "(nil)"
    };
    for line in ["XADD s 1 a 1", "XADD s 2 a 1", "XADD s 3 a 1", "XDEL s 2", "XTRIM s MAXLEN 1"] {
        assert!(touches(line), "{line}");
    }
    let aside = [
        "XDEL s 2",
        "XTRIM s MAXLEN 1",
        "XREAD STREAMS s 0",
        "XGROUP CREATE s g 0",
        "XGROUP CREATECONSUMER s g c",
        "XREADGROUP GROUP g c STREAMS s >",
        "XCLAIM s g d 0 3",
        "XAUTOCLAIM s g e 0 0",
        "XACK s g 3",
        "XGROUP SETID s g 0",
        "XGROUP DELCONSUMER s g c",
        "XGROUP DESTROY s g",
        "XSETID s 9",
    ];
    for line in aside {
        assert!(!touches(line), "{line}");
    }
    assert!(touches("XGROUP CREATE s g 0") || touches("DEL s"));
    assert!(touches("XGROUP CREATE s g 0 MKSTREAM"), "the key is new");
}

#[test]
fn a_copy_does_not_follow_the_original() {
    check(
        "XADD s 1 a 1 -> 1-0
        XGROUP CREATE s g 0 -> OK
        COPY s t -> :1
        XADD s 2 a 2 -> 2-0
        XDEL s 1 -> :1
        XGROUP DESTROY s g -> :1
        XRANGE t - + -> [[1-0 [a 1]]]
        XREADGROUP GROUP g c STREAMS t > -> [[t [[1-0 [a 1]]]]]
        XRANGE s - + -> [[2-0 [a 2]]]",
    );
}
