//! Commands on the server: CONFIG, INFO, COMMAND, the logs, whole databases, DEBUG.

use caudal_engine::config::{Config, Peer};
use caudal_engine::local::{Client, Local, spell};
use caudal_engine::{Close, Usage};
use caudal_wire::Frame;

fn debuggable() -> Config {
    let mut config = Config::default();
    let config_file = [("enable-debug-command", "yes")];
    // CONFIG SET refuses it: it is for the file and the command line.
    assert!(config.set(&config_file, Peer::Local).is_err());
    let arguments = ["--enable-debug-command".to_owned(), "yes".to_owned()];
    let no_files = |_: &std::path::Path| -> std::io::Result<String> {
        Err(std::io::ErrorKind::NotFound.into())
    };
    Config::load(&arguments, &no_files).expect("a configuration of the test's own").0
}

/// A reply as text, whatever its kind.
fn text(local: &mut Local, client: Client, line: &str) -> String {
    let words = caudal_text::words::split(line.as_bytes()).expect("balanced quotes");
    match local.call(client, &words) {
        Frame::Bulk(text) | Frame::Status(text) | Frame::Verbatim { text, .. } => {
            String::from_utf8(text).expect("texts for people are UTF-8")
        }
        other => panic!("{line}: {other:?}"),
    }
}

/// A field of INFO.
fn field(local: &mut Local, client: Client, section: &str, name: &str) -> String {
    let info = text(local, client, &format!("INFO {section}"));
    let found = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    found.unwrap_or_else(|| panic!("no {name} in {info}")).to_owned()
}

#[test]
fn parameters_are_read_and_set() {
    let mut local = Local::new(Config::default(), 2);
    let (one, two) = (local.connect(0), local.connect(1));
    assert_eq!(local.say(one, "CONFIG GET maxmemory nosuch"), "[maxmemory 0]");
    assert_eq!(local.say(one, "CONFIG GET nosuch"), "[]");
    assert_eq!(local.say(one, "CONFIG SET hash-max-ziplist-entries 2"), "OK");
    assert_eq!(
        local.say(two, "CONFIG GET hash-max-*-entries"),
        "[hash-max-listpack-entries 2 hash-max-ziplist-entries 2]"
    );
    assert_eq!(
        local.say(one, "CONFIG SET nosuch 1"),
        "-ERR Unknown option or number of arguments for CONFIG SET - 'nosuch'"
    );
    assert_eq!(local.say(one, "CONFIG SET maxmemory 1 maxclients"), "-ERR syntax error");
    assert_eq!(
        local.say(one, "CONFIG SET enable-debug-command yes"),
        "-ERR CONFIG SET failed (possibly related to argument 'enable-debug-command') - \
         can't set immutable config"
    );
    assert_eq!(local.say(one, "CONFIG"), "-ERR wrong number of arguments for 'config' command");
    assert_eq!(local.say(one, "CONFIG FOO"), "-ERR unknown subcommand 'FOO'. Try CONFIG HELP.");
    assert_eq!(
        local.say(one, "CONFIG REWRITE"),
        "-ERR The server is running without a config file"
    );
    assert!(local.say(one, "CONFIG HELP").starts_with("[\"CONFIG <subcommand> "));
}

#[test]
fn over_maxmemory_what_may_grow_is_refused() {
    let mut local = Local::new(Config::default(), 1);
    let client = local.connect(0);
    let refused = "-OOM command not allowed when used memory > 'maxmemory'.";
    assert_eq!(local.say(client, "SET k v"), "OK");
    let other = local.connect(0);
    assert_eq!(local.say(other, "MULTI"), "OK");
    assert_eq!(local.say(other, "SET k w"), "QUEUED");
    // The command behind it in the same pipeline is refused already.
    local.send(client, b"CONFIG SET maxmemory 1\r\nSET a b\r\nGET k\r\n");
    assert_eq!(
        String::from_utf8(local.receive(client)).unwrap(),
        format!("+OK\r\n{refused}\r\n$1\r\nv\r\n")
    );
    assert_eq!(local.say(client, "MULTI"), "OK");
    assert_eq!(local.say(client, "SET b c"), refused);
    assert!(local.say(client, "EXEC").starts_with("-EXECABORT"));
    assert_eq!(
        local.say(other, "EXEC"),
        "-EXECABORT Transaction discarded because of: OOM command not allowed when used memory > \
         'maxmemory'."
    );
    assert_eq!(local.say(client, "CONFIG SET maxmemory 0"), "OK");
    assert_eq!(local.say(client, "SET a b"), "OK");
}

#[test]
fn writes_are_refused_while_replicas_that_they_need_are_missing() {
    let mut local = Local::new(Config::default(), 1);
    let (one, two) = (local.connect(0), local.connect(0));
    let refused = "-NOREPLICAS Not enough good replicas to write.";
    assert_eq!(local.say(two, "MULTI"), "OK");
    assert_eq!(local.say(two, "SET k v"), "QUEUED");
    // The command behind it in the same pipeline is refused already.
    local.send(one, b"CONFIG SET min-replicas-to-write 1\r\nSET k v\r\nGET k\r\n");
    assert_eq!(
        String::from_utf8(local.receive(one)).unwrap(),
        format!("+OK\r\n{refused}\r\n$-1\r\n")
    );
    assert_eq!(
        local.say(two, "EXEC"),
        "-EXECABORT Transaction discarded because of: NOREPLICAS Not enough good replicas to write."
    );
    assert!(local.say(one, "INFO replication").contains("min_slaves_good_slaves:0"));
    assert_eq!(local.say(one, "PUBLISH c m"), ":0");
    assert_eq!(local.say(one, "EVAL \"return redis.call('GET', 'k')\" 1 k"), "(nil)");
    assert_eq!(
        local.say(one, "EVAL \"return redis.call('SET', 'k', 'v')\" 1 k"),
        format!("{refused} script: on @user_script:1.")
    );
    let flagged = |flags: &str| format!("#!lua {flags}\nreturn 1");
    assert_eq!(spell(&local.call(one, &["EVAL", &flagged(""), "0"])), refused);
    assert_eq!(spell(&local.call(one, &["EVAL", &flagged("flags=no-writes"), "0"])), ":1");
    for (line, answer) in
        [("CONFIG SET min-replicas-max-lag 0", "OK"), ("SET k v", "OK"), ("GET k", "v")]
    {
        assert_eq!(local.say(one, line), answer);
    }
    assert!(!local.say(one, "INFO replication").contains("min_slaves_good_slaves"));
}

#[test]
fn info_has_sections_and_true_figures() {
    let mut local = Local::new(Config::default(), 2);
    let (one, two) = (local.connect(0), local.connect(1));
    let titles = |text: &str| {
        let titles = text.lines().filter_map(|line| line.strip_prefix("# "));
        titles.map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    let default = "Server Clients Memory Persistence Stats Replication CPU Modules Errorstats \
                   Cluster Keyspace";
    let all = "Server TLS Clients Memory Persistence Stats Replication CPU Modules Commandstats \
               Errorstats Latencystats Cluster Cluster Info Keyspace";
    for (line, expected) in [
        ("INFO", default),
        ("INFO default", default),
        ("INFO all", all),
        ("INFO everything", all),
        ("INFO keyspace CPU", "CPU Keyspace"),
        ("INFO modules", "Modules"),
        ("INFO nosuch", ""),
    ] {
        let info = text(&mut local, one, line);
        assert_eq!(titles(&info), expected, "{line}");
    }
    for name in
        ["redis_version", "redis_mode", "tcp_port", "uptime_in_seconds", "run_id", "threads"]
    {
        field(&mut local, one, "server", name);
    }
    local.advance_ms(90_000_000);
    assert_eq!(field(&mut local, one, "server", "uptime_in_days"), "1");
    assert_eq!(local.say(two, "SET k v"), "OK");
    assert_eq!(local.say(two, "GET k"), "v");
    assert_eq!(local.say(two, "GET none"), "(nil)");
    assert!(local.say(two, "INCR k").starts_with("-ERR"));
    assert!(local.say(two, "GET").starts_with("-ERR"));
    let keys = "keys=1,expires=0,avg_ttl=0,keys_with_volatile_items=0";
    assert_eq!(field(&mut local, one, "keyspace", "db0"), keys);
    assert_eq!(field(&mut local, one, "stats", "keyspace_misses"), "1");
    assert_eq!(field(&mut local, one, "stats", "total_error_replies"), "2");
    assert_eq!(field(&mut local, one, "errorstats", "errorstat_ERR"), "count=2");
    assert_eq!(field(&mut local, one, "clients", "connected_clients"), "2");
    assert_eq!(
        field(&mut local, one, "commandstats", "cmdstat_get"),
        "calls=2,usec=0,usec_per_call=0.00,rejected_calls=1,failed_calls=0"
    );
    assert_eq!(
        field(&mut local, one, "commandstats", "cmdstat_incr"),
        "calls=1,usec=0,usec_per_call=0.00,rejected_calls=0,failed_calls=1"
    );
    assert_eq!(
        field(&mut local, one, "latencystats", "latency_percentiles_usec_get"),
        "p50=0.000,p99=0.000,p99.9=0.000"
    );
    assert_eq!(field(&mut local, one, "persistence", "rdb_changes_since_last_save"), "1");
    assert_eq!(local.say(one, "CONFIG RESETSTAT"), "OK");
    assert_eq!(text(&mut local, two, "INFO errorstats"), "# Errorstats\r\n");
    assert!(!text(&mut local, two, "INFO commandstats").contains("cmdstat_get:"));
    assert_eq!(field(&mut local, two, "stats", "keyspace_hits"), "0");
    assert_eq!(field(&mut local, two, "keyspace", "db0"), keys);
    assert_eq!(field(&mut local, two, "clients", "connected_clients"), "2");
}

#[test]
fn rates_are_means_over_the_last_samples() {
    let mut local = Local::new(Config::default(), 2);
    let client = local.connect(1);
    for _ in 0..20 {
        for _ in 0..50 {
            assert_eq!(local.say(client, "PING"), "PONG");
        }
        local.advance_ms(100);
    }
    let rate = field(&mut local, client, "stats", "instantaneous_ops_per_sec");
    assert_eq!(rate, "500");
}

#[test]
fn commands_describe_themselves() {
    let mut local = Local::new(Config::default(), 1);
    let client = local.connect(0);
    assert_eq!(
        local.say(client, "COMMAND INFO get nosuch client|id"),
        "[[get :2 [readonly fast] :1 :1 :1 [@read @string @fast] [] [[flags [RO access] \
         begin_search [type index spec [index :1]] find_keys [type range spec [lastkey :0 \
         keystep :1 limit :0]]]] []] (nil) \
         [client|id :2 [noscript loading stale allow_busy] :0 :0 :0 [@slow @connection] [] [] []]]"
    );
    let Frame::Integer(count) = local.call(client, &["COMMAND", "COUNT"]) else {
        panic!("a count")
    };
    let Frame::Array(entries) = local.call(client, &["COMMAND"]) else { panic!("a list") };
    assert_eq!(entries.len() as i64, count);
    for entry in &entries {
        let Frame::Array(parts) = entry else { panic!("{entry:?} is no description") };
        assert_eq!(parts.len(), 10);
    }
    assert_eq!(local.say(client, "COMMAND DOCS nosuch"), "[]");
    assert_eq!(
        local.say(client, "COMMAND DOCS client|id"),
        "[client|id [summary \"Returns this connection's id.\" since 5.0.0 group connection \
         complexity O(1)]]"
    );
    assert_eq!(
        local.say(client, "COMMAND LIST FILTERBY PATTERN client|i*"),
        "[client|id client|import-source client|info]"
    );
    assert_eq!(local.say(client, "COMMAND LIST FILTERBY MODULE json"), "[]");
    assert!(local.say(client, "COMMAND LIST FILTERBY ACLCAT transaction").contains("watch"));
    assert_eq!(local.say(client, "COMMAND LIST FILTERBY ACLCAT nosuch"), "[]");
    assert_eq!(local.say(client, "COMMAND LIST FOO"), "-ERR syntax error");
    assert_eq!(local.say(client, "COMMAND LIST FILTERBY FOO a"), "-ERR syntax error");
    assert_eq!(
        local.say(client, "COMMAND FOO"),
        "-ERR unknown subcommand 'FOO'. Try COMMAND HELP."
    );
    assert_eq!(local.say(client, "COMMAND GETKEYS MEMORY USAGE k"), "[k]");
    assert_eq!(local.say(client, "COMMAND GETKEYS GET a"), "[a]");
    assert_eq!(local.say(client, "COMMAND GETKEYSANDFLAGS GET a"), "[[a [RO access]]]");
    assert_eq!(local.say(client, "COMMAND GETKEYSANDFLAGS SET a b"), "[[a [OW update]]]");
    assert_eq!(
        local.say(client, "COMMAND GETKEYSANDFLAGS SET a b EX 1 GET"),
        "[[a [RW access update]]]"
    );
    assert_eq!(
        local.say(client, "COMMAND GETKEYSANDFLAGS LMOVE a b LEFT RIGHT"),
        "[[a [RW access delete]] [b [RW insert]]]"
    );
    let counted = "-ERR Invalid arguments specified for command";
    assert_eq!(local.say(client, "COMMAND GETKEYS ZUNIONSTORE d 5 a b"), counted);
    assert_eq!(local.say(client, "COMMAND GETKEYS ZUNIONSTORE d x a b"), counted);
    assert_eq!(local.say(client, "COMMAND GETKEYS ZUNIONSTORE d 2 a b WEIGHTS 1 2"), "[d a b]");
    assert_eq!(local.say(client, "COMMAND GETKEYS MSET a b c d"), "[a c]");
    assert_eq!(local.say(client, "COMMAND GETKEYS EVAL code 1 a b"), "[a]");
    assert_eq!(local.say(client, "COMMAND GETKEYS EVAL code 0 b"), "[]");
    assert_eq!(local.say(client, "COMMAND GETKEYS FCALL f 0"), "[]");
    assert_eq!(local.say(client, "COMMAND GETKEYS EVAL code 2 a"), "[]");
    assert_eq!(local.say(client, "COMMAND GETKEYS nosuch a"), "-ERR Invalid command specified");
    assert_eq!(local.say(client, "COMMAND GETKEYS PING"), "-ERR The command has no key arguments");
    assert_eq!(
        local.say(client, "COMMAND GETKEYS GET"),
        "-ERR Invalid number of arguments specified for command"
    );
    assert!(local.say(client, "HELLO 3").starts_with('{'));
    assert!(local.say(client, "COMMAND INFO get").contains("~[readonly fast]"));
    assert!(local.say(client, "COMMAND DOCS get").starts_with("{get: {summary: "));
}

#[test]
fn flushing_empties_databases_on_every_worker() {
    let mut local = Local::new(Config::default(), 3);
    let (one, two) = (local.connect(0), local.connect(2));
    for index in 0..1000 {
        assert_eq!(local.say(one, &format!("SET k{index} v")), "OK");
    }
    assert_eq!(local.say(two, "SELECT 5"), "OK");
    assert_eq!(local.say(two, "SET other v"), "OK");
    assert_eq!(local.say(one, "DBSIZE"), ":1000");
    assert_eq!(local.say(one, "FLUSHDB foo"), "-ERR syntax error");
    assert_eq!(local.say(one, "FLUSHDB SYNC"), "OK");
    assert_eq!(local.say(one, "DBSIZE"), ":0");
    assert_eq!(local.say(one, "GET k1"), "(nil)");
    assert_eq!(local.say(two, "DBSIZE"), ":1");
    assert_eq!(local.say(one, "SET k v"), "OK");
    assert_eq!(local.say(one, "WATCH k none"), "OK");
    assert_eq!(local.say(two, "FLUSHALL ASYNC"), "OK");
    assert_eq!(local.say(two, "DBSIZE"), ":0");
    assert_eq!(local.say(one, "MULTI"), "OK");
    assert_eq!(local.say(one, "DBSIZE"), "QUEUED");
    assert_eq!(local.say(one, "EXEC"), "(nil)");
    // A flush that takes away nothing touches no watch.
    assert_eq!(local.say(one, "WATCH k none"), "OK");
    assert_eq!(local.say(two, "FLUSHALL"), "OK");
    for line in ["MULTI", "SET a 1", "FLUSHALL", "SET b 2", "DBSIZE"] {
        local.say(one, line);
    }
    assert_eq!(local.say(one, "EXEC"), "[OK OK OK :1]");
}

#[test]
fn swapped_databases_carry_their_keys() {
    let mut local = Local::new(Config::default(), 2);
    let (one, two) = (local.connect(0), local.connect(1));
    assert_eq!(local.say(two, "SELECT 1"), "OK");
    assert_eq!(local.say(one, "SET k zero"), "OK");
    assert_eq!(local.say(two, "SET k one"), "OK");
    assert_eq!(local.say(two, "SET only one"), "OK");
    assert_eq!(local.say(one, "SWAPDB 0 1"), "OK");
    assert_eq!(local.say(one, "GET k"), "one");
    assert_eq!(local.say(two, "GET k"), "zero");
    assert_eq!(local.say(one, "DBSIZE"), ":2");
    assert_eq!(local.say(two, "DBSIZE"), ":1");
    assert_eq!(local.say(one, "WATCH only"), "OK");
    assert_eq!(local.say(one, "MULTI"), "OK");
    assert_eq!(local.say(two, "SWAPDB 1 0"), "OK");
    assert_eq!(local.say(one, "PING"), "QUEUED");
    assert_eq!(local.say(one, "EXEC"), "(nil)");
    assert_eq!(local.say(one, "GET k"), "zero");
    for line in ["MULTI", "SET k x", "SWAPDB 0 1", "GET k"] {
        local.say(one, line);
    }
    assert_eq!(local.say(one, "EXEC"), "[OK OK one]");
    assert_eq!(local.say(one, "SWAPDB 0 0"), "OK");
    assert_eq!(local.say(one, "SWAPDB a 1"), "-ERR invalid first DB index");
    assert_eq!(local.say(one, "SWAPDB 0 a"), "-ERR invalid second DB index");
    assert_eq!(local.say(one, "SWAPDB 0 99"), "-ERR DB index is out of range");
    assert_eq!(local.say(one, "SWAPDB 0 -1"), "-ERR DB index is out of range");
}

#[test]
fn a_key_that_is_absent_to_its_watcher_stays_so_when_databases_are_swapped() {
    for other_is_stale in [false, true] {
        let mut local = Local::new(debuggable(), 2);
        let (one, two) = (local.connect(0), local.connect(1));
        assert_eq!(local.say(one, "DEBUG SET-ACTIVE-EXPIRE 0"), "OK");
        assert_eq!(local.say(two, "SELECT 1"), "OK");
        assert_eq!(local.say(two, "SET k foo PX 1"), "OK");
        if other_is_stale {
            assert_eq!(local.say(one, "SET k foo PX 1"), "OK");
        }
        local.advance_ms(5);
        assert_eq!(local.say(one, "WATCH k"), "OK");
        assert_eq!(local.say(two, "SWAPDB 0 1"), "OK");
        assert_eq!(local.say(one, "MULTI"), "OK");
        assert_eq!(local.say(one, "PING"), "QUEUED");
        assert_eq!(local.say(one, "EXEC"), "[PONG]");
        assert_eq!(local.say(one, "DBSIZE"), ":0");
    }
}

#[test]
fn effects_of_whole_databases_redo_them() {
    let mut local = Local::new(debuggable(), 1);
    local.worker(0).listen_to_effects();
    let client = local.connect(0);
    for line in [
        "SET a 1",
        "SELECT 2",
        "SET b 2",
        "SWAPDB 2 3",
        "FLUSHDB",
        "SELECT 0",
        "SET c 3",
        "MULTI",
        "FLUSHALL",
        "SET d 4",
        "SWAPDB 0 7",
        "EXEC",
        "DEBUG POPULATE 10 p 20",
    ] {
        assert!(!local.say(client, line).starts_with('-'), "{line}");
    }
    let effects = local.worker(0).take_effects();
    let digest = local.say(client, "DEBUG DIGEST");
    let mut again = Local::new(debuggable(), 2);
    let client = again.connect(1);
    again.send(client, &effects);
    assert!(!again.receive(client).contains(&b'-'));
    assert_eq!(again.say(client, "DEBUG DIGEST"), digest);
}

#[test]
fn a_digest_is_of_the_content() {
    let mut local = Local::new(debuggable(), 2);
    let (one, two) = (local.connect(0), local.connect(1));
    let nothing = "0".repeat(40);
    assert_eq!(local.say(one, "DEBUG DIGEST"), nothing);
    assert_eq!(local.say(one, "SET a 1"), "OK");
    assert_eq!(local.say(one, "SET b x"), "OK");
    let first = local.say(two, "DEBUG DIGEST");
    assert_ne!(first, nothing);
    assert_eq!(local.say(one, "FLUSHALL"), "OK");
    assert_eq!(local.say(two, "SET b x"), "OK");
    assert_eq!(local.say(two, "SET a 1"), "OK");
    assert_eq!(local.say(one, "DEBUG DIGEST"), first);
    assert_eq!(local.say(one, "SWAPDB 0 1"), "OK");
    assert_ne!(local.say(one, "DEBUG DIGEST"), first);
    let values = local.say(one, "DEBUG DIGEST-VALUE a none");
    assert_eq!(values, format!("[{nothing} {nothing}]"));
    assert_eq!(local.say(one, "SELECT 1"), "OK");
    assert_ne!(local.say(one, "DEBUG DIGEST-VALUE a none"), values);
}

#[test]
fn debug_is_for_whom_it_is_allowed() {
    let mut local = Local::new(Config::default(), 1);
    let client = local.connect(0);
    assert!(
        local.say(client, "DEBUG SLEEP 0").starts_with("-ERR DEBUG command not allowed. If the")
    );
    let mut local = Local::new(debuggable(), 2);
    let client = local.connect(0);
    assert_eq!(local.say(client, "DEBUG SLEEP 0"), "OK");
    assert_eq!(local.say(client, "DEBUG POPULATE 3"), "OK");
    assert_eq!(local.say(client, "DEBUG POPULATE 3 x 10"), "OK");
    assert_eq!(local.say(client, "GET key:2"), "value:2");
    assert_eq!(local.call(client, &["GET", "x:1"]), Frame::Bulk(b"value:1\0\0\0".to_vec()));
    assert_eq!(local.say(client, "DEBUG OBJECT none"), "-ERR no such key");
    assert!(local.say(client, "DEBUG OBJECT key:1").contains(" encoding:embstr "));
    assert_eq!(
        local.say(client, "DEBUG JMAP"),
        "-ERR unknown subcommand or wrong number of arguments for 'JMAP'. Try DEBUG HELP."
    );
    assert_eq!(local.say(client, "DEBUG ERROR 'FOO bar'"), "-FOO bar");
    assert_eq!(local.say(client, "DEBUG STRINGMATCH-LEN 10 a*b"), ":0");
    assert_eq!(local.say(client, "DEBUG LOG said"), "OK");
    assert_eq!(local.say(client, "DEBUG PROTOCOL double"), "3.141");
    assert!(local.say(client, "DEBUG PROTOCOL push").starts_with("-ERR RESP2"));
    for line in ["MULTI", "SET k 1", "DEBUG OBJECT k", "DEBUG DIGEST-VALUE k", "MEMORY USAGE k"] {
        local.say(client, line);
    }
    assert!(local.say(client, "EXEC").starts_with("[OK \"Value at:"));
}

#[test]
fn scripts_may_call_debug_where_that_was_switched_on() {
    let mut local = Local::new(debuggable(), 1);
    let client = local.connect(0);
    let line = "EVAL \"return redis.call('DEBUG', 'PROTOCOL', 'integer')\" 0";
    let refused = "-ERR This Valkey command is not allowed from script script: on @user_script:1.";
    assert_eq!(local.say(client, line), refused);
    assert_eq!(local.say(client, "DEBUG SET-DISABLE-DENY-SCRIPTS 1"), "OK");
    assert_eq!(local.say(client, line), ":12345");
    // What would have the server wait, or lose its way, stays refused.
    for call in ["MULTI", "EVAL', 'return 1', '0", "SUBSCRIBE', 'c", "SHUTDOWN"] {
        let other = format!("EVAL \"return redis.call('{call}')\" 0");
        assert_eq!(local.say(client, &other), refused, "{call}");
    }
    assert_eq!(local.say(client, "DEBUG SET-DISABLE-DENY-SCRIPTS 0"), "OK");
    assert_eq!(local.say(client, line), refused);
}

#[test]
fn expired_keys_stay_when_nobody_reclaims_them() {
    let mut local = Local::new(debuggable(), 1);
    let client = local.connect(0);
    assert_eq!(local.say(client, "DEBUG SET-ACTIVE-EXPIRE 0"), "OK");
    assert_eq!(local.say(client, "SET k v PX 100"), "OK");
    for _ in 0..50 {
        local.advance_ms(100);
    }
    assert_eq!(local.say(client, "DBSIZE"), ":1");
    assert_eq!(local.say(client, "GET k"), "(nil)");
    assert_eq!(local.say(client, "DEBUG SET-ACTIVE-EXPIRE 1"), "OK");
    for _ in 0..50 {
        local.advance_ms(100);
    }
    assert_eq!(local.say(client, "DBSIZE"), ":0");
}

#[test]
fn memory_is_told_by_key_and_in_all() {
    let mut local = Local::new(Config::default(), 1);
    let client = local.connect(0);
    assert_eq!(local.say(client, "SET k v"), "OK");
    for line in ["MEMORY USAGE k", "MEMORY USAGE k SAMPLES 0"] {
        let Frame::Integer(bytes) = local.call(client, &line.split(' ').collect::<Vec<_>>()) else {
            panic!("{line}")
        };
        assert!(bytes > 0, "{line}");
    }
    assert_eq!(local.say(client, "MEMORY USAGE none"), "(nil)");
    assert_eq!(local.say(client, "MEMORY USAGE k SAMPLES"), "-ERR syntax error");
    assert_eq!(local.say(client, "MEMORY USAGE k SAMPLES -1"), "-ERR syntax error");
    assert_eq!(
        local.say(client, "MEMORY USAGE k SAMPLES x"),
        "-ERR value is not an integer or out of range"
    );
    assert_eq!(local.say(client, "MEMORY PURGE"), "OK");
    assert!(local.say(client, "MEMORY STATS").contains("keys.count :1"));
    assert!(!text(&mut local, client, "MEMORY DOCTOR").is_empty());
    assert_eq!(Usage::default().resident_bytes, 0);
}

#[test]
fn what_is_not_there_yet_says_so() {
    let mut local = Local::new(Config::default(), 1);
    let client = local.connect(0);
    assert_eq!(local.say(client, "ROLE"), "[master :0 []]");
    assert_eq!(local.say(client, "LASTSAVE"), ":1767225600");
    assert_eq!(local.say(client, "TIME"), "[1767225600 0]");
    assert_eq!(local.say(client, "WAIT 1 100"), ":0");
    assert_eq!(local.say(client, "WAIT a 1"), "-ERR value is not an integer or out of range");
    assert_eq!(local.say(client, "WAIT 0 -1"), "-ERR timeout is negative");
    assert_eq!(local.say(client, "WAITAOF 0 0 0"), "[:0 :0]");
    assert_eq!(local.say(client, "REPLICAOF no one"), "OK");
    assert_eq!(local.say(client, "SLAVEOF NO ONE"), "OK");
    assert_eq!(local.say(client, "REPLICAOF a b"), "-ERR Invalid master port");
    for line in ["REPLICAOF host 6379", "SAVE", "BGSAVE", "BGREWRITEAOF", "SHUTDOWN SAVE"] {
        assert!(local.say(client, line).contains("not there yet"), "{line}");
    }
    assert_eq!(local.say(client, "ACL WHOAMI"), "default");
    assert_eq!(local.say(client, "ACL USERS"), "[default]");
    assert!(local.say(client, "ACL CAT").starts_with("[keyspace read write set "));
    assert!(local.say(client, "ACL CAT connection").contains("client|id"));
    assert_eq!(local.say(client, "ACL CAT foo"), "-ERR Unknown category 'foo'");
    assert_eq!(local.say(client, "SHUTDOWN FOO"), "-ERR syntax error");
    assert_eq!(local.say(client, "SHUTDOWN ABORT"), "-ERR No shutdown in progress.");
    local.send(client, b"SHUTDOWN NOSAVE\r\n");
    assert_eq!(local.receive(client), b"");
    assert_eq!(local.close_wanted(client), Close::AfterFlush);
}

#[test]
fn an_empty_server_has_no_scripts_and_no_functions_to_flush_or_to_list() {
    let mut local = Local::new(Config::default(), 1);
    let client = local.connect(0);
    for line in ["SCRIPT FLUSH", "SCRIPT FLUSH async", "FUNCTION FLUSH", "FUNCTION FLUSH SYNC"] {
        assert_eq!(local.say(client, line), "OK", "{line}");
    }
    assert_eq!(
        local.say(client, "SCRIPT FLUSH now"),
        "-ERR SCRIPT FLUSH only support SYNC|ASYNC option"
    );
    assert_eq!(
        local.say(client, "FUNCTION FLUSH now"),
        "-ERR FUNCTION FLUSH only supports SYNC|ASYNC option"
    );
    assert_eq!(
        local.say(client, "FUNCTION FLUSH SYNC now"),
        "-ERR unknown subcommand or wrong number of arguments for 'FLUSH'. Try FUNCTION HELP."
    );
    assert_eq!(local.say(client, "SCRIPT EXISTS a b"), "[:0 :0]");
    assert_eq!(
        local.say(client, "SCRIPT EXISTS"),
        "-ERR wrong number of arguments for 'script|exists' command"
    );
    assert_eq!(local.say(client, "FUNCTION LIST"), "[]");
    assert_eq!(local.say(client, "FUNCTION LIST libraryname * withcode"), "[]");
    assert_eq!(local.say(client, "FUNCTION LIST code"), "-ERR Unknown argument code");
    assert_eq!(
        local.say(client, "FUNCTION LIST WITHCODE WITHCODE"),
        "-ERR Unknown argument WITHCODE"
    );
    assert_eq!(
        local.say(client, "FUNCTION LIST LIBRARYNAME"),
        "-ERR library name argument was not given"
    );
}

#[test]
fn errors_repeat_the_bytes_of_a_word_up_to_a_zero_byte() {
    let mut local = Local::new(debuggable(), 1);
    let client = local.connect(0);
    let word = b"\xff\xc3\r\nx\0y".as_slice();
    let shown = b"\xff\xc3  x".as_slice();
    for (words, before, after) in [
        (vec![word, b"a"], "unknown command '", "', with args beginning with: 'a' "),
        (vec![b"NOSUCH", word], "unknown command 'NOSUCH', with args beginning with: '", "' "),
        (vec![b"CLIENT", word], "unknown subcommand '", "'. Try CLIENT HELP."),
        (vec![b"EXPIRE", b"k", b"5", word], "Unsupported option ", ""),
        (vec![b"SCAN", b"0", b"TYPE", word], "unknown type name '", "'"),
        (vec![b"HELLO", b"3", word], "Syntax error in HELLO option '", "'"),
        (vec![b"CLIENT", b"SETINFO", word, b"x"], "Unrecognized option '", "'"),
        (vec![b"FUNCTION", b"LIST", word], "Unknown argument ", ""),
    ] {
        let expected = [b"ERR ", before.as_bytes(), shown, after.as_bytes()].concat();
        assert_eq!(local.call(client, &words), Frame::Error(expected), "{before}");
    }
    // Such words do not make kinds of errors.
    assert_eq!(field(&mut local, client, "errorstats", "errorstat_ERR"), "count=8");
}
