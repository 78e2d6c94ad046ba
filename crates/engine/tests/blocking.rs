//! Blocking commands as several clients see them, whichever workers they are connected to; and that
//! effects redo them.

mod support;

use caudal_engine::local::spell;
use caudal_wire::frame;
use support::scene::{Scene, in_all_settings};

#[test]
fn an_element_that_is_there_is_taken_at_once() {
    in_all_settings(1, |scene| {
        assert_eq!(scene.say(0, "RPUSH l 1 2 3 4 5 6 7"), ":7");
        assert_eq!(scene.say(0, "BLPOP none l 0"), "[l 1]");
        assert_eq!(scene.say(0, "BRPOP none l 0"), "[l 7]");
        assert_eq!(scene.say(0, "BLMPOP 0 2 none l RIGHT COUNT 2"), "[l [6 5]]");
        assert_eq!(scene.say(0, "BLMOVE l m LEFT RIGHT 0"), "2");
        assert_eq!(scene.say(0, "BRPOPLPUSH l m 0"), "4");
        assert_eq!(scene.say(0, "LRANGE m 0 -1"), "[4 2]");
    });
}

#[test]
fn bad_arguments_are_refused_before_waiting() {
    in_all_settings(1, |scene| {
        scene.say(0, "SET text x");
        let wrong = "-WRONGTYPE Operation against a key holding the wrong kind of value";
        for (line, error) in [
            ("BLPOP q -1", "-ERR timeout is negative"),
            ("BRPOP q x", "-ERR timeout is not a float or out of range"),
            ("BLPOP q nan", "-ERR timeout is not a float or out of range"),
            ("BLPOP q inf", "-ERR timeout is out of range"),
            ("BLPOP text x", "-ERR timeout is not a float or out of range"),
            ("BLPOP q text 0", wrong),
            ("BRPOPLPUSH text q 0", wrong),
            ("BLMOVE q p UP LEFT x", "-ERR syntax error"),
            ("BLMPOP x 0 q LEFT", "-ERR numkeys should be greater than 0"),
            ("BLMPOP x 1 q LEFT", "-ERR timeout is not a float or out of range"),
            ("BLMPOP x 1 q LEFT COUNT 0", "-ERR count should be greater than 0"),
            ("BLMPOP 0 2 q LEFT", "-ERR syntax error"),
        ] {
            assert_eq!(scene.say(0, line), error, "{line}");
        }
    });
}

#[test]
fn whoever_waits_longest_is_served_first() {
    in_all_settings(4, |scene| {
        scene.wait(1, "BLPOP q 0");
        scene.wait(2, "BRPOP q 0");
        scene.wait(3, "BLPOP q 0");
        assert_eq!(scene.say(0, "RPUSH q a b"), ":2");
        assert_eq!([1, 2, 3].map(|client| scene.got(client)), ["[q a]", "[q b]", ""]);
        // Served after the whole command: the last of the three stands in front.
        assert_eq!(scene.say(0, "LPUSH q a b c"), ":3");
        assert_eq!(scene.got(3), "[q c]");
        assert_eq!(scene.say(0, "LRANGE q 0 -1"), "[b a]");
    });
}

#[test]
fn after_a_transaction_the_first_argument_counts() {
    in_all_settings(2, |scene| {
        scene.wait(1, "BLPOP one two 0");
        scene.send(0, &["MULTI", "RPUSH two 1 2", "RPUSH one 5 6", "EXEC"]);
        assert_eq!(scene.got(0), "OK | QUEUED | QUEUED | [:2 :2]");
        assert_eq!(scene.got(1), "[one 5]");
        assert_eq!(scene.say(0, "LRANGE two 0 -1"), "[1 2]");
    });
}

#[test]
fn a_transaction_shows_its_end_only() {
    in_all_settings(2, |scene| {
        scene.wait(1, "BRPOPLPUSH q act 0");
        scene.send(0, &["MULTI", "RPUSH q j1", "LPOP q", "EXEC"]);
        assert_eq!(scene.got(1), "");
        scene.send(0, &["MULTI", "RPUSH q j1", "LPOP q", "RPUSH q j2", "LLEN q", "EXEC"]);
        assert_eq!(scene.got(1), "j2");
        scene.got(0);
        assert_eq!(scene.say(0, "LRANGE act 0 -1"), "[j2]");
        assert_eq!(scene.say(0, "EXISTS q"), ":0");
    });
}

#[test]
fn nothing_waits_in_a_transaction() {
    in_all_settings(1, |scene| {
        scene.send(
            0,
            &["MULTI", "BLPOP q 0", "BLMPOP 0 1 q LEFT", "BLMOVE q p LEFT LEFT 0", "EXEC"],
        );
        let bytes = scene.local.receive(scene.clients[0]);
        assert!(bytes.ends_with(b"*3\r\n*-1\r\n*-1\r\n$-1\r\n"));
    });
}

#[test]
fn moves_wake_each_other_before_the_next_command() {
    in_all_settings(3, |scene| {
        scene.wait(1, "BLMOVE src dst LEFT RIGHT 0");
        scene.wait(2, "BLMOVE dst src RIGHT LEFT 0");
        scene.local.worker(0).listen_to_effects();
        scene.send(0, &["SET key1 x", "LPUSH src e", "SET key2 y", "LRANGE src 0 -1"]);
        assert_eq!(scene.got(0), "OK | :1 | OK | [e]");
        assert_eq!([scene.got(1), scene.got(2)], ["e", "e"]);
        assert_eq!(scene.say(0, "EXISTS dst"), ":0");
        assert_eq!(
            effects(scene),
            [
                "SELECT 0",
                "SET key1 x",
                "LPUSH src e",
                "LMOVE src dst LEFT RIGHT",
                "LMOVE dst src RIGHT LEFT",
                "SET key2 y"
            ]
        );
    });
}

/// The first worker's effects, a line each.
fn effects(scene: &mut Scene) -> Vec<String> {
    let bytes = scene.local.worker(0).take_effects();
    let (mut lines, mut at) = (Vec::new(), 0);
    while let Some((frame, used)) = frame::parse(&bytes[at..]).expect("frames") {
        lines.push(spell(&frame).trim_matches(['[', ']']).to_owned());
        at += used;
    }
    lines
}

#[test]
fn a_served_wait_is_the_plain_command_in_effects() {
    in_all_settings(2, |scene| {
        scene.local.worker(0).listen_to_effects();
        scene.wait(1, "BLPOP p q 0");
        scene.say(0, "RPUSH q 1");
        assert_eq!(scene.got(1), "[q 1]");
        scene.wait(1, "BLMPOP 0 1 q RIGHT COUNT 10");
        scene.say(0, "RPUSH q 1 2 3");
        assert_eq!(scene.got(1), "[q [3 2 1]]");
        scene.wait(1, "BRPOPLPUSH q t 0");
        scene.send(0, &["MULTI", "RPUSH q 1", "EXEC"]);
        let lines = [
            "SELECT 0",
            "RPUSH q 1",
            "LPOP q",
            "RPUSH q 1 2 3",
            "RPOP q 3",
            "MULTI",
            "RPUSH q 1",
            "EXEC",
            "RPOPLPUSH q t",
        ];
        let effects = effects(scene);
        let effects: Vec<&str> =
            effects.iter().map(String::as_str).filter(|line| *line != "SELECT 0").collect();
        assert_eq!(effects, lines[1..]);
    });
}

#[test]
fn a_chain_of_any_length_is_served_link_by_link_at_once() {
    in_all_settings(101, |scene| {
        for link in 0..100 {
            scene.wait(link + 1, &format!("BLMOVE l{link} l{} LEFT LEFT 0", link + 1));
        }
        assert_eq!(scene.say(0, "RPUSH l0 e"), ":1");
        for link in 0..100 {
            assert_eq!(scene.got(link + 1), "e");
        }
        assert_eq!(scene.say(0, "LRANGE l100 0 -1"), "[e]");
    });
}

#[test]
fn a_batch_may_begin_a_wait_in_a_slot_that_it_holds() {
    // One worker: its ready connections share a batch, and a lock set that two commands in a row
    // need is kept.
    let mut scene = Scene::new(1, 4);
    scene.wait(1, "BLMOVE b c LEFT LEFT 0");
    scene.wait(2, "BLMOVE c d LEFT LEFT 0");
    scene.send(3, &["LLEN a", "LLEN b", "BLMOVE a b LEFT LEFT 0", "PING"]);
    scene.send(0, &["LLEN a", "LPUSH b 1", "LPUSH a 2", "LPUSH b 3"]);
    assert_eq!(scene.got(0), ":0 | :1 | :1 | :2");
    assert_eq!([1, 2, 3].map(|client| scene.got(client)), ["1", "1", ":0 | :0 | 2 | PONG"]);
}

#[test]
fn thousands_of_keys_can_be_waited_for() {
    in_all_settings(2, |scene| {
        let keys: Vec<String> = (0..20_000).map(|number| format!("k{}", number % 15_000)).collect();
        scene.wait(1, &format!("BLPOP {} 0.5", keys.join(" ")));
        scene.say(0, "RPUSH other x");
        scene.say(0, "RPUSH k14999 x");
        assert_eq!(scene.got(1), "[k14999 x]");
        scene.wait(1, &format!("BLPOP {} 0.5", keys.join(" ")));
        scene.local.advance_ms(500);
        assert_eq!(scene.got(1), "(nil)");
        assert_eq!(scene.say(0, "RPUSH k0 x"), ":1");
        assert_eq!(scene.say(0, "LLEN k0"), ":1");
    });
}

#[test]
fn timeouts_round_up_to_a_millisecond() {
    in_all_settings(1, |scene| {
        for line in [
            "BLPOP q 0.001",
            "BRPOP q 0.0001",
            "BLMOVE q p LEFT LEFT 0.001",
            "BRPOPLPUSH q p 0.0009",
            "BLMPOP 0.0005 1 q LEFT",
        ] {
            scene.wait(0, line);
            scene.local.advance_ms(1);
            assert_eq!(scene.local.receive(scene.clients[0]), b"*-1\r\n", "{line}");
        }
        scene.wait(0, "BLPOP q 1.5");
        scene.local.advance_ms(1499);
        assert_eq!(scene.got(0), "");
        scene.local.advance_ms(1);
        assert_eq!(scene.got(0), "(nil)");
    });
}

#[test]
fn zero_waits_for_ever() {
    in_all_settings(2, |scene| {
        scene.wait(0, "BLPOP q 0");
        scene.local.advance_ms(1_000_000_000);
        assert_eq!(scene.got(0), "");
        scene.say(1, "LPUSH q x");
        assert_eq!(scene.got(0), "[q x]");
    });
}

#[test]
fn whoever_has_gone_takes_nothing() {
    in_all_settings(4, |scene| {
        scene.wait(1, "BLPOP q 0.1");
        scene.wait(2, "BLPOP p q 0");
        scene.local.advance_ms(100);
        scene.local.close(scene.clients[2]);
        assert_eq!(scene.got(1), "(nil)");
        assert_eq!(scene.say(0, "RPUSH q a b"), ":2");
        assert_eq!(scene.say(0, "LRANGE q 0 -1"), "[a b]");
        assert_eq!(scene.say(1, "LPOP q"), "a");
        scene.say(0, "DEL q");
        scene.wait(3, "BLPOP q 0");
        scene.say(0, "RPUSH q c");
        assert_eq!(scene.got(3), "[q c]");
        assert!(scene.say(0, "INFO clients").contains("blocked_clients:0"));
    });
}

#[test]
fn a_target_of_another_type_is_an_error_for_whoever_waits() {
    in_all_settings(2, |scene| {
        scene.wait(1, "BLMOVE a b LEFT LEFT 0");
        scene.say(0, "SET b text");
        assert_eq!(scene.say(0, "RPUSH a v"), ":1");
        let error = "-WRONGTYPE Operation against a key holding the wrong kind of value";
        assert_eq!(scene.got(1), error);
        assert_eq!(scene.say(0, "LRANGE a 0 -1"), "[v]");
    });
}

#[test]
fn a_key_of_another_type_wakes_nobody() {
    in_all_settings(2, |scene| {
        scene.wait(1, "BLPOP q 0");
        scene.say(0, "SADD q member");
        scene.say(0, "SET q text");
        scene.send(0, &["MULTI", "DEL q", "RPUSH q gone", "DEL q", "SADD q member", "EXEC"]);
        assert_eq!(scene.got(1), "");
        scene.send(0, &["DEL q", "RPUSH q x"]);
        assert_eq!(scene.got(1), "[q x]");
    });
}

#[test]
fn a_list_may_come_by_another_name_or_database() {
    in_all_settings(2, |scene| {
        for make in [
            "RENAME from q",
            "COPY from q",
            "LMOVE from q LEFT LEFT",
            "RPOPLPUSH from q",
            "SORT from BY nosort STORE q",
        ] {
            scene.say(0, "FLUSHALL");
            scene.say(0, "RPUSH from x");
            scene.wait(1, "BLPOP q 0");
            if scene.say(0, make).starts_with("-ERR unknown command") {
                scene.say(0, "RENAME from q");
            }
            assert_eq!(scene.got(1), "[q x]", "{make}");
        }
        scene.say(0, "FLUSHALL");
        scene.say(1, "SELECT 1");
        scene.wait(1, "BLPOP q 0");
        scene.say(0, "RPUSH q x");
        assert_eq!(scene.got(1), "", "it waits in another database");
        assert_eq!(scene.say(0, "MOVE q 1"), ":1");
        assert_eq!(scene.got(1), "[q x]");
        scene.wait(1, "BLPOP q 0");
        scene.say(0, "RPUSH q y");
        assert_eq!(scene.say(0, "SWAPDB 0 1"), "OK");
        assert_eq!(scene.got(1), "[q y]");
    });
}

#[test]
fn a_transaction_at_the_gate_serves_too() {
    in_all_settings(3, |scene| {
        scene.wait(1, "BLMOVE q p LEFT LEFT 0");
        scene.wait(2, "BLPOP p 0");
        scene.send(0, &["MULTI", "FLUSHALL", "RPUSH q x", "DBSIZE", "EXEC"]);
        assert_eq!(scene.got(0), "OK | QUEUED | QUEUED | QUEUED | [OK :1 :1]");
        assert_eq!([scene.got(1), scene.got(2)], ["x", "[p x]"]);
    });
}

#[test]
fn commands_behind_a_wait_run_when_it_is_over() {
    in_all_settings(2, |scene| {
        scene.send(1, &["SET a 1", "BLPOP q 0", "GET a", "BLPOP q 0", "PING"]);
        assert_eq!(scene.got(1), "OK");
        scene.send(0, &["SET a 2", "RPUSH q x"]);
        assert_eq!(scene.got(1), "[q x] | 2");
        scene.send(0, &["RPUSH q y z"]);
        assert_eq!(scene.got(1), "[q y] | PONG");
    });
}

#[test]
fn a_muted_client_is_served_without_a_reply() {
    in_all_settings(2, |scene| {
        scene.send(1, &["CLIENT REPLY SKIP", "BLPOP q 0", "PING"]);
        scene.say(0, "RPUSH q x");
        assert_eq!(scene.got(1), "PONG");
        assert_eq!(scene.say(0, "LLEN q"), ":0");
        scene.send(1, &["CLIENT REPLY OFF", "BLPOP q 0", "CLIENT REPLY ON"]);
        scene.say(0, "RPUSH q x");
        assert_eq!(scene.got(1), "OK");
    });
}

#[test]
fn an_operator_ends_a_wait() {
    in_all_settings(2, |scene| {
        let id = scene.say(1, "CLIENT ID").trim_start_matches(':').to_owned();
        scene.wait(1, "BLPOP q 0");
        assert_eq!(scene.say(0, &format!("CLIENT UNBLOCK {id} ERROR")), ":1");
        assert_eq!(scene.got(1), "-UNBLOCKED client unblocked via CLIENT UNBLOCK");
        assert_eq!(scene.say(0, &format!("CLIENT UNBLOCK {id}")), ":0");
        scene.wait(1, "BLMOVE q p LEFT LEFT 0");
        assert_eq!(scene.say(0, &format!("CLIENT UNBLOCK {id}")), ":1");
        assert_eq!(scene.got(1), "(nil)");
        scene.say(0, "RPUSH q x");
        assert_eq!(scene.say(0, "LLEN q"), ":1");
    });
}

#[test]
fn replies_of_a_wait_have_the_shape_of_the_protocol() {
    in_all_settings(2, |scene| {
        scene.say(1, "HELLO 3");
        scene.wait(1, "BLPOP q 0.001");
        scene.local.advance_ms(1);
        assert_eq!(scene.local.receive(scene.clients[1]), b"_\r\n");
        scene.wait(1, "BLMPOP 0 1 q LEFT COUNT 2");
        scene.say(0, "RPUSH q 1 2 3");
        let reply = b"*2\r\n$1\r\nq\r\n*2\r\n$1\r\n1\r\n$1\r\n2\r\n";
        assert_eq!(scene.local.receive(scene.clients[1]), reply);
    });
}

/// Pseudo-random numbers below a bound.
fn draws(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move |bound| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).expect("31 bits") % bound
    }
}

fn random_line(draw: &mut impl FnMut(usize) -> usize, number: usize) -> String {
    let mut key = || format!("k{}", draw(5));
    let (one, two, three) = (key(), key(), key());
    let timeout = ["0", "0.005", "0.02"][draw(3)];
    match draw(14) {
        0..3 => format!("RPUSH {one} {number}"),
        3 => format!("LPUSH {one} {number} x{number}"),
        4..6 => format!("BLPOP {one} {two} {timeout}"),
        6 => format!("BRPOP {one} {timeout}"),
        7..9 => format!("BLMOVE {one} {two} LEFT RIGHT {timeout}"),
        9 => format!("BRPOPLPUSH {one} {two} {timeout}"),
        10 => format!("BLMPOP {timeout} 2 {one} {two} LEFT COUNT 2"),
        11 => format!("RENAME {one} {two}"),
        12 => format!("LMOVE {one} {three} RIGHT LEFT"),
        _ => {
            ["LPOP", "SADD", "DEL"][draw(3)].to_owned()
                + &format!(" {one}{}", if draw(2) == 0 { "" } else { " 1" })
        }
    }
}

/// All that clients were told and that is left, and the effects replayed elsewhere.
fn play(seed: u64, workers: usize) -> (Vec<String>, String, String) {
    let mut draw = draws(seed);
    let mut scene = Scene::new(workers, 8);
    for worker in 0..workers {
        scene.local.worker(worker).listen_to_effects();
    }
    let mut replay = Scene::new(1, 1);
    let (mut told, mut owed) = (Vec::new(), [0; 8]);
    for number in 0..300 {
        if draw(4) == 0 {
            scene.local.advance_ms(draw(10) as u64);
        }
        let (client, in_transaction) = (draw(8), draw(10) == 0);
        let (one, two) = (random_line(&mut draw, number), random_line(&mut draw, number));
        // What waits behind a wait would run when its worker gets to it.
        if owed[client] == 0 && in_transaction {
            scene.send(client, &["MULTI", &one, &two, "EXEC"]);
            owed[client] = 4;
        } else if owed[client] == 0 {
            scene.send(client, &[&one]);
            owed[client] = 1;
        }
        for (client, owed) in owed.iter_mut().enumerate() {
            let replies = scene.replies(client);
            *owed -= replies.len();
            told.push(replies.join(" | "));
        }
        // All effects of one step are in the worker that ran it.
        for worker in 0..workers {
            let effects = scene.local.worker(worker).take_effects();
            replay.local.send(replay.clients[0], &effects);
        }
    }
    let keys = ["k0", "k1", "k2", "k3", "k4"];
    let rest = |scene: &mut Scene| {
        let client = scene.local.connect(0);
        let dump = |key| scene.local.say(client, &format!("LRANGE {key} 0 -1"));
        keys.map(dump).join(" ")
    };
    (told, rest(&mut scene), rest(&mut replay))
}

#[test]
fn clients_cannot_tell_on_which_workers_they_are() {
    for seed in 1..=30 {
        let (told, rest, replayed) = play(seed, 1);
        assert_eq!(rest, replayed, "seed {seed}");
        for workers in [2, 4] {
            let (told_there, rest_there, replayed_there) = play(seed, workers);
            assert_eq!(told, told_there, "seed {seed}, {workers} workers");
            assert_eq!(rest, rest_there, "seed {seed}, {workers} workers");
            assert_eq!(rest, replayed_there, "seed {seed}, {workers} workers");
        }
    }
}
