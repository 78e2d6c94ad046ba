//! Keyspace notifications: which events are published, where, and when.

mod messages;

use caudal_engine::config::Config;
use caudal_engine::local::{Client, Local};
use messages::heard;

/// A store that publishes events of these classes, a connection that changes keys, and one on
/// another worker that listens to all their channels.
fn listening(classes: &str) -> (Local, Client, Client) {
    let mut local = Local::new(Config::default(), 2);
    let (writer, listener) = (local.connect(0), local.connect(1));
    let line = format!("CONFIG SET notify-keyspace-events {classes}");
    assert_eq!(local.say(writer, &line), "OK");
    assert!(local.say(listener, "PSUBSCRIBE __key*__:*").contains("psubscribe"));
    (local, writer, listener)
}

/// The events of commands, as `key event`, from the channels by event.
fn events(local: &mut Local, writer: Client, listener: Client, lines: &[&str]) -> Vec<String> {
    for line in lines {
        let reply = local.say(writer, line);
        assert!(!reply.starts_with('-'), "{line}: {reply}");
    }
    let short = |message: String| {
        let words: Vec<&str> = message.trim_matches(['[', ']']).split(' ').collect();
        let event = words[2].rsplit_once(':').map_or("", |(_, event)| event);
        format!("{} {event}", words[3])
    };
    heard(local, listener).into_iter().map(short).collect()
}

#[test]
fn each_event_goes_to_the_channels_of_its_key_and_of_its_name() {
    let (mut local, writer, listener) = listening("KEA");
    assert_eq!(local.say(writer, "SELECT 3"), "OK");
    assert_eq!(local.say(writer, "SET k v EX 100"), "OK");
    let expected = [
        "[pmessage __key*__:* __keyspace@3__:k set]",
        "[pmessage __key*__:* __keyevent@3__:set k]",
        "[pmessage __key*__:* __keyspace@3__:k expire]",
        "[pmessage __key*__:* __keyevent@3__:expire k]",
    ];
    assert_eq!(heard(&mut local, listener), expected);
}

#[test]
fn every_type_has_its_events() {
    let (mut local, writer, listener) = listening("EA");
    let lines = ["HSET h f v", "RPUSH l a", "SADD s a", "ZADD z 1 a", "RENAME l l2", "DEL s"];
    let expected =
        ["h hset", "l rpush", "s sadd", "z zadd", "l rename_from", "l2 rename_to", "s del"];
    assert_eq!(events(&mut local, writer, listener, &lines), expected);
    let lines = ["LPOP l2", "HDEL h f", "MOVE z 1", "SET a 1", "COPY a b", "INCR a", "APPEND a x"];
    let expected = [
        "l2 lpop",
        "l2 del",
        "h hdel",
        "h del",
        "z move_from",
        "z move_to",
        "a set",
        "b copy_to",
        "a incrby",
        "a append",
    ];
    assert_eq!(events(&mut local, writer, listener, &lines), expected);
    // Nothing changes, nothing is told.
    let lines = ["DEL none", "SREM none a", "LTRIM none 0 1", "EXPIRE none 100", "GET none"];
    assert_eq!(events(&mut local, writer, listener, &lines), Vec::<String>::new());
}

#[test]
fn only_the_classes_that_were_asked_for_are_told() {
    let (mut local, writer, listener) = listening("Elg");
    let lines = ["SET k v", "LPUSH l a", "DEL k", "SADD s a", "EXPIRE l 100"];
    let expected = ["l lpush", "k del", "l expire"];
    assert_eq!(events(&mut local, writer, listener, &lines), expected);
    assert_eq!(local.say(writer, "CONFIG SET notify-keyspace-events A"), "OK");
    assert_eq!(events(&mut local, writer, listener, &["SET k v"]), Vec::<String>::new());
    assert_eq!(local.say(writer, "CONFIG SET notify-keyspace-events KEA"), "OK");
    let shown = local.say(writer, "CONFIG GET notify-keyspace-events");
    assert_eq!(shown, "[notify-keyspace-events AKE]");
    let error = local.say(writer, "CONFIG SET notify-keyspace-events K!");
    assert!(error.contains("Invalid event class character"), "{error}");
}

#[test]
fn keys_that_are_new_or_missed_are_told_of_when_asked_for() {
    let (mut local, writer, listener) = listening("Enm");
    let lines = ["SET k v", "SET k w", "GET k", "GET none", "LPUSH l a", "EXISTS none"];
    let expected = ["k new", "none keymiss", "l new", "none keymiss"];
    assert_eq!(events(&mut local, writer, listener, &lines), expected);
    // Whoever writes misses nothing; what replaces a key is a new one.
    let lines = ["LMPOP 2 none l LEFT", "DELIFEQ none x", "SADD s a", "RENAME s k", "COPY k s"];
    let expected = ["s new", "k new", "s new"];
    assert_eq!(events(&mut local, writer, listener, &lines), expected);
}

#[test]
fn a_key_whose_time_is_over_is_told_of_whoever_finds_it() {
    let (mut local, writer, listener) = listening("Exg");
    let lines = ["SET a v PX 50", "SET b v PX 50", "SET c v PX 50"];
    let expected = ["a expire", "b expire", "c expire"];
    assert_eq!(events(&mut local, writer, listener, &lines), expected);
    local.advance_ms(60);
    assert_eq!(events(&mut local, writer, listener, &["GET a"]), ["a expired"]);
    assert_eq!(events(&mut local, writer, listener, &["SET b w"]), ["b expired"]);
    for _ in 0..20 {
        local.advance_ms(100);
    }
    assert_eq!(events(&mut local, writer, listener, &["PING"]), ["c expired"]);
}

#[test]
fn fields_of_a_hash_expire_with_their_events() {
    let (mut local, writer, listener) = listening("Egxhnm");
    let lines =
        ["HSETEX h PX 100 FIELDS 2 a 1 b 2", "HEXPIRE h 1 NX FIELDS 1 a", "HPERSIST h FIELDS 1 a"];
    let expected = ["h new", "h hset", "h hexpire", "h hpersist"];
    assert_eq!(events(&mut local, writer, listener, &lines), expected);
    let lines =
        ["HGETEX h PX 100 FIELDS 1 a", "HGETEX h PERSIST FIELDS 1 a", "HGETEX none FIELDS 1 a"];
    let expected = ["h hexpire", "h hpersist", "none keymiss"];
    assert_eq!(events(&mut local, writer, listener, &lines), expected);
    let lines = ["HEXPIRE h 0 FIELDS 1 a", "HSET h c 1", "HGETEX h PXAT 1 FIELDS 1 c"];
    let expected = ["h hexpired", "h hset", "h hexpired"];
    assert_eq!(events(&mut local, writer, listener, &lines), expected);
    let lines = ["HSETEX h PXAT 1 FIELDS 1 c 1", "HSETEX none PXAT 1 FIELDS 1 c 1"];
    let past = ["hset", "hexpire", "hexpired"];
    let expected: Vec<String> = past
        .map(|name| format!("h {name}"))
        .into_iter()
        .chain(["none new".to_owned()])
        .chain(past.map(|name| format!("none {name}")))
        .chain(["none del".to_owned()])
        .collect();
    assert_eq!(events(&mut local, writer, listener, &lines), expected);
    // The last field takes the key along.
    local.advance_ms(101);
    let expected = ["h hexpired", "h hincrby"];
    assert_eq!(events(&mut local, writer, listener, &["HINCRBY h b 1"]), expected);
    assert_eq!(events(&mut local, writer, listener, &["HPEXPIRE h 5 FIELDS 1 b"]), ["h hexpire"]);
    for _ in 0..20 {
        local.advance_ms(100);
    }
    assert_eq!(events(&mut local, writer, listener, &["PING"]), ["h hexpired", "h del"]);
    // Only what the cycle finds is an event of expiry, as in Valkey; the rest are a hash's.
    local.say(writer, "CONFIG SET notify-keyspace-events Ex");
    let lines = ["HSETEX h PX 5 FIELDS 1 a 1", "HSETEX h PXAT 1 FIELDS 1 b 1"];
    assert_eq!(events(&mut local, writer, listener, &lines), [""; 0]);
    for _ in 0..20 {
        local.advance_ms(100);
    }
    assert_eq!(events(&mut local, writer, listener, &["PING"]), ["h hexpired"]);
}

#[test]
fn an_expiry_in_the_past_expires_at_once() {
    let (mut local, writer, listener) = listening("EA");
    let lines = ["SET k v", "EXPIRE k -1", "EXISTS k"];
    assert_eq!(events(&mut local, writer, listener, &lines), ["k set", "k expired"]);
}

#[test]
fn a_transaction_tells_when_it_ends_in_its_order() {
    let (mut local, writer, listener) = listening("E$g");
    let also = local.connect(1);
    assert!(local.say(also, "PSUBSCRIBE *").contains("psubscribe"));
    for line in ["MULTI", "SET a 1", "PUBLISH ch hi", "DEL a"] {
        local.say(writer, line);
        assert_eq!(heard(&mut local, also), Vec::<String>::new(), "{line}");
    }
    assert_eq!(local.say(writer, "EXEC"), "[OK :1 :1]");
    let expected = [
        "[pmessage * __keyevent@0__:set a]",
        "[pmessage * ch hi]",
        "[pmessage * __keyevent@0__:del a]",
    ];
    assert_eq!(heard(&mut local, also), expected);
    assert_eq!(heard(&mut local, listener).len(), 2);
}

#[test]
fn a_blocked_pop_is_told_of_after_the_push_that_served_it() {
    let (mut local, writer, listener) = listening("El");
    let blocked = local.connect(1);
    local.send(blocked, &caudal_engine::local::encode(&["BLPOP", "l", "0"]));
    assert_eq!(events(&mut local, writer, listener, &["RPUSH l a"]), ["l rpush", "l lpop"]);
}
