//! What COMMAND says of commands, and what it finds in a command line.

mod support;

use caudal_commands::syntax::Argument;
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

#[test]
fn the_arguments_of_every_command_are_documented() {
    for command in caudal_commands::all() {
        let spec = command.spec;
        let name = spec.full_name();
        let read = caudal_commands::syntax::parse(spec.syntax);
        let arguments = read.unwrap_or_else(|rest| panic!("{name}: not understood: {rest}"));
        let words = 1 + i16::from(spec.parent.is_some());
        assert_eq!(arguments.is_empty(), spec.arity == words, "{name}");
        for (at, _) in spec.keys().iter().enumerate() {
            let is_of = |key: Option<u8>| key.map(usize::from) == Some(at);
            assert!(
                spec.syntax.is_empty() || mentions(&arguments, &is_of) || at > 0,
                "{name}: nothing is said of its first key"
            );
        }
    }
}

fn mentions(arguments: &[Argument], is_of: &impl Fn(Option<u8>) -> bool) -> bool {
    arguments.iter().any(|at| is_of(at.key_spec) || mentions(&at.arguments, is_of))
}

#[test]
fn documentation_has_a_tree_of_arguments() {
    let (mut local, client) = store();
    let expire = local.say(client, "COMMAND DOCS EXPIRE");
    assert!(
        expire.ends_with(
            "arguments [[name key type key display_text key key_spec_index :0] \
             [name seconds type integer display_text seconds] \
             [name condition type oneof since 7.0.0 flags [optional] arguments [\
             [name nx type pure-token display_text nx token NX] \
             [name xx type pure-token display_text xx token XX] \
             [name gt type pure-token display_text gt token GT] \
             [name lt type pure-token display_text lt token LT]]]]]]"
        ),
        "{expire}"
    );
    let sort = local.say(client, "COMMAND DOCS SORT");
    assert!(sort.contains("token GET flags [optional multiple multiple_token]"), "{sort}");
    // All of them are understood, those on the session too.
    assert!(local.say(client, "COMMAND DOCS").len() > 50_000);
}
