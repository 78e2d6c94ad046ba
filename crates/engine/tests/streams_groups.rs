//! Consumer groups, as clients see them; and that effects redo what they do.

mod support;

use caudal_engine::local::{BEGIN_MS, Client, Local};
use support::{replies, run_naming, store};

const WRONG_TYPE: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value";
const BAD_ID: &str = "-ERR Invalid stream ID specified as stream command argument";
const NO_KEY: &str = "-ERR The XGROUP subcommand requires the key to exist. Note that for CREATE \
    you may want to use the MKSTREAM option to create an empty stream automatically.";
const NO_GROUP: &str = "-NOGROUP No such key 's' or consumer group 'x'";

/// Replies by name.
const NAMES: [(&str, &str); 4] =
    [("WRONG_TYPE", WRONG_TYPE), ("BAD_ID", BAD_ID), ("NO_KEY", NO_KEY), ("NO_GROUP", NO_GROUP)];

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
fn without_acknowledgement_nothing_is_pending() {
    check(&format!(
        "{THREE}XREADGROUP GROUP g c NOACK COUNT 2 STREAMS s > -> [[s [[1-0 [a 1]] [2-0 [a 2]]]]]
        XPENDING s g -> [:0 (nil) (nil) (nil)]
        XINFO CONSUMERS s g -> [[name c pending :0 idle :0 inactive :-1]]
        XINFO GROUPS s -> [[name g consumers :1 pending :0 last-delivered-id 2-0 \
            entries-read :2 lag :1]]"
    ));
}

#[test]
fn a_stream_may_be_named_twice() {
    check(&format!(
        "{THREE}XREADGROUP GROUP g c COUNT 2 STREAMS s s s > 0 > -> \
            [[s [[1-0 [a 1]] [2-0 [a 2]]]] [s [[1-0 [a 1]] [2-0 [a 2]]]] [s [[3-0 [a 3]]]]]"
    ));
}

#[test]
fn groups_are_made_and_moved() {
    check(
        "XGROUP CREATE s g 0 -> NO_KEY
        XGROUP CREATE s g x MKSTREAM -> BAD_ID
        EXISTS s -> :0
        XGROUP CREATE s g $ MKSTREAM -> OK
        XLEN s -> :0
        XGROUP CREATE s g $ MKSTREAM -> -BUSYGROUP Consumer Group name already exists
        XGROUP CREATE s h - -> BAD_ID
        XGROUP CREATE s h 0 ENTRIESREAD -2 -> \
            -ERR value for ENTRIESREAD must be positive or -1
        XGROUP CREATE s h 0 ENTRIESREAD x -> -ERR value is not an integer or out of range
        XGROUP CREATE s h 0 x -> \
            -ERR unknown subcommand or wrong number of arguments for 'CREATE'. Try XGROUP HELP.
        XGROUP SETID s g 0 MKSTREAM -> \
            -ERR unknown subcommand or wrong number of arguments for 'SETID'. Try XGROUP HELP.
        XGROUP SETID s x 0 -> -NOGROUP No such consumer group 'x' for key name 's'
        XGROUP SETID none x 0 -> NO_KEY
        XGROUP SETID s g - -> OK
        XGROUP SETID s g (1 -> BAD_ID
        XGROUP CREATECONSUMER s g c -> :1
        XGROUP CREATECONSUMER s g c -> :0
        XGROUP CREATECONSUMER s x c -> -NOGROUP No such consumer group 'x' for key name 's'
        XGROUP DELCONSUMER s x c -> -NOGROUP No such consumer group 'x' for key name 's'
        XGROUP DESTROY none x -> NO_KEY
        SET t x -> OK
        XGROUP CREATE t g x -> WRONG_TYPE
        XGROUP x -> -ERR unknown subcommand 'x'. Try XGROUP HELP.
        XGROUP SETID s g -> -ERR wrong number of arguments for 'xgroup|setid' command",
    );
}

#[test]
fn help_is_there() {
    let (mut local, client) = store();
    for line in ["XGROUP HELP", "XINFO HELP"] {
        let said = local.say(client, line);
        assert!(said.contains("Subcommands are:") && said.contains("HELP"), "{said}");
    }
}

#[test]
fn a_group_that_is_missing_is_an_error_at_once() {
    let missing = "-NOGROUP No such key 'stream' or consumer group 'g' in XREADGROUP with GROUP \
        option";
    let meaningless = |sign| {
        format!(
            "-ERR The {sign} ID is meaningless in the context of XREADGROUP: you want to read the \
            history of this consumer by specifying a proper ID, or use the > ID to get new \
            messages. The {sign} ID would just return an empty result set."
        )
    };
    check(&format!(
        "XREADGROUP GROUP g c COUNT 10 BLOCK 5000 STREAMS stream > -> {missing}
        XGROUP CREATE stream g 0 MKSTREAM -> OK
        XREADGROUP GROUP g c BLOCK 50 STREAMS stream 0 -> [[stream []]]
        XREADGROUP GROUP g c STREAMS stream $ -> {}
        XREADGROUP GROUP g c STREAMS stream + -> {}
        XREADGROUP GROUP g c STREAMS stream x -> BAD_ID
        XREADGROUP GROUP g c STREAMS stream other > -> -ERR Unbalanced 'xreadgroup' list of \
            streams: for each stream key an ID or '>' must be specified.
        XREADGROUP COUNT 1 BLOCK 1 STREAMS stream > -> -ERR Missing GROUP option for XREADGROUP
        XREADGROUP x g c COUNT STREAMS s 0 -> -ERR syntax error",
        meaningless('$'),
        meaningless('+'),
    ));
}

#[test]
fn what_is_pending_is_listed() {
    let (mut local, client) = store();
    run(&mut local, client, THREE);
    run(&mut local, client, "XREADGROUP GROUP g c1 COUNT 1 STREAMS s > -> [[s [[1-0 [a 1]]]]]");
    local.advance_ms(100);
    run(
        &mut local,
        client,
        "XREADGROUP GROUP g c2 COUNT 1 STREAMS s > -> [[s [[2-0 [a 2]]]]]
        XPENDING s g - + 10 -> [[1-0 c1 :100 :1] [2-0 c2 :0 :1]]
        XPENDING s g - + 10 c2 -> [[2-0 c2 :0 :1]]
        XPENDING s g - + 10 nobody -> []
        XPENDING s g (1-0 + 10 c1 -> []
        XPENDING s g IDLE 100 - + 10 -> [[1-0 c1 :100 :1]]
        XPENDING s g IDLE 101 - + 10 -> []
        XPENDING s g IDLE 0 - + 1 -> [[1-0 c1 :100 :1]]
        XPENDING s g - + 0 -> []
        XPENDING s g - + -1 -> []
        XPENDING s g - + -> -ERR syntax error
        XPENDING s g IDLE 0 - + -> -ERR syntax error
        XPENDING s g IDLE 0 - + 10 c d -> -ERR syntax error
        XPENDING s g - + x -> -ERR value is not an integer or out of range
        XPENDING s g x + 1 -> BAD_ID
        XPENDING s g - (0-0 1 -> -ERR invalid end ID for the interval
        XPENDING s x -> NO_GROUP
        XGROUP DELCONSUMER s g c1 -> :1
        XPENDING s g -> [:1 2-0 2-0 [[c2 1]]]",
    );
}

#[test]
fn entries_change_hands() {
    let (mut local, client) = store();
    run(&mut local, client, THREE);
    run(
        &mut local,
        client,
        "XREADGROUP GROUP g c COUNT 2 STREAMS s > -> [[s [[1-0 [a 1]] [2-0 [a 2]]]]]",
    );
    local.advance_ms(100);
    run(
        &mut local,
        client,
        "XCLAIM s g d 101 1-0 2-0 -> []
        XCLAIM s g d 100 1-0 -> [[1-0 [a 1]]]
        XPENDING s g - + 10 -> [[1-0 d :0 :2] [2-0 c :100 :1]]
        XCLAIM s g d 0 2-0 JUSTID -> [2-0]
        XCLAIM s g d -5 3-0 -> []
        XCLAIM s g d 0 3-0 FORCE JUSTID -> [3-0]
        XCLAIM s g d 0 9-0 FORCE -> []
        XCLAIM s g e 0 3-0 IDLE 40 RETRYCOUNT 7 -> [[3-0 [a 3]]]
        XPENDING s g - + 10 e -> [[3-0 e :40 :7]]
        XCLAIM s g e 0 3-0 TIME 99999999999999 JUSTID -> [3-0]
        XPENDING s g - + 10 e -> [[3-0 e :0 :7]]
        XCLAIM s g e 0 3-0 LASTID 8-0 JUSTID -> [3-0]
        XINFO GROUPS s -> [[name g consumers :3 pending :3 last-delivered-id 8-0 \
            entries-read :2 lag :1]]
        XCLAIM s g d x 1 -> -ERR Invalid min-idle-time argument for XCLAIM
        XCLAIM s g d 0 x -> -ERR Unrecognized XCLAIM option 'x'
        XCLAIM s g d 0 1 IDLE -> -ERR Unrecognized XCLAIM option 'IDLE'
        XCLAIM s g d 0 1 IDLE x -> -ERR Invalid IDLE option argument for XCLAIM
        XCLAIM s g d 0 1 TIME x -> -ERR Invalid TIME option argument for XCLAIM
        XCLAIM s g d 0 1 RETRYCOUNT x -> -ERR Invalid RETRYCOUNT option argument for XCLAIM
        XCLAIM s g d 0 1 LASTID x -> BAD_ID
        XCLAIM s x d x 1 -> NO_GROUP",
    );
}

#[test]
fn what_was_deleted_is_no_longer_claimed() {
    check(&format!(
        "{THREE}XREADGROUP GROUP g A COUNT 2 STREAMS s > -> [[s [[1-0 [a 1]] [2-0 [a 2]]]]]
        XDEL s 1-0 2-0 -> :2
        XREADGROUP GROUP g A STREAMS s 0 -> [[s [[1-0 (nil)] [2-0 (nil)]]]]
        XAUTOCLAIM s g B 0 0 -> [0-0 [] [1-0 2-0]]
        XPENDING s g -> [:0 (nil) (nil) (nil)]
        XREADGROUP GROUP g A STREAMS s > -> [[s [[3-0 [a 3]]]]]
        XDEL s 3-0 -> :1
        XAUTOCLAIM s g B 0 0 JUSTID -> [0-0 [] [3-0]]
        XAUTOCLAIM s g B 0 0 COUNT 0 -> -ERR COUNT must be > 0
        XADD s 4-0 a 4 -> 4-0
        XREADGROUP GROUP g A STREAMS s > -> [[s [[4-0 [a 4]]]]]
        XDEL s 4-0 -> :1
        XCLAIM s g B 0 4-0 -> []
        XPENDING s g -> [:0 (nil) (nil) (nil)]"
    ));
}

#[test]
fn idle_entries_are_claimed_in_steps() {
    let (mut local, client) = store();
    run(&mut local, client, THREE);
    run(
        &mut local,
        client,
        "XREADGROUP GROUP g c STREAMS s > -> [[s [[1-0 [a 1]] [2-0 [a 2]] [3-0 [a 3]]]]]",
    );
    local.advance_ms(50);
    run(
        &mut local,
        client,
        "XAUTOCLAIM s g d 51 - -> [0-0 [] []]
        XAUTOCLAIM s g d 50 0 COUNT 1 -> [2-0 [[1-0 [a 1]]] []]
        XAUTOCLAIM s g d 50 2-0 COUNT 1 JUSTID -> [3-0 [2-0] []]
        XAUTOCLAIM s g d 50 (2-0 COUNT 5 -> [0-0 [[3-0 [a 3]]] []]
        XPENDING s g - + 10 -> [[1-0 d :0 :2] [2-0 d :0 :1] [3-0 d :0 :2]]
        XAUTOCLAIM none g d x y -> -ERR Invalid min-idle-time argument for XAUTOCLAIM
        XAUTOCLAIM none g d 0 y -> BAD_ID
        XAUTOCLAIM none g d 0 0 x -> -ERR syntax error
        XAUTOCLAIM none g d 0 0 COUNT x -> -ERR COUNT must be > 0
        XAUTOCLAIM none g d 0 0 COUNT 922337203685477581 -> -ERR COUNT must be > 0
        XAUTOCLAIM s x d 0 0 -> NO_GROUP",
    );
}

#[test]
fn the_lag_of_a_group_is_known_or_not() {
    let mut script = String::new();
    for at in 1..=5 {
        script.push_str(&format!("XADD x {at}-0 d a -> {at}-0\n"));
    }
    let facts = |last: &str, read: &str, lag: &str| {
        format!(
            "[[name g1 consumers :1 pending :2 last-delivered-id {last} entries-read {read} lag \
            {lag}]]"
        )
    };
    script.push_str(&format!(
        "XGROUP CREATE x g1 0 -> OK
        XREADGROUP GROUP g1 c COUNT 1 STREAMS x > -> [[x [[1-0 [d a]]]]]
        XTRIM x MAXLEN 1 -> :4
        XREADGROUP GROUP g1 c COUNT 1 STREAMS x > -> [[x [[5-0 [d a]]]]]
        XINFO GROUPS x -> {}
        XADD x 6-0 d a -> 6-0
        XADD x 7-0 d a -> 7-0
        XDEL x 6-0 -> :1
        XINFO GROUPS x -> {}",
        facts("5-0", ":5", ":0"),
        facts("5-0", ":5", "(nil)"),
    ));
    check(&script);
}

#[test]
fn counts_of_a_stream_are_set_with_care() {
    check(
        "XADD s 9-0 a 1 -> 9-0
        XSETID s 8-0 -> \
            -ERR The ID specified in XSETID is smaller than the target stream top item
        XSETID s 20-0 ENTRIESADDED 100 MAXDELETEDID 30-0 -> \
            -ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id
        XSETID s 20-0 ENTRIESADDED 0 MAXDELETEDID 9-0 -> \
            -ERR The entries_added specified in XSETID is smaller than the target stream length
        XSETID s 20-0 ENTRIESADDED -1 -> -ERR entries_added must be positive
        XSETID s 20-0 ENTRIESADDED -> -ERR syntax error
        XSETID s x -> BAD_ID
        XSETID none 1 -> -ERR no such key
        XSETID s 20-0 ENTRIESADDED 100 MAXDELETEDID 9-0 -> OK
        XGROUP CREATE s g $ ENTRIESREAD -5 -> -ERR value for ENTRIESREAD must be positive or -1
        XGROUP CREATE s g $ ENTRIESREAD 3 -> OK
        XINFO GROUPS s -> [[name g consumers :0 pending :0 last-delivered-id 20-0 \
            entries-read :3 lag :97]]
        XGROUP SETID s g - -> OK
        XINFO STREAM s -> [length :1 radix-tree-keys :1 radix-tree-nodes :2 last-generated-id \
            20-0 max-deleted-entry-id 9-0 entries-added :100 recorded-first-entry-id 9-0 groups \
            :1 first-entry [9-0 [a 1]] last-entry [9-0 [a 1]]]
        XINFO STREAM none -> -ERR no such key
        XINFO STREAM s x -> \
            -ERR unknown subcommand or wrong number of arguments for 'STREAM'. Try XINFO HELP.
        XINFO STREAM s FULL COUNT x -> -ERR value is not an integer or out of range
        XINFO GROUPS none -> -ERR no such key
        XINFO CONSUMERS s x -> -NOGROUP No such consumer group 'x' for key name 's'",
    );
}

#[test]
fn everything_about_a_stream_is_told() {
    let (mut local, client) = store();
    local.say(client, "HELLO 3");
    run(&mut local, client, THREE);
    let now = format!(":{BEGIN_MS}");
    let groups = |pending: &str, own: &str| {
        format!(
            "[{{name: g last-delivered-id: 2-0 entries-read: :2 lag: :1 pel-count: :2 pending: \
            {pending} consumers: [{{name: c seen-time: {now} active-time: {now} pel-count: :2 \
            pending: {own}}}]}}]"
        )
    };
    let stream = |entries: &str, groups: &str| {
        format!(
            "{{length: :3 radix-tree-keys: :1 radix-tree-nodes: :2 last-generated-id: 3-0 \
            max-deleted-entry-id: 0-0 entries-added: :3 recorded-first-entry-id: 1-0 entries: \
            {entries} groups: {groups}}}"
        )
    };
    let one = groups(&format!("[[1-0 c {now} :1]]"), &format!("[[1-0 {now} :1]]"));
    let all = groups(
        &format!("[[1-0 c {now} :1] [2-0 c {now} :1]]"),
        &format!("[[1-0 {now} :1] [2-0 {now} :1]]"),
    );
    run(
        &mut local,
        client,
        &format!(
            "XREADGROUP GROUP g c COUNT 2 STREAMS s > -> {{s: [[1-0 [a 1]] [2-0 [a 2]]]}}
            XINFO STREAM s FULL COUNT 1 -> {}
            XINFO STREAM s FULL -> {}
            XINFO CONSUMERS s g -> [{{name: c pending: :2 idle: :0 inactive: :0}}]",
            stream("[[1-0 [a 1]]]", &one),
            stream("[[1-0 [a 1]] [2-0 [a 2]] [3-0 [a 3]]]", &all),
        ),
    );
}

/// Runs lines, and gives the effects of each as redis-cli would spell it.
fn effects(lines: &[&str]) -> Vec<String> {
    let (mut local, client) = store();
    local.worker(0).listen_to_effects();
    let mut all = Vec::new();
    for line in lines {
        local.say(client, line);
        let mut effects = replies(&local.worker(0).take_effects());
        effects.retain(|effect| effect != "[SELECT 0]");
        all.push(effects.join(" | "));
    }
    all
}

#[test]
fn effects_say_what_was_delivered() {
    let now = BEGIN_MS;
    let claim = |consumer: &str, id: &str, count: u8, last: &str| {
        format!(
            "[XCLAIM s g {consumer} 0 {id} TIME {now} RETRYCOUNT {count} FORCE JUSTID LASTID \
            {last}]"
        )
    };
    let cases: &[(&str, String)] = &[
        ("XADD s * a 1", format!("[XADD s {now}-0 a 1]")),
        ("XADD s NOMKSTREAM 9999999999999-* a 1", {
            "[XADD s NOMKSTREAM 9999999999999-0 a 1]".to_owned()
        }),
        ("XADD s MAXLEN ~ 9 LIMIT 5 * a 1", {
            "[XADD s MAXLEN = 3 9999999999999-1 a 1]".to_owned()
        }),
        ("XADD s MINID ~ 5 9999999999999-2 a 1", {
            format!("[XADD s MINID = {now}-0 9999999999999-2 a 1]")
        }),
        ("XTRIM s MAXLEN 3", "[XTRIM s MAXLEN 3]".to_owned()),
        ("XTRIM s MAXLEN 3", String::new()),
        ("XDEL s 1 9999999999999-0", "[XDEL s 1 9999999999999-0]".to_owned()),
        ("XGROUP CREATE s g 0", "[XGROUP CREATE s g 0]".to_owned()),
        ("XREADGROUP GROUP g c COUNT 1 STREAMS s >", {
            format!(
                "[MULTI] | {} | [XGROUP SETID s g 9999999999999-1 ENTRIESREAD 3] | [EXEC]",
                claim("c", "9999999999999-1", 1, "9999999999999-1")
            )
        }),
        ("XREADGROUP GROUP g c STREAMS s 0", String::new()),
        ("XREADGROUP GROUP g d STREAMS s 0", "[XGROUP CREATECONSUMER s g d]".to_owned()),
        ("XREADGROUP GROUP g e NOACK STREAMS s >", {
            "[MULTI] | [XGROUP CREATECONSUMER s g e] | \
                [XGROUP SETID s g 9999999999999-2 ENTRIESREAD 4] | [EXEC]"
                .to_owned()
        }),
        ("XREADGROUP GROUP g e STREAMS s >", String::new()),
        ("XCLAIM s g d 0 9999999999999-1", { claim("d", "9999999999999-1", 3, "9999999999999-2") }),
        ("XCLAIM s g d 0 5 LASTID 9999999999999-3", {
            "[XGROUP SETID s g 9999999999999-3 ENTRIESREAD 4]".to_owned()
        }),
        ("XAUTOCLAIM s g e 0 0 JUSTID", claim("e", "9999999999999-1", 3, "9999999999999-3")),
        ("XDEL s 9999999999999-1", "[XDEL s 9999999999999-1]".to_owned()),
        ("XAUTOCLAIM s g f 0 0", {
            format!(
                "[MULTI] | {} | [XGROUP CREATECONSUMER s g f] | [EXEC]",
                claim("e", "9999999999999-1", 3, "9999999999999-3")
            )
        }),
        ("XACK s g 1", String::new()),
        ("XGROUP SETID s g $", "[XGROUP SETID s g $]".to_owned()),
        ("XGROUP DELCONSUMER s g f", "[XGROUP DELCONSUMER s g f]".to_owned()),
        ("XSETID s 99999999999999-1", "[XSETID s 99999999999999-1]".to_owned()),
        ("XGROUP DESTROY s g", "[XGROUP DESTROY s g]".to_owned()),
    ];
    let lines: Vec<&str> = cases.iter().map(|(line, _)| *line).collect();
    for ((line, expected), own) in cases.iter().zip(effects(&lines)) {
        assert_eq!(own, *expected, "{line}");
    }
}
