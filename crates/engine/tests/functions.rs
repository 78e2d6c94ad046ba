//! Functions as their users see them: libraries, FCALL, DUMP and RESTORE.

use caudal_engine::config::Config;
use caudal_engine::local::{Client, Local, spell};
use caudal_wire::Frame;

const LIBRARY: &str = "#!lua name=lib\n\
    redis.register_function('put', function(keys, args) \
    return redis.call('SET', keys[1], args[1]) end)\n\
    redis.register_function{function_name='look', flags={'no-writes'}, description='looks', \
    callback=function(keys) return redis.call('GET', keys[1]) end}";

fn local() -> (Local, Client, Client) {
    let mut local = Local::new(Config::default(), 2);
    let (one, two) = (local.connect(0), local.connect(1));
    assert_eq!(spell(&local.call(one, &["FUNCTION", "LOAD", LIBRARY])), "lib");
    (local, one, two)
}

#[test]
fn every_worker_knows_a_function_that_one_loaded() {
    let (mut local, one, two) = local();
    assert_eq!(local.say(two, "FCALL put 1 k v"), "OK");
    assert_eq!(local.say(one, "FCALL LOOK 1 k"), "v");
    assert_eq!(local.say(one, "FCALL_RO look 1 k"), "v");
    assert_eq!(
        local.say(two, "FCALL_RO put 1 k v"),
        "-ERR Can not execute a script with write flag using *_ro command."
    );
    assert_eq!(local.say(one, "FCALL nosuch 0"), "-ERR Function not found");
    assert_eq!(local.say(one, "FCALL put x"), "-ERR Bad number of keys provided");
    assert_eq!(local.say(one, "FUNCTION DELETE lib"), "OK");
    assert_eq!(local.say(two, "FCALL look 1 k"), "-ERR Function not found");
    assert_eq!(local.say(one, "FUNCTION DELETE lib"), "-ERR Library not found");
}

#[test]
fn a_library_is_loaded_whole_or_not_at_all() {
    let (mut local, one, _) = local();
    let load = |local: &mut Local, words: &[&str]| {
        spell(&local.call(one, &[&["FUNCTION", "LOAD"], words].concat()))
    };
    assert_eq!(load(&mut local, &[LIBRARY]), "-ERR Library 'lib' already exists");
    assert_eq!(load(&mut local, &["REPLACE", LIBRARY]), "lib");
    let clash = "#!lua name=other\nredis.register_function('a', function() end)\n\
        redis.register_function('PUT', function() end)";
    assert_eq!(load(&mut local, &[clash]), "-ERR Function PUT already exists");
    assert_eq!(local.say(one, "FCALL a 0"), "-ERR Function not found");
    for (code, error) in [
        ("return 1", "Missing library metadata"),
        ("#!lua\nreturn 1", "Library name was not given"),
        ("#!lua name=x\nreturn 1", "No functions registered"),
        ("#!xx name=x\nreturn 1", "Engine 'xx' not found"),
        ("#!lua name=x", "Invalid library metadata"),
        (
            "#!lua name=x\nredis.call('PING')",
            "Error registering functions: ERR user_function:2: \
            Script attempted to access nonexistent global variable 'call'",
        ),
        (
            "#!lua name=x\ny = 1",
            "Error registering functions: ERR user_function:2: \
            Attempt to modify a readonly table",
        ),
        (
            "#!lua name=x\nreturn (",
            "Error compiling function: user_function:2: \
            unexpected symbol near '<eof>'",
        ),
    ] {
        assert_eq!(load(&mut local, &[code]), format!("-ERR {error}"), "{code}");
    }
    assert_eq!(local.say(one, "FCALL put 1 k v"), "OK");
}

#[test]
fn a_first_line_may_have_its_words_in_quotes() {
    let (mut local, one, _) = local();
    for (line, answer) in [
        ("#!lua name=\"quoted\"", "quoted"),
        ("#!lua 'name=single'", "single"),
        ("#!lua name=\"a\\x62\"c", "abc"),
        ("#!\"lua\" name=engine", "engine"),
        ("#!lua name=\"open", "-ERR Invalid library metadata"),
        ("#! lua name=apart", "-ERR Invalid metadata value given: lua"),
    ] {
        let name = answer.trim_start_matches('-');
        let name = name.split(' ').next_back().unwrap();
        let body = format!("{line}\nredis.register_function('{name}', function() end)");
        assert_eq!(spell(&local.call(one, &["FUNCTION", "LOAD", &body])), answer, "{line}");
    }
    for (line, answer) in [
        ("#!lua \"flags=no-writes\"", ":1"),
        ("#!lua flags=\"no-writes,allow-oom\"", ":1"),
        ("#!lua flags=\"no-writes", "-ERR Invalid engine in script shebang"),
    ] {
        let body = format!("{line}\nreturn 1");
        assert_eq!(spell(&local.call(one, &["EVAL", &body, "0"])), answer, "{line}");
    }
}

#[test]
fn a_function_registers_none_although_it_kept_the_means() {
    let (mut local, one, two) = local();
    let body = "#!lua name=kept\nlocal kept = redis\n\
        redis.register_function('more', function() kept.register_function('x') end)\n\
        redis.register_function('none', function() return kept.register_function() end)";
    assert_eq!(spell(&local.call(one, &["FUNCTION", "LOAD", body])), "kept");
    for (client, call, line) in [(one, "FCALL more 0", 3), (two, "FCALL none 0", 4)] {
        assert_eq!(
            local.say(client, call),
            format!(
                "-ERR server.register_function can only be called on FUNCTION LOAD command \
                 script: on @user_function:{line}."
            )
        );
    }
    assert_eq!(local.say(one, "FCALL x 0"), "-ERR Function not found");
}

#[test]
fn libraries_are_listed_dumped_and_restored() {
    let (mut local, one, two) = local();
    let listed = "[[library_name lib engine LUA functions [[name put description (nil) flags []] \
        [name look description looks flags [no-writes]]]]]";
    assert_eq!(local.say(one, "FUNCTION LIST LIBRARYNAME l*"), listed);
    let Frame::Bulk(payload) = local.call(one, &["FUNCTION", "DUMP"]) else { panic!("a string") };
    let restore = |local: &mut Local, payload: &[u8], policy: &str| {
        spell(&local.call(two, &[b"FUNCTION", b"RESTORE".as_slice(), payload, policy.as_bytes()]))
    };
    assert_eq!(restore(&mut local, &payload, "APPEND"), "-ERR Library lib already exists");
    assert_eq!(restore(&mut local, &payload, "REPLACE"), "OK");
    assert_eq!(local.say(one, "FUNCTION FLUSH"), "OK");
    assert_eq!(local.say(two, "FUNCTION LIST"), "[]");
    assert_eq!(restore(&mut local, &payload, "FLUSH"), "OK");
    assert_eq!(local.say(one, "FUNCTION LIST"), listed);
    assert_eq!(local.say(one, "FCALL put 1 k v"), "OK");
    for at in 0..payload.len() {
        let mut damaged = payload.clone();
        damaged[at] ^= 1;
        let refused = "-ERR DUMP payload version or checksum are wrong";
        assert_eq!(restore(&mut local, &damaged, "REPLACE"), refused);
    }
    assert_eq!(
        local.say(one, "FUNCTION STATS"),
        "[running_script (nil) engines [LUA [libraries_count :1 functions_count :2]]]"
    );
}

#[test]
fn changes_of_libraries_are_effects() {
    let mut first = Local::new(Config::default(), 1);
    let client = first.connect(0);
    first.worker(0).listen_to_effects();
    assert_eq!(spell(&first.call(client, &["FUNCTION", "LOAD", LIBRARY])), "lib");
    let _ = first.say(client, "FCALL put 1 k v");
    let effects = first.worker(0).take_effects();
    let mut second = Local::new(Config::default(), 1);
    let client = second.connect(0);
    second.send(client, &effects);
    let _ = second.receive(client);
    assert_eq!(second.say(client, "FCALL look 1 k"), "v");
}
