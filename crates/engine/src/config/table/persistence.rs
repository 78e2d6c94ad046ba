//! Files of data: append-only file and snapshots.
//!
//! Rows of the table of directives; see [`super`].

use super::{MAX_BYTES, MAX_I32, PERSISTENCE, checks};
use crate::config::directive::Directive;
use crate::config::directive::Kind::{Choice, Flag, Integer, Memory, Save, Text};

pub(super) static ROWS: [Directive; 20] = [
    Directive::not_yet("save", Save, "", PERSISTENCE),
    Directive::not_yet("appendonly", Flag, "no", PERSISTENCE),
    Directive::waits("appendfsync", Choice(&["everysec", "always", "no"]), "everysec", PERSISTENCE),
    Directive::waits("appendfilename", Text(checks::append_file), "appendonly.aof", PERSISTENCE)
        .at_start(),
    Directive::waits("appenddirname", Text(checks::append_directory), "appendonlydir", PERSISTENCE)
        .at_start(),
    Directive::waits("no-appendfsync-on-rewrite", Flag, "no", PERSISTENCE),
    Directive::waits("auto-aof-rewrite-percentage", Integer(0, MAX_I32), "100", PERSISTENCE),
    Directive::waits("auto-aof-rewrite-min-size", Memory(0, MAX_BYTES), "67108864", PERSISTENCE),
    Directive::waits("aof-load-truncated", Flag, "yes", PERSISTENCE),
    Directive::waits("aof-use-rdb-preamble", Flag, "yes", PERSISTENCE),
    Directive::waits("aof-timestamp-enabled", Flag, "no", PERSISTENCE),
    Directive::waits("aof-rewrite-incremental-fsync", Flag, "yes", PERSISTENCE),
    Directive::waits("dbfilename", Text(checks::snapshot_file), "dump.rdb", PERSISTENCE)
        .protected(),
    Directive::waits("rdbcompression", Flag, "yes", PERSISTENCE),
    Directive::waits("rdbchecksum", Flag, "yes", PERSISTENCE).at_start(),
    Directive::waits("rdb-version-check", Choice(&["strict", "relaxed"]), "strict", PERSISTENCE),
    Directive::waits("rdb-save-incremental-fsync", Flag, "yes", PERSISTENCE),
    Directive::waits("rdb-del-sync-files", Flag, "no", PERSISTENCE),
    Directive::waits("stop-writes-on-bgsave-error", Flag, "yes", PERSISTENCE),
    Directive::no_meaning(
        "sanitize-dump-payload",
        Choice(&["no", "yes", "clients"]),
        "no",
        "every payload is checked in full, always",
    ),
];
