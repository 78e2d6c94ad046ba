//! INFO: the server's state as lines of text, by section.
//!
//! What must stay true: every field says what is so. A field that exporters read and that belongs
//! to something Caudal has not got is there only if its value (off, none, zero) is the truth.

mod commands;
mod load;
mod memory;
mod server;

use crate::session::{Outcome, Session, SessionCommand};
use caudal_commands::{Args, Group, Spec};
use std::fmt::Write;

pub(super) use commands::latencies;
pub(super) use memory::client_bytes;

const INFO: Spec = Spec::new("INFO", "Describes the server: all of it, or some sections.")
    .syntax("[section...]")
    .group(Group::Server)
    .arity(-1)
    .loading_stale()
    .categories(&["dangerous"])
    .tips(&["nondeterministic_output", "request_policy:all_shards", "response_policy:special"]);

/// The family.
pub(super) const COMMANDS: &[SessionCommand] = &[SessionCommand::new(INFO, info)];

/// The text so far.
struct Text(String);

impl Text {
    /// Adds a field.
    fn field(&mut self, name: &str, value: impl std::fmt::Display) {
        // Writing to a string does not fail.
        let _ = write!(self.0, "{name}:{value}\r\n");
    }

    /// Adds fields that count what does not happen here.
    fn zeros(&mut self, names: &[&str]) {
        names.iter().for_each(|name| self.field(name, 0));
    }
}

/// A section: its headline, and what writes its fields.
struct Section {
    title: &'static str,
    /// Whether INFO without arguments shows it.
    is_default: bool,
    write: fn(&mut Session<'_, '_>, &mut Text),
}

const fn section(title: &'static str, write: fn(&mut Session<'_, '_>, &mut Text)) -> Section {
    Section { title, is_default: true, write }
}

const fn on_request(title: &'static str, write: fn(&mut Session<'_, '_>, &mut Text)) -> Section {
    Section { title, is_default: false, write }
}

/// In Valkey's order.
const SECTIONS: [Section; 15] = [
    section("Server", server::server),
    on_request("TLS", server::tls),
    section("Clients", load::clients),
    section("Memory", memory::memory),
    section("Persistence", server::persistence),
    section("Stats", load::stats),
    section("Replication", server::replication),
    section("CPU", server::cpu),
    section("Modules", |_, _| ()),
    on_request("Commandstats", commands::command_stats),
    section("Errorstats", commands::error_stats),
    on_request("Latencystats", commands::latency_stats),
    section("Cluster", |_, text| text.field("cluster_enabled", 0)),
    on_request("Cluster Info", |_, _| ()),
    section("Keyspace", load::keyspace),
];

fn info(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let asked = |name: &str| (1..args.len()).any(|at| args.is(at, name));
    let all = asked("all") || asked("everything");
    let default = args.len() == 1 || asked("default");
    let mut text = Text(String::with_capacity(8192));
    for Section { title, is_default, write: section } in SECTIONS {
        if !(all || default && is_default || asked(title)) {
            continue;
        }
        if !text.0.is_empty() {
            text.0.push_str("\r\n");
        }
        let _ = write!(text.0, "# {title}\r\n");
        section(session, &mut text);
    }
    session.reply_text(&text.0)
}
