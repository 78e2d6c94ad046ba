//! Commands on strings and sets that Redis 8 has and Valkey 9.1 has not, as a client sees them.

use caudal_engine::config::Config;
use caudal_engine::local::{Client, Local};

const WRONG_TYPE: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value";

fn store() -> (Local, Client) {
    let mut local = Local::new(Config::default(), 1);
    let client = local.connect(0);
    (local, client)
}

/// Runs lines of the form `command -> reply`.
fn check(script: &str) {
    let (mut local, client) = store();
    run(&mut local, client, script);
}

fn run(local: &mut Local, client: Client, script: &str) {
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (command, expected) = line.split_once(" -> ").expect("command -> reply");
        assert_eq!(local.say(client, command), expected, "{command}");
    }
}

#[test]
fn a_digest_stands_for_a_string() {
    let (mut local, client) = store();
    run(
        &mut local,
        client,
        r#"SET k "Hello world" -> OK
        DIGEST k -> b6acb9d84a38ff74
        DIGEST none -> (nil)
        RPUSH l a -> :1"#,
    );
    assert_eq!(local.say(client, "DIGEST l"), WRONG_TYPE);
    // Leading zeros are not left out.
    let text = "v8lf0c11xh8ymlqztfd3eeq16kfn4sspw7fqmnuuq3k3t75em5wdizgcdw7uc26nnf961u2jkfzkjytls2k\
                wlj7626sd";
    local.say(client, &format!("SET zeros {text}"));
    assert_eq!(local.say(client, "DIGEST zeros"), "00006c38adf31777");
}

#[test]
fn a_string_is_swapped_if_it_or_its_digest_is_as_expected() {
    let (mut local, client) = store();
    run(
        &mut local,
        client,
        r#"SET k "Hello world" -> OK
        SET k b IFDEQ 0000000000000000 -> (nil)
        SET k b IFDEQ B6acb9d84a38ff74 -> OK
        SET k c IFNE b -> (nil)
        SET k c IFNE x GET -> b
        GET k -> c
        SET k d IFDNE 0000000000000000 -> OK
        SET made a IFNE x -> OK
        SET made2 a IFDNE 0000000000000000 -> OK
        SET none a IFDEQ 0000000000000000 -> (nil)
        EXISTS none -> :0
        SET k e IFNE x IFEQ d -> -ERR syntax error
        SET k e IFDEQ 1234 -> -ERR must be exactly 16 hexadecimal characters
        SET k e IFNE -> -ERR syntax error
        SET k e IFNE x EX 100 -> OK
        SET k f IFNE x KEEPTTL -> OK
        TTL k -> :100
        RPUSH l a -> :1"#,
    );
    assert_eq!(local.say(client, "SET l v IFNE a"), WRONG_TYPE);
}

#[test]
fn a_lock_is_released_by_its_owner() {
    let (mut local, client) = store();
    run(
        &mut local,
        client,
        r#"SET k "Hello world" -> OK
        DELEX k IFEQ other -> :0
        DELEX k IFNE "Hello world" -> :0
        DELEX k IFDEQ 0000000000000000 -> :0
        DELEX k IFDNE b6acb9d84a38ff74 -> :0
        DELEX k IFDEQ b6acb9d84a38ff74 -> :1
        EXISTS k -> :0
        DELEX k IFNE a -> :0
        DELEX k -> :0
        DELEX k IFEQ -> -ERR wrong number of arguments for 'delex' command
        DELEX k FOO a -> -ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE
        RPUSH l a -> :1"#,
    );
    assert_eq!(local.say(client, "DELEX l IFEQ a"), WRONG_TYPE);
    assert_eq!(local.say(client, "DELEX l"), ":1");
}

#[test]
fn effects_are_words_that_any_server_knows() {
    let (mut local, client) = store();
    local.say(client, "SET k a");
    local.worker(0).listen_to_effects();
    for command in ["SET k b IFEQ a", "SET k c IFNE a KEEPTTL", "SET k d IFNE a GET", "DELEX k"] {
        local.say(client, command);
    }
    let effects = String::from_utf8(local.worker(0).take_effects()).expect("text");
    let words: Vec<&str> =
        effects.split("\r\n").filter(|word| !word.starts_with(['*', '$'])).collect();
    let expected = "SELECT 0 SET k b SET k c KEEPTTL SET k d DEL k ";
    assert_eq!(words.join(" "), expected);
}
