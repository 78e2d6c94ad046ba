//! HOTKEYS: which keys cost most, while a search for them runs.

mod support;

use caudal_engine::config::Config;
use caudal_engine::local::Local;
use support::{check, run, store};

#[test]
fn terms_are_checked_as_in_redis() {
    check(
        "HOTKEYS START -> -ERR METRICS parameter is required
        HOTKEYS START COUNT 1 -> -ERR METRICS parameter is required
        HOTKEYS START METRICS 3 CPU -> -ERR METRICS count must be > 0 and <= 2
        HOTKEYS START METRICS 1 FOO
            -> -ERR METRICS no valid metrics passed. Supported: CPU|NET
        HOTKEYS START METRICS 2 CPU
            -> -ERR METRICS count does not match number of metric types provided
        HOTKEYS START METRICS 2 CPU CPU -> -ERR METRICS CPU defined more than once!
        HOTKEYS START METRICS 1 CPU COUNT 65 -> -ERR COUNT must be between 1 and 64
        HOTKEYS START METRICS 1 CPU DURATION 0 -> -ERR DURATION must be between 1 and 1000000
        HOTKEYS START METRICS 1 CPU SAMPLE 0 -> -ERR SAMPLE ratio must be positive
        HOTKEYS START METRICS 1 CPU SLOTS 1 5
            -> -ERR SLOTS parameter cannot be used in non-cluster mode
        HOTKEYS START METRICS 1 CPU COUNT -> -ERR syntax error
        HOTKEYS GET -> (nil)",
    );
}

#[test]
fn one_search_runs_at_a_time_until_it_is_stopped() {
    check(
        "HOTKEYS STOP -> (nil)
        HOTKEYS START METRICS 1 NET -> OK
        HOTKEYS START METRICS 1 NET -> -ERR hotkey tracking session already in progress
        HOTKEYS RESET -> -ERR hotkey tracking session in progress, stop tracking first
        HOTKEYS STOP -> OK
        HOTKEYS STOP -> (nil)
        HOTKEYS RESET -> OK
        HOTKEYS GET -> (nil)
        HOTKEYS START METRICS 2 NET CPU -> OK",
    );
}

fn ranking(reply: &str, name: &str) -> String {
    let after = reply.split_once(name).expect(reply).1;
    after.trim_start().split_inclusive(']').next().expect("a list").to_owned()
}

#[test]
fn the_keys_that_move_most_bytes_come_first() {
    let mut local = Local::new(Config::default(), 2);
    let clients = [local.connect(0), local.connect(1)];
    local.say(clients[0], "HOTKEYS START METRICS 1 NET COUNT 2");
    for client in clients {
        run(
            &mut local,
            client,
            "SET small 1 -> OK\nSET large 0123456789012345678901234567890 -> OK",
        );
    }
    run(&mut local, clients[0], "MSET large 1 middle 2 -> OK\nPING -> PONG");
    let reply = local.say(clients[1], "HOTKEYS GET");
    // Bytes from the name of the command to its last word, and of the reply: of each SET, and half
    // of the MSET's.
    assert_eq!(ranking(&reply, "by-net-bytes"), "[large :137 small :52]");
    assert!(reply.starts_with("[tracking-active :1 sample-ratio :1 selected-slots []"));
    assert!(!reply.contains("by-cpu-time-us") && !reply.contains("total-cpu-time-user-ms"));
}

#[test]
fn a_transactions_commands_are_counted_one_by_one() {
    let (mut local, client) = store();
    local.say(client, "HOTKEYS START METRICS 1 NET");
    run(&mut local, client, "SET a 1 -> OK\nMULTI -> OK\nSET a 1 -> QUEUED\nEXEC -> [OK]");
    let reply = local.say(client, "HOTKEYS GET");
    let bytes: u64 = ranking(&reply, "by-net-bytes").trim_matches(&['[', ']'][..])[3..]
        .parse()
        .expect("bytes of the key a");
    assert_eq!(bytes % 2, 0);
}

#[test]
fn a_search_ends_by_itself_and_keeps_what_it_found() {
    let (mut local, client) = store();
    local.say(client, "HOTKEYS START METRICS 1 NET DURATION 5");
    local.say(client, "SET early 1");
    local.advance_ms(4_000);
    let running = local.say(client, "HOTKEYS GET");
    assert!(
        running.contains("tracking-active :1") && running.contains("collection-duration-ms :4000")
    );
    local.advance_ms(9_000);
    local.say(client, "SET late 1");
    local.say(client, "SET late 1");
    let over = local.say(client, "HOTKEYS GET");
    assert!(over.contains("tracking-active :0") && over.contains("collection-duration-ms :5000"));
    assert!(over.contains("early") && !over.contains("late"), "{over}");
    run(&mut local, client, "HOTKEYS START METRICS 1 CPU -> OK");
}
