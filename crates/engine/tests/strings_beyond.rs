//! Commands on strings and sets that Redis 8 has and Valkey 9.1 has not, as a client sees them.

mod support;

use support::{check, run, store};

const WRONG_TYPE: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value";

#[test]
fn a_digest_stands_for_a_string() {
    let (mut local, client) = store();
    run(
        &mut local,
        client,
        r#"SET k "Hello world" -> OK
        DIGEST k -> b6acb9d84a38ff74
        DIGEST none -> (nil)
        RPUSH l a -> :1"#,
    );
    assert_eq!(local.say(client, "DIGEST l"), WRONG_TYPE);
    // Leading zeros are not left out.
    let text = "v8lf0c11xh8ymlqztfd3eeq16kfn4sspw7fqmnuuq3k3t75em5wdizgcdw7uc26nnf961u2jkfzkjytls2k\
                wlj7626sd";
    local.say(client, &format!("SET zeros {text}"));
    assert_eq!(local.say(client, "DIGEST zeros"), "00006c38adf31777");
}

#[test]
fn a_string_is_swapped_if_it_or_its_digest_is_as_expected() {
    let (mut local, client) = store();
    run(
        &mut local,
        client,
        r#"SET k "Hello world" -> OK
        SET k b IFDEQ 0000000000000000 -> (nil)
        SET k b IFDEQ B6acb9d84a38ff74 -> OK
        SET k c IFNE b -> (nil)
        SET k c IFNE x GET -> b
        GET k -> c
        SET k d IFDNE 0000000000000000 -> OK
        SET made a IFNE x -> OK
        SET made2 a IFDNE 0000000000000000 -> OK
        SET none a IFDEQ 0000000000000000 -> (nil)
        EXISTS none -> :0
        SET k e IFNE x IFEQ d -> -ERR syntax error
        SET k e IFDEQ 1234 -> -ERR must be exactly 16 hexadecimal characters
        SET k e IFNE -> -ERR syntax error
        SET k e IFNE x EX 100 -> OK
        SET k f IFNE x KEEPTTL -> OK
        TTL k -> :100
        RPUSH l a -> :1"#,
    );
    assert_eq!(local.say(client, "SET l v IFNE a"), WRONG_TYPE);
}

#[test]
fn a_lock_is_released_by_its_owner() {
    let (mut local, client) = store();
    run(
        &mut local,
        client,
        r#"SET k "Hello world" -> OK
        DELEX k IFEQ other -> :0
        DELEX k IFNE "Hello world" -> :0
        DELEX k IFDEQ 0000000000000000 -> :0
        DELEX k IFDNE b6acb9d84a38ff74 -> :0
        DELEX k IFDEQ b6acb9d84a38ff74 -> :1
        EXISTS k -> :0
        DELEX k IFNE a -> :0
        DELEX k -> :0
        DELEX k IFEQ -> -ERR wrong number of arguments for 'delex' command
        DELEX k FOO a -> -ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE
        RPUSH l a -> :1"#,
    );
    assert_eq!(local.say(client, "DELEX l IFEQ a"), WRONG_TYPE);
    assert_eq!(local.say(client, "DELEX l"), ":1");
}

#[test]
fn a_counter_stops_at_its_bound_and_starts_its_window_once() {
    let (mut local, client) = store();
    for count in 1..=3 {
        let reply = local.say(client, "INCREX hits UBOUND 3 EX 60 ENX");
        assert_eq!(reply, format!("[:{count} :1]"));
        local.advance_ms(10_000);
    }
    run(
        &mut local,
        client,
        "TTL hits -> :30
        INCREX hits UBOUND 3 EX 60 ENX -> [:3 :0]
        TTL hits -> :30
        INCREX hits BYINT 5 UBOUND 4 SATURATE EX 100 -> [:4 :1]
        TTL hits -> :100
        INCREX hits BYINT -10 LBOUND 0 SATURATE PERSIST -> [:0 :-4]
        TTL hits -> :-1
        OBJECT ENCODING hits -> int",
    );
}

#[test]
fn a_counter_counts_in_integers_or_doubles() {
    let (mut local, client) = store();
    run(
        &mut local,
        client,
        "INCREX k -> [:1 :1]
        INCREX k BYINT 99 -> [:100 :99]
        INCREX k BYFLOAT 0.25 -> [100.25 0.25]
        INCREX k BYFLOAT 10 UBOUND 105.5 -> [100.25 0]
        INCREX k BYFLOAT 10 UBOUND 105.5 SATURATE -> [105.5 5.25]
        INCREX k BYINT 1 -> -ERR value is not an integer or out of range
        GET k -> 105.5
        INCREX none BYINT 5 UBOUND 4 -> [:0 :0]
        EXISTS none -> :0
        SET max 9223372036854775807 -> OK
        INCREX max -> [:9223372036854775807 :0]
        INCREX max SATURATE -> [:9223372036854775807 :0]
        INCREX max UBOUND -2 SATURATE -> -ERR increment or decrement would overflow
        SET k 1 EX 100 -> OK
        INCREX k EXAT 1 -> [:2 :1]
        EXISTS k -> :0
        RPUSH l a -> :1",
    );
    assert_eq!(local.say(client, "INCREX l"), WRONG_TYPE);
    local.say(client, "HELLO 3");
    assert_eq!(local.say(client, "INCREX f BYFLOAT 1.5"), "[,1.5 ,1.5]");
}

#[test]
fn a_counter_refuses_what_makes_no_sense() {
    check(
        "INCREX k ENX -> -ERR ENX flag requires an expiration
        INCREX k PERSIST ENX -> -ERR syntax error
        INCREX k PERSIST EX 5 -> -ERR syntax error
        INCREX k EX 5 PX 5 -> -ERR syntax error
        INCREX k BYINT 1 BYFLOAT 1 -> -ERR syntax error
        INCREX k LBOUND -> -ERR syntax error
        INCREX k FOO -> -ERR syntax error
        INCREX k LBOUND 2 UBOUND 1 -> -ERR LBOUND can't be greater than UBOUND
        INCREX k BYFLOAT 1 LBOUND 2 UBOUND 1.5 -> -ERR LBOUND can't be greater than UBOUND
        INCREX k BYINT 1.5 -> -ERR value is not an integer or out of range
        INCREX k BYFLOAT x -> -ERR value is not a valid float
        INCREX k EX 0 -> -ERR invalid expire time in 'increx' command
        EXISTS k -> :0",
    );
}

#[test]
fn unions_and_differences_are_counted_without_being_made() {
    check(
        "SADD a 1 2 3 -> :3
        SADD b 3 4 x -> :3
        SUNIONCARD 2 a b -> :5
        SUNIONCARD 3 a none b LIMIT 4 -> :4
        SUNIONCARD 2 a a LIMIT 0 -> :3
        SUNIONCARD 2 a b APPROX -> :5
        SUNIONCARD 2 a b APPROX LIMIT 2 -> :2
        SUNIONCARD 1 none -> :0
        SDIFFCARD 2 a b -> :2
        SDIFFCARD 2 a b LIMIT 1 -> :1
        SDIFFCARD 2 none a -> :0
        SDIFFCARD 2 a a -> :0
        SDIFFCARD 1 a -> :3
        SDIFFCARD 2 a b APPROX -> -ERR syntax error
        SUNIONCARD 3 a b -> -ERR Number of keys can't be greater than number of args
        SUNIONCARD 0 a -> -ERR numkeys should be greater than 0
        SDIFFCARD 1 a LIMIT -1 -> -ERR LIMIT can't be negative",
    );
}

#[test]
fn members_are_scored_by_how_many_sets_have_them() {
    check(
        "ZADD a 10 foo 20 bar -> :2
        ZADD b 7 foo -> :1
        SADD s foo baz -> :2
        ZUNION 3 a b s AGGREGATE COUNT WITHSCORES -> [bar 1 baz 1 foo 3]
        ZINTER 2 a b AGGREGATE COUNT WITHSCORES -> [foo 2]
        ZUNION 2 a b AGGREGATE COUNT WEIGHTS 2 0.5 WITHSCORES -> [bar 2 foo 2.5]
        ZUNIONSTORE d 2 a b AGGREGATE count -> :2
        ZRANGE d 0 -1 WITHSCORES -> [bar 1 foo 2]
        ZINTERSTORE d 2 a b WEIGHTS 3 4 AGGREGATE COUNT -> :1
        ZSCORE d foo -> 7",
    );
}

#[test]
fn effects_are_words_that_any_server_knows() {
    let (mut local, client) = store();
    run(&mut local, client, "SET k a -> OK\nZADD z 5 m -> :1\nSET n 7 EX 9 -> OK");
    local.worker(0).listen_to_effects();
    let commands = "SET k b IFEQ a,SET k c IFNE a KEEPTTL,SET k d IFNE a GET,DELEX k,\
                    INCREX n UBOUND 7,INCREX n,INCREX n PERSIST,ZUNIONSTORE d 1 z AGGREGATE COUNT,\
                    SET x abc,BITOP ONE y x";
    for command in commands.split(',') {
        local.say(client, command);
    }
    let effects = String::from_utf8(local.worker(0).take_effects()).expect("text");
    let words: Vec<&str> =
        effects.split("\r\n").filter(|word| !word.starts_with(['*', '$'])).collect();
    let expected = "SELECT 0 SET k b SET k c KEEPTTL SET k d DEL k SET n 8 KEEPTTL SET n 9 \
                    DEL d ZADD d 1 m SET x abc SET y abc ";
    assert_eq!(words.join(" "), expected);
}
