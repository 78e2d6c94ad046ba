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
use crate::plain::Plain;
use crate::transaction::Queue;
use crate::worker::{Token, Worker};
use caudal_commands::{Args, OwnedArgs};
use caudal_keyspace::{Ahead, Held};
use caudal_table::{Bucket, KeyHash};
use caudal_wire::{Head, Parser, ProtocolError, Span, Step};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Commands parsed ahead: the processor keeps some ten to twenty cache misses in flight.
const BATCH_COMMANDS_MAX: usize = 32;

/// A connection in a batch, taken out of its worker, and its input.
pub(crate) struct Member {
    token: Token,
    pub(crate) connection: Box<Connection>,
    pub(crate) input: Vec<u8>,
    /// Offset behind the last parsed command or empty line. executed <= parsed <= input.len()
    parsed: usize,
    /// Offset behind the last executed command.
    pub(crate) executed: usize,
    /// Whether the parser stopped for want of bytes.
    is_incomplete: bool,
    /// False once the rest of its commands must not run in this batch.
    pub(crate) goes_on: bool,
}

/// A parsed command.
pub(crate) struct Parsed {
    member: usize,
    /// Of the batch's spans.
    pub(crate) spans: Range<usize>,
    /// Offset in the member's input where the command begins; its spans count from there.
    pub(crate) start: usize,
    /// Offset in the member's input behind the command.
    pub(crate) end: usize,
    /// An inline command's words, which may have been quoted.
    inline: Option<Box<OwnedArgs>>,
    entry: Option<&'static Entry>,
    first_key: Option<FirstKey>,
    /// The connection's when the command was parsed: a SELECT before it may change it.
    database: u8,
}

impl Parsed {
    /// The command, how it runs and where its key is, if it is this member's and a plain one.
    #[inline(always)]
    pub(crate) fn plain(&self, member: usize) -> Option<(&'static Entry, Plain, FirstKey)> {
        let entry = self.entry.filter(|_| self.member == member && self.inline.is_none())?;
        Some((entry, entry.plain?, self.first_key?))
    }
}

/// A command's first key: its argument and its hash.
pub(crate) type FirstKey = (usize, KeyHash);

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
        let ahead = engine.keyspace.ahead(connection.database);
        let (number, mut at) = (batch.members.len(), connection.input_start);
        let room = BATCH_COMMANDS_MAX - batch.commands.len();
        let mut left = if connection.can_execute() { room } else { 0 };
        let (mut goes_on, mut is_incomplete, mut runs_script) = (true, false, false);
        // How the last command began, and which it was.
        let mut known: Option<(Head, &'static Entry)> = None;
        while left > 0 && at < input.len() {
            let first_span = batch.spans.len();
            let alike = known.and_then(|(head, entry)| {
                let consumed = head.command(&input[at..], &mut batch.spans)?;
                Some((Ok(Step::Command { consumed }), Some(entry)))
            });
            let (step, same) = alike.unwrap_or_else(|| {
                (connection.parser.next(&input[at..], &limits, &mut batch.spans), None)
            });
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
                    let (bytes, words) = (&input[at..], &batch.spans[spans.clone()]);
                    let entry = same.or_else(|| {
                        let entry = command_of(engine, Args::new(bytes, words))?;
                        let head = Head::of(bytes, &limits, words);
                        known = head.filter(|_| entry.has_own_name()).map(|head| (head, entry));
                        Some(entry)
                    });
                    hash_key(engine, ahead, Args::new(bytes, words), entry)
                }
                Some(inline) => look_up(engine, ahead, inline.view()),
            };
            runs_script |= entry.is_some_and(|entry| runs_a_script(entry, &connection));
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
        let parsed = at;
        let member = Member { token, connection, input, parsed, executed, is_incomplete, goes_on };
        batch.members.push(member);
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
        let (mut executed, mut at) = (0, 0);
        let mut clock = (engine.environment.nanos)();
        while let Some(parsed) = commands.get(at) {
            let member = &mut members[parsed.member];
            if !member.goes_on {
                at += 1;
                continue;
            }
            if parsed.plain(parsed.member).is_some() {
                let rest = (&commands[at..], &spans[..]);
                let ran =
                    self.run_plain(engine, &mut held, (parsed.member, member), rest, &mut clock);
                if ran > 0 {
                    (at, executed) = (at + ran, executed + ran);
                    continue;
                }
            }
            at += 1;
            let Member { connection, input, executed: done, goes_on, .. } = member;
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

/// Whether a command may run long, because it runs a script.
#[inline(always)]
fn runs_a_script(entry: &Entry, connection: &Connection) -> bool {
    match entry.runs_script {
        RunsScript::Never => false,
        RunsScript::Always => true,
        RunsScript::IfQueued => connection.queue.as_deref().is_some_and(Queue::reaches),
    }
}

/// A command that is to run.
#[derive(Clone, Copy)]
pub(crate) struct Request<'a> {
    pub(crate) entry: Option<&'static Entry>,
    pub(crate) args: Args<'a>,
    pub(crate) first_key: Option<FirstKey>,
}

/// What [`look_up`] finds.
type Found = (Option<&'static Entry>, Option<FirstKey>);

/// Finds the command and hashes its first key, asking for the key's slot.
pub(crate) fn look_up(engine: &Engine, ahead: Ahead<'_>, args: Args<'_>) -> Found {
    hash_key(engine, ahead, args, command_of(engine, args))
}

/// The command that words begin with; of a container, the command that its second word names.
pub(crate) fn command_of(engine: &Engine, args: Args<'_>) -> Option<&'static Entry> {
    let entry = engine.catalog.find(args.at(0))?;
    match args.get(1).filter(|_| !entry.subcommands.is_empty()) {
        Some(name) => engine.catalog.subcommand(entry, name).or(Some(entry)),
        None => Some(entry),
    }
}

#[inline(always)]
fn hash_key(
    engine: &Engine,
    ahead: Ahead<'_>,
    args: Args<'_>,
    entry: Option<&'static Entry>,
) -> Found {
    let first = entry.and_then(|entry| entry.first_key);
    let Some(at) = first.filter(|at| *at < args.len()) else { return (entry, None) };
    let hash = engine.keyspace.hash(args.at(at));
    ahead.prefetch_slot(hash);
    (entry, Some((at, hash)))
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
    let mut buckets = [None::<Bucket<'_>>; BATCH_COMMANDS_MAX];
    let (mut database, mut ahead) = (0, engine.keyspace.ahead(0));
    for (bucket, parsed) in buckets.iter_mut().zip(&batch.commands) {
        let Some((_, hash)) = parsed.first_key else { continue };
        if parsed.database != database {
            (database, ahead) = (parsed.database, engine.keyspace.ahead(parsed.database));
        }
        *bucket = ahead.prefetch_bucket(hash, &pin);
    }
    buckets.into_iter().take(batch.commands.len()).flatten().for_each(Bucket::prefetch_record);
}

/// An inline command's words, copied out of the line.
fn owned(words: &[Vec<u8>]) -> OwnedArgs {
    let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    OwnedArgs::of(&words)
}
