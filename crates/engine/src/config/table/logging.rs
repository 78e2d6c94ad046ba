//! The log, and what is kept about slow and large commands.
//!
//! Rows of the table of directives; see [`super`].

use super::MAX_I64;
use super::checks::any;
use crate::config::directive::Directive;
use crate::config::directive::Kind::{Choice, Flag, Integer, Percentiles, Text};

pub(super) static ROWS: [Directive; 19] = [
    Directive::works(
        "loglevel",
        Choice(&["debug", "verbose", "notice", "warning", "nothing"]),
        "notice",
        "the least important messages that are logged",
    ),
    Directive::works(
        "logfile",
        Text(any),
        "",
        "file to append the log to; empty means standard output",
    )
    .at_start(),
    Directive::not_yet(
        "log-format",
        Choice(&["legacy", "logfmt", "json"]),
        "legacy",
        "other formats of the log",
    ),
    Directive::not_yet(
        "log-timestamp-format",
        Choice(&["legacy", "iso8601", "milliseconds"]),
        "legacy",
        "other formats of the log's times",
    ),
    Directive::not_yet(
        "syslog-enabled",
        Flag,
        "no",
        "syslog; under systemd the log goes to the journal",
    )
    .at_start(),
    Directive::waits("syslog-ident", Text(any), "valkey", "syslog").at_start(),
    Directive::waits(
        "syslog-facility",
        Choice(&[
            "user", "local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7",
        ]),
        "local0",
        "syslog",
    )
    .at_start(),
    Directive::works(
        "slowlog-log-slower-than",
        Integer(-1, MAX_I64),
        "10000",
        "microseconds of running that put a command in the slow log; -1 none",
    )
    .aliases(&["commandlog-execution-slower-than"]),
    Directive::works("slowlog-max-len", Integer(0, MAX_I64), "128", "entries of the slow log")
        .aliases(&["commandlog-slow-execution-max-len"]),
    Directive::works(
        "commandlog-request-larger-than",
        Integer(-1, MAX_I64),
        "1048576",
        "bytes of a request that put a command in the log of large requests; -1 none",
    ),
    Directive::works(
        "commandlog-large-request-max-len",
        Integer(0, MAX_I64),
        "128",
        "entries of the log of large requests",
    ),
    Directive::works(
        "commandlog-reply-larger-than",
        Integer(-1, MAX_I64),
        "1048576",
        "bytes of a reply that put a command in the log of large replies; -1 none",
    ),
    Directive::works(
        "commandlog-large-reply-max-len",
        Integer(0, MAX_I64),
        "128",
        "entries of the log of large replies",
    ),
    Directive::works(
        "latency-monitor-threshold",
        Integer(0, MAX_I64),
        "0",
        "milliseconds that make an event one of LATENCY's; 0 turns it off",
    ),
    Directive::works(
        "latency-tracking",
        Flag,
        "yes",
        "keeps a histogram of each command's latency",
    ),
    Directive::works(
        "latency-tracking-info-percentiles",
        Percentiles,
        "50 99 99.9",
        "percentiles that INFO latencystats shows",
    ),
    Directive::no_meaning(
        "hide-user-data-from-log",
        Flag,
        "yes",
        "keys and values are never logged",
    ),
    Directive::no_meaning(
        "crash-log-enabled",
        Flag,
        "yes",
        "a panic is always logged with its place",
    ),
    Directive::no_meaning(
        "crash-memcheck-enabled",
        Flag,
        "yes",
        "a crash does not test the machine's memory",
    ),
];
