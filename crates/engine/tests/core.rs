//! The engine's own ways: pipelines, transactions, locks, limits.

use caudal_engine::Close;
use caudal_engine::config::Config;
use caudal_engine::local::{Local, encode};
use caudal_wire::Frame;

#[test]
fn commands_answer_in_order() {
    let mut local = Local::new(Config::default(), 1);
    let client = local.connect(0);
    assert_eq!(local.say(client, "PING"), "PONG");
    assert_eq!(local.say(client, "SET a 1"), "OK");
    assert_eq!(local.say(client, "GET a"), "1");
    assert_eq!(local.say(client, "INCRBY a 41"), ":42");
    assert_eq!(local.say(client, "GET none"), "(nil)");
    assert_eq!(local.say(client, "GET"), "-ERR wrong number of arguments for 'get' command");
    assert_eq!(
        local.say(client, "nosuch x y"),
        "-ERR unknown command 'nosuch', with args beginning with: 'x' 'y' "
    );
}

#[test]
fn a_long_pipeline_gets_every_reply() {
    let mut local = Local::new(Config::default(), 1);
    let client = local.connect(0);
    let mut bytes = Vec::new();
    for index in 0..100_000 {
        bytes.extend(encode(&["SET", &format!("key:{index}"), &index.to_string()]));
    }
    local.send(client, &bytes);
    assert_eq!(local.receive(client), b"+OK\r\n".repeat(100_000));
}

#[test]
fn input_in_pieces_of_every_size_is_the_same_input() {
    let whole: Vec<u8> =
        [encode(&["SET", "k", "v"]), b"\r\nGET k\r\n".to_vec(), encode(&["GET", "k"])].concat();
    for size in 1..whole.len() {
        let mut local = Local::new(Config::default(), 1);
        let client = local.connect(0);
        for piece in whole.chunks(size) {
            local.send(client, piece);
        }
        assert_eq!(local.receive(client), b"+OK\r\n$1\r\nv\r\n$1\r\nv\r\n");
    }
}

#[test]
fn transactions_run_whole_or_not_at_all() {
    let mut local = Local::new(Config::default(), 2);
    let (one, two) = (local.connect(0), local.connect(1));
    assert_eq!(local.say(one, "EXEC"), "-ERR EXEC without MULTI");
    assert_eq!(local.say(one, "WATCH k"), "OK");
    assert_eq!(local.say(one, "MULTI"), "OK");
    assert_eq!(local.say(one, "INCR k"), "QUEUED");
    assert_eq!(local.say(one, "SELECT 1"), "QUEUED");
    assert_eq!(local.say(one, "INCR k"), "QUEUED");
    assert_eq!(local.say(two, "GET k"), "(nil)");
    assert_eq!(local.say(one, "EXEC"), "[:1 OK :1]");
    assert_eq!(local.say(two, "GET k"), "1");
    assert_eq!(local.say(two, "WATCH k"), "OK");
    assert_eq!(local.say(two, "MULTI"), "OK");
    assert_eq!(local.say(two, "GET k"), "QUEUED");
    assert_eq!(local.say(one, "SELECT 0"), "OK");
    assert_eq!(local.say(one, "SET k 5"), "OK");
    assert_eq!(local.say(two, "EXEC"), "(nil)");
    assert_eq!(local.say(two, "MULTI"), "OK");
    assert_eq!(local.say(two, "NOSUCH").split(',').next(), Some("-ERR unknown command 'NOSUCH'"));
    assert_eq!(
        local.say(two, "EXEC"),
        "-EXECABORT Transaction discarded because of previous errors."
    );
}

#[test]
fn a_client_that_does_not_read_is_closed_at_its_soft_limit() {
    let mut local = Local::new(Config::default(), 1);
    let client = local.connect(0);
    let line = "CONFIG SET client-output-buffer-limit \"normal 0 1000 3\"";
    assert_eq!(local.say(client, line), "OK");
    assert_eq!(local.call(client, &["SET", "k", &"x".repeat(2000)]), Frame::Status(b"OK".to_vec()));
    local.send(client, &encode(&["GET", "k"]));
    (0..20).for_each(|_| local.advance_ms(100));
    assert_eq!(local.close_wanted(client), Close::No);
    (0..30).for_each(|_| local.advance_ms(100));
    assert_eq!(local.close_wanted(client), Close::Now);
}
