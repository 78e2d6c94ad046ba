//! The exact bytes of replies that clients tell apart: nothing found, and what RESP3 makes of
//! each type.

mod support;

use support::{run_bytes as run, store};

#[test]
fn nothing_is_an_empty_collection_or_one_of_two_nulls_in_resp2() {
    let (mut local, client) = store();
    local.say(client, "ZADD z 1 a");
    run(
        &mut local,
        client,
        "ZRANGEBYSCORE z 100 200 -> *0/
        LRANGE nk 0 -1 -> *0/
        SMEMBERS nk -> *0/
        HGETALL nk -> *0/
        CONFIG GET nomatch -> *0/
        ZPOPMIN nk -> *0/
        SPOP nk -> $-1/
        SPOP nk 2 -> *0/
        LPOP nk -> $-1/
        LPOP nk 2 -> *-1/
        HRANDFIELD nk -> $-1/
        HRANDFIELD nk 2 -> *0/
        SRANDMEMBER nk -> $-1/
        SRANDMEMBER nk 2 -> *0/
        ZRANDMEMBER nk -> $-1/
        ZRANDMEMBER nk 2 -> *0/
        LPOS nk a -> $-1/
        LPOS nk a COUNT 0 -> *0/
        ZMSCORE nk a -> *1/$-1/
        HMGET nk a -> *1/$-1/
        ZSCORE nk a -> $-1/
        ZRANK nk a -> $-1/
        ZRANK nk a WITHSCORE -> *-1/
        ZMPOP 1 nk MIN -> *-1/
        LMPOP 1 nk LEFT -> *-1/
        GETRANGE nk 0 -1 -> $0//
        SINTER nk other -> *0/
        RANDOMKEY -> $1/z/",
    );
}

#[test]
fn nothing_is_an_empty_collection_or_the_one_null_in_resp3() {
    let (mut local, client) = store();
    local.say(client, "HELLO 3");
    local.say(client, "ZADD z 1 a");
    run(
        &mut local,
        client,
        "ZRANGEBYSCORE z 100 200 -> *0/
        LRANGE nk 0 -1 -> *0/
        SMEMBERS nk -> ~0/
        HGETALL nk -> %0/
        CONFIG GET nomatch -> %0/
        ZPOPMIN nk -> *0/
        SPOP nk -> _/
        SPOP nk 2 -> ~0/
        LPOP nk -> _/
        LPOP nk 2 -> _/
        HRANDFIELD nk -> _/
        HRANDFIELD nk 2 -> *0/
        SRANDMEMBER nk -> _/
        SRANDMEMBER nk 2 -> *0/
        ZRANDMEMBER nk -> _/
        ZRANDMEMBER nk 2 -> *0/
        LPOS nk a -> _/
        LPOS nk a COUNT 0 -> *0/
        ZMSCORE nk a -> *1/_/
        HMGET nk a -> *1/_/
        ZSCORE nk a -> _/
        ZRANK nk a -> _/
        ZRANK nk a WITHSCORE -> _/
        ZMPOP 1 nk MIN -> _/
        LMPOP 1 nk LEFT -> _/
        GETRANGE nk 0 -1 -> $0//
        SINTER nk other -> ~0/
        RANDOMKEY -> $1/z/",
    );
}

#[test]
fn sums_are_strings_and_scores_are_doubles_in_resp3() {
    let (mut local, client) = store();
    local.say(client, "HELLO 3");
    run(
        &mut local,
        client,
        "INCRBYFLOAT k 3.5 -> $3/3.5/
        HINCRBYFLOAT h f 3.5 -> $3/3.5/
        ZADD z 3.5 a -> :1/
        ZSCORE z a -> ,3.5/
        ZINCRBY z 1 a -> ,4.5/
        ZADD z INCR 1 a -> ,5.5/
        ZMSCORE z a b -> *2/,5.5/_/
        ZRANGE z 0 -1 WITHSCORES -> *1/*2/$1/a/,5.5/
        ZPOPMIN z -> *2/$1/a/,5.5/",
    );
}

#[test]
fn random_members_are_bare_without_a_count_and_arrays_with_one() {
    let (mut local, client) = store();
    local.say(client, "SADD s a");
    local.say(client, "HSET h f v");
    run(
        &mut local,
        client,
        "SRANDMEMBER s -> $1/a/
        SRANDMEMBER s -3 -> *3/$1/a/$1/a/$1/a/
        HRANDFIELD h -> $1/f/
        HRANDFIELD h -2 WITHVALUES -> *4/$1/f/$1/v/$1/f/$1/v/",
    );
    local.say(client, "HELLO 3");
    run(
        &mut local,
        client,
        "HRANDFIELD h -2 WITHVALUES -> *2/*2/$1/f/$1/v/*2/$1/f/$1/v/
        HGETALL h -> %1/$1/f/$1/v/
        SMEMBERS s -> ~1/$1/a/
        CONFIG GET maxmemory -> %1/$9/maxmemory/$1/0/
        RESET -> +RESET/
        HGETALL h -> *2/$1/f/$1/v/",
    );
}

#[test]
fn a_name_is_one_key_whatever_its_type() {
    let (mut local, client) = store();
    let wrong = "-WRONGTYPE Operation against a key holding the wrong kind of value/";
    run(
        &mut local,
        client,
        &format!(
            "SET foo bar -> +OK/
            SADD foo x -> {wrong}
            RPUSH foo x -> {wrong}
            HSET foo f v -> {wrong}
            ZADD foo 1 m -> {wrong}
            SADD s1 1 2 3 -> :3/
            SADD s2 2 3 4 -> :3/
            SINTERSTORE foo s1 s2 -> :2/
            TYPE foo -> +set/
            KEYS foo -> *1/$3/foo/
            ZUNIONSTORE foo 1 s1 -> :3/
            TYPE foo -> +zset/
            LMOVE foo l LEFT LEFT -> {wrong}
            SET foo bar -> +OK/
            DBSIZE -> :3/"
        ),
    );
}

#[test]
fn a_worker_pops_by_priority_and_restores_what_was_not_acknowledged() {
    let (mut local, client) = store();
    run(
        &mut local,
        client,
        "RPUSH q{6} low -> :1/
        RPUSH q{0} high -> :1/
        BRPOP q{0} q{3} q{6} 1 -> *2/$4/q{0}/$4/high/
        BRPOP q{0} q{3} q{6} 1 -> *2/$4/q{6}/$3/low/
        ZADD unacked_index 100 t1 200 t2 -> :2/
        ZREVRANGEBYSCORE unacked_index 150 0 LIMIT 0 10 WITHSCORES -> *2/$2/t1/$3/100/",
    );
}
