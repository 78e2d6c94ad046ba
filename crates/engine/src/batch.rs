//! A batch: up to 32 commands, of one connection or of several that are ready together.
//!
//! Three passes hide the cache misses of a large keyspace: parse and hash (asking for the slots'
//! lines), ask for the buckets, ask for the records; then the commands run in order. What must stay
//! true: bytes count as executed only when their command has run, so a connection that is set aside
//! in the middle loses nothing.

use crate::catalog::{Entry, RunsScript};
use crate::connection::{Close, Connection};
use crate::engine::Engine;
use crate::execute::Progress;
use crate::transaction::Queue;
use crate::worker::{Token, Worker};
use caudal_commands::{Args, OwnedArgs};
use caudal_keyspace::Held;
use caudal_table::KeyHash;
use caudal_wire::{Parser, ProtocolError, Span, Step};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Commands parsed ahead: the processor keeps some ten to twenty cache misses in flight.
const BATCH_COMMANDS_MAX: usize = 32;

/// A connection in a batch, taken out of its worker, and its input.
struct Member {
    token: Token,
    connection: Box<Connection>,
    input: Vec<u8>,
    /// Offset behind the last parsed command or empty line. executed <= parsed <= input.len()
    parsed: usize,
    /// Offset behind the last executed command.
    executed: usize,
    /// Whether the parser stopped for want of bytes.
    is_incomplete: bool,
    /// False once the rest of its commands must not run in this batch.
    goes_on: bool,
}

/// A parsed command.
struct Parsed {
    member: usize,
    /// Of the batch's spans.
    spans: Range<usize>,
    /// Offset in the member's input where the command begins; its spans count from there.
    start: usize,
    /// Offset in the member's input behind the command.
    end: usize,
    /// An inline command's words, which may have been quoted.
    inline: Option<Box<OwnedArgs>>,
    entry: Option<&'static Entry>,
    first_key: Option<(usize, KeyHash)>,
    /// The connection's when the command was parsed: a SELECT before it may change it.
    database: u8,
}

/// What a worker reuses from batch to batch.
#[derive(Default)]
pub(crate) struct Batch {
    members: Vec<Member>,
    commands: Vec<Parsed>,
    spans: Vec<Span>,
}

impl Worker {
    /// Runs one batch. Returns how many commands ran.
    pub(crate) fn run_batch(&mut self, engine: &Engine) -> usize {
        let mut batch = std::mem::take(&mut self.batch);
        while batch.commands.len() < BATCH_COMMANDS_MAX {
            let Some(token) = self.next_ready() else { break };
            let Some(connection) = self.connections[token].take() else { continue };
            let before = batch.commands.len();
            if self.parse(engine, &mut batch, token, connection) {
                self.leave_alone(&mut batch, before);
                break;
            }
        }
        prefetch(engine, &batch);
        let executed = self.execute_batch(engine, &mut batch);
        if self.has_token {
            self.give_token_back();
        }
        self.remove_stale(engine);
        self.broadcast_changes();
        for member in batch.members.drain(..) {
            self.put_back(member);
        }
        batch.commands.clear();
        batch.spans.clear();
        self.batch = batch;
        executed
    }

    /// A connection that runs a script has its batch for itself: if the script runs too long, the
    /// others must be at hand to be told so. One that is not the first begins the next batch.
    #[cold]
    fn leave_alone(&mut self, batch: &mut Batch, before: usize) {
        if batch.members.len() == 1 {
            return;
        }
        let member = batch.members.pop().expect("it was just added");
        batch.commands.truncate(before);
        let spans = batch.commands.last().map_or(0, |last| last.spans.end);
        batch.spans.truncate(spans);
        let (token, executed) = (member.token, member.connection.input_start);
        self.put_back(Member { executed, ..member });
        self.mark_ready_first(token);
    }

    /// What a turn does for other connections in the middle of a script that runs too long: those
    /// commands that may be said now, and BUSY to all others.
    pub fn run_aside(&mut self) {
        debug_assert!(self.is_busy, "inside of an interlude");
        let engine = Arc::clone(&self.engine);
        let mut batch = Batch::default();
        while batch.commands.len() < BATCH_COMMANDS_MAX {
            let Some(token) = self.next_ready() else { break };
            let Some(connection) = self.connections[token].take() else { continue };
            self.parse(&engine, &mut batch, token, connection);
        }
        self.execute_batch(&engine, &mut batch);
        for member in batch.members.drain(..) {
            self.put_back(member);
        }
    }

    /// First pass: parses what a connection sent, up to the batch's size. True: one of these
    /// commands runs a script.
    fn parse(
        &mut self,
        engine: &Engine,
        batch: &mut Batch,
        token: Token,
        mut connection: Box<Connection>,
    ) -> bool {
        let limits = self.tuning.parser_limits(self.is_authenticated(&connection));
        let input = std::mem::take(&mut connection.input);
        let (number, mut at) = (batch.members.len(), connection.input_start);
        let room = BATCH_COMMANDS_MAX - batch.commands.len();
        let mut left = if connection.can_execute() { room } else { 0 };
        let (mut goes_on, mut is_incomplete, mut runs_script) = (true, false, false);
        while left > 0 && at < input.len() {
            let first_span = batch.spans.len();
            let step = connection.parser.next(&input[at..], &limits, &mut batch.spans);
            let (consumed, inline) = match step {
                Ok(Step::Command { consumed }) => (consumed, None),
                Ok(Step::Inline { consumed, words }) => (consumed, Some(Box::new(owned(&words)))),
                Ok(Step::Empty { consumed }) => {
                    at += consumed;
                    continue;
                }
                Ok(Step::Incomplete { .. }) => {
                    is_incomplete = true;
                    break;
                }
                Err(error) => {
                    // What came before it runs first: it is met again when all that is done.
                    goes_on = batch.commands.last().is_some_and(|last| last.member == number);
                    if !goes_on {
                        self.refuse_input(&mut connection, error);
                    }
                    break;
                }
            };
            let (spans, database) = (first_span..batch.spans.len(), connection.database);
            let (entry, first_key) = match &inline {
                None => {
                    let args = Args::new(&input[at..], &batch.spans[spans.clone()]);
                    look_up_again(engine, database, args, batch.commands.last())
                }
                Some(inline) => look_up(engine, database, inline.view()),
            };
            runs_script |= entry.is_some_and(|entry| match entry.runs_script {
                RunsScript::Never => false,
                RunsScript::Always => true,
                RunsScript::IfQueued => connection.queue.as_deref().is_some_and(Queue::reaches),
            });
            let (member, start, end) = (number, at, at + consumed);
            let parsed = Parsed { member, spans, start, end, inline, entry, first_key, database };
            batch.commands.push(parsed);
            at = end;
            left -= 1;
        }
        let executed = match batch.commands.last() {
            Some(parsed) if parsed.member == number => connection.input_start,
            _ => at,
        };
        batch.members.push(Member {
            token,
            connection,
            input,
            parsed: at,
            executed,
            is_incomplete,
            goes_on,
        });
        runs_script
    }

    /// Says what is wrong with bytes that are no request, and ends the connection.
    fn refuse_input(&self, connection: &mut Connection, error: ProtocolError) {
        let text = error.reply_text();
        self.shared().stats.count_error(&text);
        connection.reply().error_bytes(&text);
        connection.close = Close::AfterFlush;
    }

    /// Last pass: runs the commands in order.
    fn execute_batch(&mut self, engine: &Engine, batch: &mut Batch) -> usize {
        let Batch { members, commands, spans } = batch;
        let mut held = Held::none();
        let mut executed = 0;
        let mut clock = (engine.environment.nanos)();
        for parsed in commands.iter() {
            let Member { connection, input, executed: done, goes_on, .. } =
                &mut members[parsed.member];
            if !*goes_on {
                continue;
            }
            let args = match &parsed.inline {
                Some(inline) => inline.view(),
                None => Args::new(&input[parsed.start..], &spans[parsed.spans.clone()]),
            };
            let request = Request { entry: parsed.entry, args, first_key: parsed.first_key };
            let progress = self.dispatch(engine, &mut held, connection, request, &mut clock);
            if connection.listens {
                Worker::forget_caching(connection, args);
                self.catch_up_after_command(connection);
            }
            match progress {
                Progress::Done => {
                    *done = parsed.end;
                    executed += 1;
                    *goes_on = connection.can_execute();
                }
                Progress::Waits => {
                    *done = parsed.end;
                    *goes_on = false;
                }
                Progress::RunsAgain => *goes_on = false,
            }
        }
        executed
    }

    fn put_back(&mut self, member: Member) {
        let Member { token, mut connection, mut input, parsed, executed, is_incomplete, .. } =
            member;
        let progressed = executed > connection.input_start;
        if executed < parsed {
            // The parser's memory of a command in pieces belongs to where it stopped.
            connection.parser = Parser::default();
        }
        connection.input_start = executed;
        if executed == input.len() {
            input.clear();
            connection.input_start = 0;
            self.give_buffer(input);
        } else {
            connection.input = input;
        }
        let info = &connection.info;
        info.input.store(connection.input_bytes() as u64, Relaxed);
        info.output.store(connection.output.bytes() as u64, Relaxed);
        self.check_output_limit(&mut connection);
        let waits_for_bytes = is_incomplete && executed == parsed;
        let goes_on = connection.can_execute() && connection.input_bytes() > 0;
        self.connections[token] = Some(connection);
        self.mark_outgoing(token);
        if goes_on && progressed && !waits_for_bytes {
            self.mark_ready(token);
        }
    }
}

/// A command that is to run.
#[derive(Clone, Copy)]
pub(crate) struct Request<'a> {
    pub(crate) entry: Option<&'static Entry>,
    pub(crate) args: Args<'a>,
    pub(crate) first_key: Option<(usize, KeyHash)>,
}

/// What [`look_up`] finds.
type Found = (Option<&'static Entry>, Option<(usize, KeyHash)>);

/// Finds the command, which is often the same as the one before it, and hashes its first key.
#[inline(always)]
fn look_up_again(engine: &Engine, database: u8, args: Args<'_>, before: Option<&Parsed>) -> Found {
    match before.and_then(|parsed| parsed.entry) {
        Some(entry) if entry.has_name(args.at(0)) => hash_key(engine, database, args, Some(entry)),
        _ => look_up(engine, database, args),
    }
}

/// Finds the command and hashes its first key, asking for the key's slot.
pub(crate) fn look_up(engine: &Engine, database: u8, args: Args<'_>) -> Found {
    let mut entry = engine.catalog.find(args.at(0));
    if let (Some(container), Some(name)) =
        (entry.filter(|at| !at.subcommands.is_empty()), args.get(1))
    {
        entry = engine.catalog.subcommand(container, name).or(entry);
    }
    hash_key(engine, database, args, entry)
}

#[inline(always)]
fn hash_key(engine: &Engine, database: u8, args: Args<'_>, entry: Option<&'static Entry>) -> Found {
    let first = entry.and_then(|entry| entry.first_key);
    let first_key = first.filter(|at| *at < args.len()).map(|at| {
        let hash = engine.keyspace.hash(args.at(at));
        engine.keyspace.prefetch_slot(database, hash);
        (at, hash)
    });
    (entry, first_key)
}

/// Second and third pass: asks for the buckets of all keys, then for the records.
#[inline(always)]
fn prefetch(engine: &Engine, batch: &Batch) {
    /// A single command gains nothing from looking ahead.
    const WORTHWHILE: usize = 2;
    if batch.commands.len() < WORTHWHILE {
        return;
    }
    let pin = caudal_table::pin();
    let keys = || {
        let hashed = |parsed: &Parsed| Some((parsed.database, parsed.first_key?.1));
        batch.commands.iter().filter_map(hashed)
    };
    keys().for_each(|(database, hash)| engine.keyspace.prefetch_bucket(database, hash, &pin));
    keys().for_each(|(database, hash)| engine.keyspace.prefetch_record(database, hash, &pin));
}

/// An inline command's words, copied out of the line.
fn owned(words: &[Vec<u8>]) -> OwnedArgs {
    let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    OwnedArgs::of(&words)
}
