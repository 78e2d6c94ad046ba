//! Commands on the bits of strings, as a client sees them.

mod support;

use caudal_wire::Frame;
use support::{check, run, store};

#[test]
fn bits_are_set_and_read_one_by_one() {
    check(
        r#"SETBIT k 7 1 -> :0
        GET k -> "\x01"
        SETBIT k 7 0 -> :1
        SETBIT k 17 1 -> :0
        STRLEN k -> :3
        GETBIT k 17 -> :1
        GETBIT k 16 -> :0
        GETBIT k 4294967295 -> :0
        GETBIT none 5 -> :0
        SET n 12 -> OK
        GETBIT n 2 -> :1
        SETBIT n 7 0 -> :1
        GET n -> 02
        OBJECT ENCODING n -> raw"#,
    );
}

#[test]
fn offsets_and_bits_that_are_none_are_refused() {
    const OFFSET: &str = "-ERR bit offset is not an integer or out of range";
    let (mut local, client) = store();
    local.say(client, "RPUSH l a");
    for command in ["SETBIT k x 1", "SETBIT k -1 1", "SETBIT b 4294967296 1", "GETBIT k 4294967296"]
    {
        assert_eq!(local.say(client, command), OFFSET, "{command}");
    }
    run(
        &mut local,
        client,
        "SETBIT k 0 2 -> -ERR bit is not an integer or out of range
        SETBIT l 0 x -> -ERR bit is not an integer or out of range
        SETBIT l 0 1 -> -WRONGTYPE Operation against a key holding the wrong kind of value
        GETBIT l 0 -> -WRONGTYPE Operation against a key holding the wrong kind of value
        EXISTS k -> :0
        CONFIG SET proto-max-bulk-len 1mb -> OK
        SETBIT k 8388608 1 -> -ERR bit offset is not an integer or out of range
        SETBIT k 8388607 1 -> :0
        STRLEN k -> :1048576",
    );
}

#[test]
fn a_bit_far_away_makes_a_long_string_and_keeps_the_expiry() {
    check(
        "SET k abc EX 100 -> OK
        SETBIT k 800000 1 -> :0
        STRLEN k -> :100001
        TTL k -> :100
        SETBIT k 1600000 1 -> :0
        BITCOUNT k -> :12
        GETRANGE k 0 2 -> abc
        BITPOS k 1 3 -> :800000
        BITPOS k 0 100000 -> :800001",
    );
}

#[test]
fn counting_takes_bytes_and_bits_and_negative_ends() {
    check(
        "SET mykey foobar -> OK
        BITCOUNT mykey -> :26
        BITCOUNT mykey 5 30 -> :4
        BITCOUNT mykey 5 -> :4
        BITCOUNT mykey 5 30 111 -> -ERR syntax error
        BITCOUNT mykey 0 9223372036854775807 -> :26
        BITCOUNT mykey -9223372036854775808 9223372036854775807 -> :26
        BITCOUNT mykey 5 30 BIT -> :17
        BITCOUNT mykey 1 1 byte -> :6
        BITCOUNT mykey -2 -1 -> :7
        BITCOUNT mykey -1 -2 -> :0
        BITCOUNT mykey -100 -200 -> :0
        BITCOUNT mykey 0 BIT -> -ERR value is not an integer or out of range
        BITCOUNT mykey 0 0 BIT x -> -ERR syntax error
        BITCOUNT none x 0 -> -ERR value is not an integer or out of range
        BITCOUNT none -> :0
        SET e '' -> OK
        BITCOUNT e 0 -1 -> :0
        RPUSH l a -> :1
        BITCOUNT l -> -WRONGTYPE Operation against a key holding the wrong kind of value",
    );
}

#[test]
fn finding_knows_the_zeros_behind_the_string() {
    check(
        r#"SET mykey foobar -> OK
        BITPOS mykey 1 2 -1 BIT -> :2
        SET ff "\xff\xff" -> OK
        BITPOS ff 0 -> :16
        BITPOS ff 0 0 -1 -> :-1
        BITPOS ff 0 1 -> :16
        BITPOS ff 0 2 -> :-1
        BITPOS ff 1 -100 -50 -> :0
        BITPOS ff 1 1 0 -> :-1
        SET z "\x00\x00\x10" -> OK
        BITPOS z 1 -> :19
        BITPOS z 1 20 -1 bit -> :-1
        BITPOS z 0 2 -> :16
        BITPOS none 1 -> :-1
        BITPOS none 0 5 9 -> :0
        SET e '' -> OK
        BITPOS e 0 -> :-1
        BITPOS z 2 -> -ERR The bit argument must be 1 or 0.
        BITPOS z x -> -ERR value is not an integer or out of range
        BITPOS z 0 1 2 foo -> -ERR syntax error
        BITPOS z 0 1 x foo -> -ERR syntax error
        BITPOS z 0 x 2 foo -> -ERR value is not an integer or out of range
        BITPOS z 0 x 2 BIT more -> -ERR syntax error
        BITCOUNT z 1 x foo -> -ERR syntax error
        BITCOUNT z x 2 foo -> -ERR value is not an integer or out of range"#,
    );
}

#[test]
fn strings_are_combined_as_if_zeros_followed_the_shorter() {
    check(
        r#"SET a "\xff\x0f" -> OK
        SET b "\x0f" -> OK
        BITOP AND d a b -> :2
        GET d -> "\x0f\x00"
        BITOP OR d a b none -> :2
        GET d -> "\xff\x0f"
        BITOP XOR d a b -> :2
        GET d -> "\xf0\x0f"
        BITOP not d a -> :2
        GET d -> "\x00\xf0"
        BITOP DIFF d a b -> :2
        GET d -> "\xf0\x0f"
        BITOP DIFF1 d b a -> :2
        GET d -> "\xf0\x0f"
        BITOP ANDOR d b a -> :2
        GET d -> "\x0f\x00"
        BITOP ONE d a b -> :2
        GET d -> "\xf0\x0f"
        OBJECT ENCODING d -> raw
        SET d v EX 100 -> OK
        BITOP AND d d -> :1
        TTL d -> :-1
        BITOP AND d none -> :0
        EXISTS d -> :0
        RPUSH d x -> :1
        BITOP OR d a -> :2
        TYPE d -> string"#,
    );
}

#[test]
fn combining_refuses_what_makes_no_sense() {
    check(
        "RPUSH l a -> :1
        BITOP FOO d l -> -ERR syntax error
        BITOP NOT d a b -> -ERR BITOP NOT must be called with a single source key.
        BITOP DIFF d a -> -ERR BITOP DIFF must be called with at least two source keys.
        BITOP DIFF1 d a -> -ERR BITOP DIFF1 must be called with at least two source keys.
        BITOP ANDOR d a -> -ERR BITOP ANDOR must be called with at least two source keys.
        BITOP ONE d a -> :0
        BITOP AND d a l -> -WRONGTYPE Operation against a key holding the wrong kind of value",
    );
}

#[test]
fn fields_wrap_saturate_and_fail() {
    check(
        r#"SET b "\xff\xf0\x00" -> OK
        BITFIELD b OVERFLOW SAT SET i4 0 8 SET i4 4 7 -> [:-1 :-1]
        SET c "\xff\xf0\x00" -> OK
        BITFIELD c INCRBY u8 0 85 INCRBY u8 16 170 -> [:84 :170]
        BITFIELD c OVERFLOW FAIL INCRBY u8 0 250 -> [(nil)]
        BITFIELD d SET u8 #1 300 GET u8 #1 GET u16 0 -> [:0 :44 :44]
        BITFIELD d SET u8 0 -1 SET i8 0 -200 GET i8 0 -> [:0 :-1 :56]
        BITFIELD d OVERFLOW SAT INCRBY i64 0 9223372036854775807 -> [:9223372036854775807]
        BITFIELD d GET u8 4294967295 -> [:0]
        BITFIELD d -> []
        BITFIELD none GET u8 0 -> [:0]
        EXISTS none -> :0
        BITFIELD made OVERFLOW FAIL SET u8 8 256 -> [(nil)]
        STRLEN made -> :2
        BITFIELD_RO c GET u8 0 GET i4 16 -> [:84 :-6]
        BITFIELD_RO none GET u8 0 -> [:0]"#,
    );
}

#[test]
fn fields_are_refused_with_the_reason() {
    const TYPE: &str = "-ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is \
                        not supported but i64 is.";
    const WRONG_TYPE: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value";
    let (mut local, client) = store();
    for command in ["BITFIELD c SET I8 0 0", "BITFIELD c GET u64 0", "BITFIELD c GET i0 x"] {
        assert_eq!(local.say(client, command), TYPE, "{command}");
    }
    run(
        &mut local,
        client,
        "BITFIELD k GET -> -ERR syntax error
        BITFIELD k SET u8 0 -> -ERR syntax error
        BITFIELD k FOO u8 0 -> -ERR syntax error
        BITFIELD k GET u8 x -> -ERR bit offset is not an integer or out of range
        BITFIELD k GET u8 #536870912 -> -ERR bit offset is not an integer or out of range
        BITFIELD k GET u8 #4611686018427387904 -> -ERR bit offset is not an integer or out of range
        BITFIELD k SET u8 0 x -> -ERR value is not an integer or out of range
        BITFIELD k SET u8 0 1 OVERFLOW FOO -> -ERR Invalid OVERFLOW type specified
        EXISTS k -> :0
        BITFIELD_RO k SET u8 0 1 -> -ERR BITFIELD_RO only supports the GET subcommand
        RPUSH l a -> :1",
    );
    for command in ["BITFIELD l GET u8 0", "BITFIELD l SET u8 0 1", "BITFIELD_RO l GET u8 0"] {
        assert_eq!(local.say(client, command), WRONG_TYPE, "{command}");
    }
}

#[test]
fn a_write_that_changes_nothing_leaves_watchers_alone() {
    let (mut local, client) = store();
    let other = local.connect(0);
    let mut commits = |command: &str| {
        local.say(client, "SET k \\x01");
        local.say(client, "WATCH k");
        local.say(other, command);
        local.say(client, "MULTI");
        local.say(client, "EXEC") != "(nil)"
    };
    for command in
        ["SETBIT k 1 1", "BITFIELD k SET u8 0 92", "BITFIELD k OVERFLOW FAIL SET i8 0 999"]
    {
        assert!(commits(command), "{command}");
    }
    for command in ["SETBIT k 0 1", "SETBIT k 99 0", "BITFIELD k SET u8 0 1", "BITOP OR k k"] {
        assert!(!commits(command), "{command}");
    }
}

#[test]
fn a_reply_on_its_way_keeps_the_bytes_that_were_read() {
    let (mut local, client) = store();
    local.say(client, "SETBIT k 799999 1");
    let mut before = vec![0_u8; 100_000];
    before[99_999] = 1;
    let pipeline = ["GET k\r\n", "SETBIT k 0 1\r\n", "GETBIT k 0\r\n"].concat();
    local.send(client, pipeline.as_bytes());
    let bytes = local.receive(client);
    let (frame, used) = caudal_wire::frame::parse(&bytes).unwrap().unwrap();
    assert_eq!(frame, Frame::Bulk(before));
    assert_eq!(&bytes[used..], b":0\r\n:1\r\n");
}

#[test]
fn a_string_made_in_parts_stays_raw_wherever_it_goes() {
    check(
        "APPEND k abc -> :3
        SETBIT k 7 1 -> :1
        OBJECT ENCODING k -> raw
        RENAME k other -> OK
        OBJECT ENCODING other -> raw
        COPY other copy -> :1
        OBJECT ENCODING copy -> raw
        MOVE other 1 -> :1
        EXPIRE copy 100 -> :1
        PERSIST copy -> :1
        OBJECT ENCODING copy -> raw
        SELECT 1 -> OK
        OBJECT ENCODING other -> raw
        SET other v -> OK
        OBJECT ENCODING other -> embstr",
    );
}
