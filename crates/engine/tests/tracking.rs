//! Client tracking: who is told of which changes, and when.

mod messages;

use caudal_engine::config::Config;
use caudal_engine::local::{Client, Local};
use messages::{heard, pipeline, say};

const NONE: [&str; 0] = [];

/// Two workers, a RESP3 connection that tracks with these options, and one on the other worker.
fn tracking(options: &str) -> (Local, Client, Client) {
    let mut local = Local::new(Config::default(), 2);
    let (one, two) = (local.connect(0), local.connect(1));
    assert_eq!(say(&mut local, one, "HELLO 3").len(), 1);
    let line = format!("CLIENT TRACKING on {options}");
    assert_eq!(say(&mut local, one, &line), ["OK"]);
    (local, one, two)
}

#[test]
fn a_key_that_was_read_is_invalidated_once() {
    let (mut local, one, two) = tracking("");
    assert_eq!(pipeline(&mut local, one, &["SET k v", "GET k"]), ["OK", "v"]);
    assert_eq!(say(&mut local, two, "SET k v2"), ["OK"]);
    assert_eq!(heard(&mut local, one), [">[invalidate [k]]"]);
    say(&mut local, two, "SET k v3");
    assert_eq!(heard(&mut local, one), NONE);
    assert_eq!(say(&mut local, one, "GET k"), ["v3"]);
    say(&mut local, two, "EXPIRE k 100");
    assert_eq!(heard(&mut local, one), [">[invalidate [k]]"]);
    // A key that was not there is tracked as well, and each key of a command.
    assert_eq!(say(&mut local, one, "MGET k none"), ["[v3 (nil)]"]);
    say(&mut local, two, "SET none x");
    say(&mut local, two, "DEL k");
    assert_eq!(heard(&mut local, one), [">[invalidate [none]]", ">[invalidate [k]]"]);
    // In another database it is another key.
    assert_eq!(say(&mut local, one, "GET k"), ["(nil)"]);
    assert_eq!(pipeline(&mut local, two, &["SELECT 1", "SET k x"]), ["OK", "OK"]);
    assert_eq!(heard(&mut local, one), NONE);
}

#[test]
fn a_reader_that_waited_is_told_of_the_next_change() {
    for options in ["", "OPTIN"] {
        let (mut local, one, two) = tracking(options);
        if options == "OPTIN" {
            say(&mut local, one, "CLIENT CACHING YES");
        }
        assert_eq!(say(&mut local, one, "XREAD BLOCK 0 STREAMS s t $ $"), NONE);
        // The change that it waits for is its reply, and what follows is news.
        assert_eq!(pipeline(&mut local, two, &["XADD s 1-1 a b", "XADD s 2-1 a b"]).len(), 2);
        let expected = ["{s: [[1-1 [a b]]]}", ">[invalidate [s]]"];
        assert_eq!(heard(&mut local, one), expected, "{options}");
        say(&mut local, two, "XADD t 1-1 a b");
        assert_eq!(heard(&mut local, one), [">[invalidate [t]]"]);
        say(&mut local, two, "XADD t 2-1 a b");
        assert_eq!(heard(&mut local, one), NONE);
    }
}

#[test]
fn a_hash_that_was_read_is_invalidated_when_a_field_expires() {
    let (mut local, one, two) = tracking("");
    say(&mut local, two, "HSETEX h PX 100 FIELDS 2 a 1 b 2");
    say(&mut local, two, "HPERSIST h FIELDS 1 b");
    assert_eq!(say(&mut local, one, "HGET h b"), ["2"]);
    for _ in 0..20 {
        local.advance_ms(100);
    }
    assert_eq!(heard(&mut local, one), [">[invalidate [h]]"]);
    assert_eq!(say(&mut local, one, "HGET h b"), ["2"]);
    say(&mut local, two, "HEXPIRE h 100 FIELDS 1 b");
    assert_eq!(heard(&mut local, one), [">[invalidate [h]]"]);
}

#[test]
fn own_changes_are_told_right_after_their_reply() {
    let (mut local, one, _) = tracking("");
    let expected = ["(nil)", "OK", ">[invalidate [a]]", "PONG"];
    assert_eq!(pipeline(&mut local, one, &["GET a", "SET a 2", "PING"]), expected);
    let lines = ["MULTI", "GET a", "SET a 2", "PING", "EXEC", "PING"];
    let expected = ["OK", "QUEUED", "QUEUED", "QUEUED", "[2 OK PONG]", ">[invalidate [a]]", "PONG"];
    assert_eq!(pipeline(&mut local, one, &lines), expected);
    assert_eq!(say(&mut local, one, "CLIENT TRACKING on NOLOOP"), ["OK"]);
    assert_eq!(pipeline(&mut local, one, &["GET a", "SET a 3", "PING"]), ["2", "OK", "PONG"]);
}

#[test]
fn whoever_skips_its_own_changes_hears_nothing_until_it_reads_again() {
    let (mut local, one, two) = tracking("NOLOOP");
    assert_eq!(pipeline(&mut local, one, &["GET k", "SET k mine"]), ["(nil)", "OK"]);
    say(&mut local, two, "SET k other");
    assert_eq!(heard(&mut local, one), NONE);
    assert_eq!(say(&mut local, one, "GET k"), ["other"]);
    say(&mut local, two, "SET k more");
    assert_eq!(heard(&mut local, one), [">[invalidate [k]]"]);
}

#[test]
fn flushing_invalidates_everything() {
    let (mut local, one, two) = tracking("");
    say(&mut local, one, "GET k");
    say(&mut local, two, "FLUSHDB");
    assert_eq!(heard(&mut local, one), [">[invalidate (nil)]"]);
    assert_eq!(say(&mut local, one, "FLUSHALL"), ["OK", ">[invalidate (nil)]"]);
    let info = say(&mut local, two, "INFO stats").remove(0);
    assert!(info.contains("tracking_total_keys:0\\r\\n"), "{info}");
}

#[test]
fn expiry_and_swapped_databases_invalidate() {
    let (mut local, one, two) = tracking("");
    say(&mut local, two, "SET k v PX 50");
    say(&mut local, two, "SET other v");
    assert_eq!(pipeline(&mut local, one, &["GET k", "GET other"]), ["v", "v"]);
    for _ in 0..20 {
        local.advance_ms(100);
    }
    assert_eq!(heard(&mut local, one), [">[invalidate [k]]"]);
    assert_eq!(say(&mut local, two, "SWAPDB 0 1"), ["OK"]);
    assert_eq!(heard(&mut local, one), [">[invalidate [other]]"]);
}

#[test]
fn caching_is_opted_into_and_out_of_for_one_command_or_transaction() {
    let (mut local, one, two) = tracking("OPTIN");
    let error = |word, mode| {
        format!("-ERR CLIENT CACHING {word} is only valid when tracking is enabled in {mode} mode.")
    };
    assert_eq!(say(&mut local, one, "CLIENT CACHING no"), [error("NO", "OPTOUT")]);
    pipeline(&mut local, one, &["GET a", "CLIENT CACHING yes", "GET b", "GET c"]);
    for key in ["a", "b", "c"] {
        say(&mut local, two, &format!("SET {key} x"));
    }
    assert_eq!(heard(&mut local, one), [">[invalidate [b]]"]);
    let lines = ["CLIENT CACHING yes", "MULTI", "GET a", "GET b", "EXEC", "GET c"];
    pipeline(&mut local, one, &lines);
    say(&mut local, two, "MSET a 1 b 2 c 3");
    assert_eq!(heard(&mut local, one), [">[invalidate [a]]", ">[invalidate [b]]"]);

    let (mut local, one, two) = tracking("OPTOUT");
    assert_eq!(say(&mut local, one, "CLIENT CACHING yes"), [error("YES", "OPTIN")]);
    pipeline(&mut local, one, &["GET a", "CLIENT CACHING no", "GET b", "GET c"]);
    say(&mut local, two, "MSET a 1 b 2 c 3");
    assert_eq!(heard(&mut local, one), [">[invalidate [a]]", ">[invalidate [c]]"]);
}

#[test]
fn broadcasts_tell_of_all_keys_with_a_prefix_once_a_batch() {
    let (mut local, one, two) = tracking("BCAST PREFIX u: PREFIX v");
    say(&mut local, two, "SET u:1 x");
    assert_eq!(heard(&mut local, one), [">[invalidate [u:1]]"]);
    say(&mut local, two, "SET z 1");
    assert_eq!(heard(&mut local, one), NONE);
    assert_eq!(say(&mut local, one, "SET u:2 y"), ["OK", ">[invalidate [u:2]]"]);
    pipeline(&mut local, two, &["SET u:b 1", "SET u:a 2", "DEL u:b", "SET vv 1"]);
    let mut messages = heard(&mut local, one);
    messages.sort();
    assert_eq!(messages, [">[invalidate [u:a u:b]]", ">[invalidate [vv]]"]);
    say(&mut local, one, "CLIENT TRACKING off");
    say(&mut local, two, "SET u:1 x");
    assert_eq!(heard(&mut local, one), NONE);
    // Without a prefix it is all keys; own changes are left out if that is wanted.
    say(&mut local, one, "CLIENT TRACKING on BCAST NOLOOP");
    assert_eq!(say(&mut local, one, "MSET a 1 b 2"), ["OK"]);
    say(&mut local, two, "MSET a 1 c 2");
    assert_eq!(heard(&mut local, one), [">[invalidate [a c]]"]);
    say(&mut local, two, "SET x v PX 10");
    assert_eq!(heard(&mut local, one), [">[invalidate [x]]"]);
    for _ in 0..20 {
        local.advance_ms(100);
    }
    assert_eq!(heard(&mut local, one), [">[invalidate [x]]"]);
    local.close(one);
    let info = say(&mut local, two, "INFO").remove(0);
    for field in ["tracking_clients:0", "tracking_total_prefixes:0"] {
        assert!(info.contains(field), "{field} in {info}");
    }
}

#[test]
fn invalidations_are_redirected_to_a_subscriber() {
    let mut local = Local::new(Config::default(), 2);
    let (target, one, two) = (local.connect(1), local.connect(0), local.connect(1));
    say(&mut local, target, "SUBSCRIBE __redis__:invalidate");
    assert_eq!(say(&mut local, one, "CLIENT TRACKING on REDIRECT 1"), ["OK"]);
    assert_eq!(say(&mut local, one, "CLIENT GETREDIR"), [":1"]);
    assert_eq!(say(&mut local, one, "GET k"), ["(nil)"]);
    say(&mut local, two, "SET k v");
    assert_eq!(heard(&mut local, target), ["[message __redis__:invalidate [k]]"]);
    say(&mut local, two, "FLUSHALL");
    assert_eq!(heard(&mut local, target), ["[message __redis__:invalidate (nil)]"]);
    assert_eq!(heard(&mut local, one), NONE);
    say(&mut local, one, "HELLO 3");
    say(&mut local, one, "GET k");
    local.close(target);
    say(&mut local, two, "SET k v");
    assert_eq!(heard(&mut local, one), [">[tracking-redir-broken :1]"]);
    let info = say(&mut local, one, "CLIENT TRACKINGINFO");
    assert_eq!(info, ["{flags: ~[on broken_redirect] redirect: :1 prefixes: []}"]);
    let line = say(&mut local, one, "CLIENT INFO").remove(0);
    assert!(line.contains(" flags=tR ") && line.contains(" redir=1 "), "{line}");
}

#[test]
fn in_resp2_without_a_redirection_nothing_is_said() {
    let mut local = Local::new(Config::default(), 1);
    let (one, two) = (local.connect(0), local.connect(0));
    assert_eq!(say(&mut local, one, "CLIENT TRACKING on"), ["OK"]);
    say(&mut local, one, "GET k");
    say(&mut local, two, "SET k v");
    assert_eq!(heard(&mut local, one), NONE);
}

#[test]
fn what_is_asked_for_must_make_sense() {
    let (mut local, one, _) = tracking("BCAST PREFIX foo");
    let mode = "before disabling tracking for this client, and then re-enabling it with a \
                different mode.";
    let overlap = "Prefixes for a single client must not overlap.";
    let mistakes = [
        ("on", format!("You can't switch BCAST mode on/off {mode}")),
        ("on PREFIX a", "PREFIX option requires BCAST mode to be enabled".to_owned()),
        ("on BCAST OPTIN", "OPTIN and OPTOUT are not compatible with BCAST".to_owned()),
        (
            "on BCAST PREFIX fo",
            format!("Prefix 'fo' overlaps with an existing prefix 'foo'. {overlap}"),
        ),
        (
            "on BCAST PREFIX a PREFIX ab",
            format!("Prefix 'a' overlaps with another provided prefix 'ab'. {overlap}"),
        ),
        ("on BCAST REDIRECT 99", "The client ID you want redirect to does not exist".to_owned()),
        ("on BCAST REDIRECT x", "value is not an integer or out of range".to_owned()),
        ("on BCAST foo", "syntax error".to_owned()),
        ("maybe", "syntax error".to_owned()),
    ];
    for (words, text) in mistakes {
        let line = format!("CLIENT TRACKING {words}");
        assert_eq!(say(&mut local, one, &line), [format!("-ERR {text}")], "{words}");
    }
    assert_eq!(say(&mut local, one, "CLIENT TRACKING off"), ["OK"]);
    let off = ["{flags: ~[off] redirect: :-1 prefixes: []}"];
    assert_eq!(say(&mut local, one, "CLIENT TRACKINGINFO"), off);
    let text = "-ERR CLIENT CACHING can be called only when the client is in tracking mode with \
                OPTIN or OPTOUT mode enabled";
    assert_eq!(say(&mut local, one, "CLIENT CACHING yes"), [text]);
    let text = "-ERR You can't specify both OPTIN mode and OPTOUT mode";
    assert_eq!(say(&mut local, one, "CLIENT TRACKING on OPTIN OPTOUT"), [text]);
    assert_eq!(say(&mut local, one, "CLIENT TRACKING on OPTIN NOLOOP"), ["OK"]);
    let lines = ["CLIENT CACHING yes", "CLIENT TRACKINGINFO"];
    let info = "{flags: ~[on optin caching-yes noloop] redirect: :0 prefixes: []}";
    assert_eq!(pipeline(&mut local, one, &lines), ["OK", info]);
    let text = format!("-ERR You can't switch OPTIN/OPTOUT mode {mode}");
    assert_eq!(say(&mut local, one, "CLIENT TRACKING on OPTOUT"), [text]);
    assert_eq!(say(&mut local, one, "RESET"), ["RESET"]);
    assert_eq!(say(&mut local, one, "CLIENT GETREDIR"), [":-1"]);
}

#[test]
fn the_table_of_marks_has_a_limit_and_forgets_the_gone() {
    let (mut local, one, two) = tracking("");
    let total = |local: &mut Local, field: &str| -> usize {
        let info = say(local, two, "INFO stats").remove(0);
        let rest = info.split(&format!("{field}:")).nth(1).expect("the field is there");
        rest.split("\\r").next().expect("a value").parse().expect("a number")
    };
    for index in 0..300 {
        say(&mut local, one, &format!("GET key:{index}"));
    }
    assert_eq!(total(&mut local, "tracking_total_keys"), 300);
    assert_eq!(total(&mut local, "tracking_total_items"), 300);
    say(&mut local, two, "CONFIG SET tracking-table-max-keys 10");
    say(&mut local, two, "SET a 1");
    for _ in 0..20 {
        local.advance_ms(100);
    }
    assert_eq!(total(&mut local, "tracking_total_keys"), 10);
    assert_eq!(heard(&mut local, one).len(), 290);
    local.close(one);
    for _ in 0..20 {
        local.advance_ms(100);
    }
    assert_eq!(total(&mut local, "tracking_total_items"), 0);
}

#[test]
fn tracking_that_begins_inside_a_transaction_tracks_what_follows_in_it() {
    let mut local = Local::new(Config::default(), 2);
    let (one, two) = (local.connect(0), local.connect(1));
    say(&mut local, one, "HELLO 3");
    let lines = ["MULTI", "GET a", "CLIENT TRACKING on", "GET b", "EXEC"];
    let expected = ["OK", "QUEUED", "QUEUED", "QUEUED", "[(nil) OK (nil)]"];
    assert_eq!(pipeline(&mut local, one, &lines), expected);
    say(&mut local, two, "MSET a 1 b 1");
    assert_eq!(heard(&mut local, one), [">[invalidate [b]]"]);
}

#[test]
fn reads_and_writes_of_scripts_count() {
    let (mut local, one, two) = tracking("");
    let script = "redis.call('get',KEYS[1]) redis.call('get','undeclared') return 1";
    assert_eq!(say(&mut local, one, &format!("EVAL \"{script}\" 1 a")), [":1"]);
    let script = "redis.call('set','undeclared',1) redis.call('set',KEYS[1],1) return 1";
    assert_eq!(say(&mut local, two, &format!("EVAL \"{script}\" 1 a")), [":1"]);
    let mut messages = heard(&mut local, one);
    messages.sort();
    assert_eq!(messages, [">[invalidate [a]]", ">[invalidate [undeclared]]"]);
}
