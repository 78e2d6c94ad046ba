//! Entries that consumer groups refer to: deleted with or without that, given back, claimed.

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

/// Three entries and a group that has read none.
const THREE: &str = "XADD s 1-0 a 1 -> 1-0
    XADD s 2-0 a 2 -> 2-0
    XADD s 3-0 a 3 -> 3-0
    XGROUP CREATE s g 0 -> OK\n";

#[test]
fn a_group_reads_each_entry_once() {
    check(&format!(
        "{THREE}XREADGROUP GROUP g c COUNT 1 STREAMS s > -> [[s [[1-0 [a 1]]]]]
        XREADGROUP GROUP g d STREAMS s > -> [[s [[2-0 [a 2]] [3-0 [a 3]]]]]
        XREADGROUP GROUP g d STREAMS s > -> (nil)
        XREADGROUP GROUP g d STREAMS s 0 -> [[s [[2-0 [a 2]] [3-0 [a 3]]]]]
        XREADGROUP GROUP g d COUNT 1 STREAMS s 2 -> [[s [[3-0 [a 3]]]]]
        XREADGROUP GROUP g e STREAMS s 0 -> [[s []]]
        XPENDING s g -> [:3 1-0 3-0 [[c 1] [d 2]]]
        XACK s g 2-0 2-0 9-9 -> :1
        XACK s x 2-0 -> :0
        XACK none g x -> :0
        XPENDING s g -> [:2 1-0 3-0 [[c 1] [d 1]]]
        XGROUP DELCONSUMER s g c -> :1
        XGROUP DELCONSUMER s g c -> :0
        XPENDING s g - + 10 d -> [[3-0 d :0 :3]]
        XGROUP DESTROY s g -> :1
        XGROUP DESTROY s g -> :0"
    ));
}

#[test]
fn entries_go_with_or_without_what_refers_to_them() {
    check(&format!(
        "{THREE}XGROUP CREATE s h 0 -> OK
        XREADGROUP GROUP g c STREAMS s > -> [[s [[1-0 [a 1]] [2-0 [a 2]] [3-0 [a 3]]]]]
        XREADGROUP GROUP h c COUNT 1 STREAMS s > -> [[s [[1-0 [a 1]]]]]
        XDELEX s ACKED IDS 4 1-0 2-0 9-9 0-1 -> [:2 :2 :2 :-1]
        XDELEX s IDS 1 3-0 -> [:1]
        XPENDING s g - + 10 -> [[1-0 c :0 :1] [2-0 c :0 :1] [3-0 c :0 :1]]
        XDELEX s DELREF IDS 1 1-0 -> [:1]
        XPENDING s g - + 10 -> [[2-0 c :0 :1] [3-0 c :0 :1]]
        XPENDING s h -> [:0 (nil) (nil) (nil)]
        XACK s g 2-0 -> :1
        XDELEX s IDS 1 2-0 ACKED -> [:2]
        XGROUP SETID s h $ -> OK
        XDELEX s ACKED IDS 1 2-0 -> [:1]
        XLEN s -> :0
        XDELEX none IDS 2 1 2 -> [:-1 :-1]
        XDELEX s IDS 2 1-0 -> -ERR The `numids` parameter must match the number of arguments
        XDELEX s IDS 0 1-0 -> -ERR Number of IDs must be a positive integer
        XDELEX s IDS x 1-0 -> -ERR Number of IDs must be a positive integer
        XDELEX s IDS 1 1-0 2-0 -> -ERR syntax error
        XDELEX s KEEPREF DELREF IDS 1 1-0 -> -ERR syntax error
        XDELEX s IDS 1 x -> BAD_ID
        SET t x -> OK
        XDELEX t IDS 1 1 -> WRONG_TYPE"
    ));
}

#[test]
fn entries_are_acknowledged_and_deleted_at_once() {
    check(&format!(
        "{THREE}XGROUP CREATE s h 0 -> OK
        XREADGROUP GROUP g c STREAMS s > -> [[s [[1-0 [a 1]] [2-0 [a 2]] [3-0 [a 3]]]]]
        XREADGROUP GROUP h d STREAMS s > -> [[s [[1-0 [a 1]] [2-0 [a 2]] [3-0 [a 3]]]]]
        XACKDEL s g ACKED IDS 2 1-0 9-9 -> [:2 :-1]
        XACKDEL s h ACKED IDS 1 1-0 -> [:1]
        XACKDEL s g IDS 1 2-0 -> [:1]
        XPENDING s h -> [:2 2-0 3-0 [[d 2]]]
        XACKDEL s g DELREF IDS 1 3-0 -> [:1]
        XPENDING s h -> [:1 2-0 2-0 [[d 1]]]
        XACKDEL s h DELREF IDS 1 2-0 -> [:1]
        XACKDEL s x IDS 1 2-0 -> [:-1]
        XACKDEL none x IDS 1 2-0 -> [:-1]
        XLEN s -> :0
        XACKDEL s g IDS 1 -> -ERR wrong number of arguments for 'xackdel' command"
    ));
}

#[test]
fn cuts_spare_what_is_referred_to() {
    check(&format!(
        "{THREE}XREADGROUP GROUP g c COUNT 2 STREAMS s > -> [[s [[1-0 [a 1]] [2-0 [a 2]]]]]
        XACK s g 1-0 -> :1
        XTRIM s ACKED MAXLEN 0 -> :1
        XADD s MAXLEN 2 ACKED 4-0 a 4 -> 4-0
        XLEN s -> :3
        XTRIM s MINID 3-0 DELREF -> :1
        XPENDING s g -> [:0 (nil) (nil) (nil)]
        XTRIM s ACKED KEEPREF MAXLEN 0 -> -ERR syntax error
        XADD s KEEPREF KEEPREF MAXLEN 0 10 a 1 -> BAD_ID
        XADD s DELREF 5-0 a 1 -> 5-0"
    ));
}

#[test]
fn entries_are_given_back() {
    let (mut local, client) = store();
    run(&mut local, client, THREE);
    let max = i64::MAX;
    run(
        &mut local,
        client,
        &format!(
            "XREADGROUP GROUP g c STREAMS s > -> [[s [[1-0 [a 1]] [2-0 [a 2]] [3-0 [a 3]]]]]
            XNACK s g FAIL IDS 2 3-0 9-9 -> :1
            XNACK s g SILENT IDS 1 1-0 -> :1
            XPENDING s g - + 10 -> [[1-0 \"\" :-1 :0] [2-0 c :0 :1] [3-0 \"\" :-1 :1]]
            XPENDING s g - + 10 c -> [[2-0 c :0 :1]]
            XPENDING s g -> [:3 1-0 3-0 [[c 1]]]
            XREADGROUP GROUP g c STREAMS s 0 -> [[s [[2-0 [a 2]]]]]
            XREADGROUP GROUP g d COUNT 1 CLAIM 100 STREAMS s > -> \
            [[s [[3-0 [a 3] :{BEGIN_MS} :1]]]]
            XNACK s g FATAL IDS 1 1-0 -> :1
            XPENDING s g - + 1 -> [[1-0 \"\" :-1 :{max}]]
            XNACK s g FATAL IDS 1 1-0 RETRYCOUNT 4 -> :1
            XCLAIM s g e 99999 1-0 -> [[1-0 [a 1]]]
            XPENDING s g - + 1 -> [[1-0 e :0 :5]]
            XACK s g 1-0 -> :1
            XNACK s g FAIL IDS 1 1-0 -> :0
            XNACK s g FAIL FORCE IDS 2 1-0 9-9 -> :1
            XAUTOCLAIM s g e 99999 0 COUNT 1 -> [2-0 [[1-0 [a 1]]] []]
            XNACK s g FAIL IDS 1 2-0 -> :1
            XGROUP DELCONSUMER s g c -> :0
            XPENDING s g IDLE 9999 - + 10 -> [[2-0 \"\" :-1 :2]]
            COPY s t -> :1
            XNACK t g FAIL IDS 1 2-0 -> :1"
        ),
    );
    let full = local.say(client, "XINFO STREAM s FULL");
    assert!(full.contains("pel-count :3 nacked-count :1 pending"), "{full}");
    run(
        &mut local,
        client,
        "XNACK none g FAIL IDS 1 1 -> -NOGROUP No such key 'none' or consumer group 'g'
        XNACK s g BAD IDS 1 1 -> -ERR mode must be SILENT, FAIL, or FATAL
        XNACK s g FAIL FATAL IDS 1 1 -> -ERR Unrecognized XNACK option 'FATAL'
        XNACK s g FAIL IDS 1 1-0 2-0 -> -ERR Unrecognized XNACK option '2-0'
        XNACK s g FAIL IDS 1 1-0 RETRYCOUNT -> -ERR Unrecognized XNACK option 'RETRYCOUNT'
        XNACK s g FAIL IDS 1 1-0 RETRYCOUNT -1 -> -ERR Invalid RETRYCOUNT value, must be >= 0
        XNACK s g FAIL FORCE RETRYCOUNT 5 -> -ERR syntax error, expected IDS keyword
        XNACK s g FAIL IDS 0 1-0 -> -ERR numids must be a positive integer
        XNACK s g FAIL IDS 2 1-0 -> -ERR number of IDs doesn't match numids",
    );
}

#[test]
fn readers_may_claim_first() {
    let (mut local, client) = store();
    run(&mut local, client, THREE);
    run(
        &mut local,
        client,
        "XREADGROUP GROUP g c COUNT 2 STREAMS s > -> [[s [[1-0 [a 1]] [2-0 [a 2]]]]]
        XCLAIM s g c 0 2-0 IDLE 500 JUSTID -> [2-0]",
    );
    local.advance_ms(100);
    run(
        &mut local,
        client,
        "XREADGROUP GROUP g d CLAIM 601 COUNT 1 STREAMS s > -> [[s [[3-0 [a 3] :0 :0]]]]
        XREADGROUP GROUP g d CLAIM 50 STREAMS s > -> \
            [[s [[2-0 [a 2] :600 :1] [1-0 [a 1] :100 :1]]]]
        XREADGROUP GROUP g d CLAIM 50 STREAMS s > -> (nil)
        XADD s 4-0 a 4 -> 4-0
        XREADGROUP GROUP g d CLAIM 0 NOACK COUNT 4 STREAMS s > -> [[s [[1-0 [a 1] :0 :2] \
            [2-0 [a 2] :0 :2] [3-0 [a 3] :0 :1] [4-0 [a 4] :0 :0]]]]
        XPENDING s g - + 10 -> [[1-0 d :0 :3] [2-0 d :0 :3] [3-0 d :0 :2]]
        XREADGROUP GROUP g d CLAIM 9 STREAMS s 2-0 -> [[s [[3-0 [a 3]]]]]
        XTRIM s MAXLEN 0 -> :4
        XREADGROUP GROUP g d CLAIM 0 STREAMS s > -> (nil)
        XPENDING s g -> [:0 (nil) (nil) (nil)]
        XREAD CLAIM 5 STREAMS s 0 -> -ERR The CLAIM option is only supported by XREADGROUP. \
            You called XREAD instead.
        XREADGROUP GROUP g d CLAIM x STREAMS s > -> -ERR min-idle-time is not an integer
        XREADGROUP GROUP g d CLAIM -1 STREAMS s > -> \
            -ERR min-idle-time must be a positive integer",
    );
}
