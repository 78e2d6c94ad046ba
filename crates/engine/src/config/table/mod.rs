//! Every directive of Redis 7.2, Valkey 9.1 and Caudal, each in one row, in groups of one subject.
//!
//! The one place where a directive's facts stand: parsing, CONFIG GET and SET, the notices and
//! `docs/configuration.md` are all read from it. Names are unique over all groups, aliases
//! included.

mod checks;
mod clients;
mod cluster;
mod encodings;
mod logging;
mod memory;
mod network;
mod persistence;
mod process;
mod replication;
mod security;
mod tls;

use std::collections::HashMap;
use std::sync::LazyLock;

use super::directive::Directive;

/// What rows wait for.
const PERSISTENCE: &str = "persistence";
const REPLICATION: &str = "replication";
const CLUSTER: &str = "cluster mode";
const EVICTION: &str = "eviction";

/// Bounds that many rows share; error texts show them, so they are Valkey's.
const MAX_I32: i64 = i32::MAX as i64;
const MIN_I32: i64 = i32::MIN as i64;
const MAX_I64: i64 = i64::MAX;
const MAX_BYTES: i128 = i64::MAX as i128;

/// Directives of one subject.
#[derive(Debug)]
pub(super) struct Group {
    /// What they are about, as a headline of the documentation.
    pub(super) title: &'static str,
    pub(super) rows: &'static [Directive],
}

/// In the documentation's order.
pub(super) static GROUPS: [Group; 13] = [
    Group { title: "Network", rows: &network::ROWS },
    Group { title: "Clients", rows: &clients::ROWS },
    Group { title: "Process and threads", rows: &process::ROWS },
    Group { title: "Logs and latency", rows: &logging::ROWS },
    Group { title: "Security", rows: &security::ROWS },
    Group { title: "Memory", rows: &memory::ROWS },
    Group { title: "Encodings", rows: &encodings::ROWS },
    Group { title: "Persistence", rows: &persistence::ROWS },
    Group { title: "Replication", rows: &replication::ROWS },
    Group { title: "Cluster", rows: &cluster::ROWS },
    Group { title: "TLS", rows: &tls::ROWS },
    Group { title: "For tests of Redis and Valkey themselves", rows: &process::TEST_ROWS },
    Group { title: "Statements", rows: &process::STATEMENTS },
];

/// A directive's place in [`all`].
pub(super) type Place = usize;

/// Every directive; its place here is its place in a configuration's values.
pub(super) fn all() -> &'static [&'static Directive] {
    static ALL: LazyLock<Vec<&'static Directive>> =
        LazyLock::new(|| GROUPS.iter().flat_map(|group| group.rows).collect());
    &ALL
}

/// The directive of this name or alias, in any case.
pub(super) fn find(name: &str) -> Option<Place> {
    static PLACES: LazyLock<HashMap<&'static str, Place>> = LazyLock::new(|| {
        let places = all().iter().enumerate();
        places.flat_map(|(place, row)| row.names().map(move |name| (name, place))).collect()
    });
    // No name is longer: a guard against lower-casing a megabyte that a client sent.
    const NAME_BYTES_MAX: usize = 64;
    if name.len() > NAME_BYTES_MAX {
        return None;
    }
    PLACES.get(name.to_ascii_lowercase().as_str()).copied()
}

/// The name that a mistyped one was probably meant to be.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    caudal_text::nearest::nearest(name, all().iter().flat_map(|row| row.names()))
}
