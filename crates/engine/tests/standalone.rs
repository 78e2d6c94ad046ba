//! A server by itself: what it answers to the commands of clusters, replication and modules, and to
//! who looks inside.

mod support;

use caudal_engine::local::{Client, Local};
use caudal_wire::Frame;
use support::{run, store_with_debug as store};

/// Runs lines of the form `command -> reply`.
fn check(script: &str) {
    let (mut local, client) = store();
    run(&mut local, client, script);
}

fn text(local: &mut Local, client: Client, words: &[&str]) -> String {
    match local.call(client, words) {
        Frame::Bulk(text) | Frame::Verbatim { text, .. } | Frame::Status(text) => {
            String::from_utf8(text).expect("texts for people are UTF-8")
        }
        other => panic!("{words:?}: {other:?}"),
    }
}

#[test]
fn there_is_no_cluster() {
    check(
        "CLUSTER -> -ERR wrong number of arguments for 'cluster' command
        CLUSTER FOO -> -ERR unknown subcommand 'FOO'. Try CLUSTER HELP.
        CLUSTER KEYSLOT -> -ERR wrong number of arguments for 'cluster|keyslot' command
        CLUSTER KEYSLOT a -> :15495
        CLUSTER KEYSLOT x{a}y -> :15495
        READONLY -> OK
        READWRITE -> OK
        CLUSTERSCAN -> -ERR wrong number of arguments for 'clusterscan' command",
    );
    let (mut local, client) = store();
    let refused = "-ERR This instance has cluster support disabled";
    for command in [
        "ASKING",
        "CLUSTERSCAN 0",
        "CLUSTER ADDSLOTS 1",
        "CLUSTER COUNTKEYSINSLOT 1",
        "CLUSTER GETKEYSINSLOT 1 1",
        "CLUSTER HELP",
        "CLUSTER INFO",
        "CLUSTER MEET a 1",
        "CLUSTER MYID",
        "CLUSTER NODES",
        "CLUSTER SETSLOT 1 NODE x",
        "CLUSTER SHARDS",
        "CLUSTER SLOT-STATS SLOTSRANGE 0 1",
        "CLUSTER SLOTS",
    ] {
        assert_eq!(local.say(client, command), refused, "{command}");
    }
}

#[test]
fn it_is_a_master_without_replicas() {
    check(
        "ROLE -> [master :0 []]
        REPLICAOF NO ONE -> OK
        SLAVEOF NO ONE -> OK
        REPLICAOF 127.0.0.1 x -> -ERR Invalid master port
        FAILOVER -> -ERR FAILOVER requires connected replicas.
        FAILOVER TO a 1 TIMEOUT 5 FORCE -> -ERR FAILOVER requires connected replicas.
        FAILOVER TO a b -> -ERR value is not an integer or out of range
        FAILOVER TIMEOUT 0 -> -ERR FAILOVER timeout must be greater than 0
        FAILOVER TIMEOUT 5 TIMEOUT 6 -> -ERR syntax error
        FAILOVER ABORT -> -ERR No failover in progress.
        FAILOVER ABORT x -> -ERR syntax error
        REPLCONF -> OK
        REPLCONF listening-port 1 capa eof -> OK
        REPLCONF foo -> -ERR syntax error
        REPLCONF foo bar -> -ERR Unrecognized REPLCONF option: foo
        WAIT 0 0 -> :0
        WAITAOF 0 0 0 -> [:0 :0]
        WAITAOF 2 0 0 -> -ERR value is out of range, value must between 0 and 1
        WAITAOF x 0 0 -> -ERR value is not an integer or out of range",
    );
    let (mut local, client) = store();
    local.say(client, "SET k v");
    for command in ["PSYNC ? -1", "SYNC", "REPLICAOF 127.0.0.1 1", "MIGRATE a 1 k 0 1"] {
        let reply = local.say(client, command);
        assert!(reply.starts_with("-ERR ") && reply.contains("not there yet"), "{reply}");
    }
}

#[test]
fn migrate_checks_its_words_and_its_key() {
    check(
        "MIGRATE h 1 none 0 10 -> NOKEY
        MIGRATE h 1 none 0 10 COPY REPLACE AUTH p -> NOKEY
        MIGRATE h 1 none 0 10 AUTH2 u p -> NOKEY
        MIGRATE h 1 k 0 10 AUTH -> -ERR syntax error
        MIGRATE h 1 k 0 10 AUTH2 u -> -ERR syntax error
        MIGRATE h 1 k x 10 -> -ERR value is not an integer or out of range",
    );
    let (mut local, client) = store();
    assert_eq!(
        local.say(client, "MIGRATE h 1 k 0 10 KEYS a"),
        "-ERR When using MIGRATE KEYS option, the key argument must be set to the empty string"
    );
    local.say(client, "CONFIG SET slowlog-log-slower-than 0");
    local.say(client, "MIGRATE h 1 none 0 10 AUTH2 u p");
    let log = local.say(client, "SLOWLOG GET 1");
    assert!(log.contains("AUTH2 (redacted) (redacted)"), "{log}");
}

#[test]
fn there_are_no_modules() {
    check(
        "MODULE LIST -> []
        MODULE FOO -> -ERR unknown subcommand 'FOO'. Try MODULE HELP.
        MODULE LOADEX -> -ERR wrong number of arguments for 'module|loadex' command",
    );
    let (mut local, client) = store();
    for command in ["MODULE LOAD /x", "MODULE LOADEX /x", "MODULE UNLOAD x"] {
        let reply = local.say(client, command);
        assert!(reply.starts_with("-ERR MODULE command not allowed"), "{reply}");
    }
}

#[test]
fn a_river_has_the_size_that_was_asked_for() {
    let (mut local, client) = store();
    let river = text(&mut local, client, &["LOLWUT", "VERSION", "1", "30", "4"]);
    let lines: Vec<&str> = river.lines().collect();
    assert_eq!(lines.len(), 5);
    assert!(lines[..4].iter().all(|line| line.chars().count() == 30));
    assert!(lines[4].starts_with("Caudal ver. "));
    assert!(text(&mut local, client, &["LOLWUT"]).len() > 500);
    let refused = "-ERR Syntax error. Use: LOLWUT [VERSION version] [columns rows]";
    assert_eq!(local.say(client, "LOLWUT 1 2 3"), refused);
}

#[test]
fn info_has_the_fields_that_tools_read() {
    let (mut local, client) = store();
    local.say(client, "SET k v");
    local.say(client, "FLUSHALL");
    local.say(client, "SET k v EX 100");
    let info = text(&mut local, client, &["INFO", "EVERYTHING"]);
    for section in ["Server", "TLS", "Clients", "Memory", "Persistence", "Stats", "Cluster Info"] {
        assert!(info.contains(&format!("# {section}\r\n")), "{section}");
    }
    let field = |name: &str| {
        let found = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        found.unwrap_or_else(|| panic!("no {name}"))
    };
    for zero in [
        "clients_in_timeout_table",
        "rdb_last_cow_size",
        "aof_rewrites",
        "replicas_waiting_psync",
        "mem_total_replication_buffers",
        "active_defrag_hits",
        "io_threads_active",
    ] {
        assert_eq!(field(zero), "0", "{zero}");
    }
    assert_eq!(field("db0"), "keys=1,expires=1,avg_ttl=0,keys_with_volatile_items=0");
    assert_eq!(field("total_reads_processed"), "4");
    assert_eq!(field("tls_server_cert_serial"), "none");
    field("used_memory_dataset_perc");
    field("eventloop_duration_cmd_sum");
    let plain = text(&mut local, client, &["INFO"]);
    assert!(!plain.contains("# TLS") && !plain.contains("# Commandstats"));
}

#[test]
fn checked_payloads_and_waiting_clients_are_counted() {
    let (mut local, client) = store();
    let waiting = local.connect(0);
    local.send(waiting, &caudal_engine::local::encode(&["BLPOP", "l", "10"]));
    let clients = text(&mut local, client, &["INFO", "clients"]);
    assert!(clients.contains("clients_in_timeout_table:1\r\n"), "{clients}");
    local.say(client, "RESTORE k 0 x");
    let stats = text(&mut local, client, &["INFO", "stats"]);
    assert!(stats.contains("dump_payload_sanitizations:1\r\n"), "{stats}");
}

#[test]
fn memory_stats_tells_each_database() {
    let (mut local, client) = store();
    local.say(client, "HELLO 3");
    local.say(client, "SET k v");
    let stats = local.say(client, "MEMORY STATS");
    for name in ["db.0: {overhead.hashtable.main: :", "dataset.bytes: :", "clients.normal: :"] {
        assert!(stats.contains(name), "{name} in {stats}");
    }
}

#[test]
fn debug_looks_into_values() {
    check(
        "SET s hello -> OK
        SET i 12 -> OK
        HSET h a b -> :1
        DEBUG SDSLEN i -> -ERR Not an sds encoded string.
        DEBUG SDSLEN none -> -ERR no such key
        DEBUG LISTPACK s -> -ERR Not a listpack encoded object.
        DEBUG HTSTATS 99 -> -ERR Out of range database
        DEBUG HTSTATS-KEY none -> -ERR no such key
        CLIENT IMPORT-SOURCE ON -> -ERR Server is not in import mode
        DEBUG CLIENT-EVICTION -> -ERR maxmemory-clients is disabled.",
    );
    let (mut local, client) = store();
    local.say(client, "SET s hello");
    local.say(client, "HSET h a b");
    let lengths = text(&mut local, client, &["DEBUG", "SDSLEN", "s"]);
    assert!(lengths.starts_with("key_sds_len:1 ") && lengths.contains(" val_sds_len:5 "));
    assert!(text(&mut local, client, &["DEBUG", "LISTPACK", "h"]).contains("elements:1 "));
    assert!(text(&mut local, client, &["DEBUG", "OBJECT", "s"]).contains("serializedlength:6 "));
    assert!(text(&mut local, client, &["DEBUG", "HTSTATS", "0"]).contains("entries: 2\n"));
    let members: Vec<String> = (0..300).map(|at| format!("m{at}")).collect();
    let words = [&["SADD", "big"][..], &members.iter().map(String::as_str).collect::<Vec<_>>()];
    local.call(client, &words.concat());
    assert!(text(&mut local, client, &["DEBUG", "HTSTATS-KEY", "big"]).contains("entries: 300 "));
}

#[test]
fn debug_takes_the_switches_of_test_suites() {
    check(
        "DEBUG AOF-FLUSH-SLEEP 0 -> OK
        DEBUG DICT-RESIZING 1 -> OK
        DEBUG PAUSE-CRON x -> OK
        DEBUG REPLYBUFFER RESIZING 0 -> OK
        DEBUG REPLYBUFFER PEAK-RESET-TIME NEVER -> OK
        DEBUG REPLYBUFFER PEAK-RESET-TIME x -> -ERR value is not an integer or out of range
        DEBUG SET-ACTIVE-EXPIRE x -> OK
        DEBUG QUICKLIST-PACKED-THRESHOLD 200b -> OK
        DEBUG SLOTMIGRATION PREVENT-PAUSE 1 -> OK",
    );
    let (mut local, client) = store();
    assert_eq!(
        local.say(client, "DEBUG QUICKLIST-PACKED-THRESHOLD 5gb"),
        "-ERR argument must be a memory value bigger than 1 and smaller than 4gb"
    );
    assert_eq!(
        local.say(client, "DEBUG REPLYBUFFER RESIZING"),
        "-ERR unknown subcommand or wrong number of arguments for 'REPLYBUFFER'. Try DEBUG HELP."
    );
}

#[test]
fn upkeep_stands_still_while_it_is_paused() {
    let (mut local, client) = store();
    local.say(client, "SET k v PX 10");
    assert_eq!(local.say(client, "DEBUG PAUSE-CRON 1"), "OK");
    (0..30).for_each(|_| local.advance_ms(100));
    assert_eq!(local.say(client, "DBSIZE"), ":1");
    assert_eq!(local.say(client, "DEBUG PAUSE-CRON 0"), "OK");
    (0..30).for_each(|_| local.advance_ms(100));
    assert_eq!(local.say(client, "DBSIZE"), ":0");
}

#[test]
fn deprecated_and_internal_commands_say_so() {
    let (mut local, client) = store();
    local.say(client, "HELLO 3");
    let docs = local.say(client, "COMMAND DOCS SLAVEOF");
    assert!(docs.contains("doc_flags: ~[deprecated] deprecated_since: 5.0.0"), "{docs}");
    assert!(docs.contains("replaced_by: `REPLICAOF`"), "{docs}");
    let docs = local.say(client, "COMMAND DOCS RESTORE-ASKING");
    assert!(docs.contains("doc_flags: ~[syscmd]"), "{docs}");
}
