//! What connections learn of each other and do to each other: CLIENT LIST, KILL, PAUSE.

use caudal_engine::Close;
use caudal_engine::config::Config;
use caudal_engine::local::{Client, Local, encode, spell};

/// The lines of CLIENT LIST, by the ids in them.
fn ids(local: &mut Local, client: Client, filter: &str) -> Vec<u64> {
    let words = format!("CLIENT LIST {filter}");
    let words = caudal_text::words::split(words.as_bytes()).expect("balanced quotes");
    let caudal_wire::Frame::Bulk(text) = local.call(client, &words) else {
        panic!("{filter}: not a text")
    };
    let text = String::from_utf8_lossy(&text).into_owned();
    let id = |line: &str| line.strip_prefix("id=")?.split(' ').next()?.parse().ok();
    text.lines().map(|line| id(line).expect("a line begins with an id")).collect()
}

#[test]
fn a_line_describes_a_connection() {
    let mut local = Local::new(Config::default(), 2);
    let (one, two) = (local.connect(0), local.connect(1));
    for line in ["CLIENT SETNAME two", "SELECT 3", "WATCH a b", "MULTI"] {
        assert_eq!(local.say(two, line), "OK");
    }
    assert_eq!(local.say(two, "GET a"), "QUEUED");
    local.advance_ms(2500);
    let info = local.say(one, "CLIENT LIST ID 2");
    for part in [
        "id=2 addr=127.0.0.1:1 ",
        " name=two age=2 idle=2 flags=x ",
        " db=3 sub=0 psub=0 ssub=0 multi=1 watch=2 ",
        " cmd=get user=default redir=-1 resp=2 ",
        " tot-cmds=4 ",
    ] {
        assert!(info.contains(part), "{part} in {info}");
    }
    assert_eq!(local.say(two, "DISCARD"), "OK");
    assert!(local.say(one, "CLIENT LIST ID 2").contains(" flags=N "));
    assert!(local.say(one, "HELLO 3").starts_with('{'));
    assert!(local.say(one, "CLIENT INFO").starts_with("=\"id=1 "));
}

#[test]
fn filters_choose_connections_and_know_their_words() {
    let mut local = Local::new(Config::default(), 2);
    let one = local.connect(0);
    local.advance_ms(10_000);
    let (two, three) = (local.connect(1), local.connect(0));
    assert_eq!(local.say(two, "CLIENT SETNAME two"), "OK");
    assert_eq!(local.say(two, "CLIENT SETINFO LIB-NAME lib"), "OK");
    assert_eq!(local.say(three, "SELECT 4"), "OK");
    assert_eq!(local.say(three, "CLIENT NO-TOUCH on"), "OK");
    for (filter, expected) in [
        ("", vec![1, 2, 3]),
        ("ID 1 2 99999", vec![1, 2]),
        ("ID 1 ID 2", vec![]),
        ("TYPE normal", vec![1, 2, 3]),
        ("TYPE pubsub", vec![]),
        ("TYPE replica", vec![]),
        ("NOT-TYPE normal", vec![]),
        ("USER default SKIPME yes", vec![2, 3]),
        ("NAME two", vec![2]),
        ("NOT-NAME two", vec![1, 3]),
        ("NAME ''", vec![]),
        ("LIB-NAME lib", vec![2]),
        ("DB 4", vec![3]),
        ("NOT-DB 4", vec![1, 2]),
        ("FLAGS T", vec![3]),
        ("NOT-FLAGS T", vec![1, 2]),
        ("MAXAGE 5", vec![1]),
        ("CAPA r", vec![]),
        ("IP 127.0.0.1", vec![1, 2, 3]),
        ("ADDR 127.0.0.1:1", vec![1, 2, 3]),
        ("LADDR x", vec![]),
        ("NOT-ID 3 NAME two", vec![2]),
    ] {
        assert_eq!(ids(&mut local, one, filter), expected, "{filter}");
    }
    for (filter, error) in [
        ("FOO bar", "-ERR syntax error"),
        ("ID", "-ERR syntax error"),
        ("ID 1 x", "-ERR syntax error"),
        ("NAME", "-ERR syntax error"),
        ("NOT-IDLE 5", "-ERR syntax error"),
        ("SKIPME foo", "-ERR syntax error"),
        ("ID 0", "-ERR client-id should be greater than 0"),
        ("TYPE bogus", "-ERR Unknown client type 'bogus'"),
        ("USER nosuch", "-ERR No such user 'nosuch'"),
        ("MAXAGE x", "-ERR maxage is not an integer or out of range"),
        ("MAXAGE 0", "-ERR maxage should be greater than 0"),
        ("IDLE 0", "-ERR idle should be greater than 0"),
        ("FLAGS Q", "-ERR Unknown flags found in the provided filter: Q"),
        ("NOT-FLAGS Q", "-ERR Unknown flags found in the NOT-FLAGS filter: Q"),
        ("CAPA q", "-ERR Unknown capa found in the provided filter: q"),
        ("DB x", "-ERR DB is not an integer or out of range"),
        ("DB 99", "-ERR DB number should be between 0 and 15"),
    ] {
        assert_eq!(local.say(one, &format!("CLIENT LIST {filter}")), error, "{filter}");
    }
}

#[test]
fn killed_connections_are_closed_on_every_worker() {
    let mut local = Local::new(Config::default(), 2);
    let (one, two, three) = (local.connect(0), local.connect(1), local.connect(0));
    assert_eq!(local.say(one, "CLIENT KILL 1.2.3.4:5"), "-ERR No such client");
    assert_eq!(local.say(one, "CLIENT KILL ID 99999"), ":0");
    assert_eq!(local.say(one, "CLIENT KILL TYPE bogus"), "-ERR Unknown client type 'bogus'");
    assert_eq!(local.say(one, "CLIENT KILL ID x"), "-ERR syntax error");
    assert_eq!(
        local.say(one, "CLIENT KILL"),
        "-ERR wrong number of arguments for 'client|kill' command"
    );
    assert_eq!(local.say(one, "CLIENT KILL ID 2"), ":1");
    assert_eq!(local.close_wanted(two), Close::Now);
    assert_eq!(ids(&mut local, one, ""), [1, 3]);
    assert_eq!(local.say(one, "CLIENT KILL TYPE normal"), ":1");
    assert_eq!(local.close_wanted(three), Close::Now);
    assert_eq!(local.close_wanted(one), Close::No);
    assert_eq!(local.say(one, "CLIENT KILL TYPE normal SKIPME no"), ":1");
    assert_eq!(local.close_wanted(one), Close::AfterFlush);
}

#[test]
fn the_old_form_kills_by_address() {
    let mut local = Local::new(Config::default(), 1);
    let client = local.connect(0);
    assert_eq!(local.say(client, "CLIENT KILL 127.0.0.1:1"), "OK");
    assert_eq!(local.close_wanted(client), Close::AfterFlush);
}

#[test]
fn a_pause_holds_writes_until_its_end_or_unpause() {
    let mut local = Local::new(Config::default(), 2);
    let (one, two) = (local.connect(0), local.connect(1));
    assert_eq!(local.say(one, "CLIENT PAUSE 500000000 WRITE"), "OK");
    assert_eq!(local.say(one, "CLIENT UNPAUSE"), "OK");
    assert_eq!(local.say(one, "CLIENT PAUSE 300 WRITE"), "OK");
    assert_eq!(local.say(two, "GET k"), "(nil)");
    local.send(two, b"SET k v\r\nGET k\r\n");
    assert_eq!(local.receive(two), b"");
    // It waits for no key: there is nothing to unblock.
    assert!(local.say(one, "CLIENT LIST ID 2").contains(" flags=b "));
    assert!(local.say(one, "INFO clients").contains("blocked_clients:1"));
    assert_eq!(local.say(one, "CLIENT UNBLOCK 2 ERROR"), ":0");
    local.advance_ms(299);
    assert_eq!(local.receive(two), b"");
    local.advance_ms(1);
    assert_eq!(local.receive(two), b"+OK\r\n$1\r\nv\r\n");
    assert_eq!(local.say(one, "CLIENT PAUSE 60000 WRITE"), "OK");
    local.send(two, b"FLUSHALL\r\n");
    assert_eq!(local.receive(two), b"");
    assert_eq!(local.say(one, "CLIENT UNPAUSE"), "OK");
    assert_eq!(local.receive(two), b"+OK\r\n");
}

#[test]
fn a_pause_of_writes_holds_all_that_replicas_would_be_told_of() {
    let mut local = Local::new(Config::default(), 1);
    let (one, two) = (local.connect(0), local.connect(0));
    let (plain, writing, reading) =
        ("return 1", "#!lua\nreturn 2", "#!lua flags=no-writes\nreturn 3");
    let library = "#!lua name=lib\nserver.register_function('w', function() return 4 end)\n\
        server.register_function{function_name='r', callback=function() return 5 end, \
        flags={'no-writes'}}";
    assert_eq!(spell(&local.call(one, &["FUNCTION", "LOAD", library])), "lib");
    let digest = spell(&local.call(one, &["SCRIPT", "LOAD", reading]));
    let held: &[&[&str]] = &[
        &["PFCOUNT", "k"],
        &["PUBLISH", "c", "m"],
        &["SPUBLISH", "c", "m"],
        &["EVAL", plain, "0"],
        &["EVAL", writing, "0"],
        &["EVALSHA", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "0"],
        &["FCALL", "w", "0"],
        &["FCALL", "nosuch", "0"],
        &["FUNCTION", "DELETE", "nosuch"],
    ];
    let free: &[&[&str]] = &[
        &["EVAL", reading, "0"],
        &["EVAL_RO", plain, "0"],
        &["EVALSHA", &digest, "0"],
        &["EVALSHA_RO", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "0"],
        &["FCALL", "r", "0"],
        &["FCALL_RO", "nosuch", "0"],
        &["SCRIPT", "LOAD", plain],
        &["FUNCTION", "LIST"],
    ];
    for in_transaction in [false, true] {
        for (words, is_held) in
            held.iter().map(|words| (words, true)).chain(free.iter().map(|words| (words, false)))
        {
            let asked = if in_transaction {
                assert_eq!(local.say(two, "MULTI"), "OK");
                assert_eq!(spell(&local.call(two, words)), "QUEUED", "{words:?}");
                encode(&["EXEC"])
            } else {
                encode(words)
            };
            assert_eq!(local.say(one, "CLIENT PAUSE 60000 WRITE"), "OK");
            local.send(two, &asked);
            assert_eq!(local.receive(two).is_empty(), is_held, "{words:?}, {in_transaction}");
            assert_eq!(local.say(one, "CLIENT UNPAUSE"), "OK");
            assert_ne!(local.receive(two).is_empty(), is_held, "{words:?}, {in_transaction}");
        }
    }
}

#[test]
fn a_pause_is_never_shortened_and_may_hold_everything() {
    let mut local = Local::new(Config::default(), 1);
    let (one, two) = (local.connect(0), local.connect(0));
    let info = |local: &mut Local| local.say(one, "INFO clients");
    assert_eq!(local.say(one, "CLIENT PAUSE 3000 WRITE"), "OK");
    assert_eq!(local.say(one, "CLIENT PAUSE 100 WRITE"), "OK");
    let text = info(&mut local);
    assert!(text.contains("paused_actions:write"), "{text}");
    assert!(text.contains("paused_timeout_milliseconds:3000"), "{text}");
    assert_eq!(local.say(one, "CLIENT PAUSE 200 ALL"), "OK");
    local.send(two, b"PING\r\n");
    local.advance_ms(2999);
    assert_eq!(local.receive(two), b"");
    local.advance_ms(1);
    assert_eq!(local.receive(two), b"+PONG\r\n");
    assert!(info(&mut local).contains("paused_actions:none"));
    for (line, error) in [
        ("CLIENT PAUSE x", "-ERR timeout is not an integer or out of range"),
        ("CLIENT PAUSE -1", "-ERR timeout is negative"),
        ("CLIENT PAUSE 9223372036854775807", "-ERR timeout is out of range"),
        ("CLIENT PAUSE 10 foo", "-ERR CLIENT PAUSE mode must be WRITE or ALL"),
        ("CLIENT UNBLOCK x", "-ERR value is not an integer or out of range"),
        ("CLIENT UNBLOCK 1 foo", "-ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR"),
    ] {
        assert_eq!(local.say(one, line), error, "{line}");
    }
}

#[test]
fn during_a_pause_nothing_expires_away() {
    let mut local = Local::new(Config::default(), 1);
    let client = local.connect(0);
    assert_eq!(local.say(client, "SET k v PX 100"), "OK");
    assert_eq!(local.say(client, "SET l v PX 100"), "OK");
    assert_eq!(local.say(client, "CLIENT PAUSE 60000 WRITE"), "OK");
    for _ in 0..50 {
        local.advance_ms(100);
    }
    assert_eq!(local.say(client, "GET k"), "(nil)");
    assert_eq!(local.say(client, "DBSIZE"), ":2");
    assert_eq!(local.say(client, "CLIENT UNPAUSE"), "OK");
    assert_eq!(local.say(client, "GET k"), "(nil)");
    assert_eq!(local.say(client, "DBSIZE"), ":1");
}

#[test]
fn a_transaction_with_a_write_is_held_as_a_whole() {
    let mut local = Local::new(Config::default(), 1);
    let (one, two) = (local.connect(0), local.connect(0));
    assert_eq!(local.say(two, "MULTI"), "OK");
    assert_eq!(local.say(two, "SET k v"), "QUEUED");
    assert_eq!(local.say(one, "CLIENT PAUSE 1000 WRITE"), "OK");
    local.send(two, b"EXEC\r\n");
    assert_eq!(local.receive(two), b"");
    assert_eq!(local.say(one, "GET k"), "(nil)");
    local.advance_ms(1000);
    assert_eq!(local.receive(two), b"*1\r\n+OK\r\n");
}

#[test]
fn a_blocked_client_is_let_go_by_timeout_or_error_once() {
    let mut local = Local::new(Config::default(), 2);
    let (one, two) = (local.connect(0), local.connect(1));
    local.send(two, b"BLPOP nk 0\r\n");
    assert!(local.say(one, "CLIENT LIST ID 2").contains(" flags=b "));
    let info = local.say(one, "INFO clients");
    assert!(info.contains("blocked_clients:1") && info.contains("total_blocking_keys:1"), "{info}");
    assert_eq!(local.say(one, "CLIENT UNBLOCK 2 ERROR"), ":1");
    assert_eq!(local.say(one, "CLIENT UNBLOCK 2"), ":0");
    assert_eq!(local.receive(two), b"-UNBLOCKED client unblocked via CLIENT UNBLOCK\r\n");
    local.send(two, b"BLPOP nk 0\r\nPING\r\n");
    assert_eq!(local.receive(two), b"");
    assert_eq!(local.say(one, "CLIENT UNBLOCK 2"), ":1");
    assert_eq!(local.receive(two), b"*-1\r\n+PONG\r\n");
    assert_eq!(local.say(one, "CLIENT UNBLOCK 99"), ":0");
    // Nothing is left behind in the queue of the key.
    assert_eq!(local.say(one, "RPUSH nk v"), ":1");
    assert_eq!(local.say(one, "LLEN nk"), ":1");
    assert!(local.say(one, "INFO errorstats").contains("errorstat_UNBLOCKED:count=1"));
    let stats = local.say(one, "INFO commandstats");
    let blpop = stats.split("cmdstat_blpop:").nth(1).and_then(|rest| rest.split('\r').next());
    assert!(blpop.is_some_and(|text| text.starts_with("calls=2,")), "{stats}");
    assert!(stats.contains("rejected_calls=1,failed_calls=0"), "{stats}");
}

#[test]
fn a_killed_worker_loses_no_job() {
    let mut local = Local::new(Config::default(), 2);
    let (one, two) = (local.connect(0), local.connect(1));
    local.send(two, b"BRPOP q{0} q{3} 0\r\n");
    assert_eq!(local.say(one, "CLIENT KILL TYPE normal SKIPME yes"), ":1");
    assert_eq!(local.close_wanted(two), Close::Now);
    local.close(two);
    assert_eq!(local.say(one, "LPUSH q{3} job"), ":1");
    assert_eq!(local.say(one, "LRANGE q{3} 0 -1"), "[job]");
}

#[test]
fn databases_that_are_swapped_wake_who_waits_for_their_keys() {
    let mut local = Local::new(Config::default(), 3);
    let (one, two, three) = (local.connect(0), local.connect(1), local.connect(2));
    local.send(two, b"BLPOP k 0\r\n");
    local.send(three, b"BLMOVE k other LEFT RIGHT 0\r\n");
    assert_eq!(local.say(one, "SELECT 1"), "OK");
    assert_eq!(local.say(one, "RPUSH k a b"), ":2");
    assert_eq!(local.say(one, "SWAPDB 0 1"), "OK");
    assert_eq!(local.receive(two), b"*2\r\n$1\r\nk\r\n$1\r\na\r\n");
    assert_eq!(local.receive(three), b"$1\r\nb\r\n");
    assert_eq!(local.say(one, "SELECT 0"), "OK");
    assert_eq!(local.say(one, "LRANGE other 0 -1"), "[b]");
    assert_eq!(local.say(one, "EXISTS k"), ":0");
    // The same within a transaction: they are served at its end.
    local.send(two, b"BLPOP k 0\r\n");
    for line in ["SELECT 1", "MULTI", "RPUSH k x", "SWAPDB 0 1", "PING"] {
        local.say(one, line);
    }
    assert_eq!(local.say(one, "EXEC"), "[:1 OK PONG]");
    assert_eq!(local.receive(two), b"*2\r\n$1\r\nk\r\n$1\r\nx\r\n");
}

#[test]
fn a_wait_that_ends_during_a_pause_of_all_still_answers() {
    let mut local = Local::new(Config::default(), 1);
    let (one, two) = (local.connect(0), local.connect(0));
    local.send(two, b"BLPOP nk 1\r\n");
    assert_eq!(local.say(one, "CLIENT PAUSE 5000 WRITE"), "OK");
    local.advance_ms(1000);
    assert_eq!(local.receive(two), b"*-1\r\n");
}
