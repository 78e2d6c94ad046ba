//! Commands on hashes, as a client sees them.

mod support;

use std::collections::BTreeMap;
use support::{
    check,
    replay::{Pair, draws},
    run, store,
};

const WRONG_TYPE: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value";

#[test]
fn fields_are_set_read_and_deleted() {
    check(
        "HSET h a 1 b two -> :2
        HSET h a 3 c \"\" -> :1
        HGET h a -> 3
        HGET h none -> (nil)
        HGET nokey a -> (nil)
        HLEN h -> :3
        HLEN nokey -> :0
        HEXISTS h c -> :1
        HEXISTS h d -> :0
        HSTRLEN h b -> :3
        HSTRLEN h none -> :0
        HMGET h b none a -> [two (nil) 3]
        HMGET nokey a b -> [(nil) (nil)]
        HKEYS h -> [a b c]
        HVALS h -> [3 two \"\"]
        HGETALL h -> [a 3 b two c \"\"]
        HGETALL nokey -> []
        HKEYS nokey -> []
        HMSET h a 1 -> OK
        HDEL h a a none -> :1
        HDEL nokey a -> :0
        HDEL h b c -> :2
        EXISTS h -> :0",
    );
}

#[test]
fn a_pair_without_value_is_refused() {
    check(
        "HSET h a -> -ERR wrong number of arguments for 'hset' command
        HSET h a 1 b -> -ERR wrong number of arguments for 'hset' command
        HMSET h a 1 b -> -ERR wrong number of arguments for 'hmset' command
        EXISTS h -> :0
        SET s x -> OK
        HSET s a 1 b -> -ERR wrong number of arguments for 'hset' command",
    );
}

#[test]
fn hsetnx_sets_only_what_is_not_there() {
    check(
        "HSETNX h a 1 -> :1
        HSETNX h a 2 -> :0
        HGET h a -> 1",
    );
}

#[test]
fn other_types_are_refused() {
    let (mut local, client) = store();
    local.say(client, "SET s x");
    for command in [
        "HSET s a 1",
        "HMSET s a 1",
        "HSETNX s a 1",
        "HGET s a",
        "HMGET s a",
        "HGETALL s",
        "HKEYS s",
        "HVALS s",
        "HLEN s",
        "HEXISTS s a",
        "HSTRLEN s a",
        "HDEL s a",
        "HGETDEL s FIELDS 1 a",
        "HINCRBY s a 1",
        "HINCRBYFLOAT s a 1",
        "HRANDFIELD s",
        "HRANDFIELD s 1",
        "HSCAN s 0",
        "HSCAN s 0 NONSENSE",
    ] {
        assert_eq!(local.say(client, command), WRONG_TYPE, "{command}");
    }
}

#[test]
fn hincrby_adds_to_integers_within_64_bits() {
    check(
        "HINCRBY h n 5 -> :5
        HINCRBY h n -7 -> :-2
        HINCRBY h n x -> -ERR value is not an integer or out of range
        HINCRBY h n 9223372036854775807 -> :9223372036854775805
        HINCRBY h n 9223372036854775807 -> -ERR increment or decrement would overflow
        HGET h n -> 9223372036854775805
        HSET h text abc blank \" 1\" empty \"\" -> :3
        HINCRBY h text 1 -> -ERR hash value is not an integer
        HINCRBY h blank 1 -> -ERR hash value is not an integer
        HINCRBY h empty 1 -> -ERR hash value is not an integer
        SET s x -> OK
        HINCRBY s n x -> -ERR value is not an integer or out of range",
    );
}

#[test]
fn hincrbyfloat_adds_in_a_wider_format() {
    check(
        "HSET h f 10.5 -> :1
        HINCRBYFLOAT h f 0.1 -> 10.6
        HGET h f -> 10.6
        HINCRBYFLOAT h f -5e3 -> -4989.39999999999999991
        HINCRBYFLOAT h new 3.0 -> 3
        HINCRBYFLOAT h f abc -> -ERR value is not a valid float
        HINCRBYFLOAT h f nan -> -ERR value is not a valid float
        HINCRBYFLOAT h f inf -> -ERR value is NaN or Infinity
        HSET h text abc inf inf -> :2
        HINCRBYFLOAT h text 1 -> -ERR hash value is not a float
        HINCRBYFLOAT h inf 1 -> -ERR increment would produce NaN or Infinity
        HINCRBYFLOAT nokey f 1e5000 -> -ERR value is not a valid float
        EXISTS nokey -> :0",
    );
}

#[test]
fn hgetdel_returns_what_it_deletes() {
    check(
        "HSET h a 1 b 2 c 3 -> :3
        HGETDEL h FIELDS 2 a none -> [1 (nil)]
        HGETALL h -> [b 2 c 3]
        HGETDEL h FIELDS 3 b b c -> [2 (nil) 3]
        EXISTS h -> :0
        HGETDEL h FIELDS 1 a -> [(nil)]
        HGETDEL h NONSENSE 1 a -> -ERR syntax error
        HGETDEL h FIELDS x a -> -ERR value is not an integer or out of range",
    );
    let (mut local, client) = store();
    for count in ["0", "2", "-1"] {
        assert_eq!(
            local.say(client, &format!("HGETDEL h FIELDS {count} a")),
            "-ERR numfields should be greater than 0 and match the provided number of fields"
        );
    }
}

#[test]
fn random_fields_are_of_the_hash_and_as_many_as_asked_for() {
    check(
        "HRANDFIELD nokey -> (nil)
        HRANDFIELD nokey 2 -> []
        HRANDFIELD nokey x -> -ERR value is not an integer or out of range
        HSET h a 1 -> :1
        HRANDFIELD h -> a
        HRANDFIELD h 5 -> [a]
        HRANDFIELD h 0 -> []
        HRANDFIELD h -3 -> [a a a]
        HRANDFIELD h -2 WITHVALUES -> [a 1 a 1]
        HRANDFIELD h 1 NONSENSE -> -ERR syntax error
        HRANDFIELD h 1 WITHVALUES x -> -ERR syntax error
        HRANDFIELD h 9223372036854775807 WITHVALUES -> -ERR value is out of range
        HRANDFIELD h -9223372036854775807 -> -ERR value is out of range",
    );
    let (mut local, client) = store();
    for size in [10, 600] {
        local.say(client, "DEL h");
        for index in 0..size {
            local.say(client, &format!("HSET h f{index} {index}"));
        }
        for count in [1, 3, 9, size - 1] {
            let fields = words(&local.say(client, &format!("HRANDFIELD h {count}")));
            let distinct: std::collections::BTreeSet<_> = fields.iter().collect();
            assert_eq!((fields.len(), distinct.len()), (count, count));
            let pairs = words(&local.say(client, &format!("HRANDFIELD h -{count} WITHVALUES")));
            assert_eq!(pairs.len(), 2 * count);
            assert!(pairs.chunks(2).all(|pair| pair[0] == format!("f{}", pair[1])), "{pairs:?}");
        }
    }
}

/// The elements of an array's spelling.
fn words(reply: &str) -> Vec<String> {
    let inner = reply.trim_start_matches('[').trim_end_matches(']');
    inner.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn maps_and_pairs_have_their_shapes_in_resp3() {
    let (mut local, client) = store();
    local.say(client, "HELLO 3");
    run(
        &mut local,
        client,
        "HSET h a 1 b 2 -> :2
        HGETALL h -> {a: 1 b: 2}
        HGETALL nokey -> {}
        HKEYS h -> [a b]
        HVALS nokey -> []
        HGET h none -> (nil)
        HMGET h a none -> [1 (nil)]
        HRANDFIELD h 2 WITHVALUES -> [[a 1] [b 2]]
        HRANDFIELD nokey 2 WITHVALUES -> []
        HSCAN h 0 -> [0 [a 1 b 2]]
        HINCRBYFLOAT h a 0.5 -> 1.5",
    );
}

#[test]
fn hscan_reads_its_options_once_it_has_a_hash() {
    check(
        "HSET h a 1 b 2 bb 3 -> :3
        HSCAN h 0 -> [0 [a 1 b 2 bb 3]]
        HSCAN h 0 NOVALUES -> [0 [a b bb]]
        HSCAN h 0 MATCH b* COUNT 1 NOVALUES -> [0 [b bb]]
        HSCAN h 0 COUNT 0 -> -ERR syntax error
        HSCAN h 0 COUNT x -> -ERR value is not an integer or out of range
        HSCAN h 0 COUNT -> -ERR syntax error
        HSCAN h 0 TYPE string -> -ERR syntax error
        HSCAN h 0 NOSCORES -> -ERR NOSCORES option can only be used in ZSCAN
        HSCAN h x -> -ERR invalid cursor
        HSCAN h 18446744073709551616 -> -ERR invalid cursor
        HSCAN nokey 0 NONSENSE -> [0 []]",
    );
}

#[test]
fn hscan_gives_every_field_that_stays_while_others_come_and_go() {
    let (mut local, client) = store();
    for index in 0..2000 {
        local.say(client, &format!("HSET h stays{index} {index}"));
    }
    let (mut seen, mut cursor, mut round) = (BTreeMap::new(), "0".to_owned(), 0);
    loop {
        let reply = words(&local.say(client, &format!("HSCAN h {cursor} COUNT 50")));
        for pair in reply[1..].chunks(2) {
            seen.insert(pair[0].trim_start_matches('[').to_owned(), pair[1].clone());
        }
        cursor = reply[0].clone();
        if cursor == "0" {
            break;
        }
        for index in 0..100 {
            local.say(client, &format!("HSET h comes{round}:{index} x"));
            if index % 10 != 0 {
                local.say(client, &format!("HDEL h comes{round}:{index}"));
            }
        }
        round += 1;
    }
    let stayed = (0..2000).filter(|index| seen.contains_key(&format!("stays{index}"))).count();
    assert_eq!(stayed, 2000);
}

#[test]
fn an_expired_hash_is_gone_for_every_command() {
    let (mut local, client) = store();
    run(&mut local, client, "HSET h a 1 -> :1\nPEXPIRE h 100 -> :1\nHSET h b 2 -> :1");
    local.advance_ms(101);
    run(
        &mut local,
        client,
        "HGETALL h -> []
        HINCRBY h a 1 -> :1
        TTL h -> :-1
        HGETALL h -> [a 1]",
    );
}

#[test]
fn the_encoding_changes_where_valkeys_does() {
    check(&format!(
        "HSET h f v -> :1
        OBJECT ENCODING h -> listpack
        HSET h f {} -> :0
        OBJECT ENCODING h -> listpack
        HSET h f {} -> :0
        OBJECT ENCODING h -> hashtable
        HSET h f v -> :0
        OBJECT ENCODING h -> hashtable",
        "a".repeat(64),
        "a".repeat(65),
    ));
    let (mut local, client) = store();
    let many: String = (0..513).map(|index| format!(" same{} v", index % 2)).collect();
    assert_eq!(local.say(client, &format!("HSET h{many}")), ":2");
    assert_eq!(local.say(client, "OBJECT ENCODING h"), "hashtable");
}

/// A command on few keys and fields, so that they meet.
fn random_command(mut draw: impl FnMut(usize) -> usize) -> String {
    const TEMPLATES: &[&str] = &[
        "HSET k f v",
        "HSET k f v f v f v",
        "HMSET k f v",
        "HSETNX k f v",
        "HDEL k f f",
        "HGETDEL k FIELDS 2 f f",
        "HINCRBY k f 3",
        "HINCRBYFLOAT k f 0.1",
        "HGETALL k",
        "PEXPIRE k 40",
        "DEL k",
    ];
    let template = TEMPLATES[draw(TEMPLATES.len())];
    let words = template.split(' ').map(|word| match word {
        "k" => format!("k{}", draw(3)),
        "f" => format!("f{}", draw(6)),
        "v" => ["7", "text", "12.5", "\"\"", &"x".repeat(70)][draw(5)].to_owned(),
        other => other.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn effects_redo_what_commands_did() {
    for seed in 1..=10 {
        let (mut draw, mut pair) = (draws(seed), Pair::new());
        for _ in 0..400 {
            pair.pass(draw(4) as u64);
            pair.run(&random_command(&mut draw), 0);
        }
        pair.catch_up();
        for key in ["k0", "k1", "k2"] {
            pair.compare(&format!("seed {seed}"), |local, client| {
                let mut found = words(&local.say(client, &format!("HGETALL {key}")));
                found.sort_unstable();
                found
            });
        }
    }
}
