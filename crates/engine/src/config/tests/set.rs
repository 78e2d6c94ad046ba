//! CONFIG GET, SET and REWRITE.

use proptest::prelude::*;

use super::*;

fn set(config: &mut Config, pairs: &[(&str, &str)]) -> Result<Vec<Change>, String> {
    config.set(pairs, Peer::Remote).map_err(|error| error.to_string())
}

#[test]
fn get_finds_names_aliases_and_patterns() {
    let config = Config::default();
    assert_eq!(config.get(&["MaxMemory"]), [("MaxMemory".to_owned(), "0".to_owned())]);
    let names = |patterns: &[&str]| -> Vec<String> {
        config.get(patterns).into_iter().map(|(name, _)| name).collect()
    };
    assert_eq!(names(&["hash-max-z*"]), ["hash-max-ziplist-entries", "hash-max-ziplist-value"]);
    assert_eq!(names(&["TIMEOU?"]), ["timeout"]);
    assert_eq!(
        names(&["maxmemory", "MAXMEMORY", "maxmemory-s*", "maxm*samples"]),
        ["maxmemory", "maxmemory-samples"]
    );
    assert_eq!(names(&["nope", "user", "include", "usr*"]), [""; 0]);
    assert_eq!(names(&["watchdog*"]), [""; 0]);
    assert_eq!(names(&["watchdog-period"]), ["watchdog-period"]);
    assert!(config.get(&[&b"\xff"[..]]).is_empty());
}

#[test]
fn set_changes_all_or_nothing() {
    let mut config = Config::default();
    let pairs = [("timeout", "7"), ("hash-max-ziplist-entries", "5"), ("io-threads", "2")];
    let changes = set(&mut config, &pairs).unwrap();
    let summary: Vec<_> = changes
        .iter()
        .map(|change| (change.directive, change.value.as_str(), change.notice.is_some()))
        .collect();
    assert_eq!(
        summary,
        [
            ("timeout", "7", false),
            ("hash-max-listpack-entries", "5", false),
            ("io-threads", "2", true)
        ]
    );
    assert!(changes.iter().all(|change| change.differs));
    assert_eq!(config.clients.idle_seconds_max, Some(7));
    assert_eq!(config.limits.hash_packed_entries_max, 5);
    let before = config.clone();
    assert!(set(&mut config, &[("timeout", "8"), ("maxclients", "0")]).is_err());
    assert_eq!(config, before);
    let changes = set(&mut config, &[("timeout", "7")]).unwrap();
    assert!(!changes[0].differs);
}

#[test]
fn errors_have_valkeys_texts() {
    let cases: [(&[(&str, &str)], &str); 11] = [
        (
            &[("maxclients", "0")],
            "ERR CONFIG SET failed (possibly related to argument 'maxclients') - argument must be \
             between 1 and 4294967295 inclusive",
        ),
        (&[("Nope", "1")], "ERR Unknown option or number of arguments for CONFIG SET - 'Nope'"),
        (
            &[("maxclients", "0"), ("nope", "1")],
            "ERR Unknown option or number of arguments for CONFIG SET - 'nope'",
        ),
        (&[("user", "x")], "ERR Unknown option or number of arguments for CONFIG SET - 'user'"),
        (&[("TIMEOUT", "1"), ("timeout", "2")], "'timeout') - duplicate parameter"),
        (&[("timeout", "x"), ("daemonize", "no")], "'daemonize') - can't set immutable config"),
        (&[("dir", "/"), ("nope", "1")], "'dir') - can't set protected config"),
        (&[("SLOWLOG-max-len", "x")], "'slowlog-max-len') - argument couldn't be parsed into an"),
        (
            &[("appendonly", "yes")],
            "'appendonly') - 'appendonly yes' is not there yet: persistence",
        ),
        (&[("save", "900 1")], "'save') - 'save 900 1' is not there yet: persistence"),
        (&[("notify-keyspace-events", "KEq")], "Invalid event class character"),
    ];
    for (pairs, part) in cases {
        let text = set(&mut Config::default(), pairs).unwrap_err();
        assert!(text.contains(part), "{text}\n  lacks {part}");
    }
    let mut config = Config::default();
    assert!(config.set(&[(&b"requirepass"[..], &b"\xff"[..])], Peer::Local).is_err());
    set(&mut config, &[("hash-max-ziplist-value", "1"), ("hash-max-listpack-value", "2")]).unwrap();
    assert_eq!(config.limits.hash_packed_value_bytes_max, 2);
}

#[test]
fn protected_directives_depend_on_the_client() {
    let load = |word| from_arguments(&["--enable-protected-configs", word]).unwrap().0;
    for (word, local, remote) in [("no", false, false), ("local", true, false), ("yes", true, true)]
    {
        assert_eq!(load(word).set(&[("dir", "/")], Peer::Local).is_ok(), local, "{word}");
        assert_eq!(load(word).set(&[("dir", "/")], Peer::Remote).is_ok(), remote, "{word}");
    }
}

#[test]
fn the_directory_is_shown_as_the_server_found_it() {
    let mut config = Config::default();
    config.record_directory("/data");
    assert_eq!(get(&config, "dir"), "/data");
    assert_eq!(config.process.directory, Path::new("/data"));
}

#[test]
fn events_are_a_set_of_letters() {
    let row = table::all()[table::find("notify-keyspace-events").unwrap()];
    let events = |word: &str| match row.kind.parse(&[word.to_owned()], None) {
        Ok(Value::Events(events)) => events,
        other => panic!("{other:?}"),
    };
    assert!(events("KA").has('x') && !events("KA").has('m') && !events("KA").has('E'));
    assert_eq!(events("AKEmn").render(), "AKEm");
    assert_eq!(events("AKEmn").written(), "AKEmn");
    assert_eq!(events("Kn$").written(), "$nK");
    assert!(events("Kx").is_on() && !events("K").is_on() && !events("x").is_on());
}

#[test]
fn rewrite_keeps_comments_and_order() {
    let original = "# mine\nport 7000\n\ntimeout 0\n#end\ntimeout 1\nbind 127.0.0.1\ninclude b\n\
                    client-output-buffer-limit normal 1 1 1\nnot a directive\n";
    let files = [("a.conf", &original.replace("not a directive\n", "")[..]), ("b", "")];
    let (mut config, _) = from_files(&["a.conf"], &files).unwrap();
    set(&mut config, &[("timeout", "9"), ("requirepass", "a b\n"), ("maxmemory", "1kb")]).unwrap();
    let rewritten = "# mine\nport 7000\n\ntimeout 9\n#end\nbind 127.0.0.1\ninclude b\n\
                     client-output-buffer-limit normal 1 1 1\n\
                     client-output-buffer-limit slave 268435456 67108864 60\n\
                     client-output-buffer-limit pubsub 33554432 8388608 60\n\
                     not a directive\n\
                     # Generated by CONFIG REWRITE\n\
                     requirepass \"a b\\n\"\n\
                     maxmemory 1024\n";
    assert_eq!(config.rewritten(Some(original), &[]), rewritten);
    assert_eq!(config.rewritten(Some(rewritten), &[]), rewritten);
    assert_eq!(Config::default().rewritten(None, &[]), "");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn what_is_rewritten_loads_the_same(
        pairs in prop::collection::vec(
            (0..table::all().len(), "[-%0-9a-z \"'\\\\\n#é]{0,6}"),
            1..9,
        ),
    ) {
        let mut config = Config::default();
        for (place, value) in &pairs {
            let _ = set(&mut config, &[(table::all()[*place].name, value)]);
        }
        let text = config.rewritten(Some("timeout 5\n# x"), &[]);
        let (again, _) = from_text(&text).expect(&text);
        prop_assert_eq!(again, config, "{}", text);
    }
}
