//! The categories of commands: `@read`, `@admin` and so on, as flags, groups and specs say them.

use crate::catalog::{Entry, Handler};
use caudal_commands::{Flags, Group, Spec};

/// All categories, in Valkey's order.
pub(crate) const CATEGORIES: [&str; 21] = [
    "keyspace",
    "read",
    "write",
    "set",
    "sortedset",
    "list",
    "hash",
    "string",
    "bitmap",
    "hyperloglog",
    "geo",
    "stream",
    "pubsub",
    "admin",
    "fast",
    "slow",
    "blocking",
    "dangerous",
    "connection",
    "transaction",
    "scripting",
];

/// Commands whose group is generic although they are not about keys of any type.
const NOT_ON_KEYS: [&str; 4] = ["SORT", "SORT_RO", "WAIT", "WAITAOF"];

/// The category with this name, in any case.
pub(crate) fn named(name: &[u8]) -> Option<&'static str> {
    CATEGORIES.into_iter().find(|at| at.as_bytes().eq_ignore_ascii_case(name))
}

/// Whether a command is in a category. A container is in none but its slowness: its commands are in
/// theirs.
pub(crate) fn contains(category: &str, entry: &Entry) -> bool {
    match entry.handler {
        Handler::Container => category == "slow",
        _ => is_in(&entry.spec, category),
    }
}

/// Whether a command's flags, its group or its own list put it into a category.
pub(crate) fn is_in(spec: &Spec, category: &str) -> bool {
    let flag = |flag| spec.flags.has(flag);
    let implied = match category {
        "keyspace" => spec.group == Group::Generic && !NOT_ON_KEYS.contains(&spec.name),
        // Who runs a script has the rights of neither kind from it: its commands ask for theirs.
        "read" => flag(Flags::READONLY) && spec.group != Group::Scripting,
        "write" => flag(Flags::WRITE),
        "set" => spec.group == Group::Set,
        "sortedset" => spec.group == Group::SortedSet,
        "stream" => spec.group == Group::Stream,
        "list" => spec.group == Group::List,
        "hash" => spec.group == Group::Hash,
        "string" => spec.group == Group::String,
        "bitmap" => spec.group == Group::Bitmap,
        "hyperloglog" => spec.group == Group::HyperLogLog,
        "geo" => spec.group == Group::Geo,
        "pubsub" => flag(Flags::PUBSUB),
        "admin" | "dangerous" => flag(Flags::ADMIN),
        "fast" => flag(Flags::FAST),
        "slow" => !flag(Flags::FAST),
        "blocking" => flag(Flags::BLOCKING),
        "connection" => spec.group == Group::Connection,
        "transaction" => spec.group == Group::Transactions,
        "scripting" => spec.group == Group::Scripting,
        _ => false,
    };
    implied || spec.categories.contains(&category)
}
