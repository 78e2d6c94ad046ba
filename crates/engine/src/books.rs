//! The books: what each command has cost, and which ones are remembered by themselves.
//!
//! After every command. What must stay true: a command is counted once, when it has run; words that
//! are secret are never shown.

use crate::catalog::Entry;
use crate::clients::ClientInfo;
use crate::command_log::{self, Cause};
use crate::connection::{Connection, State};
use crate::engine::Engine;
use crate::execute::Progress;
use crate::hot_keys::Spent;
use crate::session::Caller;
use crate::stats::{self, Stats};
use crate::tuning::Tuning;
use crate::worker::Worker;
use caudal_commands::{Args, Flags, Spec};
use std::sync::atomic::Ordering::Relaxed;

/// A command that has been given its turn.
#[derive(Clone, Copy)]
pub(crate) struct Ran<'a> {
    pub(crate) entry: &'static Entry,
    pub(crate) args: Args<'a>,
    pub(crate) progress: Progress,
    pub(crate) failed: bool,
    /// Bytes of replies that were unsent before it.
    pub(crate) unsent: usize,
}

/// What a command that ran has cost.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) duration_ns: u64,
    /// Bytes of its reply.
    pub(crate) replied: u64,
    pub(crate) failed: bool,
}

/// A worker's books, open.
#[derive(Clone, Copy)]
pub(crate) struct Books<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) worker: usize,
    pub(crate) stats: &'a Stats,
    pub(crate) tuning: &'a Tuning,
    pub(crate) unix_ms: u64,
}

impl Worker {
    /// Enters a command that was given its turn, and shows it to monitors; one that waits is
    /// entered when that is over. `clock` is the time at which the command before it ended, and
    /// becomes the time at which this one did.
    #[inline(always)]
    pub(crate) fn account(&self, connection: &mut Connection, ran: Ran<'_>, clock: &mut u64) {
        let nanos = (self.engine.environment.nanos)();
        let duration_ns = nanos.saturating_sub(std::mem::replace(clock, nanos));
        if ran.progress == Progress::RunsAgain {
            return;
        }
        if self.engine.pubsub.monitored.load(Relaxed) != 0
            && !ran.entry.spec.flags.has(Flags::SKIP_MONITOR)
        {
            self.show_to_monitors(
                (&ran.entry.spec, ran.args),
                connection.database,
                Caller::Client(&connection.info.peer),
            );
        }
        if let State::Waiting(waiting) = &mut connection.state {
            waiting.spent_ns = duration_ns;
            return;
        }
        self.enter_books(connection, ran, duration_ns);
    }

    /// Enters a command that is over.
    #[inline(always)]
    pub(crate) fn enter_books(&self, connection: &Connection, ran: Ran<'_>, duration_ns: u64) {
        let books = Books {
            engine: &self.engine,
            worker: self.id,
            stats: &self.shared().stats,
            tuning: &self.tuning,
            unix_ms: self.now.unix_ms,
        };
        books.count(&connection.info, 1);
        let replied = connection.output.bytes().saturating_sub(ran.unsent) as u64;
        let cost = Cost { duration_ns, replied, failed: ran.failed };
        books.enter(&connection.info, ran.entry, ran.args, cost);
    }
}

impl Books<'_> {
    /// Counts a client's commands.
    #[inline(always)]
    pub(crate) fn count(&self, client: &ClientInfo, commands: u64) {
        stats::add(&self.stats.commands_processed, commands);
        stats::add(&client.commands, commands);
    }

    /// Enters a command's cost, and remembers it if it was slow or large.
    #[inline(always)]
    pub(crate) fn enter(
        &self,
        client: &ClientInfo,
        entry: &'static Entry,
        args: Args<'_>,
        cost: Cost,
    ) {
        let command = &self.stats.commands[usize::from(entry.id)];
        stats::add(&command.calls, 1);
        stats::add(&command.duration_ns, cost.duration_ns);
        if self.tuning.tracks_latency {
            command.latencies().record(cost.duration_ns);
        }
        if cost.failed {
            stats::add(&command.failed, 1);
        }
        let thresholds = &self.tuning.thresholds;
        if cost.duration_ns >= thresholds.duration_ns
            || args.extent() as u64 >= thresholds.request_bytes
            || cost.replied >= thresholds.reply_bytes
        {
            self.remember(client, entry, args, cost);
        }
    }

    /// Logs a command that passed a threshold, and counts what it cost its keys.
    #[cold]
    fn remember(&self, client: &ClientInfo, entry: &Entry, args: Args<'_>, cost: Cost) {
        if let Some(search) = &self.tuning.hot_keys {
            let bytes = args.extent() as u64 + cost.replied;
            let spent = Spent { nanos: cost.duration_ns, bytes };
            search.count(self.engine, (self.worker, self.unix_ms), (entry, args), spent);
        }
        let (thresholds, log) = (&self.tuning.thresholds, &self.tuning.config.log);
        let (at, duration_ns) = (self.unix_ms / 1000, cost.duration_ns);
        if duration_ns >= thresholds.latency_ns {
            let fast = entry.spec.flags.has(Flags::FAST);
            let event = if fast { "fast-command" } else { "command" };
            self.engine.latency.add(event, at, duration_ns / 1_000_000);
        }
        if entry.spec.flags.has(Flags::SKIP_SLOWLOG) {
            return;
        }
        let requested = args.extent() as u64;
        let passed = [
            (Cause::Slow, log.slow, duration_ns >= thresholds.slow_ns, duration_ns / 1000),
            (
                Cause::LargeRequest,
                log.large_requests,
                requested >= thresholds.request_bytes,
                requested,
            ),
            (
                Cause::LargeReply,
                log.large_replies,
                cost.replied >= thresholds.reply_bytes,
                cost.replied,
            ),
        ];
        for (cause, setting, _, cost) in passed.into_iter().filter(|(_, _, passed, _)| *passed) {
            self.engine.command_logs.add(cause, setting, |id| command_log::Entry {
                id,
                at,
                cost,
                words: command_log::cut(args, |at| is_secret(&entry.spec, args, at)),
                address: client.peer.address.clone(),
                name: client.text().name.clone(),
            });
        }
    }
}

/// Whether the word at `index` must not be shown to others.
pub(crate) fn is_secret(spec: &Spec, args: Args<'_>, index: usize) -> bool {
    match (spec.parent, spec.name) {
        (None, "AUTH") => index > 0,
        (Some("ACL"), "SETUSER") => index > 1,
        (None, "HELLO") => (1..=2).any(|back| index > back && args.is(index - back, "AUTH")),
        (None, "MIGRATE") => {
            let behind =
                |word, most| (1..=most).any(|back| index > back + 5 && args.is(index - back, word));
            behind("AUTH", 1) || behind("AUTH2", 2)
        }
        (Some("CONFIG"), "SET") => {
            let secrets = [
                "requirepass",
                "masterauth",
                "primaryauth",
                "masteruser",
                "primaryuser",
                "tls-key-file-pass",
                "tls-client-key-file-pass",
            ];
            index > 2 && index % 2 == 1 && secrets.iter().any(|name| args.is(index - 1, name))
        }
        _ => false,
    }
}
