//! What a connection says of itself: HELLO, AUTH, RESET, CLIENT, SELECT.

use caudal_engine::Close;
use caudal_engine::config::{Config, Peer};
use caudal_engine::local::Local;

fn with(pairs: &[(&str, &str)]) -> Config {
    let mut config = Config::default();
    config.set(pairs, Peer::Local).expect("a configuration of the test's own");
    config
}

#[test]
fn hello_says_who_answers_and_changes_the_protocol() {
    let mut local = Local::new(Config::default(), 1);
    let client = local.connect(0);
    let version = Config::default().process.reported_version.clone();
    assert_eq!(
        local.say(client, "HELLO 3"),
        format!(
            "{{server: redis version: {version} proto: :3 id: :1 mode: standalone role: master \
             modules: []}}"
        )
    );
    assert_eq!(
        local.say(client, "HELLO 2"),
        format!(
            "[server redis version {version} proto :2 id :1 mode standalone role master modules []]"
        )
    );
    assert_eq!(local.say(client, "HELLO 4"), "-NOPROTO unsupported protocol version");
    assert_eq!(
        local.say(client, "HELLO abc"),
        "-ERR Protocol version is not an integer or out of range"
    );
    assert_eq!(local.say(client, "HELLO 3 FOO"), "-ERR Syntax error in HELLO option 'FOO'");
    assert_eq!(local.say(client, "HELLO 3 SETNAME"), "-ERR Syntax error in HELLO option 'SETNAME'");
    assert_eq!(local.say(client, "HELLO 3 AUTH a"), "-ERR Syntax error in HELLO option 'AUTH'");
    assert_eq!(local.say(client, "CLIENT GETNAME"), "(nil)");
    assert!(local.say(client, "HELLO 3 SETNAME n1").starts_with("{server"));
    assert_eq!(local.say(client, "CLIENT GETNAME"), "n1");
    assert_eq!(local.say(client, "CONFIG GET maxmemory"), "{maxmemory: 0}");
    assert_eq!(local.say(client, "RESET"), "RESET");
    assert_eq!(local.say(client, "CONFIG GET maxmemory"), "[maxmemory 0]");
    assert_eq!(local.say(client, "CLIENT GETNAME"), "(nil)");
}

#[test]
fn nothing_is_answered_before_the_password() {
    let mut local = Local::new(with(&[("requirepass", "pw")]), 1);
    let client = local.connect(0);
    let refused = "-NOAUTH Authentication required.";
    let wrong = "-WRONGPASS invalid username-password pair or user is disabled.";
    for line in ["NOSUCH a", "GET", "CLIENT", "CLIENT NOSUCH", "GET a", "PING", "MULTI"] {
        assert_eq!(local.say(client, line), refused, "{line}");
    }
    assert!(local.say(client, "HELLO 3").starts_with("-NOAUTH HELLO must be called with"));
    assert_eq!(local.say(client, "HELLO 5"), "-NOPROTO unsupported protocol version");
    assert_eq!(local.say(client, "HELLO 3 AUTH default bad"), wrong);
    assert_eq!(
        local.say(client, "HELLO 3 AUTH default pw SETNAME 'x y'"),
        "-ERR Client names cannot contain spaces, newlines or special characters."
    );
    assert_eq!(local.say(client, "GET k"), refused);
    assert_eq!(local.say(client, "AUTH bad"), wrong);
    assert_eq!(local.say(client, "AUTH other pw"), wrong);
    assert_eq!(local.say(client, "AUTH a b c"), "-ERR syntax error");
    assert_eq!(local.say(client, "AUTH"), "-ERR wrong number of arguments for 'auth' command");
    assert_eq!(
        local.say(client, "EXEC"),
        "-EXECABORT Transaction discarded because of: NOAUTH Authentication required."
    );
    assert!(local.say(client, "HELLO 3 AUTH default pw SETNAME xy").starts_with("{server"));
    assert_eq!(local.say(client, "HELLO 2 AUTH default bad"), wrong);
    assert_eq!(local.call(client, &["GET", "k"]), caudal_wire::Frame::Null);
    assert_eq!(local.say(client, "CLIENT GETNAME"), "xy");
    assert_eq!(local.say(client, "RESET"), "RESET");
    assert_eq!(local.say(client, "GET a"), refused);
    assert_eq!(local.say(client, "AUTH pw"), "OK");
    assert_eq!(local.say(client, "AUTH default pw"), "OK");
    // A password that is taken away lets everybody in; a new one only asks new connections.
    let other = local.connect(0);
    assert_eq!(local.say(other, "GET a"), refused);
    assert_eq!(local.say(client, "CONFIG SET requirepass ''"), "OK");
    assert_eq!(local.say(other, "GET a"), "(nil)");
    assert!(local.say(client, "AUTH pw").starts_with("-ERR AUTH <password> called without any"));
    assert_eq!(local.say(client, "AUTH default anything"), "OK");
}

#[test]
fn before_the_password_no_memory_can_be_reserved() {
    for (bytes, reply) in [
        ("*11\r\n", "-ERR Protocol error: unauthenticated multibulk length\r\n"),
        ("*10\r\n$16385\r\n", "-ERR Protocol error: unauthenticated bulk length\r\n"),
    ] {
        let mut local = Local::new(with(&[("requirepass", "pw")]), 1);
        let client = local.connect(0);
        local.send(client, bytes.as_bytes());
        assert_eq!(String::from_utf8(local.receive(client)).unwrap(), reply);
        assert_eq!(local.close_wanted(client), Close::AfterFlush);
    }
}

#[test]
fn reset_makes_a_connection_new() {
    let mut local = Local::new(Config::default(), 1);
    let client = local.connect(0);
    for line in
        ["CLIENT NO-TOUCH on", "CLIENT NO-EVICT on", "SELECT 3", "CLIENT SETNAME n", "MULTI"]
    {
        assert_eq!(local.say(client, line), "OK", "{line}");
    }
    assert_eq!(local.say(client, "SET e 1"), "QUEUED");
    assert_eq!(local.say(client, "RESET"), "RESET");
    assert_eq!(local.say(client, "SET e 1"), "OK");
    assert_eq!(local.say(client, "GET e"), "1");
    let info = local.say(client, "CLIENT INFO");
    assert!(
        info.contains(" flags=N ") && info.contains(" db=0 ") && info.contains(" name= "),
        "{info}"
    );
}

#[test]
fn quit_answers_and_closes() {
    let mut local = Local::new(Config::default(), 1);
    let client = local.connect(0);
    assert_eq!(local.say(client, "QUIT"), "OK");
    assert_eq!(local.close_wanted(client), Close::AfterFlush);
}

#[test]
fn names_and_libraries_are_printable_words() {
    let mut local = Local::new(Config::default(), 1);
    let client = local.connect(0);
    let refused = "-ERR Client names cannot contain spaces, newlines or special characters.";
    assert_eq!(local.say(client, "CLIENT SETNAME 'a b'"), refused);
    assert_eq!(local.say(client, r#"CLIENT SETNAME "a\n""#), refused);
    assert_eq!(local.say(client, "CLIENT SETNAME worker"), "OK");
    assert_eq!(local.say(client, "CLIENT GETNAME"), "worker");
    assert_eq!(local.say(client, "CLIENT SETINFO lib-name go-redis(,go1.24)"), "OK");
    assert_eq!(local.say(client, "CLIENT SETINFO LIB-VER 1.2"), "OK");
    assert_eq!(local.say(client, "CLIENT SETINFO bad x"), "-ERR Unrecognized option 'bad'");
    assert_eq!(
        local.say(client, "CLIENT SETINFO lib-name 'a b'"),
        "-ERR lib-name cannot contain spaces, newlines or special characters."
    );
    let info = local.say(client, "CLIENT INFO");
    assert!(info.contains("name=worker "), "{info}");
    assert!(info.contains("lib-name=go-redis(,go1.24) lib-ver=1.2 "), "{info}");
    assert_eq!(
        local.say(client, "CLIENT MAINT_NOTIFICATIONS ON"),
        "-ERR unknown subcommand 'MAINT_NOTIFICATIONS'. Try CLIENT HELP."
    );
    assert_eq!(
        local.say(client, "CLIENT NOSUCH"),
        "-ERR unknown subcommand 'NOSUCH'. Try CLIENT HELP."
    );
    assert_eq!(local.say(client, "CLIENT"), "-ERR wrong number of arguments for 'client' command");
    assert_eq!(
        local.say(client, "CLIENT ID x"),
        "-ERR wrong number of arguments for 'client|id' command"
    );
    assert_eq!(local.say(client, "CLIENT SETNAME ''"), "OK");
    assert_eq!(local.say(client, "CLIENT GETNAME"), "(nil)");
}

#[test]
fn replies_can_be_left_out() {
    let mut local = Local::new(Config::default(), 1);
    let client = local.connect(0);
    assert_eq!(local.say(client, "CLIENT REPLY foo"), "-ERR syntax error");
    local.send(client, b"CLIENT REPLY OFF\r\nPING\r\nNOSUCH\r\nCLIENT REPLY ON\r\nPING\r\n");
    assert_eq!(local.receive(client), b"+OK\r\n+PONG\r\n");
    local.send(client, b"CLIENT REPLY SKIP\r\nPING a\r\nPING b\r\n");
    assert_eq!(local.receive(client), b"$1\r\nb\r\n");
    assert_eq!(local.say(client, "MULTI"), "OK");
    assert_eq!(
        local.say(client, "CLIENT REPLY OFF"),
        "-ERR Command 'client|reply' not allowed inside a transaction"
    );
    assert!(local.say(client, "EXEC").starts_with("-EXECABORT"));
}

#[test]
fn who_does_not_track_says_so() {
    let mut local = Local::new(Config::default(), 1);
    let client = local.connect(0);
    assert_eq!(local.say(client, "CLIENT GETREDIR"), ":-1");
    assert_eq!(local.say(client, "CLIENT TRACKINGINFO"), "[flags [off] redirect :-1 prefixes []]");
    assert!(local.say(client, "HELLO 3").starts_with('{'));
    assert_eq!(
        local.say(client, "CLIENT TRACKINGINFO"),
        "{flags: ~[off] redirect: :-1 prefixes: []}"
    );
    assert_eq!(local.say(client, "CLIENT CAPA redirect future"), "OK");
    assert!(local.say(client, "CLIENT INFO").contains(" capa=r "));
}
