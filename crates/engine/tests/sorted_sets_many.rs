//! Pops, waiting and not, and unions of sorted sets, as a client sees them.

mod support;

use caudal_engine::local::{Client, Local, encode};
use support::{check, run, store};

const SYNTAX: &str = "-ERR syntax error";

/// Checks that each of `commands` is answered with `expected`.
fn refuse(local: &mut Local, client: Client, expected: &str, commands: &[&str]) {
    for command in commands {
        assert_eq!(local.say(client, command), expected, "{command}");
    }
}

#[test]
fn pops_take_the_lowest_or_the_highest() {
    check(
        "ZADD z 1 a 2 b 3 c 4 d 5 e 6 f -> :6
        ZPOPMIN z -> [a 1]
        ZPOPMAX z 2 -> [f 6 e 5]
        ZPOPMIN z 0 -> []
        ZPOPMIN nokey -> []
        ZPOPMIN nokey 2 -> []
        ZPOPMIN z -1 -> -ERR value is out of range, must be positive
        ZPOPMIN z x -> -ERR value is out of range, must be positive
        ZPOPMAX z 1 2 -> -ERR syntax error
        ZMPOP 2 nokey z MIN -> [z [[b 2]]]
        ZMPOP 1 z MAX COUNT 9 -> [z [[d 4] [c 3]]]
        EXISTS z -> :0
        ZMPOP 1 z MAX -> (nil)
        ZMPOP 0 z MIN -> -ERR numkeys should be greater than 0
        ZMPOP x z MIN -> -ERR numkeys should be greater than 0
        ZMPOP 1 z MIN COUNT 0 -> -ERR count should be greater than 0
        ZMPOP 1 z MIN COUNT x -> -ERR count should be greater than 0",
    );
    let (mut local, client) = store();
    refuse(
        &mut local,
        client,
        SYNTAX,
        &[
            "ZMPOP 2 z MIN",
            "ZMPOP 9223372036854775807 z MIN",
            "ZMPOP 1 z NONSENSE",
            "ZMPOP 1 z MIN COUNT",
            "ZMPOP 1 z MIN COUNT 1 COUNT 1",
            "ZMPOP 1 z MIN MAX",
            "BZMPOP x 1 z NONSENSE",
        ],
    );
}

#[test]
fn a_blocked_pop_is_served_by_zadd() {
    let (mut local, client) = store();
    let waiter = local.connect(0);
    for (command, reply) in [
        ("BZPOPMIN none z 0", "*3\r\n$1\r\nz\r\n$1\r\na\r\n$1\r\n1\r\n"),
        ("BZPOPMAX z 0", "*3\r\n$1\r\nz\r\n$1\r\nb\r\n$1\r\n2\r\n"),
        (
            "BZMPOP 0 1 z MIN COUNT 5",
            concat!(
                "*2\r\n$1\r\nz\r\n*2\r\n",
                "*2\r\n$1\r\na\r\n$1\r\n1\r\n*2\r\n$1\r\nb\r\n$1\r\n2\r\n"
            ),
        ),
    ] {
        local.say(client, "DEL z");
        local.send(waiter, &encode(&command.split(' ').collect::<Vec<_>>()));
        assert_eq!(local.receive(waiter), b"", "{command}");
        assert_eq!(local.say(client, "ZADD z 1 a 2 b"), ":2");
        assert_eq!(String::from_utf8_lossy(&local.receive(waiter)), reply, "{command}");
    }
}

#[test]
fn results_of_unions_serve_those_who_wait() {
    let (mut local, client) = store();
    let waiter = local.connect(0);
    local.say(client, "SADD s a");
    local.send(waiter, &encode(&["BZPOPMIN", "z", "0"]));
    assert_eq!(local.say(client, "ZUNIONSTORE z 1 s"), ":1");
    assert_eq!(local.receive(waiter), b"*3\r\n$1\r\nz\r\n$1\r\na\r\n$1\r\n1\r\n");
    local.send(waiter, &encode(&["BZPOPMIN", "z", "0"]));
    assert_eq!(local.say(client, "SADD z x"), ":1");
    assert_eq!(local.receive(waiter), b"", "a set is not waited for");
    assert_eq!(local.say(client, "DEL z"), ":1");
    assert_eq!(local.say(client, "ZADD z 3 q"), ":1");
    assert_eq!(local.receive(waiter), b"*3\r\n$1\r\nz\r\n$1\r\nq\r\n$1\r\n3\r\n");
}

#[test]
fn a_blocked_pop_ends_with_its_time() {
    let (mut local, client) = store();
    for command in ["BZPOPMIN nokey 0.5", "BZPOPMAX nokey other 0.5", "BZMPOP 0.5 1 nokey MIN"] {
        local.send(client, &encode(&command.split(' ').collect::<Vec<_>>()));
        local.advance_ms(499);
        assert_eq!(local.receive(client), b"", "{command}");
        local.advance_ms(2);
        assert_eq!(local.receive(client), b"*-1\r\n", "{command}");
    }
    run(
        &mut local,
        client,
        "BZPOPMIN nokey x -> -ERR timeout is not a float or out of range
        BZPOPMIN nokey -1 -> -ERR timeout is negative
        BZPOPMIN nokey 1e300 -> -ERR timeout is out of range
        BZMPOP x 1 nokey MIN -> -ERR timeout is not a float or out of range
        BZMPOP -1 1 nokey MIN -> -ERR timeout is negative
        BZMPOP -1 0 nokey MIN -> -ERR numkeys should be greater than 0
        MULTI -> OK
        BZPOPMIN nokey 0 -> QUEUED
        BZMPOP 0 1 nokey MIN -> QUEUED
        EXEC -> [(nil) (nil)]",
    );
}

#[test]
fn unions_intersections_and_differences_combine_scores() {
    check(
        "ZADD a 1 x 2 y -> :2
        ZADD b 10 y 20 z -> :2
        SADD s x y w -> :3
        ZUNION 2 a b -> [x y z]
        ZUNION 3 a b s WITHSCORES -> [w 1 x 2 y 13 z 20]
        ZUNION 2 a b WEIGHTS 2 3 AGGREGATE MAX WITHSCORES -> [x 2 y 30 z 60]
        ZUNION 2 a b AGGREGATE MIN WITHSCORES -> [x 1 y 2 z 20]
        ZUNION 2 a a WEIGHTS 1 2 WEIGHTS 3 4 WITHSCORES -> [x 7 y 14]
        ZUNION 1 nokey -> []
        ZINTER 2 a b WITHSCORES -> [y 12]
        ZINTER 2 a s WEIGHTS 1 10 WITHSCORES -> [x 11 y 12]
        ZINTER 2 a nokey -> []
        ZINTERCARD 2 a s -> :2
        ZINTERCARD 2 a s LIMIT 1 -> :1
        ZINTERCARD 2 a s LIMIT 0 -> :2
        ZDIFF 2 a b WITHSCORES -> [x 1]
        ZDIFF 2 s a WITHSCORES -> [w 1]
        ZDIFF 2 a s -> []
        ZDIFF 2 nokey a -> []
        ZADD n 1 7 2 8 -> :2
        SADD i 7 9 -> :2
        ZUNION 2 n i WITHSCORES -> [9 1 7 2 8 2]
        ZINTER 2 i n -> [7]
        ZUNIONSTORE a 2 a b -> :3
        ZRANGE a 0 -1 WITHSCORES -> [x 1 y 12 z 20]
        ZINTERSTORE d 2 a b WEIGHTS 0 1 -> :2
        ZRANGE d 0 -1 WITHSCORES -> [y 10 z 20]
        ZDIFFSTORE d 2 a b -> :1
        ZDIFFSTORE d 2 a a -> :0
        EXISTS d -> :0
        ZINTERSTORE s 2 a nokey -> :0
        EXISTS s -> :0",
    );
}

#[test]
fn a_large_union_counts_every_member_once() {
    let (mut local, client) = store();
    for index in 0..1000 {
        local.say(client, &format!("ZADD a {index} m{index} 1 {index}"));
        local.say(client, &format!("SADD b m{} {}", index / 2, index + 500));
    }
    run(
        &mut local,
        client,
        "ZUNIONSTORE u 2 a b -> :2500
        ZSCORE u m10 -> 11
        ZSCORE u m900 -> 900
        ZSCORE u 700 -> 2
        ZSCORE u 1400 -> 1
        ZINTERCARD 2 a b -> :1000
        ZDIFFSTORE d 2 a b -> :1000
        OBJECT ENCODING d -> skiplist",
    );
}

#[test]
fn unions_refuse_bad_arguments() {
    check(
        "ZADD a 1 x -> :1
        ZUNION 0 a -> -ERR at least 1 input key is needed for 'zunion' command
        ZUNIONSTORE d -1 a -> -ERR at least 1 input key is needed for 'zunionstore' command
        ZINTER 0 a -> -ERR at least 1 input key is needed for 'zinter' command
        ZINTERSTORE d 0 a -> -ERR at least 1 input key is needed for 'zinterstore' command
        ZINTERCARD 0 a -> -ERR at least 1 input key is needed for 'zintercard' command
        ZDIFF 0 a -> -ERR at least 1 input key is needed for 'zdiff' command
        ZDIFFSTORE d 0 a -> -ERR at least 1 input key is needed for 'zdiffstore' command
        ZUNION x a -> -ERR value is not an integer or out of range
        ZUNION 1 a WEIGHTS x -> -ERR weight value is not a float
        ZINTERCARD 1 a LIMIT -1 -> -ERR LIMIT can't be negative
        ZINTERCARD 1 a LIMIT x -> -ERR LIMIT can't be negative",
    );
    let (mut local, client) = store();
    refuse(
        &mut local,
        client,
        SYNTAX,
        &[
            "ZUNION 2 a",
            "ZUNION 9223372036854775807 a b",
            "ZUNION 2 a b WEIGHTS 1",
            "ZUNION 2 a b WEIGHTS 1 2 3",
            "ZUNION 2 a b AGGREGATE AVERAGE",
            "ZUNION 2 a b AGGREGATE",
            "ZUNIONSTORE d 2 a b WITHSCORES",
            "ZINTERSTORE d 2 a b WITHSCORES",
            "ZINTER 2 a b LIMIT 1",
            "ZINTERCARD 2 a b LIMIT",
            "ZINTERCARD 2 a b WITHSCORES",
            "ZDIFF 2 a b WEIGHTS 1 2",
            "ZDIFFSTORE d 2 a b WITHSCORES",
        ],
    );
}
