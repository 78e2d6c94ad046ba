//! The store as a running script sees it: which commands it may call, how they run, and what it is
//! told when it runs too long.

use super::run::Permissions;
use super::running;
use crate::acl::{Databases, Scene};
use crate::atomic::{Atomic, Stop, Trouble};
use crate::batch::command_of;
use crate::catalog::{Catalog, Entry};
use crate::config;
use crate::dispatch::FEW_REPLICAS;
use crate::mail::Mail;
use crate::session::Caller;
use crate::stats;
use caudal_commands::{Args, Error, Flags};
use caudal_keyspace::{Busy, Place};
use caudal_script::{AclError, LogLevel};
use caudal_wire::{Output, Protocol, Reply};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

const UNKNOWN: Error = Error::text("ERR Unknown command called from script");
const ARITY: Error = Error::text("ERR Wrong number of args calling command from script");
const REFUSED: Error = Error::text("ERR This Valkey command is not allowed from script");
const READ_ONLY: Error = Error::text("ERR Write commands are not allowed from read-only scripts.");
const MEMORY: Error = Error::text("OOM command not allowed when used memory > 'maxmemory'.");

/// A script's hold on the store.
pub(super) struct Host<'h, 'a, 'k> {
    run: &'h mut Atomic<'a, 'k>,
    permissions: Permissions,
    /// The command that runs the script.
    args: Args<'h>,
    /// The name of the function, if it is one.
    function: Option<&'h [u8]>,
    /// Whether it has called a command that writes.
    wrote: bool,
    /// When the last command ended.
    clock: u64,
    /// Its entry in the table of long scripts, once it has one.
    entry: Option<Arc<running::Entry>>,
    /// Whether others are told BUSY.
    is_busy: bool,
}

impl<'h, 'a, 'k> Host<'h, 'a, 'k> {
    pub(super) fn new(
        run: &'h mut Atomic<'a, 'k>,
        permissions: Permissions,
        args: Args<'h>,
        function: Option<&'h [u8]>,
    ) -> Self {
        let clock = (run.engine.environment.nanos)();
        let (wrote, entry, is_busy) = (false, None, false);
        Host { run, permissions, args, function, wrote, clock, entry, is_busy }
    }

    /// The command that a script calls, if it may.
    fn admit(&mut self, args: Args<'_>) -> Result<&'static Entry, Error> {
        let entry = command_of(self.run.engine, args).ok_or(UNKNOWN)?;
        self.check(entry, args).inspect_err(|_| {
            let stats = &self.run.engine.workers[self.run.worker.id].stats;
            stats::add(&stats.commands[usize::from(entry.id)].rejected, 1);
        })?;
        Ok(entry)
    }

    /// Whether a script may call a command here and now.
    fn check(&mut self, entry: &Entry, args: Args<'_>) -> Result<(), Error> {
        let is_container = !entry.subcommands.is_empty();
        if is_container && args.len() > 1 {
            return Err(crate::dispatch::unknown_subcommand(entry, args));
        }
        if !entry.spec.accepts(args.len()) || is_container {
            return Err(ARITY);
        }
        let flags = entry.spec.flags;
        let Atomic { engine, worker, connection, .. } = &mut *self.run;
        let may_debug = || entry.spec.name == "DEBUG" && engine.scripts_may_debug.load(Relaxed);
        if flags.has(Flags::NOSCRIPT) && !may_debug() {
            return Err(REFUSED);
        }
        worker.check_access(connection, (entry, args), Scene::Script).map_err(|denial| {
            let text = denial.text(&connection.user.name, entry, args, false);
            Error::quoting("ERR ACL failure in script: ", &text, "")
        })?;
        if self.permissions.read_only && Catalog::may_replicate(entry) {
            return Err(READ_ONLY);
        }
        let over = worker.over_memory && !self.permissions.allow_oom && !self.wrote;
        if over && flags.has(Flags::DENYOOM) {
            return Err(MEMORY);
        }
        if worker.lacks_replicas() && Catalog::is_write(entry) && !self.wrote {
            return Err(FEW_REPLICAS);
        }
        Ok(())
    }

    /// Runs a command, its reply written to `output` in `protocol`.
    fn run(
        &mut self,
        entry: &'static Entry,
        args: Args<'_>,
        protocol: Protocol,
        output: &mut Output,
    ) -> Result<(), Stop> {
        let connection = &mut *self.run.connection;
        std::mem::swap(&mut connection.output, output);
        let spoken = std::mem::replace(&mut connection.protocol, protocol);
        let outcome = self.run.call(entry, args);
        let connection = &mut *self.run.connection;
        connection.protocol = spoken;
        std::mem::swap(&mut connection.output, output);
        outcome
    }

    /// Counts a command that ran.
    fn account(&mut self, entry: &Entry, args: Args<'_>, failed: bool) {
        let engine = self.run.engine;
        let now = (engine.environment.nanos)();
        let duration = now.saturating_sub(std::mem::replace(&mut self.clock, now));
        let stats = &engine.workers[self.run.worker.id].stats;
        stats::add(&stats.commands_processed, 1);
        let command = &stats.commands[usize::from(entry.id)];
        stats::add(&command.calls, 1);
        stats::add(&command.duration_ns, duration);
        stats::add(&command.failed, u64::from(failed));
        if engine.pubsub.monitored.load(Relaxed) != 0 {
            let database = self.run.connection.database;
            self.run.worker.show_to_monitors((&entry.spec, args), database, Caller::Script);
        }
    }

    fn refuse(&self, error: &Error, protocol: Protocol, output: &mut Output) {
        self.run.engine.workers[self.run.worker.id].stats.count_error(&error.0);
        Reply::new(output, protocol).error_bytes(&error.0);
    }

    /// The process ends: what the script has done is taken back, where it can be.
    fn leave(&mut self) -> caudal_script::Stop {
        if !self.run.held.has_undo() {
            return caudal_script::Stop::Killed;
        }
        let anywhere = Place { database: self.run.connection.database, slot: 0 };
        self.run.worker.trouble = Some(Trouble::Busy(Busy(anywhere)));
        caudal_script::Stop::RunsAgain
    }

    /// Enters the table of long scripts.
    fn publish(&mut self, now: u64) -> Arc<running::Entry> {
        let words = self.args.from(0).map(Box::from).collect();
        let entry = Arc::new(running::Entry::new(self.function, words, now, self.wrote));
        self.run.engine.running.add(&entry);
        self.entry = Some(Arc::clone(&entry));
        entry
    }
}

impl Drop for Host<'_, '_, '_> {
    /// The script has ended, whatever ended it.
    fn drop(&mut self) {
        if let Some(entry) = &self.entry {
            self.run.engine.running.remove(entry, self.is_busy);
        }
    }
}

impl caudal_script::Host for Host<'_, '_, '_> {
    fn call(
        &mut self,
        args: Args<'_>,
        protocol: Protocol,
        output: &mut Output,
    ) -> Result<(), caudal_script::Stop> {
        let entry = match self.admit(args) {
            Ok(entry) => entry,
            Err(error) => {
                self.refuse(&error, protocol, output);
                return Ok(());
            }
        };
        if Catalog::is_write(entry) {
            if self.entry.as_ref().is_some_and(|entry| !entry.may_write()) {
                return Err(caudal_script::Stop::Killed);
            }
            self.wrote = true;
        }
        let error = match self.run(entry, args, protocol, output) {
            Ok(()) => None,
            Err(Stop::Error(error)) => Some(error),
            Err(Stop::Again) => return Err(caudal_script::Stop::RunsAgain),
        };
        self.account(entry, args, error.is_some());
        if let Some(error) = error {
            self.refuse(&error, protocol, output);
        }
        Ok(())
    }

    fn log(&mut self, level: LogLevel, text: &[u8]) {
        let level = match level {
            LogLevel::Debug => config::LogLevel::Debug,
            LogLevel::Verbose => config::LogLevel::Verbose,
            LogLevel::Notice => config::LogLevel::Notice,
            LogLevel::Warning => config::LogLevel::Warning,
        };
        self.run.engine.environment.log.write(level, &String::from_utf8_lossy(text));
    }

    fn may_call(&mut self, args: Args<'_>) -> Result<bool, AclError> {
        let connection = &*self.run.connection;
        let entry = command_of(self.run.engine, args).ok_or(AclError)?;
        let count = self.run.engine.keyspace.databases();
        let databases = Databases { own: connection.database, count };
        Ok(connection.user.check(entry, args, databases).is_ok())
    }

    fn poll(&mut self) -> Option<caudal_script::Stop> {
        let engine = self.run.engine;
        let now = (engine.environment.nanos)();
        let entry = match &self.entry {
            Some(entry) => Arc::clone(entry),
            None => self.publish(now),
        };
        if entry.is_killed() {
            return Some(caudal_script::Stop::Killed);
        }
        if engine.running.is_ending() {
            return Some(self.leave());
        }
        let threshold_ms = self.run.worker.tuning.config.process.busy_reply_millis;
        let threshold_ns = threshold_ms.saturating_mul(1_000_000);
        if now.saturating_sub(entry.started_ns) < threshold_ns {
            return None;
        }
        if !std::mem::replace(&mut self.is_busy, true) {
            engine.running.became_busy(&entry);
            engine.broadcast(|| Mail::Busy);
        }
        self.run.worker.look_aside();
        entry.is_killed().then_some(caudal_script::Stop::Killed)
    }
}
