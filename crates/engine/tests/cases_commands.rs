//! Cases of users, each a kind: what monitoring, frameworks and locks ask, and what clones get
//! wrong.

mod support;

use caudal_engine::config::Config;
use caudal_engine::local::Local;
use std::collections::HashSet;
use support::scene::in_all_settings;
use support::{check, run, store};

#[test]
fn indexes_are_of_64_bits_and_strings_end_at_their_limit() {
    check(
        "SET foo bar -> OK
        GETRANGE foo 0 4294967297 -> bar
        GETRANGE foo -100 1 -> ba
        GETRANGE foo -1 -5 -> \"\"
        SETRANGE k 536870912 x
            -> -ERR string exceeds maximum allowed size (proto-max-bulk-len)
        EXISTS k -> :0",
    );
}

#[test]
fn an_empty_name_is_a_key_and_commands_have_any_case() {
    let (mut local, client) = store();
    run(
        &mut local,
        client,
        r#"TYPE none -> none
        SET "" v -> OK
        TYPE "" -> string
        SCAN -> -ERR wrong number of arguments for 'scan' command
        lLeN foo -> :0"#,
    );
    let page = local.call(client, &["SCAN", "0", "COUNT", "20000"]);
    let keys = caudal_wire::Frame::Array(vec![caudal_wire::Frame::Bulk(Vec::new())]);
    let zero = caudal_wire::Frame::Bulk(b"0".to_vec());
    assert_eq!(page, caudal_wire::Frame::Array(vec![zero, keys]));
}

#[test]
fn what_a_transaction_pushed_is_taken_in_the_order_of_the_waiters_keys() {
    in_all_settings(2, |scene| {
        scene.wait(1, "BLPOP key1 key2 0");
        scene.send(0, &["MULTI", "RPUSH key2 1 2", "RPUSH key1 5 6", "EXEC"]);
        assert_eq!(scene.got(0), "OK | QUEUED | QUEUED | [:2 :2]");
        assert_eq!(scene.got(1), "[key1 5]");
    });
}

#[test]
fn who_waits_longest_is_served_first_after_the_whole_command() {
    in_all_settings(3, |scene| {
        scene.wait(1, "BLPOP f 0");
        scene.wait(2, "BLPOP f 0");
        assert_eq!(scene.say(0, "RPUSH f a b"), ":2");
        assert_eq!((scene.got(1), scene.got(2)), ("[f a]".into(), "[f b]".into()));
        scene.wait(1, "BLPOP g 0");
        assert_eq!(scene.say(0, "LPUSH g a b c"), ":3");
        assert_eq!(scene.got(1), "[g c]");
        scene.wait(1, "BLMOVE a b LEFT LEFT 0");
        scene.send(0, &["SET b str", "RPUSH a v", "LRANGE a 0 -1"]);
        assert_eq!(scene.got(0), "OK | :1 | [v]");
        assert!(scene.got(1).starts_with("-WRONGTYPE"));
    });
}

#[test]
fn a_pause_that_was_ended_leaves_no_deadline() {
    let mut local = Local::new(Config::default(), 1);
    let (one, two) = (local.connect(0), local.connect(0));
    local.say(one, "CLIENT PAUSE 500000000 WRITE");
    local.say(one, "CLIENT UNPAUSE");
    local.say(one, "CLIENT PAUSE 300 WRITE");
    local.send(two, b"SET k v\r\n");
    assert_eq!(local.receive(two), b"");
    local.advance_ms(301);
    assert_eq!(local.receive(two), b"+OK\r\n");
}

#[test]
fn scripts_may_touch_keys_that_they_did_not_name() {
    let (mut local, client) = store();
    let script = "redis.call('SET', 'dyn:'..ARGV[1], 'v') \
        return redis.call('EXISTS', 'dyn:'..ARGV[1])";
    let reply = local.call(client, &["EVAL", script, "0", "abc"]);
    assert_eq!(reply, caudal_wire::Frame::Integer(1));
    run(&mut local, client, "GET dyn:abc -> v");
}

#[test]
fn a_counter_in_scripts_with_undeclared_keys_loses_no_step() {
    let mut local = Local::new(Config::default(), 2);
    let clients = [local.connect(0), local.connect(1)];
    let script = "local v = redis.call('GET', 'c:'..ARGV[1]) or 0 \
        redis.call('SET', 'c:'..ARGV[1], v + 1)";
    for client in (0..200).map(|at| clients[at % 2]) {
        local.call(client, &["EVAL", script, "0", "x"]);
    }
    assert_eq!(local.say(clients[0], "GET c:x"), "200");
}

#[test]
fn rights_on_keys_are_told_apart_by_what_a_command_does() {
    check(
        "ACL SETUSER bob on nopass +@all %R~src* %W~dst* (+get ~tmp*) -> OK
        ACL DRYRUN bob COPY src1 dst1 -> OK
        ACL DRYRUN bob COPY dst1 src1
            -> \"User bob has no permissions to access the 'dst1' key\"
        ACL DRYRUN bob GET tmp1 -> OK
        ACL DRYRUN bob GET dst1
            -> \"User bob has no permissions to access the 'dst1' key\"
        ACL SETUSER alice on >pw ~app:* +@read +set -> OK
        ACL DRYRUN alice DEL app:1
            -> \"User alice has no permissions to run the 'del' command\"
        ACL DRYRUN alice EVAL -> -ERR wrong number of arguments for 'eval' command
        ACL DRYRUN nobody GET x -> -ERR User 'nobody' not found",
    );
}

#[test]
fn tools_find_commands_and_sections_of_info() {
    let (mut local, client) = store();
    let all = local.say(client, "COMMAND");
    assert!(!all.contains("(nil)"));
    let info = local.say(client, "COMMAND INFO get nosuch");
    assert!(info.starts_with("[[get :2 ") && info.ends_with(" (nil)]"), "{info}");
    run(
        &mut local,
        client,
        "COMMAND DOCS nosuch -> []
        COMMAND LIST FILTERBY PATTERN xau* -> [xautoclaim]
        INFO nosuch -> \"\"",
    );
    assert!(local.say(client, "INFO modules").contains("# Modules"));
    let server = local.say(client, "INFO server");
    for field in ["redis_version:", "redis_mode:", "tcp_port:", "uptime_in_seconds:"] {
        assert!(server.contains(field), "{field}");
    }
}

#[test]
fn monitoring_asks_for_histograms_sizes_and_frequencies() {
    let (mut local, client) = store();
    local.say(client, "SET k v");
    let histogram = local.say(client, "LATENCY HISTOGRAM set");
    assert!(histogram.starts_with("[set [calls :1 histogram_usec ["), "{histogram}");
    run(&mut local, client, "LATENCY LATEST -> []\nMEMORY USAGE none -> (nil)");
    for ask in ["MEMORY USAGE k", "MEMORY USAGE k SAMPLES 0"] {
        let bytes: u64 = local.say(client, ask)[1..].parse().expect("a number");
        assert!(bytes > 0);
    }
    assert!(local.say(client, "OBJECT FREQ k").starts_with("-ERR An LFU maxmemory policy is not"));
}

#[test]
fn a_scan_meets_every_key_that_stays_while_the_table_grows_and_shrinks() {
    let (mut local, client) = store();
    for at in 0..5000 {
        local.say(client, &format!("SET s:{at} 1"));
    }
    let (mut cursor, mut met, mut round) = ("0".to_owned(), HashSet::new(), 0);
    loop {
        let page = local.say(client, &format!("SCAN {cursor} COUNT 100 MATCH s:*"));
        let (next, keys) = page[1..page.len() - 2].split_once(" [").expect("a cursor and keys");
        met.extend(keys.split(' ').filter(|key| !key.is_empty()).map(str::to_owned));
        cursor = next.to_owned();
        if cursor == "0" {
            break;
        }
        for at in 0..100 {
            local.say(client, &format!("SET other:{round}:{at} 1"));
        }
        for at in 0..90 {
            local.say(client, &format!("DEL other:{round}:{at}"));
        }
        round += 1;
        assert!(round < 5000, "it ends");
    }
    assert_eq!(met.len(), 5000);
}

#[test]
fn a_queue_pops_and_reserves_a_job_in_a_script() {
    let (mut local, client) = store();
    let job = r#"{"id":1,"attempts":0,"data":[]}"#;
    local.call(client, &["RPUSH", "queues:default", job]);
    let script = "local job = redis.call('lpop', KEYS[1]) local reserved = false \
        if job ~= false then reserved = cjson.decode(job) \
        reserved['attempts'] = reserved['attempts'] + 1 reserved = cjson.encode(reserved) \
        redis.call('zadd', KEYS[2], ARGV[1], reserved) redis.call('lpop', KEYS[3]) end \
        return {job, reserved}";
    let pop = [
        "EVAL",
        script,
        "3",
        "queues:default",
        "queues:default:reserved",
        "queues:default:notify",
        "1700000000",
    ];
    let first = caudal_engine::local::spell(&local.call(client, &pop));
    // The empty array has become an object, as in Redis; the order of fields is nobody's promise.
    assert!(first.starts_with(&format!("[{job} {{")), "{first}");
    for part in [r#""data":{}"#, r#""attempts":1"#, r#""id":1"#] {
        assert!(first.contains(part), "{first}");
    }
    let second = caudal_engine::local::spell(&local.call(client, &pop));
    assert_eq!(second, "[(nil) (nil)]");
    run(&mut local, client, "ZCARD queues:default:reserved -> :1");
}

#[test]
fn a_window_of_a_rate_limiter_always_ends() {
    let mut local = Local::new(Config::default(), 2);
    let clients = [local.connect(0), local.connect(1)];
    let script = "local n = redis.call('INCR', KEYS[1]) \
        if n == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end \
        return {n, redis.call('PTTL', KEYS[1])}";
    for step in 0..100_u64 {
        let client = clients[(step % 2) as usize];
        let reply = local.call(client, &["EVAL", script, "1", "rl", "200"]);
        let reply = caudal_engine::local::spell(&reply);
        let numbers: Vec<i64> =
            reply[1..reply.len() - 1].split(' ').map(|at| at[1..].parse().unwrap()).collect();
        assert!(numbers[0] <= 12 && (0..=200).contains(&numbers[1]), "{step}: {reply}");
        local.advance_ms(20);
    }
}

#[test]
fn one_client_may_subscribe_to_a_hundred_thousand_channels() {
    let mut local = Local::new(Config::default(), 2);
    let (one, two) = (local.connect(0), local.connect(1));
    let names: Vec<String> = (0..100_000).map(|at| format!("ch-{at:08}")).collect();
    let mut words = vec!["SUBSCRIBE"];
    words.extend(names.iter().map(String::as_str));
    local.send(one, &caudal_engine::local::encode(&words));
    let mut replies = Vec::new();
    loop {
        let more = local.receive(one);
        if more.is_empty() {
            break;
        }
        replies.extend(more);
    }
    assert!(replies.ends_with(b"$11\r\nch-00099999\r\n:100000\r\n"));
    run(
        &mut local,
        two,
        "PUBSUB NUMSUB ch-00000000 ch-00099999 -> [ch-00000000 :1 ch-00099999 :1]
        PUBLISH ch-00099999 x -> :1",
    );
    assert_eq!(local.receive(one), b"*3\r\n$7\r\nmessage\r\n$11\r\nch-00099999\r\n$1\r\nx\r\n");
    local.close(one);
    run(&mut local, two, "PUBSUB CHANNELS -> []");
}
