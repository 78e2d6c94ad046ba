//! Scripts as their users see them: EVAL and its family, what a script may do, what becomes of what
//! it returns.

use caudal_engine::config::Config;
use caudal_engine::local::{Client, Local, spell};

fn local() -> (Local, Client) {
    let mut local = Local::new(Config::default(), 2);
    let client = local.connect(0);
    (local, client)
}

fn eval(local: &mut Local, client: Client, script: &str, keys: &[&str], args: &[&str]) -> String {
    let count = keys.len().to_string();
    let words: Vec<&str> = ["EVAL", script, &count]
        .into_iter()
        .chain(keys.iter().copied())
        .chain(args.iter().copied())
        .collect();
    spell(&local.call(client, &words))
}

#[test]
fn what_a_script_returns_becomes_a_reply() {
    let (mut local, client) = local();
    for (script, reply) in [
        ("return 1,2", ":1"),
        ("return 3.99", ":3"),
        ("return -1.5", ":-1"),
        ("return 1e30", ":-9223372036854775808"),
        ("return {1,2,3.3333,'a',nil,5}", "[:1 :2 :3 a]"),
        ("return {err='MYERR boo'}", "-MYERR boo"),
        ("return {err='a\\nb'}", "-a b"),
        ("return {ok='fine'}", "fine"),
        ("return {ok=5}", "[]"),
        ("return {double=1.5}", "1.5"),
        ("return {map={a=1}}", "[a :1]"),
        ("return {set={a=true}}", "[a]"),
        ("return {big_number='123'}", "123"),
        ("return {verbatim_string={string='a',format='txt'}}", "a"),
        ("return true", ":1"),
        ("return false", "(nil)"),
        ("redis.setresp(3) return {true,false}", "[:1 :0]"),
        ("return setmetatable({},{__index=function() return 1 end})", "[]"),
        ("return {{{}},'x'}", "[[[]] x]"),
        ("return function() end", "(nil)"),
    ] {
        assert_eq!(eval(&mut local, client, script, &[], &[]), reply, "{script}");
    }
    let _ = local.say(client, "HELLO 3");
    for (script, reply) in [
        ("return {double=1.5}", ",1.5"),
        ("return {map={a=1}}", "{a: :1}"),
        ("return {set={a=true}}", "~[a]"),
        ("return {big_number='123'}", "(123"),
        ("return {verbatim_string={string='a',format='txt'}}", "=a"),
        ("return true", ":1"),
        ("return nil", "(nil)"),
        ("redis.setresp(3) return {true,false}", "[#true #false]"),
    ] {
        assert_eq!(eval(&mut local, client, script, &[], &[]), reply, "{script}");
    }
}

#[test]
fn errors_keep_their_code_and_name_their_line() {
    let (mut local, client) = local();
    let _ = local.say(client, "SET s x");
    let wrong = "WRONGTYPE Operation against a key holding the wrong kind of value";
    let at = "script: on @user_script:1.";
    for (script, reply) in [
        ("return redis.call('LPUSH',KEYS[1],'1')", format!("-{wrong} {at}")),
        ("return redis.pcall('LPUSH',KEYS[1],'1')", format!("-{wrong}")),
        ("return redis.pcall('LPUSH',KEYS[1],'1').err", format!("{wrong:?}")),
        (
            "local ok,e=pcall(redis.call,'LPUSH',KEYS[1],'1') return {type(e),e}",
            format!("[string {wrong:?}]"),
        ),
        ("return redis.error_reply('MY_ERR custom')", "-MY_ERR custom".to_owned()),
        ("return redis.error_reply('-MY_ERR custom')", "-MY_ERR custom".to_owned()),
        ("error({err='X y'})", format!("-X y {at}")),
        ("error('hello')", format!("-ERR user_script:1: hello {at}")),
        ("error('hello',0)", format!("-ERR hello {at}")),
        ("error(nil)", format!("-ERR nil {at}")),
        (
            "return redis.call()",
            format!("-ERR Please specify at least one argument for this call {at}"),
        ),
        ("return redis.call('nosuch')", format!("-ERR Unknown command called from script {at}")),
        (
            "return redis.call('get')",
            format!("-ERR Wrong number of args calling command from script {at}"),
        ),
        (
            "return redis.call('multi')",
            format!("-ERR This Valkey command is not allowed from script {at}"),
        ),
        (
            "\n\nreturn redis.call('get',{})",
            "-ERR Command arguments must be strings or integers script: on @user_script:3."
                .to_owned(),
        ),
        (
            "return (",
            "-ERR Error compiling script (new function): user_script:1: unexpected symbol near \
             '<eof>'"
                .to_owned(),
        ),
    ] {
        assert_eq!(eval(&mut local, client, script, &["s"], &[]), reply, "{script}");
    }
}

#[test]
fn a_script_cannot_change_what_others_see() {
    let (mut local, client) = local();
    let readonly = "-ERR user_script:1: Attempt to modify a readonly table script: on \
        @user_script:1.";
    for script in [
        "x=1",
        "_G.x=1",
        "string.split=function() end",
        "redis.call=1",
        "redis=nil",
        "KEYS={}",
        "getmetatable(_G).__index=1",
        "getmetatable('').__index=1",
    ] {
        assert_eq!(eval(&mut local, client, script, &[], &[]), readonly, "{script}");
    }
    let bare = "-ERR Attempt to modify a readonly table script: on @user_script:1.";
    for script in ["rawset(_G,'x',1)", "setmetatable(_G,{})"] {
        assert_eq!(eval(&mut local, client, script, &[], &[]), bare, "{script}");
    }
    for name in ["foo", "print", "io", "dofile", "require", "setfenv", "debug"] {
        let text = format!(
            "-ERR user_script:1: Script attempted to access nonexistent global variable '{name}' \
             script: on @user_script:1."
        );
        assert_eq!(eval(&mut local, client, &format!("return {name}"), &[], &[]), text);
    }
}

#[test]
fn the_cache_keeps_what_was_loaded() {
    let (mut local, client) = local();
    let digest = "59b6ab2fbe0ee4b25733de0f62e6cda4899ef8e9";
    assert_eq!(local.say(client, &format!("EVALSHA {digest} 0")), "-NOSCRIPT No matching script.");
    assert_eq!(local.say(client, "EVALSHA 123 0"), "-NOSCRIPT No matching script.");
    // What has a digest's length is looked up after the keys are counted, all else before.
    assert_eq!(local.say(client, "EVALSHA 123 -1"), "-NOSCRIPT No matching script.");
    let wrong = "z".repeat(40);
    assert_eq!(
        local.say(client, &format!("EVALSHA {wrong} -1")),
        "-ERR Number of keys can't be negative"
    );
    assert_eq!(local.say(client, &format!("EVALSHA {wrong} 0")), "-NOSCRIPT No matching script.");
    assert_eq!(local.say(client, "SCRIPT LOAD \"return 7\""), digest);
    let other = local.connect(1);
    assert_eq!(local.say(other, &format!("EVALSHA {} 0", digest.to_uppercase())), ":7");
    assert_eq!(local.say(other, &format!("SCRIPT EXISTS {digest} FFFF")), "[:1 :0]");
    assert_eq!(local.say(other, &format!("SCRIPT SHOW {digest}")), "\"return 7\"");
    assert_eq!(
        local.say(client, "SCRIPT FLUSH foo"),
        "-ERR SCRIPT FLUSH only support SYNC|ASYNC option"
    );
    assert_eq!(local.say(client, "SCRIPT FLUSH"), "OK");
    assert_eq!(local.say(other, &format!("EVALSHA {digest} 0")), "-NOSCRIPT No matching script.");
    assert_eq!(
        local.say(client, "EVAL \"return 1\" 2 a"),
        "-ERR Number of keys can't be greater than number of args"
    );
    assert_eq!(local.say(client, "EVAL \"return 1\" -1"), "-ERR Number of keys can't be negative");
}

#[test]
fn a_push_inside_a_script_wakes_who_waits() {
    let (mut local, client) = local();
    let waiter = local.connect(1);
    local.send(waiter, b"*4\r\n$10\r\nBRPOPLPUSH\r\n$1\r\nq\r\n$3\r\nact\r\n$1\r\n5\r\n");
    let script = "redis.call('RPUSH',KEYS[1],'j1'); redis.call('LPOP',KEYS[1]); \
        redis.call('RPUSH',KEYS[1],'j2'); return redis.call('LLEN',KEYS[1])";
    assert_eq!(eval(&mut local, client, script, &["q"], &[]), ":1");
    assert_eq!(local.receive(waiter), b"$2\r\nj2\r\n");
    assert_eq!(local.say(client, "LRANGE act 0 -1"), "[j2]");
    assert_eq!(local.say(client, "EXISTS q"), ":0");
}

#[test]
fn scripts_run_inside_transactions() {
    let (mut local, client) = local();
    for line in [
        "MULTI",
        "SET foo asdf",
        "EVAL \"return {KEYS[1],KEYS[2],ARGV[1]}\" 2 k1 k2 first",
        "EVAL \"return redis.call('GET', KEYS[1])\" 0",
        "SCRIPT LOAD \"return 42\"",
        "GET foo",
    ] {
        let _ = local.say(client, line);
    }
    assert_eq!(
        local.say(client, "EXEC"),
        "[OK [k1 k2 first] -ERR Command arguments must be strings or integers script: on \
         @user_script:1. 1fa00e76656cc152ad327c13fe365858fd7be306 asdf]"
    );
}

#[test]
fn select_in_a_script_is_the_scripts_own() {
    let (mut local, client) = local();
    let script = "redis.call('SELECT',1) redis.call('SET',KEYS[1],'x') return 1";
    assert_eq!(eval(&mut local, client, script, &["k"], &[]), ":1");
    assert_eq!(local.say(client, "GET k"), "(nil)");
    let _ = local.say(client, "SELECT 1");
    assert_eq!(local.say(client, "GET k"), "x");
}

#[test]
fn keys_that_were_not_declared_are_keys_all_the_same() {
    let (mut local, client) = local();
    let other = local.connect(1);
    let script = "local v = redis.call('GET','c:'..ARGV[1]) or 0 \
        redis.call('SET','c:'..ARGV[1],v+1) return redis.call('EXISTS','c:'..ARGV[1])";
    for _ in 0..100 {
        assert_eq!(eval(&mut local, client, script, &[], &["x"]), ":1");
        assert_eq!(eval(&mut local, other, script, &[], &["x"]), ":1");
    }
    assert_eq!(local.say(client, "GET c:x"), "200");
    let many = "for i = 1, 2000 do redis.call('SET','k'..i,i) end return redis.call('DBSIZE')";
    assert_eq!(eval(&mut local, client, many, &[], &[]), ":2001");
    let _ = local.say(client, "MULTI");
    let _ = local.say(client, "SET k1 x");
    let _ = local.say(client, "EVAL \"return redis.call('GET','k1')..redis.call('GET','k2')\" 0");
    assert_eq!(local.say(client, "EXEC"), "[OK x2]");
}

#[test]
fn a_script_works_on_the_whole_database() {
    let (mut local, client) = local();
    let waiter = local.connect(1);
    local.send(waiter, b"*3\r\n$5\r\nBLPOP\r\n$1\r\nl\r\n$1\r\n0\r\n");
    let script = "redis.call('SET','a',1) redis.call('FLUSHALL') redis.call('SET','b',1) \
        redis.call('RPUSH','l','x') redis.call('RPUSH','l','y') \
        return {redis.call('EXISTS','a'), redis.call('KEYS','b*'), redis.call('DBSIZE')}";
    for _ in 0..2 {
        assert_eq!(eval(&mut local, client, script, &["a"], &[]), "[:0 [b] :2]");
        let _ = local.say(client, "DEL l");
    }
    assert_eq!(local.receive(waiter), b"*2\r\n$1\r\nl\r\n$1\r\nx\r\n");
}

#[test]
fn read_only_scripts_change_nothing() {
    let (mut local, client) = local();
    let refused = "-ERR Write commands are not allowed from read-only scripts. script: on \
        @user_script:";
    let line = "EVAL_RO \"redis.call('GET','a') return redis.call('SET','a','b')\" 1 a";
    assert_eq!(local.say(client, line), format!("{refused}1."));
    let script = "#!lua flags=no-writes\nreturn redis.call('SET',KEYS[1],'b')";
    assert_eq!(eval(&mut local, client, script, &["a"], &[]), format!("{refused}2."));
    // What replicas may be told of counts as a change.
    for call in ["PFCOUNT", "PUBLISH", "SPUBLISH"] {
        let line = format!("EVAL_RO \"return redis.call('{call}', 'a', 'b')\" 1 a");
        assert_eq!(local.say(client, &line), format!("{refused}1."));
    }
    assert_eq!(local.say(client, "EXISTS a"), ":0");
    for (script, error) in [
        ("#!lua flags=bad\nreturn 1", "Unexpected flag in script shebang: bad"),
        ("#!lua bad=1\nreturn 1", "Unknown lua shebang option: bad=1"),
        ("#!luax\nreturn 1", "Could not find scripting engine 'luax'"),
        ("#!lua", "Invalid script shebang"),
    ] {
        assert_eq!(eval(&mut local, client, script, &[], &[]), format!("-ERR {error}"));
    }
}

#[test]
fn over_the_memory_limit_scripts_follow_their_flags() {
    let (mut local, client) = local();
    let _ = local.say(client, "CONFIG SET maxmemory 1");
    let refused = "-OOM command not allowed when used memory > 'maxmemory'. script: on \
        @user_script:1.";
    let set = "return redis.call('SET',KEYS[1],'y')";
    assert_eq!(eval(&mut local, client, set, &["x"], &[]), refused);
    let allowed = format!("#!lua flags=allow-oom\n{set}");
    assert_eq!(eval(&mut local, client, &allowed, &["x"], &[]), "OK");
    let flagged = format!("#!lua\n{set}");
    assert_eq!(
        eval(&mut local, client, &flagged, &["x"], &[]),
        "-OOM allow-oom flag is not set on the script, can not run it when used memory > \
         'maxmemory'"
    );
}

#[test]
fn the_effects_of_a_script_are_one() {
    let mut first = Local::new(Config::default(), 1);
    let client = first.connect(0);
    first.worker(0).listen_to_effects();
    let script = "redis.call('SET',KEYS[1],'1') redis.call('EXPIRE',KEYS[1],10) \
        redis.call('SADD','s','a','b','c') redis.call('SPOP','s') return 1";
    assert_eq!(eval(&mut first, client, script, &["k"], &[]), ":1");
    let effects = first.worker(0).take_effects();
    let text = String::from_utf8_lossy(&effects);
    assert!(text.contains("MULTI") && text.contains("EXEC") && text.contains("SREM"), "{text}");
    assert!(!text.contains("EVAL"), "{text}");
    let mut second = Local::new(Config::default(), 1);
    let other = second.connect(0);
    second.send(other, &effects);
    let _ = second.receive(other);
    for line in ["SMEMBERS s", "PEXPIRETIME k"] {
        assert_eq!(first.say(client, line), second.say(other, line), "{line}");
    }
}

#[test]
fn a_script_that_nobody_loaded_leaves_when_five_hundred_newer_ones_came() {
    let (mut local, client) = local();
    let digest = local.say(client, "SCRIPT LOAD \"return 'kept'\"");
    let _ = eval(&mut local, client, "return 'first'", &[], &[]);
    for number in 0..500 {
        let _ = eval(&mut local, client, &format!("return {number}"), &[], &[]);
    }
    assert_eq!(local.say(client, &format!("EVALSHA {digest} 0")), "kept");
    let first = "57f25df4a9ce3a1a3d6a1f0a8ab23a1f8ab0c1f6";
    assert_eq!(local.say(client, &format!("SCRIPT EXISTS {digest} {first}")), "[:1 :0]");
    let info = local.say(client, "INFO memory");
    assert!(info.contains("number_of_cached_scripts:501"), "{info}");
}

#[test]
fn locks_and_queues_of_well_known_libraries_work() {
    let (mut local, client) = local();
    let release = "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) \
        else return 0 end";
    assert_eq!(local.say(client, "SET lock tokA NX PX 30000"), "OK");
    assert_eq!(eval(&mut local, client, release, &["lock"], &["tokB"]), ":0");
    assert_eq!(eval(&mut local, client, release, &["lock"], &["tokA"]), ":1");

    let pop = "local job=redis.call('lpop',KEYS[1]); local reserved=false; if(job~=false) then \
        reserved=cjson.decode(job); reserved['attempts']=reserved['attempts']+1; \
        reserved=cjson.encode(reserved); redis.call('zadd',KEYS[2],ARGV[1],reserved); \
        redis.call('lpop',KEYS[3]) end; return {job,reserved}";
    let _ = local.call(client, &["RPUSH", "q", "{\"id\":1,\"attempts\":0,\"data\":[]}"]);
    let keys = ["q", "q:reserved", "q:notify"];
    let job = eval(&mut local, client, pop, &keys, &["1700000000"]);
    assert!(job.contains("{\"id\":1,\"data\":{},\"attempts\":1}"), "{job}");
    assert_eq!(eval(&mut local, client, pop, &keys, &["1700000000"]), "[(nil) (nil)]");

    let limit = "local n=redis.call('INCR',KEYS[1]); if n==1 then \
        redis.call('PEXPIRE',KEYS[1],ARGV[1]) end; return {n,redis.call('PTTL',KEYS[1])}";
    assert_eq!(eval(&mut local, client, limit, &["rl"], &["200"]), "[:1 :200]");
    local.advance_ms(50);
    assert_eq!(eval(&mut local, client, limit, &["rl"], &["200"]), "[:2 :150]");
    local.advance_ms(200);
    assert_eq!(eval(&mut local, client, limit, &["rl"], &["200"]), "[:1 :200]");

    let window = "local now, span = tonumber(ARGV[1]), tonumber(ARGV[2]) \
        redis.call('ZREMRANGEBYSCORE',KEYS[1],0,now-span) \
        local used = redis.call('ZCARD',KEYS[1]) \
        if used < tonumber(ARGV[3]) then redis.call('ZADD',KEYS[1],now,now..'-'..used) \
        redis.call('PEXPIRE',KEYS[1],span) return 1 end return 0";
    let taken: Vec<String> = (0..5)
        .map(|at| eval(&mut local, client, window, &["w"], &[&(1000 + at).to_string(), "100", "3"]))
        .collect();
    assert_eq!(taken, [":1", ":1", ":1", ":0", ":0"]);
    assert_eq!(eval(&mut local, client, window, &["w"], &["1200", "100", "3"]), ":1");

    let move_due = "local due = redis.call('ZRANGEBYSCORE',KEYS[1],'-inf',ARGV[1],'LIMIT',0,10) \
        for _, id in ipairs(due) do local prefix = string.match(KEYS[1],'^(.*):delayed$') \
        redis.call('ZREM',KEYS[1],id) redis.call('LPUSH',prefix..':wait',id) \
        redis.call('HSET',prefix..':'..id,'state','wait') end return #due";
    let _ = local.say(client, "ZADD bull:delayed 1 a 2 b 99 c");
    assert_eq!(eval(&mut local, client, move_due, &["bull:delayed"], &["10"]), ":2");
    assert_eq!(local.say(client, "LRANGE bull:wait 0 -1"), "[b a]");
    assert_eq!(local.say(client, "HGET bull:b state"), "wait");

    let session = "redis.call('HSET',KEYS[1],'absexp',ARGV[1],'data',ARGV[3]) \
        if ARGV[2] ~= '-1' then redis.call('EXPIRE',KEYS[1],ARGV[2]) end return 1";
    assert_eq!(eval(&mut local, client, session, &["sess"], &["-1", "1200", "x\r\ny"]), ":1");
    assert_eq!(local.say(client, "TTL sess"), ":1200");
}

#[test]
fn a_blocking_command_in_a_script_does_not_wait() {
    let (mut local, client) = local();
    for script in [
        "return redis.call('BLPOP','nk',0)",
        "return redis.call('BLMOVE','a','b','LEFT','LEFT',0)",
        "return redis.call('BZPOPMIN','nk',0)",
    ] {
        assert_eq!(eval(&mut local, client, script, &[], &[]), "(nil)", "{script}");
    }
}

#[test]
fn time_stands_still_in_a_script() {
    let (mut local, client) = local();
    let script = "local a = redis.call('TIME') for i = 1, 1000 do redis.call('PING') end \
        local b = redis.call('TIME') return a[1] == b[1] and a[2] == b[2]";
    assert_eq!(eval(&mut local, client, script, &[], &[]), ":1");
}

#[test]
fn messages_of_a_script_are_sent_when_it_has_ended() {
    let (mut local, client) = local();
    let listener = local.connect(1);
    local.send(listener, b"*2\r\n$9\r\nSUBSCRIBE\r\n$2\r\nch\r\n");
    let _ = local.receive(listener);
    // FLUSHALL has the script begin again, with every other worker stopped.
    let script = "local n = redis.call('PUBLISH','ch','m') redis.call('FLUSHALL') return n";
    let message = b"*3\r\n$7\r\nmessage\r\n$2\r\nch\r\n$1\r\nm\r\n";
    for _ in 0..2 {
        assert_eq!(eval(&mut local, client, script, &[], &[]), ":1");
        local.advance_ms(0);
        assert_eq!(local.receive(listener), message);
    }
}

#[test]
fn a_set_that_a_script_reads_by_sort_has_an_order() {
    let (mut local, client) = local();
    let _ = local.say(client, "SADD s c a b aa");
    let script = "return redis.call('SORT',KEYS[1],'BY','nosort')";
    assert_eq!(eval(&mut local, client, script, &["s"], &[]), "[a aa b c]");
}

#[test]
fn errors_in_scripts_are_counted_once() {
    let (mut local, client) = local();
    let _ = local.say(client, "SET s x");
    for script in ["return redis.call('LPUSH',KEYS[1],1)", "return redis.pcall('LPUSH',KEYS[1],1)"]
    {
        let _ = local.say(client, "CONFIG RESETSTAT");
        assert!(eval(&mut local, client, script, &["s"], &[]).starts_with("-WRONGTYPE"));
        let info = local.say(client, "INFO everything");
        for line in ["errorstat_WRONGTYPE:count=1", "total_error_replies:1"] {
            assert!(info.contains(line), "{script}: {line}");
        }
        for (command, failed) in [("eval", 1), ("lpush", 1)] {
            let line = format!("cmdstat_{command}:calls=1,");
            let at = info.find(&line).expect("it ran");
            let end = format!("failed_calls={failed}");
            assert!(
                info[at..].split("\\r").next().is_some_and(|line| line.contains(&end)),
                "{script}"
            );
        }
    }
}
