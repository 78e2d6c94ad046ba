//! What COMMAND says of commands, and what it finds in a command line.

mod support;

use support::{check, store};

#[test]
fn keys_are_found_in_a_command_line_as_the_command_finds_them() {
    check(
        r#"COMMAND GETKEYS MIGRATE h 1 k 0 10 -> [k]
        COMMAND GETKEYS MIGRATE h 1 "" 0 10 KEYS a b -> [a b]
        COMMAND GETKEYS MIGRATE h 1 "" 0 10 COPY AUTH2 KEYS KEYS KEYS a b -> [a b]
        COMMAND GETKEYS MIGRATE h 1 k 0 10 KEYS a
            -> -ERR Invalid arguments specified for command
        COMMAND GETKEYS MSETEX 2 a 1 b 2 EX 5 -> [a b]
        COMMAND GETKEYS ZUNIONSTORE d 2 a b WEIGHTS 1 2 -> [d a b]
        COMMAND GETKEYS ZUNIONSTORE d 5 a b -> -ERR Invalid arguments specified for command
        COMMAND GETKEYS XREAD COUNT 1 STREAMS a b 0 0 -> [a b]
        COMMAND GETKEYS SORT l BY w_* STORE out -> [l out]
        COMMAND GETKEYS GEORADIUS g 0 0 1 km STORE d STOREDIST e -> [g e]
        COMMAND GETKEYS PING -> -ERR The command has no key arguments
        COMMAND GETKEYS nosuch a -> -ERR Invalid command specified"#,
    );
}

#[test]
fn a_script_may_have_no_keys() {
    check(
        r#"COMMAND GETKEYS EVAL "return 1" 2 a b c -> [a b]
        COMMAND GETKEYS EVAL "return 1" 0 -> []
        COMMAND GETKEYS EVAL "return 1" 3 a -> []
        COMMAND GETKEYS FCALL_RO f x -> []"#,
    );
}

#[test]
fn migrate_says_that_its_keys_may_stand_at_the_end() {
    let (mut local, client) = store();
    let reply = local.say(client, "COMMAND INFO MIGRATE");
    assert!(reply.contains(
        "[flags [RW access delete incomplete] \
         begin_search [type keyword spec [keyword KEYS startfrom :-2]] \
         find_keys [type range spec [lastkey :-1 keystep :1 limit :0]]]"
    ));
}

#[test]
fn scripts_that_only_read_are_not_among_the_reading_commands() {
    let (mut local, client) = store();
    let reading = local.say(client, "COMMAND LIST FILTERBY ACLCAT read");
    assert!(!reading.contains("eval_ro") && reading.contains("sort_ro"));
}
