//! Commands on sorted sets, as a client sees them.

mod support;

use caudal_engine::local::{Client, Local};
use support::{
    check,
    replay::{Pair, draws},
    run, store,
};

const WRONG_TYPE: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value";
const SYNTAX: &str = "-ERR syntax error";
const NOT_FLOAT: &str = "-ERR value is not a valid float";

/// Checks that each of `commands` is answered with `expected`.
fn refuse(local: &mut Local, client: Client, expected: &str, commands: &[&str]) {
    for command in commands {
        assert_eq!(local.say(client, command), expected, "{command}");
    }
}

/// The elements of an array's spelling.
fn words(reply: &str) -> Vec<String> {
    let inner = reply.trim_start_matches('[').trim_end_matches(']');
    inner.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn members_are_added_scored_ranked_and_removed() {
    check(
        "ZADD z 2 b 1 a 3 c -> :3
        ZADD z 1 a 5 b -> :0
        ZADD z CH 1 a 6 b 7 d -> :2
        ZADD z 1 q 2 q 3 q -> :1
        ZREM z q none q -> :1
        ZCARD z -> :4
        ZSCORE z b -> 6
        ZSCORE z none -> (nil)
        ZMSCORE z a none d -> [1 (nil) 7]
        ZMSCORE nokey a -> [(nil)]
        ZRANK z c -> :1
        ZREVRANK z c -> :2
        ZRANK z c WITHSCORE -> [:1 3]
        ZREVRANK z a WITHSCORE -> [:3 1]
        ZRANK z none -> (nil)
        ZRANK nokey none WITHSCORE -> (nil)
        ZRANK z c NONSENSE -> -ERR syntax error
        ZREVRANK z c WITHSCORE x -> -ERR wrong number of arguments for 'zrevrank' command
        ZREM z a b c d -> :4
        EXISTS z -> :0
        ZCARD z -> :0
        ZREM z a -> :0",
    );
}

#[test]
fn zadd_obeys_its_conditions() {
    check(
        "ZADD z 10 m -> :1
        ZADD z NX 11 m 1 n -> :1
        ZSCORE z m -> 10
        ZADD z XX 12 m 1 new -> :0
        ZSCORE z m -> 12
        ZADD z GT CH 15 m 1 new -> :2
        ZADD z GT 1 m -> :0
        ZADD z LT CH 14 m 99 m -> :1
        ZSCORE z m -> 14
        ZADD z XX GT CH 20 m 20 none -> :1
        ZADD nokey XX 1 a -> :0
        EXISTS nokey -> :0",
    );
}

#[test]
fn zadd_incr_that_is_refused_is_nothing() {
    check(
        "ZADD z 10 m -> :1
        ZADD z GT INCR -5 m -> (nil)
        ZADD z LT INCR 5 m -> (nil)
        ZADD z NX INCR 5 m -> (nil)
        ZADD z XX INCR 1 none -> (nil)
        ZADD z GT INCR 5 m -> 15
        ZADD z INCR 1.5 new -> 1.5
        ZINCRBY z -0.5 new -> 1
        ZINCRBY nokey 2 a -> 2
        ZINCRBY z nx a -> -ERR syntax error",
    );
}

#[test]
fn zadd_refuses_what_does_not_go_together() {
    check(
        "ZADD z NX XX 1 a -> -ERR XX and NX options at the same time are not compatible
        ZADD z NX GT 1 a -> -ERR GT, LT, and/or NX options at the same time are not compatible
        ZADD z LT GT 1 a -> -ERR GT, LT, and/or NX options at the same time are not compatible
        ZADD z INCR 1 a 2 b -> -ERR INCR option supports a single increment-element pair
        ZADD z NX -> -ERR wrong number of arguments for 'zadd' command",
    );
    let (mut local, client) = store();
    local.say(client, "SET s x");
    refuse(
        &mut local,
        client,
        SYNTAX,
        &["ZADD z 1 a 2", "ZADD z NX XX 1", "ZADD z NX XX", "ZADD z FOO 1 a", "ZADD s 1 a 2"],
    );
    refuse(
        &mut local,
        client,
        NOT_FLOAT,
        &[
            "ZADD z nan c",
            "ZADD z 1e400 d",
            "ZADD z 0x10 h",
            "ZADD z \"\" h",
            "ZADD z \" 1\" h",
            "ZADD z 1 a x b",
            "ZINCRBY z x a",
            "ZADD s x a",
        ],
    );
    assert_eq!(local.say(client, "EXISTS z"), ":0");
}

#[test]
fn infinite_scores_add_up_to_no_number() {
    check(
        "ZADD z inf a -inf b +Infinity c -> :3
        ZINCRBY z -inf a -> -ERR resulting score is not a number (NaN)
        ZADD z INCR inf b -> -ERR resulting score is not a number (NaN)
        ZSCORE z a -> inf
        ZRANGE z 0 -1 WITHSCORES -> [b -inf a inf c inf]
        ZUNIONSTORE o 2 z z WEIGHTS 0 1 -> :3
        ZRANGE o 0 -1 WITHSCORES -> [b -inf a inf c inf]
        ZADD p -inf a -> :1
        ZUNIONSTORE q 2 z p -> :3
        ZSCORE q a -> 0",
    );
}

#[test]
fn scores_are_printed_shortest() {
    check(
        "ZADD z 20190509102112650 big 3.0 i 1e20 e 0.1 t 1e-7 s 123456789012345678 L .5 h 5. f -> :8
        ZMSCORE z big i e t s L h f -> [20190509102112648 3 1e+20 0.1 1e-7 123456789012345680 0.5 5]
        ZINCRBY z 0.2 t -> 0.30000000000000004",
    );
}

#[test]
fn a_negative_zero_shows_where_it_is_made_only() {
    check(
        "ZADD z INCR -0 a -> -0
        ZSCORE z a -> 0
        ZINCRBY z -0 a -> 0
        ZADD z -5 p -> :1
        ZUNION 1 z WEIGHTS 0 WITHSCORES -> [a 0 p -0]
        ZINTER 1 z WEIGHTS -0 WITHSCORES -> [a -0 p 0]
        ZUNIONSTORE o 1 z WEIGHTS 0 -> :2
        ZRANGE o 0 -1 WITHSCORES -> [a 0 p 0]",
    );
}

#[test]
fn other_types_are_refused() {
    let (mut local, client) = store();
    local.say(client, "SET s x");
    local.say(client, "ZADD z 1 a");
    refuse(
        &mut local,
        client,
        WRONG_TYPE,
        &[
            "ZADD s 1 a",
            "ZADD s XX 1 a",
            "ZINCRBY s 1 a",
            "ZREM s a",
            "ZCARD s",
            "ZSCORE s a",
            "ZMSCORE s a",
            "ZRANK s a",
            "ZREVRANK s a",
            "ZCOUNT s 0 1",
            "ZLEXCOUNT s - +",
            "ZRANGE s 0 1",
            "ZREVRANGE s 0 1",
            "ZRANGEBYSCORE s 0 1",
            "ZREVRANGEBYSCORE s 1 0",
            "ZRANGEBYLEX s - +",
            "ZREVRANGEBYLEX s + -",
            "ZRANGESTORE d s 0 1",
            "ZREMRANGEBYLEX s - +",
            "ZREMRANGEBYRANK s 0 1",
            "ZREMRANGEBYSCORE s 0 1",
            "ZPOPMIN s",
            "ZPOPMAX s 0",
            "ZMPOP 2 none s MIN",
            "BZPOPMIN none s 0",
            "BZPOPMAX s 0",
            "BZMPOP 0 1 s MAX",
            "ZRANDMEMBER s",
            "ZRANDMEMBER s 1",
            "ZSCAN s 0",
            "ZUNION 2 z s NONSENSE",
            "ZUNIONSTORE d 2 z s",
            "ZINTER 2 none s",
            "ZINTERSTORE d 2 z s",
            "ZINTERCARD 2 none s",
            "ZDIFF 3 z none s",
            "ZDIFFSTORE d 2 z s",
        ],
    );
}

#[test]
fn zrange_takes_ranks_scores_and_members() {
    check(
        "ZADD z 1 a 2 b 3 c 4 d 5 e -> :5
        ZRANGE z 0 1 -> [a b]
        ZRANGE z -2 -1 WITHSCORES -> [d 4 e 5]
        ZRANGE z 0 1 REV WITHSCORES -> [e 5 d 4]
        ZRANGE z 5 9 -> []
        ZRANGE z (1 3 BYSCORE -> [b c]
        ZRANGE z 3 (1 BYSCORE REV -> [c b]
        ZRANGE z 1 3 BYSCORE REV -> []
        ZRANGE z 5 -inf BYSCORE REV LIMIT 1 2 WITHSCORES -> [d 4 c 3]
        ZRANGE z -inf +inf BYSCORE LIMIT 1 -1 -> [b c d e]
        ZRANGE z 0 5 BYSCORE LIMIT -1 2 -> []
        ZRANGE z 0 5 BYSCORE LIMIT 9 1 -> []
        ZRANGE z 0 5 BYSCORE LIMIT 2 0 -> []
        ZRANGE z 0 1 LIMIT 1 -1 -> [a b]
        ZRANGE nokey 0 1 -> []
        ZADD l 0 a 0 b 0 c 0 d -> :4
        ZRANGE l [a (c BYLEX -> [a b]
        ZRANGE l (c [a BYLEX REV -> [b a]
        ZRANGE l - + BYLEX LIMIT 1 2 -> [b c]
        ZRANGE l + - BYLEX REV LIMIT 1 2 -> [c b]
        ZRANGE l + - BYLEX -> []
        ZLEXCOUNT l [b + -> :3
        ZLEXCOUNT l - ( -> :0
        ZCOUNT z (1 3 -> :2
        ZCOUNT z -inf inf -> :5
        ZCOUNT z 3 1 -> :0
        ZCOUNT nokey 0 1 -> :0",
    );
}

#[test]
fn zrange_refuses_options_that_do_not_go_together() {
    check(
        "ZADD z 1 a 2 b -> :2
        ZRANGE z 0 01 -> -ERR value is not an integer or out of range
        ZRANGE nokey x 1 -> -ERR value is not an integer or out of range
        ZRANGE z 0 x BYSCORE -> -ERR min or max is not a float
        ZRANGEBYSCORE z nan 1 -> -ERR min or max is not a float
        ZCOUNT nokey 0x1 1 -> -ERR min or max is not a float
        ZRANGE z a + BYLEX -> -ERR min or max not valid string range item
        ZLEXCOUNT z - \"\" -> -ERR min or max not valid string range item
        ZRANGE z 0 1 BYSCORE LIMIT x 1 -> -ERR value is not an integer or out of range",
    );
    let (mut local, client) = store();
    let limited = "-ERR syntax error, LIMIT is only supported in combination with either BYSCORE \
                   or BYLEX";
    let lines = ["ZRANGE z 0 1 LIMIT 0 1", "ZREVRANGE z 0 1 LIMIT 0 1", "ZRANGE z 0 1 LIMIT 0 -2"];
    refuse(&mut local, client, limited, &lines);
    let scored = "-ERR syntax error, WITHSCORES not supported in combination with BYLEX";
    let lines = ["ZRANGE z - + BYLEX WITHSCORES", "ZRANGEBYLEX z - + WITHSCORES"];
    refuse(&mut local, client, scored, &lines);
    refuse(
        &mut local,
        client,
        SYNTAX,
        &[
            "ZRANGE z 0 1 NONSENSE",
            "ZRANGE z 0 1 BYLEX BYSCORE",
            "ZRANGE z 0 1 REV REV",
            "ZRANGE z 0 1 BYSCORE LIMIT 1",
            "ZREVRANGE z 0 1 REV",
            "ZRANGEBYSCORE z 0 1 BYLEX",
            "ZRANGEBYSCORE z 0 1 LIMIT 0",
            "ZRANGEBYLEX z - + REV",
            "ZRANGESTORE d z 0 1 WITHSCORES",
        ],
    );
}

#[test]
fn the_older_range_commands_still_answer() {
    check(
        "ZADD z 1 a 2 b 3 c 4 d -> :4
        ZREVRANGE z 0 1 WITHSCORES -> [d 4 c 3]
        ZRANGEBYSCORE z 2 3 WITHSCORES LIMIT 1 1 -> [c 3]
        ZRANGEBYSCORE z 1 2 LIMIT 0 1 WITHSCORES LIMIT 1 1 -> [b 2]
        ZREVRANGEBYSCORE z +inf (1 LIMIT 0 -2 -> [d c b]
        ZADD l 0 a 0 b 0 c -> :3
        ZRANGEBYLEX l - + LIMIT 1 2 -> [b c]
        ZREVRANGEBYLEX l + - LIMIT 1 2 -> [b a]
        ZREVRANGEBYLEX l - + -> []",
    );
}

#[test]
fn zrangestore_replaces_its_target() {
    check(
        "ZADD z 1 a 2 b 3 c -> :3
        SET d text -> OK
        ZRANGESTORE d z 0 1 REV -> :2
        ZRANGE d 0 -1 WITHSCORES -> [b 2 c 3]
        ZRANGESTORE d z -inf +inf BYSCORE LIMIT 0 1 -> :1
        ZRANGE d 0 -1 -> [a]
        ZRANGESTORE d z 7 8 -> :0
        EXISTS d -> :0
        ZRANGESTORE z z 0 0 -> :1
        ZRANGE z 0 -1 -> [a]
        ZRANGESTORE z nokey 0 1 -> :0
        EXISTS z -> :0",
    );
}

#[test]
fn members_of_several_scores_are_ranged_as_in_valkey() {
    check(
        "ZADD z 1 m 2 b 3 x 4 a -> :4
        ZRANGEBYLEX z [b [m -> []
        ZRANGEBYLEX z [a [m -> [m b]
        ZREVRANGEBYLEX z [m [b -> []
        ZREVRANGEBYLEX z [m [a -> [a x b m]
        ZLEXCOUNT z - + -> :4
        ZLEXCOUNT z [a (n -> :2
        ZREMRANGEBYLEX z [a (n -> :2
        ZRANGE z 0 -1 -> [x a]",
    );
}

#[test]
fn ranges_are_removed() {
    check(
        "ZADD z 1 a 2 b 3 c 4 d 5 e -> :5
        ZREMRANGEBYRANK z 3 1 -> :0
        ZREMRANGEBYRANK z -1 -1 -> :1
        ZREMRANGEBYSCORE z (1 2 -> :1
        ZREMRANGEBYSCORE z 9 10 -> :0
        ZREMRANGEBYLEX z [c + -> :2
        ZRANGE z 0 -1 -> [a]
        ZREMRANGEBYRANK z 0 -1 -> :1
        EXISTS z -> :0
        ZREMRANGEBYRANK z x 1 -> -ERR value is not an integer or out of range
        ZREMRANGEBYSCORE z x 1 -> -ERR min or max is not a float
        ZREMRANGEBYLEX z x + -> -ERR min or max not valid string range item",
    );
}

#[test]
fn scores_are_doubles_and_pairs_are_nested_in_resp3() {
    let (mut local, client) = store();
    local.say(client, "HELLO 3");
    run(
        &mut local,
        client,
        "ZADD z 1.5 a 2 b inf c -> :3
        ZSCORE z a -> ,1.5
        ZMSCORE z a none -> [,1.5 (nil)]
        ZINCRBY z 1 a -> ,2.5
        ZADD z INCR -1 a -> ,1.5
        ZADD z XX INCR 1 none -> (nil)
        ZRANK z b WITHSCORE -> [:1 ,2]
        ZRANK z none WITHSCORE -> (nil)
        ZRANGE z 0 1 WITHSCORES -> [[a ,1.5] [b ,2]]
        ZREVRANGEBYSCORE z inf 2 WITHSCORES -> [[c ,inf] [b ,2]]
        ZRANGE nokey 0 1 WITHSCORES -> []
        ZUNION 1 z -> [a b c]
        ZUNION 1 z WITHSCORES -> [[a ,1.5] [b ,2] [c ,inf]]
        ZINTER 2 z z WITHSCORES -> [[a ,3] [b ,4] [c ,inf]]
        ZDIFF 1 z WITHSCORES -> [[a ,1.5] [b ,2] [c ,inf]]
        ZSCAN z 0 -> [0 [a 1.5 b 2 c inf]]
        ZRANDMEMBER z 3 WITHSCORES -> [[a ,1.5] [b ,2] [c ,inf]]
        ZPOPMIN z -> [a ,1.5]
        ZPOPMIN z 1 -> [[b ,2]]
        ZMPOP 1 z MIN -> [z [[c ,inf]]]
        ZMPOP 1 z MIN -> (nil)
        ZPOPMIN z -> []
        ZADD z 1 a 2 b -> :2
        BZPOPMIN z 0 -> [z a ,1]
        BZMPOP 0 1 z MAX -> [z [[b ,2]]]",
    );
}

#[test]
fn random_members_are_of_the_set_and_as_many_as_asked_for() {
    check(
        "ZRANDMEMBER nokey -> (nil)
        ZRANDMEMBER nokey 2 -> []
        ZADD z 1 a -> :1
        ZRANDMEMBER z -> a
        ZRANDMEMBER z 5 -> [a]
        ZRANDMEMBER z -3 -> [a a a]
        ZRANDMEMBER z -2 WITHSCORES -> [a 1 a 1]
        ZRANDMEMBER z x NONSENSE -> -ERR value is not an integer or out of range
        ZRANDMEMBER z 1 NONSENSE -> -ERR syntax error
        ZRANDMEMBER z 9223372036854775807 WITHSCORES -> -ERR value is out of range
        ZRANDMEMBER z -9223372036854775807 -> -ERR value is out of range",
    );
    let (mut local, client) = store();
    for size in [10, 300] {
        for index in 0..size {
            local.say(client, &format!("ZADD z {index} m{index}"));
        }
        for count in [1, 5, size - 1] {
            let members = words(&local.say(client, &format!("ZRANDMEMBER z {count}")));
            let distinct: std::collections::BTreeSet<_> = members.iter().collect();
            assert_eq!((members.len(), distinct.len()), (count, count));
        }
    }
}

#[test]
fn zscan_reads_its_options_once_it_has_a_sorted_set() {
    check(
        "ZADD z 1 a 2.5 b 3 bb -> :3
        ZSCAN z 0 -> [0 [a 1 b 2.5 bb 3]]
        ZSCAN z 0 NOSCORES MATCH b* -> [0 [b bb]]
        ZSCAN z 0 NOVALUES -> -ERR NOVALUES option can only be used in HSCAN
        ZSCAN z 0 COUNT 0 -> -ERR syntax error
        ZSCAN z 0 MATCH -> -ERR syntax error
        ZSCAN z x -> -ERR invalid cursor
        ZSCAN nokey 0 NONSENSE -> [0 []]",
    );
    let (mut local, client) = store();
    for index in 0..1000 {
        local.say(client, &format!("ZADD z {} m{index}", index % 10));
    }
    let (mut seen, mut cursor) = (std::collections::BTreeSet::new(), "0".to_owned());
    loop {
        let reply = words(&local.say(client, &format!("ZSCAN z {cursor} NOSCORES COUNT 20")));
        seen.extend(reply[1..].iter().map(|word| word.trim_start_matches('[').to_owned()));
        // Members that change their score meanwhile are not missed.
        local.say(client, &format!("ZINCRBY z 5 m{}", seen.len() * 7 % 1000));
        cursor = reply[0].clone();
        if cursor == "0" {
            break;
        }
    }
    assert_eq!(seen.len(), 1000);
}

#[test]
fn an_expired_sorted_set_is_gone_for_every_command() {
    let (mut local, client) = store();
    run(&mut local, client, "ZADD z 1 a -> :1\nPEXPIRE z 100 -> :1\nZADD z 2 b -> :1");
    local.advance_ms(101);
    run(
        &mut local,
        client,
        "ZRANGE z 0 -1 -> []
        ZUNION 1 z -> []
        ZINCRBY z 1 c -> 1
        TTL z -> :-1
        ZRANGE z 0 -1 -> [c]",
    );
}

/// A command on few keys and members, so that they meet.
fn random_command(mut draw: impl FnMut(usize) -> usize) -> String {
    const TEMPLATES: &[&str] = &[
        "ZADD k n m n m n m",
        "ZADD k GT n m n m",
        "ZADD k XX CH n m n m",
        "ZADD k INCR n m",
        "ZINCRBY k n m",
        "ZREM k m m",
        "ZREMRANGEBYRANK k 1 2",
        "ZREMRANGEBYSCORE k n n",
        "ZREMRANGEBYLEX k [m [m",
        "ZPOPMIN k",
        "ZPOPMAX k 2",
        "ZMPOP 2 k k MIN COUNT 2",
        "BZPOPMIN k k 0.001",
        "BZPOPMAX k k 0.001",
        "BZMPOP 0.001 2 k k MAX COUNT 2",
        "ZRANGESTORE k k 0 2 REV",
        "ZUNIONSTORE k 2 k k WEIGHTS n n",
        "ZINTERSTORE k 2 k k",
        "ZDIFFSTORE k 2 k k",
        "PEXPIRE k 40",
        "DEL k",
    ];
    let template = TEMPLATES[draw(TEMPLATES.len())];
    let words = template.split(' ').map(|word| match word {
        "k" => format!("k{}", draw(3)),
        "m" => format!("m{}", draw(8)),
        "[m" => format!("[m{}", draw(8)),
        "n" => ["1", "-2", "0.1", "3e9", "1e-3", "0"][draw(6)].to_owned(),
        other => other.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn effects_redo_what_commands_did() {
    for seed in 1..=10 {
        let (mut draw, mut pair) = (draws(seed), Pair::new());
        for _ in 0..400 {
            let command = random_command(&mut draw);
            // A blocking command that got nothing has timed out by then.
            let effects = pair.run(&command, 2 + draw(4) as u64);
            assert!(!effects.contains("MPOP") && !effects.contains("BZ"), "{effects}");
        }
        pair.catch_up();
        for key in ["k0", "k1", "k2"] {
            let query = format!("ZRANGE {key} 0 -1 WITHSCORES");
            pair.compare(&format!("seed {seed}"), |local, client| local.say(client, &query));
        }
    }
}
