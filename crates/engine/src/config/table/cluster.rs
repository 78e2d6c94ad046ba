//! Cluster mode.
//!
//! Rows of the table of directives; see [`super`].

use super::{CLUSTER, MAX_BYTES, MAX_I32, MAX_I64, checks};
use crate::config::directive::Directive;
use crate::config::directive::Kind::{Choice, Flag, Integer, Memory, Text};

pub(super) static ROWS: [Directive; 30] = [
    Directive::not_yet("cluster-enabled", Flag, "no", CLUSTER).at_start(),
    Directive::waits("cluster-config-file", Text(checks::cluster_file), "nodes.conf", CLUSTER)
        .at_start(),
    Directive::waits(
        "cluster-config-save-behavior",
        Choice(&["sync", "best-effort"]),
        "sync",
        CLUSTER,
    ),
    Directive::waits("cluster-databases", Integer(1, MAX_I32), "1", CLUSTER).at_start(),
    Directive::waits("cluster-port", Integer(0, 65_535), "0", CLUSTER).at_start(),
    Directive::waits("cluster-node-timeout", Integer(0, MAX_I64), "15000", CLUSTER),
    Directive::waits("cluster-manual-failover-timeout", Integer(1, MAX_I32), "5000", CLUSTER),
    Directive::waits("cluster-migration-barrier", Integer(0, MAX_I32), "1", CLUSTER),
    Directive::waits("cluster-blacklist-ttl", Integer(i64::MIN, MAX_I64), "60", CLUSTER),
    Directive::waits("cluster-replica-validity-factor", Integer(0, MAX_I32), "10", CLUSTER)
        .aliases(&["cluster-slave-validity-factor"]),
    Directive::waits("cluster-replica-no-failover", Flag, "no", CLUSTER)
        .aliases(&["cluster-slave-no-failover"]),
    Directive::waits("cluster-require-full-coverage", Flag, "yes", CLUSTER),
    Directive::waits("cluster-allow-reads-when-down", Flag, "no", CLUSTER),
    Directive::waits("cluster-allow-pubsubshard-when-down", Flag, "yes", CLUSTER),
    Directive::waits("cluster-allow-replica-migration", Flag, "yes", CLUSTER),
    Directive::waits("cluster-link-sendbuf-limit", Memory(0, u64::MAX as i128), "0", CLUSTER),
    Directive::waits("cluster-slot-migration-log-max-len", Integer(0, MAX_I64), "1000", CLUSTER),
    Directive::waits("cluster-slot-stats-enabled", Flag, "no", CLUSTER),
    Directive::waits(
        "cluster-preferred-endpoint-type",
        Choice(&["ip", "hostname", "unknown-endpoint"]),
        "ip",
        CLUSTER,
    ),
    Directive::waits("cluster-announce-ip", Text(checks::announced_address), "", CLUSTER),
    Directive::waits("cluster-announce-port", Integer(0, 65_535), "0", CLUSTER),
    Directive::waits("cluster-announce-tls-port", Integer(0, 65_535), "0", CLUSTER),
    Directive::waits("cluster-announce-bus-port", Integer(0, 65_535), "0", CLUSTER),
    Directive::waits("cluster-announce-client-ipv4", Text(checks::ipv4), "", CLUSTER),
    Directive::waits("cluster-announce-client-ipv6", Text(checks::ipv6), "", CLUSTER),
    Directive::waits("cluster-announce-client-port", Integer(0, 65_535), "0", CLUSTER),
    Directive::waits("cluster-announce-client-tls-port", Integer(0, 65_535), "0", CLUSTER),
    Directive::waits("cluster-announce-hostname", Text(checks::hostname), "", CLUSTER),
    Directive::waits("cluster-announce-human-nodename", Text(checks::node_name), "", CLUSTER),
    Directive::waits("slot-migration-max-failover-repl-bytes", Memory(-1, MAX_BYTES), "0", CLUSTER),
];
