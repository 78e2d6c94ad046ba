//! Whatever a client sends, it gets one reply a command, in order, and keeps its connection.

use caudal_engine::Close;
use caudal_engine::config::Config;
use caudal_engine::local::{Client, Local, encode};
use caudal_wire::{Frame, frame};

/// Commands behind which a client may not have one reply at once: they close, hold, mute, queue, or
/// answer once a channel.
const NOT_HERE: &[&str] = &[
    "client|kill",
    "client|pause",
    "client|reply",
    "debug",
    "hello",
    "monitor",
    "multi",
    "quit",
    "reset",
    "shutdown",
    "config|set",
    "exec",
    "subscribe",
    "psubscribe",
    "ssubscribe",
    "unsubscribe",
    "punsubscribe",
    "sunsubscribe",
];

fn draws(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed;
    move |below| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % below
    }
}

fn names(local: &mut Local, client: Client) -> Vec<String> {
    let Frame::Array(names) = local.call(client, &["COMMAND", "LIST"]) else { panic!("an array") };
    let name = |frame| match frame {
        Frame::Bulk(name) => String::from_utf8(name).expect("names are text"),
        other => panic!("{other:?}"),
    };
    names.into_iter().map(name).filter(|name| !NOT_HERE.contains(&name.as_str())).collect()
}

/// What clients may confuse commands with: numbers at the edges, option words, keys of each type.
const WORDS: &str = "x 0 -1 1 2 9223372036854775807 9223372036854775808 -9223372036854775808 0.5 \
    1e400 nan inf -inf string list hash set zset none COUNT MATCH *1* WITHSCORES WITHVALUES LIMIT \
    BYLEX BYSCORE REV [a (1 - + NX XX GT GET EX PXAT LEFT RIGHT STORE WEIGHTS";

/// Sends a command and an ECHO, and expects two replies: any one, and the echo.
fn expect_one_reply(local: &mut Local, client: Client, words: &[&str], nonce: &str) {
    local.send(client, &encode(words));
    local.send(client, &encode(&["ECHO", nonce]));
    let mut bytes = local.receive(client);
    if bytes.is_empty() {
        // It waits: an operator lets it go.
        let operator = local.connect(0);
        local.say(operator, "CLIENT UNBLOCK 1");
        local.close(operator);
        bytes = local.receive(client);
    }
    let mut at = 0;
    let mut next = || {
        let frame = frame::parse(&bytes[at..]).expect("replies are well formed");
        let (frame, used) = frame.unwrap_or_else(|| panic!("{words:?}: a reply is missing"));
        at += used;
        frame
    };
    let (reply, echo) = (next(), next());
    assert_eq!(echo, Frame::Bulk(nonce.into()), "{words:?} -> {reply:?}");
    assert_eq!(at, bytes.len(), "{words:?}");
    assert_eq!(local.close_wanted(client), Close::No, "{words:?}");
}

#[test]
fn any_command_with_any_arguments_is_answered_once() {
    const ROUNDS: usize = 40;
    const ARGUMENTS_MAX: usize = 8;
    let mut words: Vec<&str> = WORDS.split_whitespace().collect();
    words.extend(["", "\u{ff}\0\r\n"]);
    let mut local = Local::new(Config::default(), 1);
    let client = local.connect(0);
    let mut draw = draws(148);
    for name in names(&mut local, client) {
        for round in 0..ROUNDS {
            // What is of another type by now stays so.
            for line in [
                "SET string 10",
                "RPUSH list 1 a",
                "HSET hash x 1",
                "SADD set 1 x",
                "ZADD zset 1 x 2 1",
            ] {
                local.say(client, line);
            }
            let mut line: Vec<&str> = name.split('|').collect();
            let count = draw(ARGUMENTS_MAX + 1);
            line.extend((0..count).map(|_| words[draw(words.len())]));
            expect_one_reply(&mut local, client, &line, &format!("{name} {round}"));
        }
    }
}

#[test]
fn a_client_may_write_everything_before_it_reads() {
    const COMMANDS: usize = 20_000;
    let mut local = Local::new(Config::default(), 2);
    let client = local.connect(0);
    let value = "v".repeat(1024);
    let mut input = Vec::new();
    for index in 0..COMMANDS {
        input.extend(encode(&["SET", &format!("k{}", index % 1000), &value]));
    }
    for _ in 0..COMMANDS {
        input.extend(encode(&["GET", "k1"]));
    }
    local.send(client, &input);
    let output = local.receive(client);
    let expected = [
        b"+OK\r\n".repeat(COMMANDS),
        format!("$1024\r\n{value}\r\n").repeat(COMMANDS).into_bytes(),
    ];
    assert!(output == expected.concat(), "{} bytes", output.len());
}

#[test]
fn empty_lines_and_empty_frames_between_commands_are_nothing() {
    let mut local = Local::new(Config::default(), 1);
    let client = local.connect(0);
    let word = b"\0\r\n*2\r\n$4\r\nECHO\r\n\xff\xfe";
    let ping = encode(&["PING"]);
    let input = [
        &ping[..],
        b"\r\n\r\n",
        &encode(&[b"ECHO".as_slice(), word]),
        b"\r\n",
        b"*0\r\n*-1\r\n",
        b"\n",
        &ping,
    ];
    local.send(client, &input.concat());
    let echo = [format!("${}\r\n", word.len()).as_bytes(), word, b"\r\n"].concat();
    let expected = [b"+PONG\r\n".as_slice(), &echo, b"+PONG\r\n"].concat();
    assert_eq!(local.receive(client), expected);
    assert_eq!(local.close_wanted(client), Close::No);
}
