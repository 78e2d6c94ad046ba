//! ACL, as far as there is one user: who he is, and what the categories of commands are.

use crate::catalog::Entry;
use crate::session::{DONE, Outcome, Session, SessionCommand, help};
use caudal_commands::{Args, Error, Flags, Group, Spec};

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary)
        .of("ACL")
        .group(Group::Server)
        .since("6.0.0")
        .no_script()
        .loading_stale()
}

const CAT: Spec = spec("CAT", "Lists the categories, or the commands of one.")
    .arity(-2)
    .complexity("O(1) since the categories and commands are a fixed set.");
const USERS: Spec = spec("USERS", "Lists the users.")
    .arity(2)
    .admin()
    .complexity("O(N). Where N is the number of configured users.");
const WHOAMI: Spec = spec("WHOAMI", "Returns this connection's user.").arity(2);

/// The family.
pub(super) const COMMANDS: &[SessionCommand] = &[
    SessionCommand::new(CAT, cat),
    help::help("ACL", Group::Server, "6.0.0"),
    SessionCommand::new(USERS, users),
    SessionCommand::new(WHOAMI, who_am_i),
];

/// All categories, in Valkey's order.
const CATEGORIES: [&str; 21] = [
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

/// Whether a command is in a category: its flags and its group say so, or its own list.
pub(super) fn is_in(spec: &Spec, category: &str) -> bool {
    let flag = |flag| spec.flags.has(flag);
    let implied = match category {
        "keyspace" => spec.group == Group::Generic && !NOT_ON_KEYS.contains(&spec.name),
        "read" => flag(Flags::READONLY),
        "write" => flag(Flags::WRITE),
        "set" => spec.group == Group::Set,
        "sortedset" => spec.group == Group::SortedSet,
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

/// The categories of a command. A container has none but its slowness: its commands have theirs.
pub(super) fn categories(entry: &Entry) -> Vec<&'static str> {
    let is_container = matches!(entry.handler, crate::catalog::Handler::Container);
    let within = |category: &&'static str| {
        if is_container { *category == "slow" } else { is_in(&entry.spec, category) }
    };
    CATEGORIES.into_iter().filter(within).collect()
}

fn cat(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let names: Vec<&str> = match args.len() {
        2 => CATEGORIES.to_vec(),
        3 => {
            let name = args.at(2);
            let category = CATEGORIES.iter().find(|at| at.as_bytes().eq_ignore_ascii_case(name));
            let category =
                category.ok_or_else(|| Error::quoting("ERR Unknown category '", name, "'"))?;
            let entries = session.engine.catalog.entries().iter();
            let members = entries.filter(|entry| categories(entry).contains(category));
            members.map(|entry| entry.full_name.as_str()).collect()
        }
        _ => return Err(Error::arity("acl|cat")),
    };
    let mut reply = session.connection.reply();
    reply.array(names.len());
    names.iter().for_each(|name| reply.bulk(name.as_bytes()));
    DONE
}

fn users(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    let mut reply = session.reply();
    reply.array(1);
    reply.bulk(b"default");
    DONE
}

fn who_am_i(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    let user = session.connection.info.text().user.clone();
    session.reply().bulk(user.as_bytes());
    DONE
}
