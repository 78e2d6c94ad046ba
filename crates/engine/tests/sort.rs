//! SORT and SORT_RO, as their users see them.

use caudal_engine::config::Config;
use caudal_engine::local::{Client, Local, encode};

fn local() -> (Local, Client) {
    let mut local = Local::new(Config::default(), 2);
    let client = local.connect(0);
    (local, client)
}

/// Runs lines and compares their replies; lines without one are not compared.
fn check(lines: &[(&str, &str)]) {
    let (mut local, client) = local();
    for (line, reply) in lines {
        let said = local.say(client, line);
        assert!(reply.is_empty() || said == *reply, "{line}: {said}, not {reply}");
    }
}

const NOT_A_NUMBER: &str = "-ERR One or more scores can't be converted into double";
const SYNTAX: &str = "-ERR syntax error";

#[test]
fn numbers_are_sorted_as_doubles_and_equal_ones_by_their_text() {
    check(&[
        ("RPUSH l 3 1 2", ""),
        ("SORT l", "[1 2 3]"),
        ("SORT_RO l DESC", "[3 2 1]"),
        ("SORT l DESC ASC", "[1 2 3]"),
        ("DEL l", ""),
        ("RPUSH l 1.5 1.50 1 01 -inf INF 5. .5 +5", ""),
        ("SORT l", "[-inf .5 01 1 1.5 1.50 +5 5. INF]"),
        ("SORT l DESC", "[INF 5. +5 1.50 1.5 1 01 .5 -inf]"),
        ("SADD s 10 9 100", ""),
        ("SORT s", "[9 10 100]"),
        ("SORT s ALPHA", "[10 100 9]"),
    ]);
}

#[test]
fn what_is_no_number_needs_alpha() {
    for odd in ["\" 1\"", "\"1 \"", "0x10", "nan", "1e400", "1e-400", "\"\"", "1e", "a"] {
        check(&[(&format!("RPUSH l {odd} 3"), ":2"), ("SORT l", NOT_A_NUMBER)]);
    }
    check(&[
        ("RPUSH l b a c a", ""),
        ("SORT l ALPHA", "[a a b c]"),
        ("SORT l ALPHA DESC", "[c b a a]"),
        ("SORT l STORE t", NOT_A_NUMBER),
        ("EXISTS t", ":0"),
    ]);
}

#[test]
fn limit_cuts_the_result_and_never_fails() {
    check(&[
        ("RPUSH l 3 1 2", ""),
        ("SORT l LIMIT 1 -1", "[2 3]"),
        ("SORT l LIMIT -5 2", "[1 2]"),
        ("SORT l LIMIT 5 2", "[]"),
        ("SORT l LIMIT 0 0", "[]"),
        ("SORT l LIMIT 9223372036854775807 9223372036854775807", "[]"),
        ("SORT l LIMIT 1 9223372036854775807", "[2 3]"),
        ("SORT l LIMIT 0 2 DESC LIMIT 1 1", "[2]"),
        ("SORT l LIMIT a 1", "-ERR value is not an integer or out of range"),
        ("SORT l LIMIT 0", SYNTAX),
    ]);
}

#[test]
fn weights_and_values_come_from_other_keys_and_fields() {
    check(&[
        ("RPUSH l 3 1 2", ""),
        ("MSET w_1 30 w_2 20 w_3 10", ""),
        ("HSET r_1 age 5 name one", ""),
        ("HSET r_2 age 9 name two", ""),
        ("HSET r_3 age 1", ""),
        ("SORT l BY r_*->age GET # GET r_*->name", "[3 (nil) 1 one 2 two]"),
        ("SORT l BY w_* DESC GET #", "[1 2 3]"),
        ("SORT l GET w_1", "[(nil) (nil) (nil)]"),
        ("SORT l BY w_* GET # GET nope_* STORE out", ":6"),
        ("LRANGE out 0 -1", "[3 \"\" 2 \"\" 1 \"\"]"),
        ("SORT l GET w_*->f GET r_* GET r_*-> LIMIT 0 1", "[(nil) (nil) (nil)]"),
        ("SET r_1-> arrow", ""),
        ("SORT l GET r_*-> LIMIT 0 1", "[arrow]"),
        ("SET w_2 x", ""),
        ("SORT l BY w_*", NOT_A_NUMBER),
        ("SORT l BY w_* ALPHA", "[3 1 2]"),
        ("DEL w_1", ""),
        ("SORT l BY w_* ALPHA DESC", "[2 3 1]"),
        ("SET w_2 0", ""),
        ("SORT l BY w_*", "[1 2 3]"),
    ]);
}

#[test]
fn without_sorting_the_order_is_the_collections_own() {
    check(&[
        ("RPUSH l 3 1 2 4", ""),
        ("SORT l BY nosort", "[3 1 2 4]"),
        ("SORT l BY nosort DESC LIMIT 1 2", "[2 1]"),
        ("SORT l BY w_* BY nosort", "[3 1 2 4]"),
        ("ZADD z 1 a 2 b 3 c 4 d 0 x1", ""),
        ("SORT z BY nosort", "[x1 a b c d]"),
        ("SORT z BY nosort LIMIT 1 2", "[a b]"),
        ("SORT z BY nosort DESC LIMIT 1 2", "[c b]"),
        ("SORT z BY nosort DESC LIMIT 3 -2", "[a x1]"),
        ("SORT z BY nosort DESC LIMIT 9 2", "[]"),
        ("SORT z BY nosort STORE out", ":5"),
        ("LRANGE out 0 -1", "[x1 a b c d]"),
        ("SADD s b a c 10 9", ""),
        ("SORT s BY nosort DESC STORE out", ":5"),
        ("LRANGE out 0 -1", "[c b a 9 10]"),
    ]);
}

#[test]
fn store_replaces_any_key_and_an_empty_result_removes_it() {
    check(&[
        ("RPUSH l 2 1", ""),
        ("SET out x EX 100", ""),
        ("SORT l STORE out", ":2"),
        ("TTL out", ":-1"),
        ("SORT l STORE l", ":2"),
        ("LRANGE l 0 -1", "[1 2]"),
        ("SORT l STORE k1 STORE k2", ":2"),
        ("EXISTS k1 k2", ":1"),
        ("SORT none STORE out", ":0"),
        ("EXISTS out", ":0"),
        ("SORT none", "[]"),
        ("COMMAND GETKEYS SORT l BY w_* STORE out", "[l out]"),
        ("COMMAND GETKEYS SORT l GET STORE", "[l]"),
    ]);
}

#[test]
fn mistakes_are_named_as_in_valkey() {
    let wrong = "-WRONGTYPE Operation against a key holding the wrong kind of value";
    check(&[
        ("SET s x", ""),
        ("HSET h f v", ""),
        ("SORT s", wrong),
        ("SORT h BY nosort", wrong),
        ("SORT s foo", SYNTAX),
        ("SORT l BY", SYNTAX),
        ("SORT l GET", SYNTAX),
        ("SORT l STORE", SYNTAX),
        ("SORT_RO l STORE x", SYNTAX),
        ("SORT", "-ERR wrong number of arguments for 'sort' command"),
    ]);
    let (mut local, client) = local();
    local.say(client, "ACL SETUSER u on nopass +@all ~l*");
    local.say(client, "RPUSH l 1 2");
    local.say(client, "AUTH u x");
    let denied = |option| {
        format!("-ERR {option} option of SORT denied due to insufficient ACL permissions.")
    };
    assert_eq!(local.say(client, "SORT l BY w_*"), denied("BY"));
    assert_eq!(local.say(client, "SORT l GET #"), denied("GET"));
    assert_eq!(local.say(client, "SORT l BY nosort"), "[1 2]");
}

#[test]
fn a_stored_result_wakes_who_waits_for_the_list() {
    let (mut local, client) = local();
    let (first, second) = (local.connect(1), local.connect(0));
    local.send(first, &encode(&["BLMOVE", "out", "next", "LEFT", "LEFT", "0"]));
    local.send(second, &encode(&["BLPOP", "next", "0"]));
    local.say(client, "RPUSH l 2 1");
    assert_eq!(local.say(client, "SORT l STORE out"), ":2");
    assert_eq!(local.receive(first), b"$1\r\n1\r\n");
    assert_eq!(local.receive(second), b"*2\r\n$4\r\nnext\r\n$1\r\n1\r\n");
    assert_eq!(local.say(client, "LRANGE out 0 -1"), "[2]");
}

#[test]
fn inside_a_transaction_it_sees_what_came_before_it() {
    let (mut local, client) = local();
    for line in ["MULTI", "RPUSH l 1 2", "MSET w_1 5 w_2 3", "SORT l BY w_* GET w_* STORE out"] {
        local.say(client, line);
    }
    for line in ["PUBLISH c m", "SELECT 1", "SORT l", "SELECT 0", "LRANGE out 0 -1"] {
        local.say(client, line);
    }
    assert_eq!(local.say(client, "EXEC"), "[:2 OK :2 :0 OK [] OK [3 5]]");
    for line in ["MULTI", "SORT l BY w_*", "FLUSHALL", "SORT l BY w_*"] {
        local.say(client, line);
    }
    assert_eq!(local.say(client, "EXEC"), "[[2 1] OK []]");
}

#[test]
fn expired_weights_are_none() {
    let (mut local, client) = local();
    local.worker(0).listen_to_effects();
    local.say(client, "RPUSH l 1 2");
    local.say(client, "SET w_1 9 PX 100");
    local.say(client, "SET w_2 1");
    assert_eq!(local.say(client, "SORT l BY w_*"), "[2 1]");
    local.worker(0).take_effects();
    local.advance_ms(101);
    assert_eq!(local.say(client, "SORT l BY w_* STORE out"), ":2");
    let effects = String::from_utf8(local.worker(0).take_effects()).expect("ASCII");
    let (gone, sorted) = (effects.find("DEL"), effects.find("SORT"));
    assert!(gone.is_some() && gone < sorted, "{effects}");
    assert_eq!(local.say(client, "LRANGE out 0 -1"), "[1 2]");
}

#[test]
fn many_elements_from_many_slots_are_sorted_in_one_go() {
    let (mut local, client) = local();
    let mut pairs = vec!["MSET".to_owned()];
    let mut elements = vec!["RPUSH".to_owned(), "l".to_owned()];
    for number in 0..2000_u32 {
        let weight = number.wrapping_mul(2_654_435_761) >> 8;
        pairs.extend([format!("w_{number}"), weight.to_string()]);
        elements.push(number.to_string());
    }
    local.call(client, &pairs);
    local.call(client, &elements);
    assert_eq!(local.say(client, "SORT l BY w_* GET w_* STORE out"), ":2000");
    local.say(client, "SORT out STORE again");
    assert_eq!(local.say(client, "LRANGE out 0 -1"), local.say(client, "LRANGE again 0 -1"));
    assert_eq!(local.say(client, "SORT l BY nosort GET w_* STORE again"), ":2000");
    assert_eq!(local.say(client, "LINDEX again 7"), local.say(client, "GET w_7"));
}
