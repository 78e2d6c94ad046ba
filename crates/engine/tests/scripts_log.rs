//! `redis.log`: what scripts write into the server's log.

use caudal_engine::config::{Config, LogLevel};
use caudal_engine::local::{self, Local};
use caudal_engine::{Engine, LogSink};
use std::sync::{Arc, Mutex};

#[test]
fn scripts_write_into_the_servers_log() {
    let lines: Arc<Mutex<Vec<(LogLevel, String)>>> = Arc::default();
    let sink = Arc::clone(&lines);
    let write = move |level, text: &str| sink.lock().unwrap().push((level, text.to_owned()));
    let environment =
        caudal_engine::Environment { log: LogSink(Arc::new(write)), ..local::environment(1) };
    let mut local = Local::of(Engine::new(Config::default(), environment));
    let client = local.connect(0);
    for text in [
        "redis.log(redis.LOG_WARNING, 'all', 5, 'words')",
        "server.log(redis.LOG_DEBUG, 'quiet')",
        "for level = 0, 3 do redis.log(level, 'level ' .. level) end",
    ] {
        assert_eq!(
            local.call(client, &["EVAL", text, "0"]),
            caudal_wire::Frame::NullBulk,
            "{text}"
        );
    }
    let said = std::mem::take(&mut *lines.lock().unwrap());
    let expected = [
        (LogLevel::Warning, "all 5 words"),
        (LogLevel::Debug, "quiet"),
        (LogLevel::Debug, "level 0"),
        (LogLevel::Verbose, "level 1"),
        (LogLevel::Notice, "level 2"),
        (LogLevel::Warning, "level 3"),
    ];
    assert_eq!(said, expected.map(|(level, text)| (level, text.to_owned())));
    for (text, error) in [
        ("redis.log(1)", "server.log() requires two arguments or more."),
        ("redis.log('x', 'y')", "First argument must be a number (log level)."),
        ("redis.log(4, 'y')", "Invalid log level."),
    ] {
        let reply = local::spell(&local.call(client, &["EVAL", text, "0"]));
        assert!(reply.starts_with(&format!("-ERR {error}")), "{text}: {reply}");
    }
    assert!(lines.lock().unwrap().is_empty());
}
