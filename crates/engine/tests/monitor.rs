//! MONITOR: every command that runs, as lines.

mod messages;

use caudal_engine::config::Config;
use caudal_engine::local::{Client, Local};
use messages::{heard, pipeline, say};

/// The lines without their times.
fn lines(local: &mut Local, monitor: Client) -> Vec<String> {
    let text = String::from_utf8(local.receive(monitor)).expect("lines are text");
    let untimed = |line: &str| {
        let (time, rest) = line.split_once(' ').expect("a time and more");
        assert!(time.starts_with("+1767225600.000000"), "{time}");
        rest.to_owned()
    };
    text.lines().map(untimed).collect()
}

#[test]
fn a_monitor_sees_commands_of_all_workers() {
    let mut local = Local::new(Config::default(), 2);
    let (monitor, one, two) = (local.connect(0), local.connect(0), local.connect(1));
    assert_eq!(say(&mut local, monitor, "MONITOR"), ["OK"]);
    say(&mut local, one, "set k \"a\\\"b\\\\c\\n\\x01\"");
    pipeline(&mut local, two, &["SELECT 2", "MULTI", "GET k", "EXEC", "nosuch", "GET"]);
    let expected = [
        r#"[0 127.0.0.1:1] "set" "k" "a\"b\\c\n\x01""#,
        r#"[2 127.0.0.1:1] "SELECT" "2""#,
        r#"[2 127.0.0.1:1] "MULTI""#,
        r#"[2 127.0.0.1:1] "GET" "k""#,
        r#"[2 127.0.0.1:1] "EXEC""#,
    ];
    assert_eq!(lines(&mut local, monitor), expected);
}

#[test]
fn the_commands_of_a_script_follow_it() {
    let mut local = Local::new(Config::default(), 2);
    let (monitor, one) = (local.connect(1), local.connect(0));
    say(&mut local, monitor, "MONITOR");
    let script = "redis.call('set',KEYS[1],'v') return redis.call('get','undeclared')";
    say(&mut local, one, &format!("eval \"{script}\" 1 k"));
    say(&mut local, one, "PING");
    let expected = [
        format!(r#"[0 127.0.0.1:1] "eval" "{script}" "1" "k""#),
        r#"[0 lua] "set" "k" "v""#.to_owned(),
        r#"[0 lua] "get" "undeclared""#.to_owned(),
        r#"[0 127.0.0.1:1] "PING""#.to_owned(),
    ];
    assert_eq!(lines(&mut local, monitor), expected);
}

#[test]
fn what_is_secret_or_an_administrators_is_not_shown() {
    let mut local = Local::new(Config::default(), 1);
    let (monitor, one) = (local.connect(0), local.connect(0));
    say(&mut local, monitor, "MONITOR");
    say(&mut local, one, "AUTH secret");
    say(&mut local, one, "HELLO 3 AUTH default secret");
    say(&mut local, one, "CONFIG SET maxmemory 0");
    let expected = [
        r#"[0 127.0.0.1:1] "AUTH" "(redacted)""#,
        r#"[0 127.0.0.1:1] "HELLO" "3" "AUTH" "(redacted)" "(redacted)""#,
    ];
    assert_eq!(lines(&mut local, monitor), expected);
}

#[test]
fn a_monitor_may_not_touch_data_and_ends_with_reset() {
    let mut local = Local::new(Config::default(), 1);
    let (monitor, one) = (local.connect(0), local.connect(0));
    say(&mut local, monitor, "MONITOR");
    let error = "-ERR Replica can't interact with the keyspace";
    assert_eq!(say(&mut local, monitor, "GET k"), [error]);
    assert_eq!(say(&mut local, monitor, "PUBLISH ch x"), [error]);
    let shown = say(&mut local, monitor, "PING");
    assert!(shown[0] == "PONG" && shown[1].ends_with("\\\"PING\\\"\""), "{shown:?}");
    assert_eq!(say(&mut local, monitor, "MONITOR"), Vec::<String>::new());
    let line = say(&mut local, one, "CLIENT LIST ID 1").remove(0);
    assert!(line.contains(" flags=O "), "{line}");
    heard(&mut local, monitor);
    assert_eq!(say(&mut local, monitor, "RESET"), ["RESET"]);
    say(&mut local, one, "PING");
    assert_eq!(say(&mut local, monitor, "GET k"), ["(nil)"]);
    let error = "[-ERR MONITOR isn't allowed for DENY BLOCKING client]";
    let said = pipeline(&mut local, one, &["MULTI", "MONITOR", "EXEC"]);
    assert_eq!(said, ["OK", "QUEUED", error]);
}
