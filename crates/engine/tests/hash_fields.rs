//! Fields of hashes that expire, as a client sees them.

mod support;

use caudal_engine::local::{BEGIN_MS, Client, Local};
use support::{check, replay::Pair, run, store, store_with_debug};

/// Lets some time pass in turns, as on a server that has nothing else to do.
fn pass(local: &mut Local, ms: u64) {
    for _ in 0..ms / 50 {
        local.advance_ms(50);
    }
}

/// A store in which what has expired is not reclaimed.
fn lazy() -> (Local, Client) {
    let (mut local, client) = store_with_debug();
    assert_eq!(local.say(client, "DEBUG SET-ACTIVE-EXPIRE 0"), "OK");
    (local, client)
}

#[test]
fn a_moment_in_the_past_deletes_a_field_only_if_its_condition_holds() {
    let (mut local, client) = store();
    run(
        &mut local,
        client,
        "HSET h f1 v f2 v -> :2
        HEXPIRE h 1000 FIELDS 1 f1 -> [:1]
        HEXPIREAT h 1754846600 GT FIELDS 1 f1 -> [:0]
        HGET h f1 -> v
        HEXPIRE h 0 FIELDS 1 f1 -> [:2]
        HEXPIRE h 10 FIELDS 2 f2 nope -> [:1 :-2]
        HSET h f2 w -> :0
        HTTL h FIELDS 1 f2 -> [:-1]
        HPEXPIRE h 20 FIELDS 1 f2 -> [:1]",
    );
    local.advance_ms(200);
    run(
        &mut local,
        client,
        "HGETALL h -> []
        EXISTS h -> :0",
    );
}

#[test]
fn fields_get_and_lose_their_expiry() {
    check(
        "HSET h a 1 b 2 c 3 -> :3
        OBJECT ENCODING h -> listpack
        HEXPIRE h 100 FIELDS 2 a none -> [:1 :-2]
        OBJECT ENCODING h -> hashtable
        HTTL h FIELDS 3 a b none -> [:100 :-1 :-2]
        HPTTL h FIELDS 1 a -> [:100000]
        HPEXPIRE h 1499 FIELDS 1 a -> [:1]
        HTTL h FIELDS 1 a -> [:1]
        HPEXPIREAT h 4102444800500 FIELDS 2 a b -> [:1 :1]
        HEXPIRETIME h FIELDS 2 a b -> [:4102444801 :4102444801]
        HPEXPIRETIME h FIELDS 2 a c -> [:4102444800500 :-1]
        HEXPIREAT h 4102444800 FIELDS 1 a -> [:1]
        HPEXPIRETIME h FIELDS 1 a -> [:4102444800000]
        HPERSIST h FIELDS 3 a c none -> [:1 :-1 :-2]
        HTTL h FIELDS 2 a b -> [:-1 :2338260594]
        HPERSIST nokey FIELDS 2 a b -> [:-2 :-2]
        HEXPIRE nokey 10 FIELDS 1 a -> [:-2]
        HTTL nokey FIELDS 1 a -> [:-2]
        HEXPIRE h 0 FIELDS 2 a a -> [:2 :-2]
        HEXPIREAT h 1 FIELDS 2 b c -> [:2 :2]
        EXISTS h -> :0"
            .replace("2338260594", &(4_102_444_801 - BEGIN_MS / 1000).to_string())
            .as_str(),
    );
}

#[test]
fn conditions_compare_with_the_expiry_that_a_field_has() {
    check(
        "HSET h a 1 b 2 -> :2
        HEXPIRE h 100 XX FIELDS 1 a -> [:0]
        HEXPIRE h 100 GT FIELDS 1 a -> [:0]
        HEXPIRE h 100 NX FIELDS 1 a -> [:1]
        HEXPIRE h 100 NX FIELDS 2 a b -> [:0 :1]
        HEXPIRE h 50 GT FIELDS 1 a -> [:0]
        HEXPIRE h 50 LT FIELDS 1 a -> [:1]
        HEXPIRE h 60 XX GT FIELDS 1 a -> [:1]
        HEXPIRE h 70 XX LT FIELDS 1 a -> [:0]
        HPERSIST h FIELDS 1 b -> [:1]
        HEXPIRE h 70 LT FIELDS 1 b -> [:1]
        HPERSIST h FIELDS 1 b -> [:1]
        HEXPIRE h 70 XX LT FIELDS 1 b -> [:0]
        HTTL h FIELDS 2 a b -> [:60 :-1]
        HEXPIREAT h 1 NX FIELDS 2 a b -> [:0 :2]",
    );
}

#[test]
fn words_in_the_wrong_place_are_refused_in_valkeys_words() {
    let numfields =
        "-ERR numfields should be greater than 0 and match the provided number of fields";
    check(
        &"HSET h a 1 -> :1
        SET s x -> OK
        HEXPIRE s 1 FIELDS 1 a -> -WRONG
        HTTL s FIELDS 1 a -> -WRONG
        HPERSIST s FIELDS 1 a -> -WRONG
        HGETEX s EX x FIELDS 1 a -> -WRONG
        HSETEX s EX x FIELDS 1 a 1 -> -WRONG
        HSETEX s NX FIELDS 1 a 1 -> -WRONG
        HEXPIRE s x FIELDS 1 a -> -ERR value is not an integer or out of range
        HEXPIRE s x FIELDS 2 a -> -NUMBER
        HEXPIRE s x NO FIELDS 2 a -> -ERR Unsupported option NO
        HEXPIRE h 10 FIELD 1 a -> -NUMBER
        HEXPIRE h 10 NX FIELDS 1 -> -NUMBER
        HEXPIRE h 10 a b FIELDS d -> -ERR Unsupported option a
        HEXPIRE h 10 a b c FIELDS -> -NUMBER
        HEXPIRE h 10 FIELDS 0 a -> -NUMBER
        HEXPIRE h 10 FIELDS 1 a b -> -NUMBER
        HEXPIRE h 10 FIELDS 01 a -> -ERR value is not an integer or out of range
        HEXPIRE h 10 NX XX FIELDS 2 a -> -ERR NX and XX, GT or LT options at the same time are not \
            compatible
        HEXPIRE h 10 GT LT FIELDS 1 a -> -ERR GT and LT options at the same time are not compatible
        HEXPIRE h -1 FIELDS 1 a -> -ERR invalid expire time in 'hexpire' command
        HPEXPIRE h 9223372036854775807 FIELDS 1 a
            -> -ERR invalid expire time in 'hpexpire' command
        HEXPIREAT h 9223372036854776 FIELDS 1 a -> -ERR invalid expire time in 'hexpireat' command
        HPEXPIREAT h -1 FIELDS 1 a -> -ERR invalid expire time in 'hpexpireat' command
        HTTL h FIELD 1 a -> -ERR syntax error
        HTTL h FIELDS 2 a -> -ERR syntax error
        HTTL h FIELDS x a -> -ERR value is not an integer or out of range
        HPERSIST h FIELD 1 a -> -ERR syntax error
        HPERSIST h FIELDS 2 a -> -NUMBER
        HGETEX h EX 10 FIELD 1 a -> -NUMBER
        HGETEX h NO FIELDS 2 a -> -ERR syntax error
        HGETEX h EX FIELDS 1 a -> -ERR syntax error
        HGETEX h EX 10 PX 10 FIELDS 1 a -> -ERR syntax error
        HGETEX h EX 10 PERSIST FIELDS 1 a -> -ERR syntax error
        HGETEX h KEEPTTL FIELDS 1 a -> -ERR syntax error
        HGETEX h EX x FIELDS 2 a -> -NUMBER
        HGETEX nokey EX x FIELDS 1 a -> -ERR value is not an integer or out of range
        HGETEX h EX -1 FIELDS 1 a -> -ERR invalid expire time in 'hgetex' command
        HSETEX h NO FIELDS 2 a 1 -> -ERR syntax error
        HSETEX h NX XX FIELDS 1 a 1 -> -ERR syntax error
        HSETEX h FNX FXX FIELDS 1 a 1 -> -ERR syntax error
        HSETEX h EX 10 KEEPTTL FIELDS 1 a 1 -> -ERR syntax error
        HSETEX h PERSIST FIELDS 1 a 1 -> -ERR syntax error
        HSETEX h FIELDS 2 a 1 b -> -NUMBER
        HSETEX h FIELDS 1 a 1 EX 10 -> -NUMBER
        HSETEX h EX x FNX FIELDS 1 a 1 -> -ERR value is not an integer or out of range
        HSETEX h EX x NX FIELDS 1 a 1 -> :0
        HSETEX h EX -1 FIELDS 1 a 1 -> -ERR invalid expire time in 'hsetex' command
        HGETALL h -> [a 1]"
            .replace("-NUMBER", numfields)
            .replace(
                "-WRONG",
                "-WRONGTYPE Operation against a key holding the wrong kind of value",
            ),
    );
}

#[test]
fn a_key_may_be_called_fields() {
    check(
        "HSETEX FIELDS FIELDS 1 a 1 -> :1
        HGETEX FIELDS EX 100 FIELDS 1 a -> [1]
        HTTL FIELDS FIELDS 1 a -> [:100]",
    );
}

#[test]
fn hgetex_returns_values_and_changes_their_expiry() {
    check(
        "HSET h a 1 b 2 c 3 -> :3
        HGETEX h FIELDS 2 a none -> [1 (nil)]
        HGETEX nokey EX 10 FIELDS 2 a b -> [(nil) (nil)]
        HGETEX h EX 100 FIELDS 2 a none -> [1 (nil)]
        HGETEX h EX 5 EX 50 FIELDS 1 b -> [2]
        HTTL h FIELDS 4 a b c none -> [:100 :50 :-1 :-2]
        HGETEX h FIELDS 1 a -> [1]
        HTTL h FIELDS 1 a -> [:100]
        HGETEX h PERSIST FIELDS 2 a c -> [1 3]
        HTTL h FIELDS 1 a -> [:-1]
        HGETEX h EXAT 4102444800 FIELDS 1 a -> [1]
        HPEXPIRETIME h FIELDS 1 a -> [:4102444800000]
        HGETEX h PXAT 1 FIELDS 2 a b -> [1 2]
        HGETEX h PX 0 FIELDS 2 b c -> [(nil) 3]
        EXISTS h -> :0",
    );
}

#[test]
fn hsetex_sets_values_with_their_expiry_if_its_conditions_hold() {
    check(
        "HSETEX h XX FIELDS 1 a 1 -> :0
        HSETEX h FXX FIELDS 1 a 1 -> :0
        EXISTS h -> :0
        HSETEX h NX EX 100 FIELDS 2 a 1 b 2 -> :1
        HTTL h FIELDS 2 a b -> [:100 :100]
        HSETEX h NX FIELDS 1 a 3 -> :0
        HSETEX h FNX FIELDS 2 c 3 a 3 -> :0
        HSETEX h FXX FIELDS 2 a 3 c 3 -> :0
        HSETEX h XX FNX KEEPTTL FIELDS 1 c 3 -> :1
        HSETEX h FXX KEEPTTL FIELDS 2 a 3 c 4 -> :1
        HTTL h FIELDS 2 a c -> [:100 :-1]
        HSETEX h FIELDS 2 a 5 a 6 -> :1
        HTTL h FIELDS 1 a -> [:-1]
        HMGET h a b c -> [6 2 4]
        HSETEX h PXAT 1 FIELDS 2 a 7 new 8 -> :1
        HLEN h -> :2
        HSETEX h EX 0 FIELDS 2 b 7 c 8 -> :1
        EXISTS h -> :0
        HSETEX h EXAT 1 FIELDS 1 a 1 -> :1
        EXISTS h -> :0",
    );
}

#[test]
fn a_plain_set_ends_an_expiry_and_an_increment_keeps_it() {
    check(
        "HSETEX h EX 100 FIELDS 5 a 1 b 1 c 1 d 1 e 1 -> :1
        HSET h a 2 -> :0
        HMSET h b 2 -> OK
        HINCRBY h c 1 -> :2
        HINCRBYFLOAT h d 0.5 -> 1.5
        HSETNX h e 2 -> :0
        HTTL h FIELDS 5 a b c d e -> [:-1 :-1 :100 :100 :100]",
    );
}

#[test]
fn a_dead_field_is_seen_by_nobody() {
    let (mut local, client) = lazy();
    run(
        &mut local,
        client,
        "HSET h a 1 b 2 c 3 -> :3
        HPEXPIRE h 10 FIELDS 2 a b -> [:1 :1]
        RPUSH l x -> :1",
    );
    local.advance_ms(10);
    assert_eq!(local.say(client, "HGET h a"), "1", "its last millisecond");
    local.advance_ms(1);
    run(
        &mut local,
        client,
        "HGET h a -> (nil)
        HMGET h a c -> [(nil) 3]
        HEXISTS h a -> :0
        HSTRLEN h a -> :0
        HGETALL h -> [c 3]
        HKEYS h -> [c]
        HVALS h -> [3]
        HSCAN h 0 -> [0 [c 3]]
        HRANDFIELD h -> c
        HRANDFIELD h 5 WITHVALUES -> [c 3]
        HRANDFIELD h -3 -> [c c c]
        HTTL h FIELDS 2 a c -> [:-2 :-1]
        HPEXPIRETIME h FIELDS 1 a -> [:-2]
        SORT l BY nosort GET h->a GET h->c -> [(nil) (nil)]
        SORT l BY nosort GET *->a -> [(nil)]
        EVAL \"return redis.call('HGET', KEYS[1], 'a')\" 1 h -> (nil)
        HLEN h -> :3
        COPY h copy -> :1
        HGETALL copy -> [c 3]
        RENAME copy other -> OK
        HGETALL other -> [c 3]",
    );
}

#[test]
fn whoever_writes_a_dead_field_starts_from_nothing() {
    let (mut local, client) = lazy();
    local.say(client, "HSETEX h PX 10 FIELDS 8 a 5 b 5 c 5 d 5 e 5 f 5 g 5 i 5");
    local.advance_ms(11);
    run(
        &mut local,
        client,
        "HSETNX h a 1 -> :1
        HINCRBY h b 1 -> :1
        HINCRBYFLOAT h c 1 -> 1
        HSET h d 1 -> :1
        HDEL h e -> :0
        HGETDEL h FIELDS 1 f -> [(nil)]
        HGETEX h PERSIST FIELDS 1 g -> [(nil)]
        HPERSIST h FIELDS 1 i -> [:-2]
        HEXPIRE h 100 FIELDS 1 i -> [:-2]
        HSETEX h FXX FIELDS 1 i 1 -> :0
        HSETEX h FNX KEEPTTL FIELDS 1 i 1 -> :1
        HTTL h FIELDS 5 a b c d i -> [:-1 :-1 :-1 :-1 :-1]
        HLEN h -> :5",
    );
}

#[test]
fn a_hash_whose_fields_are_all_dead_is_there_until_they_are_reclaimed() {
    let (mut local, client) = lazy();
    local.say(client, "HSETEX h PX 10 FIELDS 2 a 5 b 5");
    local.advance_ms(11);
    run(
        &mut local,
        client,
        "EXISTS h -> :1
        TYPE h -> hash
        HLEN h -> :2
        HGETALL h -> []
        HRANDFIELD h -> (nil)
        HRANDFIELD h 2 -> []
        HRANDFIELD h -2 -> []
        HSCAN h 0 -> [0 []]
        HDEL h a b -> :0
        EXISTS h -> :0
        HSETEX h PX 10 FIELDS 2 a 5 b 5 -> :1",
    );
    local.advance_ms(11);
    assert_eq!(local.say(client, "DEBUG SET-ACTIVE-EXPIRE 1"), "OK");
    pass(&mut local, 1200);
    assert_eq!(local.say(client, "EXISTS h"), ":0");
}

/// A field of INFO.
fn info(local: &mut Local, client: Client, name: &str) -> String {
    let text = local.say(client, "INFO everything");
    let field = text.split("\\r\\n").flat_map(|line| line.split("\r\n"));
    let found = field.filter_map(|line| line.split_once(':')).find(|(own, _)| *own == name);
    found.map_or(String::new(), |(_, value)| value.to_owned())
}

#[test]
fn dead_fields_are_reclaimed_within_about_a_second_though_nobody_asks() {
    let (mut local, client) = store();
    for field in 0..1000 {
        local.say(client, &format!("HSETEX large PX {} FIELDS 1 f{field} v", 10 + field % 7));
        local.say(client, &format!("HSETEX h{field} PX {} FIELDS 2 a v b v", 10 + field % 7));
        local.say(client, &format!("HPERSIST h{field} FIELDS 1 b"));
    }
    local.say(client, "HSET large stays v");
    assert!(info(&mut local, client, "db0").ends_with("keys_with_volatile_items=1001"));
    pass(&mut local, 100);
    pass(&mut local, 1200);
    assert_eq!(local.say(client, "HLEN large"), ":1");
    assert_eq!(local.say(client, "HLEN h999"), ":1");
    assert_eq!(
        info(&mut local, client, "db0"),
        "keys=1001,expires=0,avg_ttl=0,keys_with_volatile_items=0"
    );
    assert_eq!(info(&mut local, client, "expired_fields"), "2000");
    assert_eq!(info(&mut local, client, "expired_keys"), "0");
}

#[test]
fn moments_go_where_their_hash_goes() {
    let (mut local, client) = store();
    let wait = |local: &mut Local| pass(local, 2500);
    for line in ["RENAME a b", "COPY a b", "MOVE a 1", "SWAPDB 0 1", "COPY a b DB 1"] {
        local.say(client, "FLUSHALL");
        local.say(client, "SELECT 0");
        local.say(client, "HSET a keeps v goes v");
        local.say(client, "HEXPIRE a 1 FIELDS 1 goes");
        let moved = local.say(client, line);
        assert!(moved == "OK" || moved == ":1", "{line}: {moved}");
        wait(&mut local);
        let mut seen = Vec::new();
        for database in 0..2 {
            local.say(client, &format!("SELECT {database}"));
            for key in ["a", "b"] {
                let len = local.say(client, &format!("HLEN {key}"));
                assert!(len == ":0" || len == ":1", "{line}: {key} has {len}");
                seen.push(len);
            }
            let counts = info(&mut local, client, &format!("db{database}"));
            assert!(counts.is_empty() || counts.ends_with("volatile_items=0"), "{line}: {counts}");
        }
        assert!(seen.contains(&":1".to_owned()), "{line}");
    }
    // The index of a slot forgets what is overwritten, deleted or flushed.
    run(
        &mut local,
        client,
        "SELECT 0 -> OK
        FLUSHALL -> OK
        HSETEX a EX 1 FIELDS 1 f v -> :1
        SET a string -> OK
        HSETEX b EX 1 FIELDS 1 f v -> :1
        DEL b -> :1
        HSETEX c EX 1 FIELDS 1 f v -> :1
        EXPIRE c 1 -> :1",
    );
    wait(&mut local);
    assert_eq!(local.say(client, "DBSIZE"), ":1");
    assert!(info(&mut local, client, "db0").ends_with("keys_with_volatile_items=0"));
    assert_eq!(info(&mut local, client, "expired_fields"), "7");
}

#[test]
fn a_watched_hash_changes_when_a_field_expires() {
    let (mut local, client) = store();
    let exec = |local: &mut Local, before: &str, ms: u64| {
        local.say(client, "DEL h");
        local.say(client, "HSET h a 1 b 2");
        for line in ["HPEXPIRE h 1000 FIELDS 1 b", "WATCH h", before, "MULTI", "PING"] {
            local.say(client, line);
        }
        pass(local, ms);
        local.say(client, "EXEC")
    };
    assert_eq!(exec(&mut local, "HEXPIRE h 10 XX FIELDS 1 a", 0), "[PONG]");
    assert_eq!(exec(&mut local, "HEXPIRE h 10 FIELDS 1 a", 0), "(nil)");
    assert_eq!(exec(&mut local, "HPERSIST h FIELDS 1 a", 0), "[PONG]");
    assert_eq!(exec(&mut local, "HPERSIST h FIELDS 1 b", 0), "(nil)");
    assert_eq!(exec(&mut local, "HGETEX h FIELDS 1 a", 0), "[PONG]");
    assert_eq!(exec(&mut local, "HSETEX h PXAT 1 FIELDS 1 new 1", 0), "[PONG]");
    assert_eq!(exec(&mut local, "PING", 2500), "(nil)");
}

#[test]
fn each_write_has_effects_that_do_not_depend_on_the_clock() {
    let mut pair = Pair::new();
    let spelled = |effect: &str| support::replies(effect.as_bytes()).join(" | ");
    let at = |ms: u64| (BEGIN_MS + ms).to_string();
    let steps = [
        ("HSET h a 1 b 2 c 3", "[HSET h a 1 b 2 c 3]".to_owned()),
        (
            "HEXPIRE h 100 NX FIELDS 2 a none",
            format!("[HPEXPIREAT h {} NX FIELDS 2 a none]", at(100_000)),
        ),
        ("HEXPIRE h 100 NX FIELDS 1 a", String::new()),
        ("HEXPIRE h 0 FIELDS 2 c none", "[HDEL h c]".to_owned()),
        ("HPERSIST h FIELDS 2 a b", "[HPERSIST h FIELDS 2 a b]".to_owned()),
        ("HGETEX h PX 50 FIELDS 2 a none", format!("[HPEXPIREAT h {} FIELDS 1 a]", at(50))),
        ("HGETEX h PERSIST FIELDS 2 a b", "[HPERSIST h FIELDS 1 a]".to_owned()),
        ("HGETEX h FIELDS 1 a", String::new()),
        ("HGETEX h PXAT 1 FIELDS 1 b", "[HDEL h b]".to_owned()),
        ("HSETEX h FNX PX 9 FIELDS 1 d 1", format!("[HSETEX h PXAT {} FIELDS 1 d 1]", at(9))),
        ("HSETEX h KEEPTTL FIELDS 1 d 2", "[HSETEX h KEEPTTL FIELDS 1 d 2]".to_owned()),
        ("HINCRBYFLOAT h d 1", format!("[HSETEX h PXAT {} FIELDS 1 d 3]", at(9))),
        ("HINCRBY h d 1", "[HINCRBY h d 1]".to_owned()),
        ("HSETEX h PXAT 1 FIELDS 2 a 1 new 1", "[HDEL h a]".to_owned()),
        ("HSETEX h PXAT 1 FIELDS 1 new 1", String::new()),
    ];
    for (command, effect) in steps {
        let effects = spelled(&pair.run(command, 0));
        let effects = effects.strip_prefix("[SELECT 0] | ").unwrap_or(&effects);
        assert_eq!(effects, effect, "{command}");
    }
    // What is met past its moment goes first: the other store's clock stands still.
    pair.run("HSETEX h PX 10 FIELDS 3 e 1 f 1 g 1", 0);
    pair.pass(11);
    for command in ["HINCRBY h e 1", "HSETNX h f 2", "HDEL h g a"] {
        pair.run(command, 0);
    }
    pair.run("HGETALL h", 0);
    pair.pass(1200);
    pair.run("PING", 0);
    pair.catch_up();
    pair.compare("all of that", |local, client| local.say(client, "HGETALL h"));
}

#[test]
fn a_stored_sort_does_not_see_dead_fields_when_it_is_done_again() {
    let mut pair = Pair::new();
    pair.run("RPUSH l 1 2", 0);
    pair.run("HSET h1 f a", 0);
    pair.run("HSETEX h2 PX 10 FIELDS 1 f b", 0);
    pair.pass(11);
    pair.run("SORT l BY nosort GET h*->f STORE to", 0);
    pair.compare("SORT", |local, client| local.say(client, "LRANGE to 0 -1"));
}
