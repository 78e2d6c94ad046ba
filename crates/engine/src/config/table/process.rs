//! The process: threads, files, supervision, scripts; and the statements.
//!
//! Rows of the table of directives; see [`super`].

use super::checks::any;
use super::{CLUSTER, MAX_I32, MAX_I64, MIN_I32, PERSISTENCE, REPLICATION, checks};
use crate::config::directive::Kind::{Choice, Choices, Clamped, Flag, Integer, Text};
use crate::config::directive::{Directive, Kind, Line};

const INSIDE: &str = "about the inside of Redis or Valkey";
/// What to do when a signal ends the server; the first stands for no word at all.
const SHUTDOWN: [&str; 7] = ["default", "save", "nosave", "now", "force", "safe", "failover"];

pub(super) static ROWS: [Directive; 31] = [
    Directive::works(
        "threads",
        Integer(0, 1024),
        "0",
        "workers that serve clients, each an event loop; 0 means one a core",
    )
    .at_start(),
    Directive::works(
        "io-backend",
        Choice(&["auto", "io_uring", "epoll"]),
        "auto",
        "how sockets are read and written; `auto` takes io_uring where the system allows it",
    )
    .at_start(),
    Directive::works(
        "reported-version",
        Text(checks::version),
        "7.2.4",
        "the version of Redis that INFO and HELLO show to clients that look for one",
    )
    .at_start(),
    Directive::works(
        "databases",
        Integer(1, MAX_I32),
        "16",
        "databases that SELECT may choose from",
    )
    .at_start(),
    Directive::never(
        "daemonize",
        Flag,
        "no",
        "the server stays in the foreground, where its supervisor, its log and its exit status are",
    )
    .at_start(),
    Directive::works(
        "supervised",
        Choice(&["systemd", "auto", "no"]),
        "no",
        "`systemd` and `auto` tell systemd through NOTIFY_SOCKET when the server is ready",
    )
    .at_start(),
    Directive::works(
        "pidfile",
        Text(any),
        "",
        "file that holds the process id while the server runs",
    )
    .at_start(),
    Directive::works("dir", Text(any), ".", "working directory").protected(),
    Directive::works(
        "busy-reply-threshold",
        Integer(0, MAX_I64),
        "5000",
        "milliseconds that a script runs before other clients are told BUSY",
    )
    .aliases(&["lua-time-limit"]),
    Directive::waits("shutdown-timeout", Integer(0, MAX_I32), "10", REPLICATION),
    Directive::not_yet("shutdown-on-sigint", Choices(&SHUTDOWN), "default", PERSISTENCE)
        .accepting(&["nosave", "now", "force"]),
    Directive::not_yet("shutdown-on-sigterm", Choices(&SHUTDOWN), "default", PERSISTENCE)
        .accepting(&["nosave", "now", "force"]),
    Directive::no_meaning(
        "io-threads",
        Integer(1, 256),
        "1",
        "`threads` workers read, run and write; none only reads and writes",
    ),
    Directive::no_meaning(
        "io-threads-do-reads",
        Flag,
        "no",
        "workers always read their own connections",
    )
    .at_start(),
    Directive::no_meaning(
        "prefetch-batch-max-size",
        Integer(0, 128),
        "16",
        "commands are prefetched in batches of a fixed size",
    ),
    Directive::no_meaning(
        "hz",
        Clamped(1, 500),
        "10",
        "background work runs in slices of each turn, not by a timer",
    ),
    Directive::no_meaning(
        "dynamic-hz",
        Flag,
        "yes",
        "background work runs in slices of each turn, not by a timer",
    ),
    Directive::no_meaning(
        "activerehashing",
        Flag,
        "yes",
        "tables grow page by page and are never rehashed as a whole",
    ),
    Directive::no_meaning("always-show-logo", Flag, "no", "there is no logo").at_start(),
    Directive::no_meaning(
        "set-proc-title",
        Flag,
        "yes",
        "the process keeps its name and arguments",
    )
    .at_start(),
    Directive::no_meaning(
        "proc-title-template",
        Text(checks::title_template),
        "{title} {listen-addr} {server-mode}",
        "the process keeps its name and arguments",
    ),
    Directive::no_meaning(
        "ignore-warnings",
        Text(any),
        "",
        "none of the warnings it names is given",
    ),
    Directive::waits("availability-zone", Text(any), "", CLUSTER),
    Directive::not_yet(
        "locale-collate",
        Text(any),
        "",
        "collation by locale; SORT ALPHA compares bytes",
    )
    .accepting(&["C", "POSIX"]),
    Directive::not_yet("hash-seed", Text(any), "", "a hash seed of one's own").at_start(),
    Directive::not_yet("import-mode", Flag, "no", "import mode"),
    Directive::not_yet(
        "extended-redis-compatibility",
        Flag,
        "no",
        "calling the server `redis` in its replies",
    ),
    Directive::not_yet(
        "server-cpulist",
        Text(any),
        "",
        "binding workers to cores; use taskset or systemd's CPUAffinity",
    )
    .aliases(&["server_cpulist"])
    .at_start(),
    Directive::no_meaning("bio-cpulist", Text(any), "", "there are no such threads to bind")
        .aliases(&["bio_cpulist"])
        .at_start(),
    Directive::no_meaning("aof-rewrite-cpulist", Text(any), "", "no process is forked")
        .aliases(&["aof_rewrite_cpulist"])
        .at_start(),
    Directive::no_meaning("bgsave-cpulist", Text(any), "", "no process is forked")
        .aliases(&["bgsave_cpulist"])
        .at_start(),
];

/// Switches that Redis and Valkey have for their own test suites; CONFIG GET with a pattern does
/// not show them there either.
pub(super) static TEST_ROWS: [Directive; 18] = [
    Directive::no_meaning("aof-disable-auto-gc", Flag, "no", INSIDE).unlisted(),
    Directive::no_meaning("cluster-message-gossip-perc", Integer(1, 100), "10", INSIDE).unlisted(),
    Directive::no_meaning("cluster-ping-interval", Integer(0, MAX_I64), "0", INSIDE).unlisted(),
    Directive::no_meaning("debug-context", Text(any), "", INSIDE).unlisted(),
    Directive::no_meaning("enable-debug-assert", Flag, "no", INSIDE).unlisted().at_start(),
    Directive::no_meaning("io-threads-always-active", Flag, "no", INSIDE).unlisted(),
    Directive::no_meaning("key-load-delay", Integer(MIN_I32, MAX_I32), "0", INSIDE).unlisted(),
    Directive::no_meaning(
        "loading-process-events-interval-bytes",
        Integer(1024, MAX_I32),
        "2097152",
        INSIDE,
    )
    .unlisted(),
    Directive::no_meaning("lua-enable-deprecated-api", Flag, "no", INSIDE).unlisted().protected(),
    Directive::no_meaning("lua-enable-insecure-api", Flag, "no", INSIDE).unlisted().protected(),
    Directive::no_meaning("min-io-threads-avoid-copy-reply", Integer(0, MAX_I32), "7", INSIDE)
        .unlisted(),
    Directive::no_meaning("min-string-size-avoid-copy-reply", Integer(0, MAX_I32), "16384", INSIDE)
        .unlisted(),
    Directive::no_meaning(
        "min-string-size-avoid-copy-reply-threaded",
        Integer(0, MAX_I32),
        "65536",
        INSIDE,
    )
    .unlisted(),
    Directive::no_meaning("rdb-key-save-delay", Integer(MIN_I32, MAX_I32), "0", INSIDE).unlisted(),
    Directive::no_meaning("use-exit-on-panic", Flag, "no", INSIDE).unlisted(),
    Directive::no_meaning("watchdog-period", Integer(0, MAX_I32), "0", INSIDE).unlisted(),
    Directive::no_meaning("req-res-logfile", Text(any), "", INSIDE).unlisted().at_start(),
    Directive::no_meaning("client-default-resp", Integer(2, 3), "2", INSIDE).unlisted(),
];

/// Lines that do something instead of giving a value.
pub(super) static STATEMENTS: [Directive; 9] = [
    Directive::works(
        "include",
        Kind::Line(Line::Include),
        "",
        "reads another file in place of the line; a path is taken from the working directory",
    ),
    Directive::works(
        "user",
        Kind::Line(Line::User),
        "",
        "an ACL user and its rules, one user a line: `user alice on >secret ~cache:* +@read`",
    ),
    Directive::not_yet(
        "rename-command",
        Kind::Line(Line::RenameCommand),
        "",
        "renaming commands; ACL rules can forbid them",
    ),
    Directive::never("loadmodule", Kind::Line(Line::LoadModule), "", "modules"),
    Directive::never("sentinel", Kind::Line(Line::Sentinel), "", "Sentinel mode"),
    Directive::no_meaning(
        "list-max-ziplist-entries",
        Kind::Line(Line::Retired),
        "",
        "Redis and Valkey ignore it as well",
    ),
    Directive::no_meaning(
        "list-max-ziplist-value",
        Kind::Line(Line::Retired),
        "",
        "Redis and Valkey ignore it as well",
    ),
    Directive::no_meaning(
        "lua-replicate-commands",
        Kind::Line(Line::Retired),
        "",
        "Redis and Valkey ignore it as well",
    ),
    Directive::no_meaning(
        "events-per-io-thread",
        Kind::Line(Line::Retired),
        "",
        "Redis and Valkey ignore it as well",
    ),
];
