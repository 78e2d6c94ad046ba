//! MONITOR: a connection that gets every command that runs, as a line of text.

use crate::books::is_secret;
use crate::connection::{Connection, Peer};
use crate::engine::Engine;
use crate::execute::Progress;
use crate::pubsub::Post;
use crate::session::{Outcome, Session, SessionCommand, on_server};
use crate::worker::Worker;
use caudal_commands::{Args, Error, Flags, Spec};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

const MONITOR: Spec =
    on_server("MONITOR", "Shows this connection every command that the server runs.");

/// The family.
pub(super) const COMMANDS: &[SessionCommand] = &[SessionCommand::new(MONITOR, monitor)];

fn monitor(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    let Session { engine, worker, connection, .. } = session;
    if worker.in_transaction {
        return Err(Error::text("ERR MONITOR isn't allowed for DENY BLOCKING client"));
    }
    if connection.is_monitor {
        // It has been answered; only lines follow.
        return Ok(Progress::Done);
    }
    worker.begin_monitoring(engine, connection);
    session.reply_ok()
}

/// Who runs a command that monitors are shown.
#[derive(Clone, Copy)]
pub(crate) enum Caller<'a> {
    /// A connection itself.
    Client(&'a Peer),
    /// A script.
    Script,
}

impl Worker {
    fn begin_monitoring(&mut self, engine: &Engine, connection: &mut Connection) {
        // What was posted before is no news to it.
        self.inbox.take(engine.workers[self.id].mailbox.postbox());
        self.catch_up(connection);
        self.audience.monitors.push(connection.token);
        engine.pubsub.monitors[self.id].fetch_add(1, Relaxed);
        engine.pubsub.monitored.fetch_add(1, Relaxed);
        connection.is_monitor = true;
        connection.info.is_monitor.store(true, Relaxed);
        connection.listens = true;
    }

    /// The connection gets no more lines.
    pub(crate) fn end_monitoring(&mut self, connection: &mut Connection) {
        if !std::mem::take(&mut connection.is_monitor) {
            return;
        }
        self.audience.monitors.retain(|token| *token != connection.token);
        self.engine.pubsub.monitors[self.id].fetch_sub(1, Relaxed);
        self.engine.pubsub.monitored.fetch_sub(1, Relaxed);
        connection.info.is_monitor.store(false, Relaxed);
        connection.settle_listening();
    }

    /// Shows a command to all monitors: when it ran, and one that runs a script before that. Inside
    /// of something that may be undone its end is waited for.
    #[cold]
    pub(crate) fn show_to_monitors(
        &self,
        (spec, args): (&Spec, Args<'_>),
        database: u8,
        caller: Caller<'_>,
    ) {
        if spec.flags.has(Flags::ADMIN) {
            return;
        }
        let line: Arc<[u8]> = self.line(spec, args, database, caller).into();
        if self.effects.news.is_holding() {
            self.monitor_lines.borrow_mut().push(line);
        } else {
            self.post_to_monitors(&line);
        }
    }

    /// What was held is shown, unless it was undone.
    pub(crate) fn settle_monitor_lines(&self, stays: bool) {
        let lines = self.monitor_lines.take();
        lines.iter().filter(|_| stays).for_each(|line| self.post_to_monitors(line));
    }

    fn post_to_monitors(&self, line: &Arc<[u8]>) {
        for (worker, monitors) in self.engine.pubsub.monitors.iter().enumerate() {
            if monitors.load(Relaxed) > 0 {
                let worker = u16::try_from(worker).expect("few workers");
                self.engine.pubsub.post_to(worker, Post::Monitored(Arc::clone(line)));
            }
        }
    }

    /// `+1700000000.123456 [0 127.0.0.1:5000] "SET" "k" "v"`
    fn line(&self, spec: &Spec, args: Args<'_>, database: u8, caller: Caller<'_>) -> Vec<u8> {
        let (seconds, millis) = (self.now.unix_ms / 1000, self.now.unix_ms % 1000);
        let micros = millis * 1000 + u64::from(self.now.unix_us_rest);
        let mut line = Vec::with_capacity(64 + args.extent());
        let begun = match caller {
            Caller::Client(Peer { address, unix: false, .. }) => {
                write!(line, "+{seconds}.{micros:06} [{database} {address}]")
            }
            Caller::Client(Peer { address, .. }) => {
                let path = address.strip_suffix(":0").unwrap_or(address);
                write!(line, "+{seconds}.{micros:06} [{database} unix:{path}]")
            }
            Caller::Script => write!(line, "+{seconds}.{micros:06} [{database} lua]"),
        };
        begun.expect("a vector takes everything");
        for (index, word) in args.from(0).enumerate() {
            line.push(b' ');
            if is_secret(spec, args, index) {
                line.extend_from_slice(b"\"(redacted)\"");
            } else {
                caudal_text::words::quote(word, &mut line);
            }
        }
        line.extend_from_slice(b"\r\n");
        line
    }
}
