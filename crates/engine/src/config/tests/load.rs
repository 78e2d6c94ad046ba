//! Files and arguments.

use proptest::prelude::*;

use super::*;

/// What Debian's redis.conf sets, one line for each of its lines that is not a comment.
const DEBIAN: &str = include_str!("debian.conf");

fn error(result: Result<(Config, Vec<Notice>), ConfigError>) -> String {
    result.expect_err("must be refused").to_string()
}

#[test]
fn lines_give_typed_values() {
    let text = "\
        # comment\n\
        PORT 7000\n\
        bind 127.0.0.1 -::1\n\
        \t unixsocket \"/tmp/a b\"  \n\
        unixsocketperm 700\n\
        timeout 0\r\n\
        timeout 60\n\
        maxmemory 1gb\n\
        client-output-buffer-limit replica 1mb 0 0\n\
        client-output-buffer-limit normal 5 6 7\n\
        slowlog-log-slower-than -1\n\
        loglevel DEBUG\n\
        requirepass \"a\\x41b\"\n\
        threads 2\n\
        io-backend epoll\n";
    let (config, notices) = from_text(text).unwrap();
    assert_eq!(notices, []);
    assert_eq!(config.net.port, 7000);
    let [first, second] = &config.net.bind[..] else { panic!("two addresses") };
    assert_eq!((first.address.as_str(), first.optional), ("127.0.0.1", false));
    assert_eq!((second.address.as_str(), second.optional), ("::1", true));
    assert_eq!(config.net.unix_socket.as_deref(), Some(Path::new("/tmp/a b")));
    assert_eq!(config.net.unix_socket_mode, Some(0o700));
    assert_eq!(config.clients.idle_seconds_max, Some(60));
    assert_eq!(config.memory.bytes_max, Some(1 << 30));
    assert_eq!(config.clients.output_limits.replica.hard_bytes, 1 << 20);
    assert_eq!(config.clients.output_limits.normal.soft_seconds, 7);
    assert_eq!(config.clients.output_limits.pubsub.hard_bytes, 33_554_432);
    assert_eq!(config.log.slow.threshold, None);
    assert_eq!(config.log.level, LogLevel::Debug);
    assert_eq!(config.security.password.as_deref(), Some("aAb"));
    assert_eq!(config.process.threads, Some(2));
    assert_eq!(config.process.io_backend, IoBackend::Epoll);
    assert_eq!(config.process.reported_version, "7.2.4");
}

#[test]
fn errors_name_place_text_and_reason() {
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        error(from_text("port 1\n\ntimeout zz\n")),
        format!(
            "\n*** FATAL CONFIG FILE ERROR (Caudal {version}) ***\n\
             Reading the configuration file, at line 3 of a.conf\n\
             >>> 'timeout zz'\n\
             argument couldn't be parsed into an integer"
        )
    );
    for (text, part) in [
        ("timeout \"1", "Unbalanced quotes in configuration line"),
        ("timeout 1 2", "wrong number of arguments"),
        ("timeout", "wrong number of arguments"),
        ("timeout 5 # why", "wrong number of arguments"),
        ("maxmemroy 5", "'maxmemroy' is not known; did you mean 'maxmemory'?"),
        ("qqqqqqqqq 5", "Bad directive or wrong number of arguments: 'qqqqqqqqq' is not known"),
        ("\"\"", "Bad directive or wrong number of arguments"),
        ("databases 0", "argument must be between 1 and 2147483647 inclusive"),
        ("unixsocketperm 888", "argument couldn't be parsed as an octal number"),
        ("unixsocketperm 1000", "argument must be between 0 and 777 inclusive"),
        ("appendonly yes", "'appendonly yes' is not there yet: persistence. Use 'appendonly no'"),
        ("save 900 1", "'save 900 1' is not there yet: persistence. Use 'save \"\"'"),
        ("daemonize yes", "'daemonize yes' is not supported: the server stays in the foreground"),
        ("supervised upstart", "must be one of the following: systemd, auto, no"),
        ("maxmemory 1gb\nmaxmemory-policy allkeys-lru", "eviction is not there yet"),
        ("replicaof 127.0.0.1 1", "is not there yet: replication"),
        ("replicaof a b", "Invalid primary port"),
        ("user x +nosuch", "rule '+nosuch': Unknown command or category name in ACL"),
        ("user x on\nuser x off", "'x': Duplicate user found"),
        ("user x (+get", "Unmatched parenthesis"),
        ("user \"a b\" on", "Spaces not allowed in ACL usernames"),
        ("user", "wrong number of arguments"),
        ("aclfile a.acl\nuser x on", "define either an ACL file or declare users directly"),
        ("loadmodule x.so", "'loadmodule' is not supported: modules"),
        ("include", "Bad directive or wrong number of arguments"),
        ("include *.conf", "name each file"),
        ("requirepass \"\\xff\"", "UTF-8"),
        ("reported-version 7", "a version such as 7.2.4"),
        ("locale-collate de_DE", "is not there yet: collation"),
        ("client-output-buffer-limit normal 0 0", "Wrong number of arguments in buffer limit"),
    ] {
        let text = error(from_text(text));
        assert!(text.contains(part), "{text}\n  lacks {part}");
    }
}

#[test]
fn a_missing_file_is_named() {
    let text = error(from_arguments(&["/etc/none.conf"]));
    assert!(text.starts_with("Fatal error, can't open config file '/etc/none.conf': "), "{text}");
}

#[test]
fn save_lines_add_up_and_the_last_value_counts() {
    assert!(from_text("save 900 1\nsave \"\"\n").is_ok());
    assert!(from_text("save\n").is_ok());
    assert!(error(from_text("save 900 1\nsave 60 5\n")).contains("'save 900 1 60 5' is not"));
    let text = error(from_text("appendonly yes\nsave 1 1\nappendonly no\nport 1\nsave 2 2"));
    assert!(text.contains("line 5 of a.conf"), "{text}");
    assert!(from_files(&["a.conf", "--daemonize", "no"], &[("a.conf", "daemonize yes")]).is_ok());
}

#[test]
fn a_server_must_listen_somewhere() {
    let text = error(from_arguments(&["--port", "0"]));
    assert!(text.starts_with("Configured to not listen anywhere, exiting."), "{text}");
    assert!(from_arguments(&["--bind", ""]).is_err());
    let (config, _) = from_arguments(&["--port", "0", "--unixsocket", "/tmp/s"]).unwrap();
    assert_eq!(config.net.port, 0);
}

#[test]
fn arguments_are_cut_as_by_redis() {
    let port = |arguments: &[&str]| from_arguments(arguments).map(|(config, _)| config.net.port);
    assert_eq!(port(&[]).unwrap(), 6379);
    assert_eq!(port(&["--port", "1", "--port", "2"]).unwrap(), 2);
    assert_eq!(port(&["--port 3"]).unwrap(), 3);
    assert_eq!(port(&["--PORT", "4", "--save", "", "--appendonly", "no"]).unwrap(), 4);
    assert_eq!(port(&["--save", "--port", "5"]).unwrap(), 5);
    assert_eq!(port(&["--port", "6", "--save"]).unwrap(), 6);
    assert_eq!(
        port(&["--client-output-buffer-limit", "normal", "0", "0", "0", "--port", "7"]).unwrap(),
        7
    );
    for (arguments, part) in [
        (
            &["--timeout", "--databases", "3"][..],
            ">>> 'timeout \"--databases\" \"3\"'\nwrong number",
        ),
        (&["--port"], ">>> 'port'\nwrong number of arguments"),
        (&["--timeout", "a\"b"], ">>> 'timeout \"a\\\"b\"'\nargument couldn't"),
        (
            &["--nope", "1"],
            "Reading the command line, at option 1\n>>> 'nope \"1\"'\nBad directive",
        ),
        (&["--port", "1", "x"], ">>> 'port \"1\" \"x\"'\nwrong number of arguments"),
        (&["--save 1 2", "3"], ">>> 'save 1 2 \"3\"'\nInvalid save parameters"),
        (&["-t", "1"], ">>> '\"-t\" \"1\"'\nBad directive or wrong number of arguments"),
        (&["--replicaof", "--127.0.0.1"], "'replicaof \"--127.0.0.1\"'\nwrong number of arguments"),
    ] {
        let text = error(from_arguments(arguments));
        assert!(text.contains(part), "{text}\n  lacks {part}");
    }
}

#[test]
fn the_file_comes_first_then_the_standard_input_then_options() {
    let files = [("a.conf", "port 1\ntimeout 1\ndatabases 1"), ("-", "timeout 2\ndatabases 2")];
    let options = ["a.conf", "--databases", "3", "-"];
    let (config, _) = from_files(&options, &files).unwrap();
    assert_eq!(config.net.port, 1);
    assert_eq!(config.clients.idle_seconds_max, Some(2));
    assert_eq!(config.process.databases, 3);
    let (config, _) = from_files(&["-", "--databases", "4"], &files).unwrap();
    assert_eq!(config.process.databases, 4);
    assert_eq!(config.clients.idle_seconds_max, Some(2));
}

#[test]
fn files_include_files_but_not_without_end() {
    let files = [("a.conf", "port 1\ninclude b.conf\ntimeout 3"), ("b.conf", "port 2\ntimeout 2")];
    let (config, _) = from_files(&["a.conf"], &files).unwrap();
    assert_eq!((config.net.port, config.clients.idle_seconds_max), (2, Some(3)));
    let circle = [("a.conf", "include a.conf\ninclude a.conf")];
    assert!(error(from_files(&["a.conf"], &circle)).contains("is there a circle?"));
    let broken = [("a.conf", "include b.conf"), ("b.conf", "\nport x")];
    assert!(error(from_files(&["a.conf"], &broken)).contains("line 2 of b.conf"));
}

#[test]
fn what_has_no_effect_is_noticed() {
    let text = "io-threads 4\nactiverehashing yes\nappendfsync always\nappendfsync everysec\n\
                rdbcompression no\nlua-replicate-commands yes\nport 7";
    let (config, notices) = from_text(text).unwrap();
    let named: Vec<_> = notices.iter().map(|notice| notice.directive).collect();
    let expected = ["lua-replicate-commands", "io-threads", "activerehashing", "rdbcompression"];
    assert_eq!(named, expected);
    assert_eq!(get(&config, "io-threads"), "4");
    assert_eq!(
        notices[1].to_string(),
        "configuration file, at line 1 of a.conf: 'io-threads': accepted, no effect: `threads` \
         workers read, run and write; none only reads and writes"
    );
}

#[test]
fn a_distributions_file_starts_under_its_service() {
    let text = error(from_files(&["redis.conf"], &[("redis.conf", DEBIAN)]));
    assert!(text.contains(">>> 'daemonize yes'"), "{text}");
    let arguments = ["redis.conf", "--supervised", "systemd", "--daemonize", "no"];
    let (config, notices) = from_files(&arguments, &[("redis.conf", DEBIAN)]).unwrap();
    assert_eq!(config.process.supervised, Supervised::Systemd);
    assert_eq!(config.log.file.as_deref(), Some(Path::new("/var/log/redis/redis-server.log")));
    assert_eq!(get(&config, "dir"), "/var/lib/redis");
    assert!(!notices.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_file_panics(bytes: Vec<u8>) {
        let _ = from_text(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn no_line_or_argument_panics(
        place in 0..table::all().len(),
        words in prop::collection::vec("[-%0-9a-z \"'é]{0,6}", 0..5),
    ) {
        let name = table::all()[place].name;
        let _ = from_text(&format!("{name} {}", words.join(" ")));
        let option = format!("--{name}");
        let mut arguments = vec![option.as_str()];
        arguments.extend(words.iter().map(String::as_str));
        let _ = from_arguments(&arguments);
        let _ = from_arguments(&arguments[1..]);
    }
}
