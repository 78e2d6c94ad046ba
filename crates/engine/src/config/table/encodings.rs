//! Up to which size a value is packed, as OBJECT ENCODING shows.
//!
//! Rows of the table of directives; see [`super`].

use super::{MAX_BYTES, MAX_I32, MAX_I64, MIN_I32};
use crate::config::directive::Directive;
use crate::config::directive::Kind::{Integer, Memory};

pub(super) static ROWS: [Directive; 12] = [
    Directive::works(
        "hash-max-listpack-entries",
        Integer(0, MAX_I64),
        "512",
        "fields of a packed hash",
    )
    .aliases(&["hash-max-ziplist-entries"]),
    Directive::works(
        "hash-max-listpack-value",
        Memory(0, MAX_BYTES),
        "64",
        "bytes of a field or value of a packed hash",
    )
    .aliases(&["hash-max-ziplist-value"]),
    Directive::works(
        "list-max-listpack-size",
        Integer(MIN_I32, MAX_I32),
        "-2",
        "items of a list's node; -1 to -5: 4, 8, 16, 32, 64 KiB",
    )
    .aliases(&["list-max-ziplist-size"]),
    Directive::no_meaning(
        "list-compress-depth",
        Integer(0, MAX_I32),
        "0",
        "lists are not compressed in memory",
    ),
    Directive::works(
        "set-max-intset-entries",
        Integer(0, MAX_I64),
        "512",
        "members of a set of integers that is packed as integers",
    ),
    Directive::works(
        "set-max-listpack-entries",
        Integer(0, MAX_I64),
        "128",
        "members of a packed set",
    ),
    Directive::works(
        "set-max-listpack-value",
        Integer(0, MAX_I64),
        "64",
        "bytes of a member of a packed set",
    ),
    Directive::works(
        "zset-max-listpack-entries",
        Integer(0, MAX_I64),
        "128",
        "members of a packed sorted set",
    )
    .aliases(&["zset-max-ziplist-entries"]),
    Directive::works(
        "zset-max-listpack-value",
        Memory(0, MAX_BYTES),
        "64",
        "bytes of a member of a packed sorted set",
    )
    .aliases(&["zset-max-ziplist-value"]),
    Directive::works(
        "hll-sparse-max-bytes",
        Memory(0, MAX_BYTES),
        "3000",
        "bytes of a HyperLogLog in its sparse form",
    ),
    Directive::works(
        "stream-node-max-bytes",
        Memory(0, MAX_BYTES),
        "4096",
        "bytes of a stream's node; 0 no limit",
    ),
    Directive::works(
        "stream-node-max-entries",
        Integer(0, MAX_I64),
        "100",
        "entries of a stream's node; 0 no limit",
    ),
];
