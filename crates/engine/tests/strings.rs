//! Commands on strings, as a client sees them.

mod support;

use support::{check, run, store};

const WRONG_TYPE: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value";
const NOT_INTEGER: &str = "-ERR value is not an integer or out of range";
const SYNTAX: &str = "-ERR syntax error";

#[test]
fn set_with_get_returns_the_old_string_whether_or_not_it_stores() {
    check(
        "SET k old -> OK
        SET k new NX GET -> old
        GET k -> old
        SET missing v NX GET -> (nil)
        GET missing -> v
        SET k new XX GET -> old
        SET none v XX GET -> (nil)
        EXISTS none -> :0
        SET k newer GET -> new
        GET k -> newer",
    );
}

#[test]
fn set_obeys_its_conditions() {
    check(
        "SET k v XX -> (nil)
        SET k v NX -> OK
        SET k w NX -> (nil)
        SET k w XX -> OK
        SET k w NX NX -> (nil)
        GET k -> w",
    );
}

#[test]
fn set_compares_and_swaps() {
    check(
        "SET k v1 -> OK
        SET k v2 IFEQ v0 -> (nil)
        SET k v2 IFEQ v1 -> OK
        SET k v3 IFEQ zz GET -> v2
        SET k x IFEQ v2 NX -> -ERR syntax error
        SET k x IFEQ v2 IFEQ v2 -> -ERR syntax error
        SET k x IFEQ -> -ERR syntax error
        SET nokey v IFEQ a -> (nil)
        EXISTS nokey -> :0
        DELIFEQ k zz -> :0
        DELIFEQ k v2 -> :1
        DELIFEQ k v2 -> :0
        SET n 10 -> OK
        SET n 11 IFEQ 10 -> OK
        DELIFEQ n 011 -> :0
        DELIFEQ n 11 -> :1",
    );
}

#[test]
fn set_refuses_options_that_do_not_go_together() {
    let (mut local, client) = store();
    for options in [
        "NX XX",
        "XX NX",
        "EX 10 PX 10",
        "EX 10 KEEPTTL",
        "KEEPTTL EX 10",
        "PERSIST",
        "foo",
        "EX",
        "EX abc foo",
        "EX 10 NX XX",
        "EXAT 1 PXAT 1",
    ] {
        assert_eq!(local.say(client, &format!("SET k v {options}")), SYNTAX, "{options}");
    }
    for options in [
        "EX 0",
        "EX -1",
        "PX 0",
        "EXAT 0",
        "EXAT -5",
        "PX 9223372036854775807",
        "EX 10000000000000000",
        "EXAT 9223372036854775807",
    ] {
        let reply = local.say(client, &format!("SET k v {options}"));
        assert_eq!(reply, "-ERR invalid expire time in 'set' command", "{options}");
    }
    assert_eq!(local.say(client, "SET k v EX abc"), NOT_INTEGER);
    assert_eq!(local.say(client, "EXISTS k"), ":0");
    assert_eq!(local.say(client, "SET k v EX 10 EX 20"), "OK");
    assert_eq!(local.say(client, "TTL k"), ":20");
}

#[test]
fn set_changes_the_expiry_as_told() {
    let (mut local, client) = store();
    run(
        &mut local,
        client,
        "SET k v EX 100 -> OK
        TTL k -> :100
        SET k w KEEPTTL -> OK
        TTL k -> :100
        SET k w -> OK
        TTL k -> :-1
        SET k v PX 1500 -> OK
        PTTL k -> :1500
        SET k v PXAT 9223372036854775807 -> OK
        PEXPIRETIME k -> :9223372036854775807
        SET k v exat 4000000000 -> OK
        EXPIRETIME k -> :4000000000
        SET k v EX 1 -> OK",
    );
    local.advance_ms(1001);
    run(
        &mut local,
        client,
        "GET k -> (nil)
        SET k v KEEPTTL -> OK
        TTL k -> :-1",
    );
}

#[test]
fn set_with_a_moment_that_is_over_removes_the_key() {
    check(
        "SET k v -> OK
        SET k w EXAT 1 -> OK
        EXISTS k -> :0
        SET k w PXAT 1 -> OK
        EXISTS k -> :0
        SET k v -> OK
        SET k w NX EXAT 1 -> (nil)
        GET k -> v
        SET k w IFEQ v EXAT 1 GET -> v
        EXISTS k -> :0",
    );
}

#[test]
fn setex_setnx_and_getset_store() {
    check(
        "SETEX k 100 v -> OK
        TTL k -> :100
        PSETEX k 100000 w -> OK
        PTTL k -> :100000
        SETEX k 0 v -> -ERR invalid expire time in 'setex' command
        PSETEX k -1 v -> -ERR invalid expire time in 'psetex' command
        SETEX k 18446744073709561 x -> -ERR invalid expire time in 'setex' command
        SETEX k x v -> -ERR value is not an integer or out of range
        GET k -> w
        SETNX k x -> :0
        SETNX n x -> :1
        GETSET k new -> w
        TTL k -> :-1
        GETSET none 7 -> (nil)
        INCR none -> :8
        GETDEL none -> 8
        GETDEL none -> (nil)",
    );
}

#[test]
fn getex_changes_the_expiry_only_as_told() {
    let (mut local, client) = store();
    run(
        &mut local,
        client,
        "SET k v -> OK
        GETEX k -> v
        TTL k -> :-1
        GETEX k EX 100 -> v
        TTL k -> :100
        GETEX k -> v
        TTL k -> :100
        GETEX k PXAT 4000000000000 -> v
        PEXPIRETIME k -> :4000000000000
        GETEX k PERSIST -> v
        TTL k -> :-1
        GETEX k PERSIST -> v
        GETEX none EX 10 -> (nil)
        GETEX none EX 0 -> -ERR invalid expire time in 'getex' command
        GETEX k EX abc -> -ERR value is not an integer or out of range
        GETEX k EXAT 1 -> v
        EXISTS k -> :0",
    );
    for options in ["EX 10 PERSIST", "PERSIST EX 10", "KEEPTTL", "EX", "NX", "EX 1 PX 1", "foo"] {
        assert_eq!(local.say(client, &format!("GETEX none {options}")), SYNTAX, "{options}");
    }
}

#[test]
fn several_keys_are_set_and_read_together() {
    check(
        "MSET a 1 b two a 3 -> OK
        MGET a none b -> [3 (nil) two]
        MSET a -> -ERR wrong number of arguments for 'mset' command
        MSET a 1 b -> -ERR wrong number of arguments for 'mset' command
        MSETNX a 1 c 2 -> :0
        EXISTS c -> :0
        MSETNX c 1 c 2 -> :1
        GET c -> 2
        MSETNX q 1 r -> -ERR wrong number of arguments for 'msetnx' command",
    );
}

#[test]
fn msetex_sets_several_keys_with_one_expiry() {
    let (mut local, client) = store();
    run(
        &mut local,
        client,
        "MSETEX 2 a 1 b 2 -> :1
        MSETEX 2 a 3 c 4 NX -> :0
        MSETEX 2 a 3 c 4 XX -> :0
        MGET a b c -> [1 2 (nil)]
        MSETEX 2 a 3 b 4 XX EX 100 -> :1
        TTL b -> :100
        MSETEX 2 a 5 b 6 KEEPTTL -> :1
        TTL a -> :100
        MSETEX 1 a 5 -> :1
        TTL a -> :-1
        MSETEX 2 s 1 s 2 nx -> :1
        GET s -> 2
        MSETEX 1 a 5 PXAT 1 -> :1
        EXISTS a -> :0
        MSETEX 2 a 1 b 2 EX 0 -> -ERR invalid expire time in 'msetex' command
        MSETEX 2 a 1 b 2 EX abc -> -ERR value is not an integer or out of range
        MSETEX 1 a -> -ERR wrong number of arguments for 'msetex' command",
    );
    for count in ["0", "-1", "abc", "01", "2147483648", "9223372036854775807"] {
        let reply = local.say(client, &format!("MSETEX {count} a 1"));
        assert_eq!(reply, "-ERR invalid numkeys value or out of range", "{count}");
    }
    for rest in [
        "3 a 1 b 2",
        "2 a 1 b",
        "1 a 1 b 2",
        "1 a 1 NX XX",
        "1 a 1 EX 10 KEEPTTL",
        "1 a 1 GET",
        "1 a 1 IFEQ 1",
        "1 a 1 EX",
    ] {
        assert_eq!(local.say(client, &format!("MSETEX {rest}")), SYNTAX, "{rest}");
    }
}

#[test]
fn append_and_setrange_change_parts() {
    check(
        r#"APPEND k foo -> :3
        APPEND k bar -> :6
        GET k -> foobar
        APPEND k "" -> :6
        APPEND empty "" -> :0
        EXISTS empty -> :1
        SET n 12 -> OK
        APPEND n 3 -> :3
        INCR n -> :124
        SETRANGE k 3 BAR -> :6
        GET k -> fooBAR
        SETRANGE k 8 x -> :9
        GET k -> "fooBAR\x00\x00x"
        SETRANGE k 100 "" -> :9
        SETRANGE none 5 "" -> :0
        EXISTS none -> :0
        SETRANGE new 2 ab -> :4
        GET new -> "\x00\x00ab"
        SET i 1234 -> OK
        SETRANGE i 0 9 -> :4
        INCR i -> :9235
        SET t v EX 100 -> OK
        APPEND t w -> :2
        SETRANGE t 50 x -> :51
        TTL t -> :100"#,
    );
}

#[test]
fn strings_have_a_greatest_length() {
    const TOO_LONG: &str = "-ERR string exceeds maximum allowed size (proto-max-bulk-len)";
    let (mut local, client) = store();
    for offset in ["536870912", "9223372036854775807"] {
        assert_eq!(local.say(client, &format!("SETRANGE k {offset} x")), TOO_LONG);
    }
    assert_eq!(local.say(client, "SETRANGE k 536870911 xy"), TOO_LONG);
    assert_eq!(local.say(client, "SETRANGE k -1 x"), "-ERR offset is out of range");
    assert_eq!(local.say(client, "SETRANGE k -1 \"\""), "-ERR offset is out of range");
    assert_eq!(local.say(client, "SETRANGE k x y"), NOT_INTEGER);
    assert_eq!(local.say(client, "EXISTS k"), ":0");
}

#[test]
fn long_strings_are_changed_in_place() {
    let (mut local, client) = store();
    let mut expected = vec![b'a'; 16 * 1024 - 2];
    local.call(client, &[b"SET".as_slice(), b"k", &expected]);
    for tail in [&b"xyz"[..], b"more", &[b'z'; 40_000]] {
        expected.extend_from_slice(tail);
        let reply = local.call(client, &[b"APPEND".as_slice(), b"k", tail]);
        assert_eq!(reply, caudal_wire::Frame::Integer(expected.len() as i64));
    }
    local.say(client, "COPY k copy");
    local.say(client, "SETRANGE k 100 changed");
    let before = expected.clone();
    expected[100..107].copy_from_slice(b"changed");
    assert_eq!(local.call(client, &["GET", "k"]), caudal_wire::Frame::Bulk(expected));
    assert_eq!(local.call(client, &["GET", "copy"]), caudal_wire::Frame::Bulk(before));
    assert_eq!(local.say(client, "SETRANGE k 60000 end"), ":60003");
    assert_eq!(local.say(client, "GETRANGE k 59999 -1"), r#""\x00end""#);
}

#[test]
fn parts_are_read_with_indexes_of_64_bits() {
    check(
        r#"SET foo bar -> OK
        GETRANGE foo 0 4294967297 -> bar
        GETRANGE foo -100 1 -> ba
        GETRANGE foo -100 -50 -> b
        GETRANGE foo -1 -5 -> ""
        GETRANGE foo 1 0 -> ""
        GETRANGE foo 3 10 -> ""
        GETRANGE none 0 -1 -> ""
        GETRANGE foo x 1 -> -ERR value is not an integer or out of range
        SUBSTR foo -2 -1 -> ar
        SET n 12345 -> OK
        GETRANGE n 1 2 -> 23
        STRLEN n -> :5
        STRLEN none -> :0"#,
    );
}

#[test]
fn only_canonical_integers_count() {
    let (mut local, client) = store();
    for text in ["\" 11\"", "011", "+5", "-0", "\"\"", "1.0", "9223372036854775808", "abc"] {
        local.say(client, &format!("SET n {text}"));
        assert_eq!(local.say(client, "INCR n"), NOT_INTEGER, "{text}");
    }
}

#[test]
fn counters_refuse_to_overflow() {
    check(
        "SET n 9223372036854775807 -> OK
        INCR n -> -ERR increment or decrement would overflow
        GET n -> 9223372036854775807
        SET n -9223372036854775808 -> OK
        DECR n -> -ERR increment or decrement would overflow
        SET n 1 -> OK
        DECRBY n -9223372036854775808 -> -ERR decrement would overflow
        INCRBY n x -> -ERR value is not an integer or out of range
        INCRBY n 41 -> :42
        DECRBY n 2 -> :40
        DECR none -> :-1
        SET t 1 EX 100 -> OK
        INCR t -> :2
        TTL t -> :100",
    );
}

#[test]
fn an_expired_counter_starts_anew() {
    let (mut local, client) = store();
    assert_eq!(local.say(client, "SET n 5 PX 10"), "OK");
    local.advance_ms(11);
    assert_eq!(local.say(client, "INCR n"), ":1");
    assert_eq!(local.say(client, "TTL n"), ":-1");
}

#[test]
fn floats_are_added_in_extended_precision() {
    check(
        r#"SET k 10.50 -> OK
        INCRBYFLOAT k 0.1 -> 10.6
        GET k -> 10.6
        SET k 5.0e3 -> OK
        INCRBYFLOAT k 2.0e2 -> 5200
        SET k 17179869184 -> OK
        INCRBYFLOAT k 1.5 -> 17179869185.5
        SET k "1 " -> OK
        INCRBYFLOAT k 1 -> -ERR value is not a valid float
        SET k 0 -> OK
        INCRBYFLOAT k inf -> -ERR increment would produce NaN or Infinity
        INCRBYFLOAT k nan -> -ERR value is not a valid float
        INCRBYFLOAT k x -> -ERR value is not a valid float
        INCRBYFLOAT none 3.0e3 -> 3000
        INCR none -> :3001
        SET t 1 EX 100 -> OK
        INCRBYFLOAT t 1 -> 2
        TTL t -> :100"#,
    );
}

#[test]
fn the_longest_common_subsequence_is_found() {
    check(
        r#"MSET a ohmytext b mynewtext -> OK
        LCS a b -> mytext
        LCS a b LEN -> :6
        LCS a b IDX -> [matches [[[:4 :7] [:5 :8]] [[:2 :3] [:0 :1]]] len :6]
        LCS a b IDX MINMATCHLEN 4 WITHMATCHLEN -> [matches [[[:4 :7] [:5 :8] :4]] len :6]
        LCS a b LEN IDX -> -ERR If you want both the length and indexes, please just use IDX.
        LCS none a -> ""
        LCS none none IDX -> [matches [] len :0]
        LCS a b MINMATCHLEN -> -ERR syntax error
        LCS a b MINMATCHLEN x -> -ERR value is not an integer or out of range
        LCS a b foo -> -ERR syntax error
        LCS a -> -ERR wrong number of arguments for 'lcs' command"#,
    );
    let (mut local, client) = store();
    local.say(client, &format!("MSET a {} b {}", "x".repeat(12_000), "y".repeat(12_000)));
    let reply = local.say(client, "LCS a b LEN");
    assert!(reply.starts_with("-ERR Insufficient memory, transient memory for LCS exceeds"));
}

#[test]
fn a_key_of_another_type_is_refused_and_kept() {
    let (mut local, client) = store();
    if local.say(client, "LPUSH l a").starts_with("-ERR unknown command") {
        return; // Only strings can be stored, so nothing can be of another type.
    }
    for command in [
        "GET l",
        "SET l v GET",
        "SET l v NX GET",
        "SET l v IFEQ v",
        "GETSET l v",
        "GETDEL l",
        "GETEX l EX 10",
        "GETEX l",
        "APPEND l x",
        "SETRANGE l 0 x",
        "SETRANGE l 0 \"\"",
        "STRLEN l",
        "GETRANGE l 0 -1",
        "INCR l",
        "INCRBYFLOAT l x",
        "DELIFEQ l v",
    ] {
        assert_eq!(local.say(client, command), WRONG_TYPE, "{command}");
    }
    run(
        &mut local,
        client,
        "TYPE l -> list
        MGET l -> [(nil)]
        LCS l l -> -ERR The specified keys must contain string values
        SET l v NX -> (nil)
        MSETNX l v -> :0
        SET l v -> OK
        TYPE l -> string",
    );
}

#[test]
fn replies_have_their_shapes_in_resp3() {
    let (mut local, client) = store();
    local.say(client, "HELLO 3");
    run(
        &mut local,
        client,
        "MSET a ohmytext b mynewtext -> OK
        LCS a b IDX MINMATCHLEN 4 -> {matches: [[[:4 :7] [:5 :8]]] len: :6}
        INCRBYFLOAT f 3.5 -> 3.5
        MGET a none -> [ohmytext (nil)]",
    );
    assert_eq!(local.call(client, &["GET", "none"]), caudal_wire::Frame::Null);
    assert_eq!(
        local.call(client, &["INCRBYFLOAT", "f", "1"]),
        caudal_wire::Frame::Bulk(b"4.5".to_vec())
    );
}
