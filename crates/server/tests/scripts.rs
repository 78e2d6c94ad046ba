//! Scripts that run too long, on servers of every shape: who is told BUSY, and what ends them.

mod common;

use common::{PATIENCE, Server, each_shape};
use std::time::Instant;

const ENDLESS: &str = "local function f() while true do redis.call('PING') end end \
    while true do pcall(f) end";

/// Asks again and again until the answer holds a text.
fn until(connection: &mut redis::Connection, words: &[&str], text: &str) {
    let begun = Instant::now();
    loop {
        let answer: redis::RedisResult<redis::Value> = command(words).query(connection);
        let answer = format!("{answer:?}");
        if answer.contains(text) {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "{words:?} answers {answer}, not {text}");
    }
}

fn command(words: &[&str]) -> redis::Cmd {
    let mut command = redis::cmd(words[0]);
    for word in &words[1..] {
        command.arg(word);
    }
    command
}

fn runs(server: &Server, words: &'static [&'static str]) -> std::thread::JoinHandle<String> {
    let mut connection = server.client();
    std::thread::spawn(move || {
        let answer: redis::RedisResult<redis::Value> = command(words).query(&mut connection);
        format!("{answer:?}")
    })
}

#[test]
fn an_endless_script_is_killed_from_another_connection() {
    each_shape(&["--busy-reply-threshold", "20"], |server| {
        let mut client = server.client();
        let script = runs(server, &["EVAL", ENDLESS, "1", "held"]);
        until(&mut client, &["GET", "held"], "BUSY");
        until(&mut client, &["FUNCTION", "KILL"], "BUSY");
        until(&mut client, &["SCRIPT", "KILL"], "Ok(");
        let ended = script.join().expect("the thread asks");
        assert!(ended.contains("Script killed by user with SCRIPT KILL"), "{ended}");
        until(&mut client, &["GET", "held"], "Ok(");
        until(&mut client, &["SCRIPT", "KILL"], "NotBusy");
    });
}

#[test]
fn a_script_that_has_written_ends_with_the_server_only() {
    each_shape(&["--busy-reply-threshold", "20"], |server| {
        let mut client = server.client();
        let words = &["EVAL", "redis.call('SET', KEYS[1], 1) while true do end", "1", "held"];
        let script = runs(server, words);
        until(&mut client, &["GET", "held"], "BUSY");
        until(&mut client, &["SCRIPT", "KILL"], "UNKILLABLE");
        let _: redis::RedisResult<redis::Value> =
            command(&["SHUTDOWN", "NOSAVE"]).query(&mut client);
        drop(script.join());
    });
}
