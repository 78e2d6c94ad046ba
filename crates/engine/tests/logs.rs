//! What is remembered of single commands: SLOWLOG, COMMANDLOG, LATENCY.

use caudal_engine::config::Config;
use caudal_engine::local::Local;
use caudal_wire::Frame;

#[test]
fn slow_commands_are_logged_without_their_secrets() {
    let mut local = Local::new(Config::default(), 1);
    let client = local.connect(0);
    assert_eq!(local.say(client, "SLOWLOG GET"), "[]");
    assert_eq!(local.say(client, "CLIENT SETNAME me"), "OK");
    assert_eq!(local.say(client, "CONFIG SET slowlog-log-slower-than 0 slowlog-max-len 5"), "OK");
    assert_eq!(local.say(client, "SLOWLOG RESET"), "OK");
    assert_eq!(local.say(client, "GET k"), "(nil)");
    assert_eq!(local.say(client, "SLOWLOG GET 1"), "[[:2 :1767225600 :0 [GET k] 127.0.0.1:1 me]]");
    assert_eq!(local.say(client, "CONFIG SET requirepass pw"), "OK");
    assert_eq!(local.say(client, "AUTH pw"), "OK");
    assert!(local.say(client, "HELLO 2 AUTH default pw").starts_with("[server"));
    let long = "x".repeat(200);
    assert_eq!(local.call(client, &["SET", "k", &long]), Frame::Status(b"OK".to_vec()));
    let log = local.say(client, "SLOWLOG GET 4");
    assert!(log.contains("[CONFIG SET requirepass (redacted)]"), "{log}");
    assert!(log.contains("[AUTH (redacted)]") && !log.contains("pw"), "{log}");
    assert!(log.contains("[HELLO 2 AUTH (redacted) (redacted)]"), "{log}");
    assert!(log.contains("xxx... (72 more bytes)"), "{log}");
    assert_eq!(local.say(client, "SLOWLOG LEN"), ":5");
    let many: Vec<String> =
        std::iter::once("WATCH".to_owned()).chain((0..40).map(|at| at.to_string())).collect();
    assert_eq!(local.call(client, &many), Frame::Status(b"OK".to_vec()));
    assert!(local.say(client, "SLOWLOG GET 1").contains("29 \"... (10 more arguments)\"]"));
    // A transaction is logged by its commands.
    for line in ["UNWATCH", "MULTI"] {
        assert_eq!(local.say(client, line), "OK");
    }
    assert_eq!(local.say(client, "GET inside"), "QUEUED");
    assert_eq!(local.say(client, "EXEC"), "[(nil)]");
    assert!(local.say(client, "SLOWLOG GET 1").contains("[GET inside]"));
    assert_eq!(local.say(client, "CONFIG SET slowlog-log-slower-than -1"), "OK");
    assert_eq!(local.say(client, "SLOWLOG RESET"), "OK");
    assert_eq!(local.say(client, "SLOWLOG LEN"), ":0");
    let refused = "-ERR count should be greater than or equal to -1";
    assert_eq!(local.say(client, "SLOWLOG GET -2"), refused);
    assert_eq!(local.say(client, "SLOWLOG GET x"), refused);
    assert_eq!(
        local.say(client, "SLOWLOG GET 1 2"),
        "-ERR unknown subcommand or wrong number of arguments for 'GET'. Try SLOWLOG HELP."
    );
}

#[test]
fn large_requests_and_replies_are_logged() {
    let mut local = Local::new(Config::default(), 1);
    let client = local.connect(0);
    let line = "CONFIG SET commandlog-request-larger-than 1000 commandlog-reply-larger-than 1000";
    assert_eq!(local.say(client, line), "OK");
    let long = "x".repeat(1000);
    assert_eq!(local.call(client, &["SET", "k", &long]), Frame::Status(b"OK".to_vec()));
    assert_eq!(local.call(client, &["GET", "k"]), Frame::Bulk(long.into_bytes()));
    let logged = local.say(client, "COMMANDLOG GET -1 large-request");
    assert!(logged.contains("[SET k \"xxx"), "{logged}");
    assert!(local.say(client, "COMMANDLOG GET -1 large-reply").contains(":1009 [GET k]"));
    assert_eq!(local.say(client, "COMMANDLOG LEN large-reply"), ":1");
    assert_eq!(local.say(client, "COMMANDLOG RESET large-reply"), "OK");
    assert_eq!(local.say(client, "COMMANDLOG LEN large-reply"), ":0");
    assert_eq!(local.say(client, "COMMANDLOG LEN slow"), ":0");
    assert_eq!(
        local.say(client, "COMMANDLOG LEN foo"),
        "-ERR type should be one of the following: slow, large-request, large-reply"
    );
}

#[test]
fn latencies_are_told_by_command() {
    let mut local = Local::new(Config::default(), 2);
    let (one, two) = (local.connect(0), local.connect(1));
    assert_eq!(local.say(one, "SET k v"), "OK");
    assert_eq!(local.say(two, "SET k v"), "OK");
    assert_eq!(
        local.say(one, "LATENCY HISTOGRAM set nosuch"),
        "[set [calls :2 histogram_usec [:1 :2]]]"
    );
    assert_eq!(local.say(one, "LATENCY LATEST"), "[]");
    assert_eq!(local.say(one, "LATENCY HISTORY command"), "[]");
    assert_eq!(local.say(one, "LATENCY RESET command"), ":0");
    assert_eq!(local.say(one, "LATENCY GRAPH foo"), "-ERR No samples available for event 'foo'");
    assert!(local.say(one, "LATENCY DOCTOR").contains("latency-monitor-threshold"));
}
