//! Masters and replicas.
//!
//! Rows of the table of directives; see [`super`].

use super::checks::any;
use super::{MAX_BYTES, MAX_I32, MAX_I64, REPLICATION};
use crate::config::directive::Directive;
use crate::config::directive::Kind::{Choice, Flag, Integer, Master, Memory, Text};

pub(super) static ROWS: [Directive; 26] = [
    Directive::not_yet("replicaof", Master, "", REPLICATION).aliases(&["slaveof"]).at_start(),
    Directive::waits("primaryauth", Text(any), "", REPLICATION).aliases(&["masterauth"]),
    Directive::waits("primaryuser", Text(any), "", REPLICATION).aliases(&["masteruser"]),
    Directive::works(
        "min-replicas-to-write",
        Integer(0, MAX_I32),
        "0",
        "replicas without which writes are refused; there are none yet",
    )
    .aliases(&["min-slaves-to-write"]),
    Directive::works(
        "min-replicas-max-lag",
        Integer(0, MAX_I32),
        "10",
        "seconds that such a replica may be behind; 0: none is needed",
    )
    .aliases(&["min-slaves-max-lag"]),
    Directive::waits("replica-serve-stale-data", Flag, "yes", REPLICATION)
        .aliases(&["slave-serve-stale-data"]),
    Directive::waits("replica-read-only", Flag, "yes", REPLICATION).aliases(&["slave-read-only"]),
    Directive::waits("replica-ignore-maxmemory", Flag, "yes", REPLICATION)
        .aliases(&["slave-ignore-maxmemory"]),
    Directive::waits("replica-lazy-flush", Flag, "yes", REPLICATION).aliases(&["slave-lazy-flush"]),
    Directive::waits("replica-priority", Integer(0, MAX_I32), "100", REPLICATION)
        .aliases(&["slave-priority"]),
    Directive::waits("replica-announce-ip", Text(any), "", REPLICATION)
        .aliases(&["slave-announce-ip"]),
    Directive::waits("replica-announce-port", Integer(0, 65_535), "0", REPLICATION)
        .aliases(&["slave-announce-port"]),
    Directive::waits("replica-announced", Flag, "yes", REPLICATION),
    Directive::waits("replica-ignore-disk-write-errors", Flag, "no", REPLICATION),
    Directive::waits("repl-ping-replica-period", Integer(1, MAX_I32), "10", REPLICATION)
        .aliases(&["repl-ping-slave-period"]),
    Directive::waits("repl-timeout", Integer(1, MAX_I32), "60", REPLICATION),
    Directive::waits("repl-backlog-size", Memory(1, MAX_BYTES), "10485760", REPLICATION),
    Directive::waits("repl-backlog-ttl", Integer(0, MAX_I64), "3600", REPLICATION),
    Directive::waits("repl-disable-tcp-nodelay", Flag, "no", REPLICATION),
    Directive::waits("repl-diskless-sync", Flag, "yes", REPLICATION),
    Directive::waits("repl-diskless-sync-delay", Integer(0, MAX_I32), "5", REPLICATION),
    Directive::waits("repl-diskless-sync-max-replicas", Integer(0, MAX_I32), "0", REPLICATION),
    Directive::waits(
        "repl-diskless-load",
        Choice(&["disabled", "on-empty-db", "swapdb", "flush-before-load"]),
        "disabled",
        REPLICATION,
    ),
    Directive::waits("repl-mptcp", Flag, "no", REPLICATION).at_start(),
    Directive::waits("dual-channel-replication-enabled", Flag, "no", REPLICATION),
    Directive::waits(
        "propagation-error-behavior",
        Choice(&["ignore", "panic", "panic-on-replicas"]),
        "ignore",
        REPLICATION,
    ),
];
