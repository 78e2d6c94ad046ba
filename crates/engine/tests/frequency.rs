//! OBJECT FREQ and OBJECT IDLETIME: which of them answers under which `maxmemory-policy`.

mod support;

use caudal_engine::local::{Client, Local};
use support::{check, run, store};

const NOT_LFU: &str = "-ERR An LFU maxmemory policy is not selected, access frequency not \
    tracked. Please note that when switching between policies at runtime LRU and LFU data will \
    take some time to adjust.";
const LFU: &str = "-ERR An LFU maxmemory policy is selected, idle time not tracked. Please note \
    that when switching between policies at runtime LRU and LFU data will take some time to \
    adjust.";

/// A store that counts each use.
fn counting() -> (Local, Client) {
    let (mut local, client) = store();
    run(&mut local, client, "CONFIG SET maxmemory-policy allkeys-lfu lfu-log-factor 0 -> OK");
    (local, client)
}

#[test]
fn one_of_them_answers() {
    let (mut local, client) = store();
    run(&mut local, client, "SET k v -> OK\nOBJECT IDLETIME k -> :0\nOBJECT FREQ none -> (nil)");
    assert_eq!(local.say(client, "OBJECT FREQ k"), NOT_LFU);
    local.say(client, "CONFIG SET maxmemory-policy volatile-lfu");
    assert_eq!(local.say(client, "OBJECT IDLETIME k"), LFU);
    run(&mut local, client, "SET n v -> OK\nOBJECT FREQ n -> :5");
    assert!(local.say(client, "INFO memory").contains("maxmemory_policy:volatile-lfu"));
}

#[test]
fn reads_and_writes_count_as_uses_and_looking_does_not() {
    let (mut local, client) = counting();
    run(
        &mut local,
        client,
        "SET k 1 -> OK
        OBJECT FREQ k -> :5
        GET k -> 1
        OBJECT FREQ k -> :6
        TYPE k -> string
        TTL k -> :-1
        EXISTS k -> :1
        OBJECT FREQ k -> :6
        TOUCH k -> :1
        OBJECT FREQ k -> :7
        SET k 2 -> OK
        OBJECT FREQ k -> :8
        SADD s a -> :1
        CONFIG SET lfu-decay-time 0 -> OK
        SISMEMBER s a -> :1
        CLIENT NO-TOUCH ON -> OK
        GET k -> 2
        SET n 1 -> OK
        OBJECT FREQ n -> :5
        OBJECT FREQ k -> :8
        TOUCH k -> :1
        OBJECT FREQ k -> :9",
    );
}

#[test]
fn an_unused_key_loses_what_it_had() {
    let (mut local, client) = counting();
    local.say(client, "SET k 1");
    (0..10).for_each(|_| drop(local.say(client, "GET k")));
    run(&mut local, client, "OBJECT FREQ k -> :15");
    local.advance_ms(6 * 60_000);
    run(
        &mut local,
        client,
        "OBJECT FREQ k -> :9\nCONFIG SET lfu-decay-time 3 -> OK\nOBJECT FREQ k -> :13",
    );
    run(&mut local, client, "CONFIG SET lfu-decay-time 0 -> OK\nOBJECT FREQ k -> :15");
}

#[test]
fn a_restored_key_has_the_count_that_it_came_with() {
    let (mut local, client) = counting();
    run(
        &mut local,
        client,
        r#"RESTORE k 0 "\x00\x03ABC\t\x00\x91\x11-\x06\xb4^\xf3\xb7" FREQ 77 -> OK
        OBJECT FREQ k -> :77
        RESTORE k 0 "\x00\x03ABC\t\x00\x91\x11-\x06\xb4^\xf3\xb7" REPLACE -> OK
        OBJECT FREQ k -> :5"#,
    );
}

#[test]
fn a_policy_that_evicts_does_not_go_with_a_limit_yet() {
    check(
        "CONFIG SET maxmemory-policy allkeys-lru -> OK
        CONFIG SET maxmemory 100mb
            -> -ERR CONFIG SET failed (possibly related to argument 'maxmemory-policy') - \
            eviction is not there yet: use 'maxmemory-policy noeviction', or 'maxmemory 0'
        CONFIG GET maxmemory -> [maxmemory 0]
        CONFIG SET maxmemory 100mb maxmemory-policy noeviction -> OK
        CONFIG SET maxmemory-policy allkeys-lfu
            -> -ERR CONFIG SET failed (possibly related to argument 'maxmemory-policy') - \
            eviction is not there yet: use 'maxmemory-policy noeviction', or 'maxmemory 0'
        CONFIG SET lfu-log-factor -1
            -> -ERR CONFIG SET failed (possibly related to argument 'lfu-log-factor') - \
            argument must be between 0 and 2147483647 inclusive",
    );
}
