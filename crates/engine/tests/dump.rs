//! DUMP and RESTORE, and payloads that other servers made.

mod support;

use caudal_engine::local::{BEGIN_MS, Client, Local};
use caudal_wire::Frame;
use support::store_with_debug as store;

const BAD_FOOTER: &str = "-ERR DUMP payload version or checksum are wrong";
const BAD_DATA: &str = "-ERR Bad data format";
const BUSY: &str = "-BUSYKEY Target key name already exists.";

fn dump(local: &mut Local, client: Client, key: &str) -> Vec<u8> {
    match local.call(client, &["DUMP", key]) {
        Frame::Bulk(payload) => payload,
        other => panic!("{other:?} is no payload"),
    }
}

/// RESTORE with any words behind the payload.
fn restore(
    local: &mut Local,
    client: Client,
    (key, ttl): (&str, &str),
    payload: &[u8],
    options: &str,
) -> String {
    let mut words: Vec<&[u8]> = vec![b"RESTORE", key.as_bytes(), ttl.as_bytes(), payload];
    words.extend(options.split_whitespace().map(str::as_bytes));
    caudal_engine::local::spell(&local.call(client, &words))
}

fn bytes_of(hex: &str) -> Vec<u8> {
    let pair = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal digits");
    (0..hex.len()).step_by(2).map(pair).collect()
}

/// Restores every payload of a file, and compares with what its commands make here.
fn check_file(file: &str, compares_encodings: bool) {
    let mut count = 0;
    for line in file.lines().filter(|line| !line.starts_with('#')) {
        let (mut local, client) = store();
        let (commands, payload) = line.split_once(" => ").expect("commands => payload");
        for command in commands.split(" ; ") {
            local.say(client, command);
        }
        let payload = bytes_of(payload);
        let head = &commands[..commands.len().min(60)];
        assert_eq!(restore(&mut local, client, ("other", "0"), &payload, ""), "OK", "{head}");
        let digests = local.say(client, "DEBUG DIGEST-VALUE k other");
        let (one, two) = digests.trim_matches(['[', ']']).split_once(' ').expect("two digests");
        assert_eq!(one, two, "{head}");
        if compares_encodings {
            let encodings = ["OBJECT ENCODING k", "OBJECT ENCODING other"];
            let [own, others] = encodings.map(|command| local.say(client, command));
            assert_eq!(own, others, "{head}");
        }
        let own = dump(&mut local, client, "other");
        assert_eq!(restore(&mut local, client, ("third", "0"), &own, ""), "OK", "{head}");
        assert_eq!(
            local.say(client, "DEBUG DIGEST-VALUE other third"),
            format!("[{one} {one}]"),
            "{head}"
        );
        count += 1;
    }
    assert!(count > 10);
}

#[test]
fn payloads_of_redis_7_are_restored() {
    // Some small sets of Redis 7.0 are hash tables.
    check_file(include_str!("payloads/redis-7.0.txt"), false);
}

#[test]
fn what_is_written_is_what_redis_7_writes() {
    let mut count = 0;
    for line in include_str!("payloads/redis-7.0.txt").lines() {
        let Some((command, payload)) = line.split_once(" => ") else { continue };
        // Redis compresses longer ones, its hash tables have their own order, its scores 17 digits.
        let differs = ["SADD k a", "SADD k 1 5000000000", "ZADD k 1 a"];
        if command.len() > 60 || differs.iter().any(|other| command.starts_with(other)) {
            continue;
        }
        let (mut local, client) = store();
        local.say(client, command);
        assert_eq!(dump(&mut local, client, "k"), bytes_of(payload), "{command}");
        count += 1;
    }
    assert!(count >= 12, "{count}");
}

#[test]
fn payloads_of_valkey_9_are_restored() {
    check_file(include_str!("payloads/valkey-9.1.txt"), true);
}

#[test]
fn payloads_of_older_and_other_servers_are_restored() {
    check_file(include_str!("payloads/by-hand.txt"), false);
}

#[test]
fn payloads_of_old_servers_are_taken_and_keys_are_not_overwritten() {
    let (mut local, client) = store();
    let old = b"\x00\xc0\x01\x06\x00\xb0\x95\x8f6$T-o";
    assert_eq!(restore(&mut local, client, ("foo", "0"), old, ""), "OK");
    assert_eq!(local.say(client, "GET foo"), "1");
    let mut abc = *b"\x00\x03ABC\t\x00\x91\x11-\x06\xb4^\xf3\xb7";
    assert_eq!(restore(&mut local, client, ("A", "0"), &abc, ""), "OK");
    assert_eq!(restore(&mut local, client, ("A", "0"), &abc, ""), BUSY);
    assert_eq!(
        restore(&mut local, client, ("A", "-1"), &abc, "REPLACE"),
        "-ERR Invalid TTL value, must be >= 0"
    );
    assert_eq!(restore(&mut local, client, ("A", "0"), &abc, "REPLACE IDLETIME 5"), "OK");
    assert_eq!(local.say(client, "OBJECT IDLETIME A"), ":5");
    assert_eq!(restore(&mut local, client, ("A", "1000"), &abc, "REPLACE ABSTTL"), "OK");
    assert_eq!(local.say(client, "EXISTS A"), ":0");
    abc[14] = 0xb8;
    assert_eq!(restore(&mut local, client, ("A", "0"), &abc, "REPLACE"), BAD_FOOTER);
}

#[test]
fn restore_names_what_is_wrong() {
    let (mut local, client) = store();
    local.say(client, "SET k v");
    let good = dump(&mut local, client, "k");
    let cases: &[(&str, &str, &[u8], &str, &str)] = &[
        ("a", "x", &good, "", "-ERR value is not an integer or out of range"),
        ("a", "0", b"x", "", BAD_FOOTER),
        ("a", "0", &good, "FOO", "-ERR syntax error"),
        ("a", "0", &good, "IDLETIME", "-ERR syntax error"),
        ("a", "0", &good, "IDLETIME -1", "-ERR Invalid IDLETIME value, must be >= 0"),
        ("a", "0", &good, "FREQ 256", "-ERR Invalid FREQ value, must be >= 0 and <= 255"),
        ("a", "0", &good, "FREQ x", "-ERR value is not an integer or out of range"),
        ("a", "0", &good, "IDLETIME 1 FREQ 1", "-ERR syntax error"),
        ("k", "x", b"x", "", BUSY),
        ("k", "x", b"x", "FOO", "-ERR syntax error"),
        ("k", "x", b"x", "REPLACE", "-ERR value is not an integer or out of range"),
    ];
    for (key, ttl, payload, options, expected) in cases {
        let reply = restore(&mut local, client, (key, ttl), payload, options);
        assert_eq!(reply, *expected, "{key} {ttl} {options}");
    }
    assert_eq!(local.say(client, "DUMP none"), "(nil)");
}

#[test]
fn a_damaged_value_leaves_no_key() {
    let (mut local, client) = store();
    let damaged = b"\x14\x25\x25\x00\x00\x00\x00\x00\x02\x01\x82\x5F\x37\x03\x06\x01\x82\x5F\x35\
        \x03\x82\x5F\x33\x03\x00\x01\x82\x5F\x31\x03\x82\x5F\x39\x03\x04\xA9\x08\x01\xFF\x0B\x00\
        \xA3\x26\x49\xB4\x86\xB0\x0F\x41";
    assert_eq!(local.say(client, "DEBUG SET-SKIP-CHECKSUM-VALIDATION 1"), "OK");
    assert_eq!(restore(&mut local, client, ("key", "0"), damaged, ""), BAD_DATA);
    assert_eq!(local.say(client, "EXISTS key"), ":0");
}

#[test]
fn an_expiry_is_from_now_or_absolute() {
    let (mut local, client) = store();
    local.say(client, "SET k v");
    let payload = dump(&mut local, client, "k");
    assert_eq!(restore(&mut local, client, ("a", "5000"), &payload, ""), "OK");
    assert_eq!(local.say(client, "PTTL a"), ":5000");
    let asking = [b"RESTORE-ASKING".as_slice(), b"c", b"0", &payload, b"REPLACE"];
    assert_eq!(local.call(client, &asking), Frame::Status(b"OK".to_vec()));
    let moment = (BEGIN_MS + 700).to_string();
    assert_eq!(restore(&mut local, client, ("b", &moment), &payload, "ABSTTL"), "OK");
    assert_eq!(local.say(client, "PTTL b"), ":700");
    local.advance_ms(701);
    assert_eq!(local.say(client, "EXISTS a b c"), ":2");
}

#[test]
fn a_restored_list_serves_who_waits_for_it() {
    let (mut local, client) = store();
    let waiting = local.connect(0);
    local.say(client, "RPUSH l one two");
    let payload = dump(&mut local, client, "l");
    local.send(waiting, &caudal_engine::local::encode(&["BLPOP", "m", "0"]));
    assert_eq!(restore(&mut local, client, ("m", "0"), &payload, ""), "OK");
    assert_eq!(local.receive(waiting), b"*2\r\n$1\r\nm\r\n$3\r\none\r\n");
}

#[test]
fn the_effects_of_restore_make_the_same_keys() {
    let (mut local, client) = store();
    local.worker(0).listen_to_effects();
    local.say(client, "SET k v");
    let payload = dump(&mut local, client, "k");
    assert_eq!(restore(&mut local, client, ("a", "5000"), &payload, ""), "OK");
    assert_eq!(restore(&mut local, client, ("a", "6000"), &payload, "REPLACE"), "OK");
    assert_eq!(restore(&mut local, client, ("b", "0"), &payload, "IDLETIME 3"), "OK");
    assert_eq!(restore(&mut local, client, ("k", "1"), &payload, "REPLACE ABSTTL"), "OK");
    let effects = local.worker(0).take_effects();
    let (mut copy, client_of_copy) = store();
    copy.advance_ms(1000);
    copy.send(client_of_copy, &effects);
    copy.receive(client_of_copy);
    let whole = "DEBUG DIGEST";
    assert_eq!(copy.say(client_of_copy, whole), local.say(client, whole));
    assert_eq!(copy.say(client_of_copy, "PTTL a"), ":5000");
    assert_eq!(copy.say(client_of_copy, "EXISTS k"), ":0");
}
