//! Publishing and subscribing as connections see it: confirmations, messages, their order and
//! their counts.

mod messages;

use caudal_engine::Close;
use caudal_engine::config::Config;
use caudal_engine::local::{Client, Local, encode};
use messages::{heard, pipeline, say};

#[test]
fn subscribers_on_every_worker_get_every_message_in_order() {
    let mut local = Local::new(Config::default(), 3);
    let publisher = local.connect(0);
    let subscribers: Vec<Client> = (0..7).map(|at| local.connect(at % 3)).collect();
    for subscriber in &subscribers {
        assert_eq!(say(&mut local, *subscriber, "SUBSCRIBE ch"), ["[subscribe ch :1]"]);
    }
    let lines = ["PUBLISH ch 1", "PUBLISH other 2", "PUBLISH ch 3"];
    assert_eq!(pipeline(&mut local, publisher, &lines), [":7", ":0", ":7"]);
    for subscriber in &subscribers {
        assert_eq!(heard(&mut local, *subscriber), ["[message ch 1]", "[message ch 3]"]);
    }
    local.close(subscribers[0]);
    assert_eq!(say(&mut local, publisher, "PUBLISH ch x"), [":6"]);
    assert_eq!(say(&mut local, publisher, "PUBSUB NUMSUB ch other"), ["[ch :6 other :0]"]);
    assert_eq!(say(&mut local, publisher, "PUBSUB NUMSUB"), ["[]"]);
}

#[test]
fn patterns_get_what_they_match_and_count_apart() {
    let mut local = Local::new(Config::default(), 2);
    let (publisher, one, two) = (local.connect(0), local.connect(0), local.connect(1));
    let confirmed = ["[psubscribe n* :1]", "[psubscribe ?ews :2]", "[subscribe news :3]"];
    let lines = ["PSUBSCRIBE n* ?ews", "SUBSCRIBE news"];
    assert_eq!(pipeline(&mut local, one, &lines), confirmed);
    assert_eq!(say(&mut local, two, "PSUBSCRIBE n*"), ["[psubscribe n* :1]"]);
    assert_eq!(say(&mut local, publisher, "PUBLISH news x"), [":4"]);
    let mut messages = heard(&mut local, one);
    assert_eq!(messages.remove(0), "[message news x]");
    messages.sort();
    assert_eq!(messages, ["[pmessage ?ews news x]", "[pmessage n* news x]"]);
    assert_eq!(heard(&mut local, two), ["[pmessage n* news x]"]);
    assert_eq!(say(&mut local, publisher, "PUBSUB NUMPAT"), [":2"]);
    assert_eq!(say(&mut local, publisher, "PUBSUB CHANNELS"), ["[news]"]);
    assert_eq!(say(&mut local, publisher, "PUBSUB CHANNELS x*"), ["[]"]);
    assert_eq!(say(&mut local, one, "PUNSUBSCRIBE n*"), ["[punsubscribe n* :2]"]);
    assert_eq!(say(&mut local, publisher, "PUBLISH nothing x"), [":1"]);
    assert_eq!(say(&mut local, publisher, "PUBSUB NUMPAT"), [":2"]);
}

#[test]
fn channels_of_shards_are_apart_from_the_others() {
    let mut local = Local::new(Config::default(), 2);
    let (publisher, one) = (local.connect(0), local.connect(1));
    assert_eq!(say(&mut local, one, "SUBSCRIBE ch"), ["[subscribe ch :1]"]);
    assert_eq!(say(&mut local, one, "SSUBSCRIBE ch"), ["[ssubscribe ch :1]"]);
    assert_eq!(say(&mut local, one, "PSUBSCRIBE *"), ["[psubscribe * :2]"]);
    assert_eq!(say(&mut local, publisher, "SPUBLISH ch x"), [":1"]);
    assert_eq!(heard(&mut local, one), ["[smessage ch x]"]);
    assert_eq!(say(&mut local, publisher, "PUBLISH ch y"), [":2"]);
    assert_eq!(heard(&mut local, one), ["[message ch y]", "[pmessage * ch y]"]);
    assert_eq!(say(&mut local, publisher, "PUBSUB SHARDCHANNELS"), ["[ch]"]);
    assert_eq!(say(&mut local, publisher, "PUBSUB SHARDNUMSUB ch x"), ["[ch :1 x :0]"]);
    assert_eq!(say(&mut local, one, "SUNSUBSCRIBE"), ["[sunsubscribe ch :0]"]);
    assert_eq!(say(&mut local, one, "SUNSUBSCRIBE"), ["[sunsubscribe (nil) :0]"]);
    let error = "-ERR The command has no key arguments";
    assert_eq!(say(&mut local, publisher, "COMMAND GETKEYS SPUBLISH ch x"), [error]);
}

#[test]
fn unsubscribing_confirms_each_name_or_that_there_was_none() {
    let mut local = Local::new(Config::default(), 1);
    let one = local.connect(0);
    assert_eq!(say(&mut local, one, "UNSUBSCRIBE"), ["[unsubscribe (nil) :0]"]);
    assert_eq!(
        say(&mut local, one, "UNSUBSCRIBE a b"),
        ["[unsubscribe a :0]", "[unsubscribe b :0]"]
    );
    let confirmed = ["[subscribe a :1]", "[subscribe b :2]", "[subscribe a :2]"];
    assert_eq!(say(&mut local, one, "SUBSCRIBE a b a"), confirmed);
    assert_eq!(say(&mut local, one, "PUNSUBSCRIBE"), ["[punsubscribe (nil) :2]"]);
    assert_eq!(say(&mut local, one, "UNSUBSCRIBE"), ["[unsubscribe a :1]", "[unsubscribe b :0]"]);
    assert_eq!(say(&mut local, one, "GET k"), ["(nil)"]);
}

#[test]
fn a_resp2_subscriber_may_only_say_what_a_subscriber_says() {
    let mut local = Local::new(Config::default(), 1);
    let one = local.connect(0);
    let refused = |name: &str| {
        format!(
            "-ERR Can't execute '{name}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / \
             RESET are allowed in this context"
        )
    };
    say(&mut local, one, "SUBSCRIBE ch");
    for (line, name) in [("GET k", "get"), ("CLIENT ID", "client|id"), ("MULTI", "multi")] {
        assert_eq!(say(&mut local, one, line), [refused(name)]);
    }
    assert_eq!(say(&mut local, one, "PING"), ["[pong \"\"]"]);
    assert_eq!(say(&mut local, one, "PING hello"), ["[pong hello]"]);
    let arity = "-ERR wrong number of arguments for 'ping' command";
    assert_eq!(say(&mut local, one, "PING a b"), [arity]);
    assert_eq!(say(&mut local, one, "RESET"), ["RESET"]);
    assert_eq!(say(&mut local, one, "GET k"), ["(nil)"]);
    assert_eq!(say(&mut local, one, "PUBLISH ch x"), [":0"]);
}

#[test]
fn a_resp3_subscriber_says_anything_and_hears_itself_after_the_reply() {
    let mut local = Local::new(Config::default(), 2);
    let (one, two) = (local.connect(0), local.connect(1));
    say(&mut local, one, "HELLO 3");
    assert_eq!(say(&mut local, one, "SUBSCRIBE ch"), [">[subscribe ch :1]"]);
    let lines = ["PUBLISH ch hi", "GET k", "PUBLISH ch again", "PING"];
    let expected = [":1", ">[message ch hi]", "(nil)", ":1", ">[message ch again]", "PONG"];
    assert_eq!(pipeline(&mut local, one, &lines), expected);
    let lines = ["MULTI", "PUBLISH ch a", "PUBLISH ch b", "PING", "EXEC", "ECHO x"];
    let expected = [
        "OK",
        "QUEUED",
        "QUEUED",
        "QUEUED",
        "[:1 :1 PONG]",
        ">[message ch a]",
        ">[message ch b]",
        "x",
    ];
    assert_eq!(pipeline(&mut local, one, &lines), expected);
    assert_eq!(say(&mut local, one, "UNSUBSCRIBE"), [">[unsubscribe ch :0]"]);
    let _ = two;
}

#[test]
fn confirmations_inside_a_transaction_stand_in_its_reply() {
    let mut local = Local::new(Config::default(), 1);
    let one = local.connect(0);
    let lines = ["MULTI", "SUBSCRIBE q", "PUBLISH q x", "PING", "GET k", "EXEC"];
    let expected = [
        "OK",
        "QUEUED",
        "QUEUED",
        "QUEUED",
        "QUEUED",
        "[[subscribe q :1] :1 [pong \"\"] (nil)]",
        "[message q x]",
    ];
    assert_eq!(pipeline(&mut local, one, &lines), expected);
    say(&mut local, one, "RESET");
    let lines = ["MULTI", "UNSUBSCRIBE", "PUBLISH ch x", "EXEC"];
    let expected = ["OK", "QUEUED", "QUEUED", "[[unsubscribe (nil) :0] :0]"];
    assert_eq!(pipeline(&mut local, one, &lines), expected);
}

#[test]
fn what_was_counted_is_delivered_even_if_the_subscription_ends_right_after() {
    let mut local = Local::new(Config::default(), 1);
    let (one, two, other) = (local.connect(0), local.connect(0), local.connect(0));
    say(&mut local, one, "HELLO 3");
    say(&mut local, one, "SUBSCRIBE a b");
    // In one batch: the message waits while its receiver runs its own commands.
    let bytes = [encode(&["PUBLISH", "a", "1"]), encode(&["PUBLISH", "b", "2"])].concat();
    let worker = local.worker(0);
    for (token, bytes) in [(1, bytes), (0, encode(&["UNSUBSCRIBE", "b"]))] {
        worker.input(token).extend_from_slice(&bytes);
        worker.received(token, bytes.len());
    }
    assert_eq!(say(&mut local, other, "PUBLISH b 3"), [":0"]);
    assert_eq!(heard(&mut local, two), [":1", ":1"]);
    let expected = [">[message a 1]", ">[message b 2]", ">[unsubscribe b :1]"];
    assert_eq!(heard(&mut local, one), expected);
}

#[test]
fn client_reply_off_does_not_take_messages_away() {
    let mut local = Local::new(Config::default(), 1);
    let one = local.connect(0);
    say(&mut local, one, "HELLO 3");
    let lines = ["CLIENT REPLY OFF", "SUBSCRIBE d", "PUBLISH d x", "PING", "MULTI"];
    let expected = [">[subscribe d :1]", ">[message d x]"];
    assert_eq!(pipeline(&mut local, one, &lines), expected);
    let lines = ["PUBLISH d y", "UNSUBSCRIBE d", "EXEC"];
    assert_eq!(pipeline(&mut local, one, &lines), [">[unsubscribe d :0]", ">[message d y]"]);
    assert_eq!(say(&mut local, one, "CLIENT REPLY ON"), ["OK"]);
}

#[test]
fn a_connection_that_waits_hears_messages_before_its_reply() {
    let mut local = Local::new(Config::default(), 2);
    let (one, two) = (local.connect(0), local.connect(1));
    say(&mut local, one, "HELLO 3");
    say(&mut local, one, "SUBSCRIBE ch");
    assert_eq!(say(&mut local, one, "BLPOP list 0"), Vec::<String>::new());
    assert_eq!(say(&mut local, two, "PUBLISH ch x"), [":1"]);
    assert_eq!(heard(&mut local, one), [">[message ch x]"]);
    say(&mut local, two, "RPUSH list v");
    assert_eq!(heard(&mut local, one), ["[list v]"]);
}

#[test]
fn a_subscriber_that_does_not_read_is_closed_and_delays_nobody() {
    let config = Config::default();
    let mut local = Local::new(config, 2);
    let (publisher, slow, good) = (local.connect(0), local.connect(1), local.connect(1));
    let line = "CONFIG SET client-output-buffer-limit \"pubsub 100kb 0 0\"";
    assert_eq!(say(&mut local, publisher, line), ["OK"]);
    say(&mut local, slow, "SUBSCRIBE ch");
    say(&mut local, good, "SUBSCRIBE ch");
    let payload = "x".repeat(30_000);
    for count in [2, 2, 2, 2, 1] {
        if count == 1 {
            assert_eq!(local.close_wanted(slow), Close::Now);
            local.close(slow);
        }
        let line = format!("PUBLISH ch {payload}");
        assert_eq!(say(&mut local, publisher, &line), [format!(":{count}")]);
        assert_eq!(heard(&mut local, good), [format!("[message ch {payload}]")]);
    }
    let info = say(&mut local, publisher, "INFO stats").remove(0);
    assert!(info.contains("client_output_buffer_limit_disconnections:1"), "{info}");
    assert!(info.contains("pubsub_channels:1"), "{info}");
}

#[test]
fn counts_show_in_client_list_and_info() {
    let mut local = Local::new(Config::default(), 2);
    let (one, two) = (local.connect(0), local.connect(1));
    say(&mut local, two, "SUBSCRIBE a b");
    say(&mut local, two, "PSUBSCRIBE c*");
    say(&mut local, two, "SSUBSCRIBE d");
    let line = say(&mut local, one, "CLIENT LIST TYPE pubsub").remove(0);
    assert!(line.contains(" flags=P ") && line.contains(" sub=2 psub=1 ssub=1 "), "{line}");
    let info = say(&mut local, one, "INFO").remove(0);
    let fields =
        ["pubsub_clients:1", "pubsub_channels:2", "pubsub_patterns:1", "pubsubshard_channels:1"];
    for field in fields {
        assert!(info.contains(field), "{field} in {info}");
    }
    local.close(two);
    let info = say(&mut local, one, "INFO").remove(0);
    for field in ["pubsub_clients:0", "pubsub_channels:0", "pubsub_patterns:0"] {
        assert!(info.contains(field), "{field} in {info}");
    }
}

#[test]
fn a_hundred_thousand_channels_of_one_client_come_and_go() {
    const COUNT: usize = 100_000;
    let mut local = Local::new(Config::default(), 2);
    let (one, two) = (local.connect(0), local.connect(1));
    let names = (0..COUNT).map(|at| format!("ch-{at:08}"));
    let words: Vec<String> = std::iter::once("SUBSCRIBE".to_owned()).chain(names).collect();
    local.send(one, &encode(&words));
    let confirmed = heard(&mut local, one);
    assert_eq!(confirmed.len(), COUNT);
    assert_eq!(confirmed[COUNT - 1], "[subscribe ch-00099999 :100000]");
    let line = "PUBSUB NUMSUB ch-00000000 ch-00099999";
    assert_eq!(say(&mut local, two, line), ["[ch-00000000 :1 ch-00099999 :1]"]);
    assert_eq!(say(&mut local, two, "PUBLISH ch-00099999 x"), [":1"]);
    assert_eq!(heard(&mut local, one), ["[message ch-00099999 x]"]);
    local.close(one);
    assert_eq!(say(&mut local, two, "PUBSUB CHANNELS"), ["[]"]);
}

#[test]
fn errors_are_worded_as_in_valkey() {
    let mut local = Local::new(Config::default(), 1);
    let one = local.connect(0);
    let mistakes = [
        ("SUBSCRIBE", "wrong number of arguments for 'subscribe' command"),
        ("PUBLISH ch", "wrong number of arguments for 'publish' command"),
        ("PUBSUB", "wrong number of arguments for 'pubsub' command"),
        ("PUBSUB FOO", "unknown subcommand 'FOO'. Try PUBSUB HELP."),
        ("PUBSUB NUMPAT x", "wrong number of arguments for 'pubsub|numpat' command"),
        (
            "PUBSUB CHANNELS a b",
            "unknown subcommand or wrong number of arguments for 'CHANNELS'. Try PUBSUB HELP.",
        ),
    ];
    for (line, text) in mistakes {
        assert_eq!(say(&mut local, one, line), [format!("-ERR {text}")]);
    }
}

#[test]
fn a_flood_of_messages_arrives_whole_and_holds_nobody_for_ever() {
    const COUNT: usize = 1200;
    let mut local = Local::new(Config::default(), 2);
    let (publisher, subscriber) = (local.connect(0), local.connect(1));
    let line = "CONFIG SET client-output-buffer-limit \"pubsub 0 0 0\"";
    assert_eq!(say(&mut local, publisher, line), ["OK"]);
    say(&mut local, subscriber, "SUBSCRIBE ch");
    let payload = vec![b'x'; 20_000];
    let publish = encode(&[b"PUBLISH".as_slice(), b"ch", &payload]);
    local.send(publisher, &publish.repeat(COUNT));
    assert_eq!(local.receive(publisher), b":1\r\n".repeat(COUNT));
    assert_eq!(heard(&mut local, subscriber).len(), COUNT);
    assert_eq!(say(&mut local, publisher, "PING"), ["PONG"]);
}

#[test]
fn a_script_publishes_when_it_ends_and_once() {
    let mut local = Local::new(Config::default(), 2);
    let (one, two) = (local.connect(0), local.connect(1));
    say(&mut local, two, "SUBSCRIBE ch");
    // The undeclared key makes it run twice.
    let script =
        "local n = redis.call('publish','ch','x') redis.call('incr','undeclared') return n";
    assert_eq!(say(&mut local, one, &format!("EVAL \"{script}\" 0")), [":1"]);
    assert_eq!(heard(&mut local, two), ["[message ch x]"]);
}
