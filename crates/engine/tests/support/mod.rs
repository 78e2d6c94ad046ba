//! What the tests of commands share: a store with a client, lines of `command -> reply`, and scenes
//! of several clients.
#![allow(dead_code, reason = "each test has its own use for it")]

pub(crate) mod replay;
pub(crate) mod scene;

use caudal_engine::config::Config;
use caudal_engine::local::{Client, Local, encode, spell};
use caudal_wire::frame;

/// A store of one worker, and a client of it.
pub(crate) fn store() -> (Local, Client) {
    store_of(Config::default())
}

/// The same where DEBUG is allowed.
pub(crate) fn store_with_debug() -> (Local, Client) {
    let arguments = ["--enable-debug-command".to_owned(), "yes".to_owned()];
    let no_files = |_: &std::path::Path| -> std::io::Result<String> {
        Err(std::io::ErrorKind::NotFound.into())
    };
    let (config, _) = Config::load(&arguments, &no_files).expect("a directive");
    store_of(config)
}

fn store_of(config: Config) -> (Local, Client) {
    let mut local = Local::new(config, 1);
    let client = local.connect(0);
    (local, client)
}

/// The commands and replies of lines `command -> reply`; the arrow may begin the next line.
pub(crate) fn pairs(script: &str) -> Vec<(String, String)> {
    let mut lines: Vec<String> = Vec::new();
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match lines.last_mut() {
            Some(last) if line.starts_with("->") => last.extend([" ", line]),
            _ => lines.push(line.to_owned()),
        }
    }
    let pair = |line: &String| {
        let (command, reply) = line.split_once(" -> ").expect("command -> reply");
        (command.to_owned(), reply.to_owned())
    };
    lines.iter().map(pair).collect()
}

/// Runs lines of the form `command -> reply`.
pub(crate) fn run(local: &mut Local, client: Client, script: &str) {
    run_naming(local, client, script, &[]);
}

/// The same, where a reply may be told by its name.
pub(crate) fn run_naming(local: &mut Local, client: Client, script: &str, names: &[(&str, &str)]) {
    for (command, expected) in pairs(script) {
        let named = names.iter().find(|(name, _)| *name == expected);
        let expected = named.map_or(&expected[..], |(_, reply)| reply);
        assert_eq!(local.say(client, &command), expected, "{command}");
    }
}

/// Runs lines of the form `command -> bytes of the reply`, with `CRLF` written as a slash.
pub(crate) fn run_bytes(local: &mut Local, client: Client, script: &str) {
    for (command, expected) in pairs(script) {
        let words = caudal_text::words::split(command.as_bytes()).expect("quotes");
        local.send(client, &encode(&words));
        let reply = String::from_utf8(local.receive(client)).expect("text");
        assert_eq!(reply.replace("\r\n", "/"), expected, "{command}");
    }
}

/// Runs lines of the form `command -> reply` in a store of their own.
pub(crate) fn check(script: &str) {
    let (mut local, client) = store();
    run(&mut local, client, script);
}

/// The replies in what a client received, or the commands in effects, each spelled.
pub(crate) fn replies(bytes: &[u8]) -> Vec<String> {
    let (mut replies, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let (frame, used) = frame::parse(&bytes[at..]).expect("frames").expect("whole ones");
        replies.push(spell(&frame));
        at += used;
    }
    replies
}
