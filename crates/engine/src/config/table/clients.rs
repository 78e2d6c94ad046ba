//! What clients may use, and when they are closed.
//!
//! Rows of the table of directives; see [`super`].

use super::{MAX_BYTES, MAX_I32, MAX_I64};
use crate::config::directive::Directive;
use crate::config::directive::Kind::{Events, Integer, Memory, MemoryOrPercent, OutputLimits};

pub(super) static ROWS: [Directive; 8] = [
    Directive::works(
        "maxclients",
        Integer(1, 4_294_967_295),
        "10000",
        "connections at a time; further ones get an error and are closed",
    ),
    Directive::works(
        "timeout",
        Integer(0, MAX_I32),
        "0",
        "seconds after which an idle client is closed; 0 never",
    ),
    Directive::works(
        "client-output-buffer-limit",
        OutputLimits,
        "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60",
        "unread output that closes a client: class, hard limit, soft limit and its seconds",
    ),
    Directive::works(
        "client-query-buffer-limit",
        Memory(1 << 20, MAX_BYTES),
        "1073741824",
        "bytes of one request not yet run that close a client",
    ),
    Directive::works(
        "proto-max-bulk-len",
        Memory(1 << 20, MAX_BYTES),
        "536870912",
        "bytes of one argument",
    ),
    Directive::works(
        "tracking-table-max-keys",
        Integer(0, MAX_I64),
        "1000000",
        "keys remembered for client-side caching; the oldest are invalidated beyond it; 0 no limit",
    ),
    Directive::not_yet(
        "maxmemory-clients",
        MemoryOrPercent,
        "0",
        "evicting clients by their memory",
    ),
    Directive::works(
        "notify-keyspace-events",
        Events,
        "",
        "events of keys that are published: `K` or `E` for the channels, and the classes",
    ),
];
