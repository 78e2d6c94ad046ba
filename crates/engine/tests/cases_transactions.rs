//! Transactions, as users of Redis met them: what aborts one, what does not, and what a watch sees.

mod support;

use support::{run, store};

const ABORTED: &str = "-EXECABORT Transaction discarded because of previous errors.";
const WRONG_TYPE: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value";

#[test]
fn a_watched_key_that_expires_before_exec_stops_it() {
    let (mut local, client) = store();
    run(&mut local, client, "SET key 1 PX 50 -> OK\nWATCH key -> OK\nMULTI -> OK");
    assert_eq!(local.say(client, "INCR key"), "QUEUED");
    local.advance_ms(100);
    run(&mut local, client, "EXEC -> (nil)\nEXISTS key -> :0");
}

#[test]
fn a_key_that_was_past_its_time_when_it_was_watched_has_not_changed() {
    let (mut local, client) = store();
    local.say(client, "SET x foo PX 1");
    local.advance_ms(20);
    run(
        &mut local,
        client,
        "WATCH x -> OK
        MULTI -> OK
        PING -> QUEUED
        EXEC -> [PONG]",
    );
}

#[test]
fn a_command_that_cannot_be_queued_aborts_the_whole() {
    let (mut local, client) = store();
    assert_eq!(local.say(client, "MULTI"), "OK");
    assert!(local.say(client, "INVALIDCMD").starts_with("-ERR unknown command 'INVALIDCMD'"));
    run(&mut local, client, &format!("SET leaked 1 -> QUEUED\nEXEC -> {ABORTED}"));
    run(
        &mut local,
        client,
        &format!(
            "EXISTS leaked -> :0
            MULTI -> OK
            SET a -> -ERR wrong number of arguments for 'set' command
            SET b 1 -> QUEUED
            EXEC -> {ABORTED}
            EXISTS b -> :0
            MULTI -> OK
            CLIENT NOSUCH -> -ERR unknown subcommand 'NOSUCH'. Try CLIENT HELP.
            EXEC -> {ABORTED}"
        ),
    );
}

#[test]
fn a_command_that_fails_while_it_runs_aborts_nothing() {
    let (mut local, client) = store();
    run(
        &mut local,
        client,
        &format!(
            "MULTI -> OK
            SET s x -> QUEUED
            LPUSH s 1 -> QUEUED
            SET after 1 -> QUEUED
            EXEC -> [OK {WRONG_TYPE} OK]
            GET after -> 1
            DISCARD -> -ERR DISCARD without MULTI
            EXEC -> -ERR EXEC without MULTI"
        ),
    );
}

#[test]
fn multi_and_watch_in_a_transaction_are_refused_and_abort_it() {
    let (mut local, client) = store();
    for (line, error) in [
        ("MULTI", "-ERR Command 'multi' not allowed inside a transaction"),
        ("WATCH k", "-ERR Command 'watch' not allowed inside a transaction"),
    ] {
        run(
            &mut local,
            client,
            &format!("MULTI -> OK\n{line} -> {error}\nSET k v -> QUEUED\nEXEC -> {ABORTED}"),
        );
        assert_eq!(local.say(client, "EXISTS k"), ":0");
    }
    // UNWATCH is queued like any other command.
    run(&mut local, client, "MULTI -> OK\nUNWATCH -> QUEUED\nEXEC -> [OK]");
}

#[test]
fn select_in_a_transaction_lasts() {
    let (mut local, client) = store();
    run(
        &mut local,
        client,
        "MULTI -> OK
        SELECT 1 -> QUEUED
        SET d1 x -> QUEUED
        EXEC -> [OK OK]
        GET d1 -> x
        SELECT 0 -> OK
        GET d1 -> (nil)",
    );
}

#[test]
fn reset_leaves_a_transaction() {
    let (mut local, client) = store();
    run(
        &mut local,
        client,
        "MULTI -> OK
        SET e 0 -> QUEUED
        RESET -> RESET
        SET e 1 -> OK
        GET e -> 1
        EXEC -> -ERR EXEC without MULTI",
    );
}

#[test]
fn a_rate_limiter_in_a_transaction_never_makes_a_counter_without_end() {
    let (mut local, client) = store();
    for (set, count) in [("OK", 1), ("(nil)", 2), ("(nil)", 3)] {
        run(
            &mut local,
            client,
            &format!(
                "MULTI -> OK
                SET rl 0 EX 1 NX -> QUEUED
                INCR rl -> QUEUED
                TTL rl -> QUEUED
                EXEC -> [{set} :{count} :1]"
            ),
        );
    }
    local.advance_ms(1001);
    run(&mut local, client, "MULTI -> OK\nSET rl 0 EX 1 NX -> QUEUED\nINCR rl -> QUEUED");
    assert_eq!(local.say(client, "EXEC"), "[OK :1]");
}

#[test]
fn a_lock_is_given_back_by_who_holds_it_only() {
    let (mut local, client) = store();
    run(
        &mut local,
        client,
        "SET lock one NX PX 30000 -> OK
        SET lock two NX PX 30000 -> (nil)
        DELIFEQ lock two -> :0
        SET lock one IFEQ one PX 5000 -> OK
        PTTL lock -> :5000
        DELIFEQ lock one -> :1
        SET lock two NX PX 30000 -> OK",
    );
    // The same with WATCH, as clients without scripts do it: another client's lock is not deleted.
    let other = local.connect(0);
    run(&mut local, client, "WATCH lock -> OK\nGET lock -> two\nMULTI -> OK\nDEL lock -> QUEUED");
    run(&mut local, other, "SET lock three PX 30000 -> OK");
    run(&mut local, client, "EXEC -> (nil)\nGET lock -> three");
}
