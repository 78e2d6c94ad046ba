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
    assert!(local.say(client, "CONFIG SET tls-key-file-pass pw").starts_with('-'));
    let long = "x".repeat(200);
    assert_eq!(local.call(client, &["SET", "k", &long]), Frame::Status(b"OK".to_vec()));
    let log = local.say(client, "SLOWLOG GET 5");
    assert!(log.contains("[CONFIG SET tls-key-file-pass (redacted)]"), "{log}");
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
fn a_blocking_command_is_counted_and_logged_when_its_wait_is_over() {
    let mut local = Local::new(Config::default(), 2);
    let (one, two) = (local.connect(0), local.connect(1));
    assert_eq!(local.say(one, "CONFIG SET slowlog-log-slower-than 0"), "OK");
    let counted = |local: &mut Local| {
        let text = local.say(one, "INFO commandstats");
        let (_, fields) = text.split_once("cmdstat_blpop:calls=")?;
        let (calls, fields) = fields.split_once(',').unwrap();
        let (_, rejected) = fields.split_once("rejected_calls=").unwrap();
        Some((calls.to_owned(), rejected.split(',').next().unwrap().to_owned()))
    };
    let is = |calls: &str, rejected: &str| Some((calls.to_owned(), rejected.to_owned()));
    local.send(two, b"BLPOP l 0\r\n");
    assert_eq!(counted(&mut local), None);
    for line in ["MULTI", "RPUSH l a", "SLOWLOG RESET", "EXEC"] {
        local.say(one, line);
    }
    assert_eq!(local.receive(two), b"*2\r\n$1\r\nl\r\n$1\r\na\r\n");
    let logged = local.say(one, "SLOWLOG GET 1");
    assert!(logged.contains("[BLPOP l 0]"), "{logged}");
    assert_eq!(counted(&mut local), is("1", "0"));
    local.send(two, b"BLPOP l 1\r\n");
    local.advance_ms(1000);
    assert_eq!(local.receive(two), b"*-1\r\n");
    assert_eq!(counted(&mut local), is("2", "0"));
    local.send(two, b"BLPOP l 0\r\n");
    assert_eq!(counted(&mut local), is("2", "0"));
    assert_eq!(local.say(one, "CLIENT UNBLOCK 2 ERROR"), ":1");
    assert!(local.receive(two).starts_with(b"-UNBLOCKED"));
    assert_eq!(counted(&mut local), is("3", "1"));
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
