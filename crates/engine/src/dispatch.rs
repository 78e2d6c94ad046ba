//! May a command run, and how: the checks that come before every command, in Valkey's order.

use crate::batch::Request;
use crate::books::Ran;
use crate::catalog::{Catalog, Entry, Handler};
use crate::connection::{Connection, ReplyMode, State};
use crate::engine::Engine;
use crate::execute::{Call, Progress};
use crate::session::Session;
use crate::stats;
use crate::worker::Worker;
use caudal_commands::{Args, Error, Flags};
use caudal_keyspace::Held;
use caudal_wire::{Output, Protocol};
use std::sync::atomic::Ordering::Relaxed;

const DEBUG_REFUSED: &str = "ERR DEBUG command not allowed. If the enable-debug-command option is \
    set to \"local\", you can run it from a local connection, otherwise you need to set this \
    option in the configuration file, and then restart the server.";

const OOM: Error = Error::text("OOM command not allowed when used memory > 'maxmemory'.");
/// What writes are told while there are fewer replicas than `min-replicas-to-write`.
pub(crate) const FEW_REPLICAS: Error = Error::text("NOREPLICAS Not enough good replicas to write.");

/// Words of an unknown command that its error shows, together at most this long.
const UNKNOWN_ARGS_BYTES_MAX: usize = 128;

impl Worker {
    /// Runs one command of a connection, or says why it cannot run now. `clock` is the time at
    /// which the command before it ended, and becomes the time at which this one did.
    pub(crate) fn dispatch<'k>(
        &mut self,
        engine: &'k Engine,
        held: &mut Held<'k>,
        connection: &mut Connection,
        request: Request<'_>,
        clock: &mut u64,
    ) -> Progress {
        if connection.reply_mode != ReplyMode::On {
            return self.dispatch_muted(engine, held, connection, request, clock);
        }
        let entry = match self.admit(connection, request) {
            Ok(entry) => entry,
            Err(error) => {
                self.refuse(connection, request.entry, error);
                return Progress::Done;
            }
        };
        if self.must_pause(engine, connection, (entry, request.args)) {
            return Progress::RunsAgain;
        }
        if engine.pubsub.floods.any() && self.makes_messages(connection, entry) {
            connection.state = State::Flooding;
            self.flooding.push(connection.info.id);
            return Progress::RunsAgain;
        }
        connection.info.command.store(entry.id + 1, Relaxed);
        if connection.queue.is_some() && !entry.spec.flags.has(Flags::CONTROLS_MULTI) {
            self.queue(connection, entry, request.args);
            return Progress::Done;
        }
        let unsent = connection.output.bytes();
        let outcome = match entry.handler {
            Handler::Data(apply) if !entry.spec.gate => {
                let call = Call { entry, apply, args: request.args, first_key: request.first_key };
                self.execute(engine, held, connection, call)
            }
            Handler::Data(_) | Handler::Container => Err(unknown_subcommand(entry, request.args)),
            Handler::Session(apply) => {
                held.release();
                apply(&mut Session { engine, worker: self, connection, held }, request.args)
            }
        };
        let failed = outcome.is_err();
        let progress = outcome.unwrap_or_else(|error| {
            self.shared().stats.count_error(&error.0);
            connection.reply().error_bytes(&error.0);
            Progress::Done
        });
        let ran = Ran { entry, args: request.args, progress, failed, unsent };
        self.account(connection, ran, clock);
        progress
    }

    /// CLIENT REPLY OFF and SKIP: the command runs, its reply goes nowhere.
    #[cold]
    fn dispatch_muted<'k>(
        &mut self,
        engine: &'k Engine,
        held: &mut Held<'k>,
        connection: &mut Connection,
        request: Request<'_>,
        clock: &mut u64,
    ) -> Progress {
        let before = std::mem::replace(&mut connection.reply_mode, ReplyMode::On);
        connection.unmuted = Some(Box::new(std::mem::take(&mut connection.output)));
        // CLIENT REPLY sets the mode anew; what is left at `On` was not touched, unless it was
        // said.
        connection.said_reply_mode = false;
        let progress = self.dispatch(engine, held, connection, request, clock);
        if let State::Waiting(waiting) = &mut connection.state {
            waiting.is_muted = true;
        }
        let said = connection.said_reply_mode;
        let unmuted = connection.unmuted.take().map_or_else(Output::default, |output| *output);
        let reply = std::mem::replace(&mut connection.output, unmuted);
        if said && connection.reply_mode == ReplyMode::On {
            connection.output.append(reply);
        } else if !said && before == ReplyMode::Off {
            connection.reply_mode = ReplyMode::Off;
        } else if !said && progress == Progress::RunsAgain {
            connection.reply_mode = before;
        }
        progress
    }

    /// The checks that can refuse a command.
    #[inline(always)]
    fn admit(
        &mut self,
        connection: &mut Connection,
        request: Request<'_>,
    ) -> Result<&'static Entry, Error> {
        if connection.unrestricted_in != self.users.version {
            return self.admit_restricted(connection, request);
        }
        let entry = self.admit_known(connection, request)?;
        self.admit_now(connection, entry)?;
        Ok(entry)
    }

    /// The checks of the command as such.
    #[inline(always)]
    pub(crate) fn admit_known(
        &self,
        connection: &Connection,
        request: Request<'_>,
    ) -> Result<&'static Entry, Error> {
        let Some(entry) = request.entry else { return Err(unknown_command(request.args)) };
        if !entry.subcommands.is_empty() && request.args.len() > 1 {
            return Err(unknown_subcommand(entry, request.args));
        }
        if !entry.spec.accepts(request.args.len()) {
            return Err(Error::arity(&entry.full_name));
        }
        if entry.spec.flags.has(Flags::PROTECTED) && !self.may_debug(connection) {
            return Err(Error::text(DEBUG_REFUSED));
        }
        if connection.queue.is_some() && entry.spec.flags.has(Flags::NO_MULTI) {
            let name = &entry.full_name;
            let text = format!("ERR Command '{name}' not allowed inside a transaction");
            return Err(Error::new(text));
        }
        Ok(entry)
    }

    /// The checks of what the connection and the process are at: of a subscriber, of the memory
    /// that the command may need.
    #[inline(always)]
    pub(crate) fn admit_now(&self, connection: &Connection, entry: &Entry) -> Result<(), Error> {
        if connection.listens {
            may_listener_say(connection, entry)?;
        }
        if self.is_busy
            && !entry.spec.flags.has(Flags::ALLOW_BUSY)
            && let Some(refusal) = self.engine.running.refusal()
        {
            return Err(refusal);
        }
        if self.is_short { self.admit_short(connection, entry) } else { Ok(()) }
    }

    /// The checks where the server lacks something.
    #[cold]
    fn admit_short(&self, connection: &Connection, entry: &Entry) -> Result<(), Error> {
        if self.over_memory && may_grow(connection, entry) {
            return Err(OOM);
        }
        if self.lacks_replicas() && may_write(connection, entry) {
            return Err(FEW_REPLICAS);
        }
        Ok(())
    }

    /// Whether there are fewer replicas than writes need. There are none yet.
    pub(crate) fn lacks_replicas(&self) -> bool {
        let needed = self.tuning.config.replication;
        needed.write_replicas_min > 0 && needed.lag_seconds_max > 0
    }

    #[cold]
    fn refuse(&mut self, connection: &mut Connection, entry: Option<&Entry>, mut error: Error) {
        if entry.is_some_and(|entry| entry.spec.name == "EXEC") {
            self.end_transaction(connection);
            let reason = error.0.strip_prefix(b"ERR ".as_slice()).unwrap_or(&error.0);
            error = Error::quoting("EXECABORT Transaction discarded because of: ", reason, "");
        }
        let stats = &self.shared().stats;
        stats.count_error(&error.0);
        if let Some(entry) = entry {
            stats::add(&stats.commands[usize::from(entry.id)].rejected, 1);
        }
        if let Some(queue) = &mut connection.queue {
            queue.is_broken = true;
        }
        connection.reply().error_bytes(&error.0);
    }

    fn may_debug(&self, connection: &Connection) -> bool {
        let peer = &connection.info.peer;
        self.tuning.config.security.debug_command.includes(peer.loopback || peer.unix)
    }

    /// Whether a command may add to the post of workers: it publishes, or changes what others are
    /// told of.
    #[cold]
    fn makes_messages(&self, connection: &Connection, entry: &Entry) -> bool {
        if entry.spec.name == "EXEC" || connection.queue.is_some() {
            return entry.spec.name == "EXEC";
        }
        let pubsub = &self.engine.pubsub;
        let tells = self.effects.news.is_on() || pubsub.trackers.load(Relaxed) > 0;
        entry.spec.flags.has(Flags::PUBLISHES)
            // A script may do either.
            || entry.spec.reaches
            || (tells && Catalog::is_write(entry))
            || pubsub.monitored.load(Relaxed) > 0
    }

    /// Closes a connection whose unsent replies pass `client-output-buffer-limit`.
    pub(crate) fn check_output_limit(&mut self, connection: &mut Connection) {
        if self.tuning.closes_for_output(connection, self.now.unix_ms) {
            stats::add(&self.shared().stats.output_limit_closed, 1);
        }
    }
}

/// What a subscriber may say in RESP2, where every reply to it reads as a message, and a monitor.
#[cold]
fn may_listener_say(connection: &Connection, entry: &Entry) -> Result<(), Error> {
    let flags = entry.spec.flags;
    if connection.subscriptions.is_some()
        && connection.protocol == Protocol::Resp2
        && !flags.has(Flags::FOR_SUBSCRIBERS)
    {
        return Err(Error::new(format!(
            "ERR Can't execute '{}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET \
             are allowed in this context",
            entry.full_name
        )));
    }
    let is_on_data = flags.has(Flags::WRITE) || flags.has(Flags::READONLY);
    if connection.is_monitor && (is_on_data || flags.has(Flags::PUBLISHES)) {
        return Err(Error::text("ERR Replica can't interact with the keyspace"));
    }
    Ok(())
}

/// Whether a command, or the transaction that it ends, changes data.
fn may_write(connection: &Connection, entry: &Entry) -> bool {
    let queue = connection.queue.as_deref().filter(|_| entry.spec.name == "EXEC");
    Catalog::is_write(entry)
        || queue.is_some_and(|queue| queue.commands().any(|(entry, _)| Catalog::is_write(entry)))
}

/// Whether a command, or the transaction that it ends, may grow memory.
fn may_grow(connection: &Connection, entry: &Entry) -> bool {
    let queued = |queue: &crate::transaction::Queue| queue.may_grow();
    entry.spec.flags.has(Flags::DENYOOM)
        || (entry.spec.name == "EXEC" && connection.queue.as_deref().is_some_and(queued))
}

#[cold]
fn unknown_command(args: Args<'_>) -> Error {
    let mut words = Vec::new();
    for word in args.from(1) {
        if words.len() >= UNKNOWN_ARGS_BYTES_MAX {
            break;
        }
        let shown = &word[..word.len().min(UNKNOWN_ARGS_BYTES_MAX - words.len())];
        words.extend_from_slice(&Error::quoting("'", shown, "' ").0);
    }
    let name = args.at(0);
    let name = &name[..name.len().min(UNKNOWN_ARGS_BYTES_MAX)];
    let text = Error::quoting("ERR unknown command '", name, "', with args beginning with: ");
    Error([&text.0[..], &words].concat().into())
}

#[cold]
pub(crate) fn unknown_subcommand(entry: &Entry, args: Args<'_>) -> Error {
    let word = args.get(1).unwrap_or_default();
    let word = &word[..word.len().min(UNKNOWN_ARGS_BYTES_MAX)];
    let after = format!("'. Try {} HELP.", entry.spec.name);
    Error::quoting("ERR unknown subcommand '", word, &after)
}
