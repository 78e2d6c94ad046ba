//! Reading streams that have nothing yet: several clients, whichever workers they are connected to.

mod support;

use support::scene::in_all_settings;

const WRONG_TYPE: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value";

#[test]
fn one_entry_serves_all_who_wait_for_it() {
    in_all_settings(4, |scene| {
        scene.say(0, "XADD s 1-0 a 1");
        scene.wait(1, "XREAD BLOCK 0 STREAMS s $");
        scene.wait(2, "XREAD BLOCK 0 STREAMS other s 0 1-0");
        scene.wait(3, "XREAD BLOCK 0 STREAMS s 2-0");
        assert_eq!(scene.say(0, "XADD s 2-0 a 2"), "2-0");
        assert_eq!(scene.got(1), "[[s [[2-0 [a 2]]]]]");
        assert_eq!(scene.got(2), "[[s [[2-0 [a 2]]]]]");
        assert_eq!(scene.got(3), "");
        assert_eq!(scene.say(0, "XADD s 3-0 a 3"), "3-0");
        assert_eq!(scene.got(3), "[[s [[3-0 [a 3]]]]]");
    });
}

#[test]
fn waiting_begins_at_the_id_of_the_moment() {
    in_all_settings(2, |scene| {
        scene.say(0, "XADD s 7-0 a 1");
        scene.wait(1, "XREAD BLOCK 0 STREAMS s none $ $");
        // Nothing that comes later may hide what came first.
        scene.send(0, &["MULTI", "XADD s 8-0 a 1", "XADD s 9-0 a 1", "EXEC"]);
        assert_eq!(scene.got(1), "[[s [[8-0 [a 1]] [9-0 [a 1]]]]]");
        scene.got(0);
        scene.wait(1, "XREAD BLOCK 0 STREAMS s $");
        scene.say(0, "DEL s");
        // A new stream begins before the id that is waited for.
        scene.say(0, "XADD s 5-0 a 1");
        assert_eq!(scene.got(1), "");
        scene.say(0, "XADD s 10-0 a 1");
        assert_eq!(scene.got(1), "[[s [[10-0 [a 1]]]]]");
    });
}

#[test]
fn readers_do_not_mind_what_becomes_of_the_key() {
    in_all_settings(2, |scene| {
        scene.wait(1, "XREAD BLOCK 50 STREAMS s $");
        for line in ["SET s x", "DEL s", "LPUSH s a", "FLUSHALL", "XGROUP CREATE s g $ MKSTREAM"] {
            scene.say(0, line);
            assert_eq!(scene.got(1), "", "{line}");
        }
        scene.local.advance_ms(51);
        assert_eq!(scene.got(1), "(nil)");
    });
}

#[test]
fn in_a_transaction_nothing_waits() {
    in_all_settings(1, |scene| {
        scene.send(0, &["MULTI", "XREAD BLOCK 0 STREAMS s $", "XADD s 1-0 a 1", "EXEC"]);
        assert_eq!(scene.got(0), "OK | QUEUED | QUEUED | [(nil) 1-0]");
    });
}

#[test]
fn a_stream_that_comes_by_another_name_serves_too() {
    in_all_settings(2, |scene| {
        for line in ["RENAME t s", "COPY t s", "SWAPDB 0 1"] {
            scene.say(0, "FLUSHALL");
            scene.say(0, if line.starts_with("SWAP") { "SELECT 1" } else { "SELECT 0" });
            let key = if line.starts_with("SWAP") { 's' } else { 't' };
            scene.say(0, &format!("XADD {key} 4-0 a 1"));
            scene.wait(1, "XREAD BLOCK 0 STREAMS s 0");
            scene.say(0, line);
            assert_eq!(scene.got(1), "[[s [[4-0 [a 1]]]]]", "{line}");
            scene.say(0, "SELECT 0");
        }
    });
}

#[test]
fn consumers_are_served_in_their_order() {
    in_all_settings(4, |scene| {
        scene.say(0, "XGROUP CREATE s g $ MKSTREAM");
        scene.wait(1, "XREADGROUP GROUP g a COUNT 1 BLOCK 0 STREAMS s >");
        scene.wait(2, "XREADGROUP GROUP g b COUNT 1 BLOCK 0 STREAMS s >");
        scene.wait(3, "XREAD BLOCK 0 STREAMS s $");
        assert_eq!(scene.say(0, "XADD s 1-0 a 1"), "1-0");
        assert_eq!(scene.got(1), "[[s [[1-0 [a 1]]]]]");
        assert_eq!(scene.got(2), "");
        assert_eq!(scene.got(3), "[[s [[1-0 [a 1]]]]]");
        assert_eq!(scene.say(0, "XADD s 2-0 a 1"), "2-0");
        assert_eq!(scene.got(2), "[[s [[2-0 [a 1]]]]]");
        assert_eq!(scene.say(0, "XPENDING s g"), "[:2 1-0 2-0 [[a 1] [b 1]]]");
        scene.wait(1, "XREADGROUP GROUP g a BLOCK 20 STREAMS s >");
        scene.local.advance_ms(21);
        assert_eq!(scene.got(1), "(nil)");
    });
}

#[test]
fn who_waits_for_a_group_is_told_when_it_is_gone() {
    let gone = "-NOGROUP No such key 's' or consumer group 'g' in XREADGROUP with GROUP option";
    let losses: [(&[&str], &str); 9] = [
        (&["DEL s"], gone),
        (&["UNLINK s"], gone),
        (&["SET s x"], WRONG_TYPE),
        (&["XGROUP DESTROY s g"], gone),
        (&["FLUSHALL"], gone),
        (&["MULTI", "FLUSHDB", "EXEC"], gone),
        (&["SWAPDB 0 1"], gone),
        (&["RENAME s t"], gone),
        (&["MULTI", "XADD s 5-0 a 1", "DEL s", "EXEC"], gone),
    ];
    in_all_settings(2, |scene| {
        for (lines, expected) in &losses {
            scene.say(0, "FLUSHALL");
            scene.say(0, "XGROUP CREATE s g $ MKSTREAM");
            scene.wait(1, "XREADGROUP GROUP g c BLOCK 0 STREAMS s >");
            scene.send(0, lines);
            scene.got(0);
            assert_eq!(scene.got(1), *expected, "{lines:?}");
        }
    });
}

#[test]
fn who_waits_for_a_group_is_told_when_it_expires() {
    let gone = "-NOGROUP No such key 's' or consumer group 'g' in XREADGROUP with GROUP option";
    in_all_settings(2, |scene| {
        for looks in [true, false] {
            scene.say(0, "XGROUP CREATE s g $ MKSTREAM");
            scene.say(0, "PEXPIRE s 10");
            scene.wait(1, "XREADGROUP GROUP g c BLOCK 0 STREAMS s >");
            scene.local.advance_ms(11);
            if looks {
                scene.say(0, "GET s");
            }
            for _ in 0..30 {
                scene.local.advance_ms(100);
            }
            assert_eq!(scene.got(1), gone, "{looks}");
        }
    });
}

#[test]
fn who_waits_for_a_group_goes_on_if_it_is_there_again() {
    in_all_settings(2, |scene| {
        scene.say(0, "XGROUP CREATE s g $ MKSTREAM");
        scene.wait(1, "XREADGROUP GROUP g c BLOCK 0 STREAMS s >");
        scene.send(0, &["MULTI", "DEL s", "XGROUP CREATE s g $ MKSTREAM", "EXEC"]);
        scene.got(0);
        assert_eq!(scene.got(1), "");
        scene.say(0, "XADD s 1-0 a 1");
        assert_eq!(scene.got(1), "[[s [[1-0 [a 1]]]]]");
    });
}

#[test]
fn who_waits_claims_what_becomes_old_enough() {
    in_all_settings(3, |scene| {
        scene.say(0, "XGROUP CREATE s g $ MKSTREAM");
        scene.wait(1, "XREADGROUP GROUP g c BLOCK 0 CLAIM 100 STREAMS s >");
        scene.wait(2, "XREADGROUP GROUP g d BLOCK 0 CLAIM 300 STREAMS s >");
        scene.say(0, "XADD s 1-0 a 1");
        assert_eq!(scene.got(1), "[[s [[1-0 [a 1] :0 :0]]]]");
        for _ in 0..29 {
            scene.local.advance_ms(10);
        }
        assert_eq!(scene.got(2), "");
        for _ in 0..31 {
            scene.local.advance_ms(10);
        }
        let got = scene.got(2);
        assert!(got.starts_with("[[s [[1-0 [a 1] :"), "{got}");
        scene.wait(1, "XREADGROUP GROUP g c BLOCK 0 CLAIM 9999 STREAMS s >");
        scene.say(0, "XNACK s g FAIL IDS 1 1-0");
        assert!(scene.got(1).starts_with("[[s [[1-0 [a 1] :"));
        scene.wait(1, "XREADGROUP GROUP g c BLOCK 50 CLAIM 9999 STREAMS s >");
        for _ in 0..6 {
            scene.local.advance_ms(10);
        }
        assert_eq!(scene.got(1), "(nil)");
    });
}
