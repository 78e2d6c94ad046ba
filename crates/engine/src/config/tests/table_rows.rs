//! The rows: complete, consistent, and with Valkey's defaults.

use std::collections::HashSet;

use super::*;

/// `directive TAB server TAB default`: what CONFIG GET of Valkey 9.1 started with `--save ''`
/// answers (`hidden`: only to the exact name), what only Redis 7.0 and 7.2 have, and what has no
/// value there.
const KNOWN: &str = include_str!("known.tsv");

#[test]
fn every_directive_of_redis_and_valkey_is_known_with_its_default() {
    let config = Config::default();
    let listed: HashSet<String> = config.get(&["*"]).into_iter().map(|(name, _)| name).collect();
    assert!(KNOWN.lines().count() > 250);
    for line in KNOWN.lines() {
        let [name, server, default] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("three fields: {line}");
        };
        let row = table::all()[table::find(name).expect(name)];
        assert_eq!(row.has_value() && row.listed, listed.contains(name), "{name}");
        if server == "valkey" {
            assert!(listed.contains(name), "{name}");
        }
        if server != "other" {
            assert_eq!(get(&config, name), default, "{name}");
        }
    }
}

#[test]
fn every_default_is_accepted_and_honoured() {
    for row in table::all() {
        let value = row.default_value();
        if row.has_value() {
            assert_eq!(row.kind.render(&value), row.default, "{}", row.name);
            assert_eq!(row.refusal(&value), None, "{}", row.name);
        }
    }
}

#[test]
fn names_are_unique_and_lower_case() {
    let mut seen = HashSet::new();
    for name in table::all().iter().flat_map(|row| row.names()) {
        assert!(seen.insert(name), "{name} twice");
        assert_eq!(name, name.to_ascii_lowercase());
        assert_eq!(table::find(&name.to_ascii_uppercase()), table::find(name));
    }
}

#[test]
fn what_is_shown_reads_back_the_same() {
    let values = [
        ("client-output-buffer-limit", "replica 1mb 2kb 3 pubsub 4 5 6"),
        ("save", "900 1 300 10"),
        ("notify-keyspace-events", "KExm$"),
        ("shutdown-on-sigterm", "FORCE nosave"),
        ("latency-tracking-info-percentiles", "50.0 99.90"),
        ("unixsocketperm", "750"),
        ("maxmemory-clients", "5%"),
        ("replicaof", "host 6379"),
        ("oom-score-adj-values", "-5 0 7"),
    ];
    for (name, text) in values {
        let row = table::all()[table::find(name).expect(name)];
        let value = row.kind.parse(&row.kind.split(text), None).unwrap();
        let shown = row.kind.render(&value);
        assert_eq!(row.kind.parse(&row.kind.split(&shown), None), Ok(value), "{shown}");
    }
}
