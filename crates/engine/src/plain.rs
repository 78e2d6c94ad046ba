//! The common case: commands of one key each, where nothing special is on.
//!
//! Between the batch and the commands: a stretch of such commands on one connection shares what is
//! the same for all of them. What must stay true: whatever is decided here, the general way
//! (`dispatch.rs`, `execute.rs`) decides alike; a command that turns out to need more has changed
//! nothing yet, and goes that way.

use crate::atomic::Claim;
use crate::batch::{Member, Parsed};
use crate::books::{Books, Cost};
use crate::catalog::{Entry, Handler};
use crate::connection::{Connection, OUTPUT_HIGH_BYTES, ReplyMode};
use crate::engine::Engine;
use crate::execute::{lock_slot, settle};
use crate::stats::Stats;
use crate::worker::Worker;
use caudal_commands::{Args, Context, Flags, Flow, Outcome};
use caudal_keyspace::{Held, Keys, Place, Usage, Wanted};
use caudal_table::Mode;
use caudal_wire::{Reply, Span};
use std::sync::atomic::Ordering::Relaxed;

/// A command on data that needs one slot and nothing else.
#[derive(Clone, Copy)]
pub(crate) struct Plain {
    apply: fn(&mut Context<'_, '_>, Args<'_>) -> Outcome,
    mode: Mode,
    /// The least and the most words that it takes.
    words: (usize, usize),
}

impl Plain {
    /// How a command runs in the common case, if it can.
    pub(crate) fn of(entry: &Entry) -> Option<Plain> {
        let Handler::Data(apply) = entry.handler else { return None };
        let (key, mode) = entry.single_key?;
        let spec = &entry.spec;
        let needs_more = spec.gate
            || spec.reaches
            || spec.flags.has(Flags::BLOCKING)
            || spec.flags.has(Flags::PROTECTED)
            || entry.other_database.is_some()
            || !entry.subcommands.is_empty();
        let can = entry.first_key == Some(key) && !needs_more;
        can.then_some(Plain { apply, mode, words: spec.words() })
    }
}

impl Worker {
    /// Whether plain commands need no check of their own on this connection now. What other workers
    /// say meanwhile (CLIENT PAUSE) holds from the next stretch on.
    #[inline(always)]
    fn is_plain(&self, engine: &Engine, connection: &Connection) -> bool {
        connection.unrestricted_in == self.users.version
            && connection.reply_mode == ReplyMode::On
            && connection.queue.is_none()
            && connection.claim == Claim::Keys
            && !connection.listens
            && !self.is_busy
            && !self.is_short
            && engine.pause.is_over(self.now.unix_ms)
            && !engine.pubsub.floods.any()
            && engine.pubsub.monitored.load(Relaxed) == 0
    }

    /// Runs the plain commands that `commands` begins with, all of the member's. Returns their
    /// number.
    pub(crate) fn run_plain<'k>(
        &mut self,
        engine: &'k Engine,
        held: &mut Held<'k>,
        (number, member): (usize, &mut Member),
        (commands, spans): (&[Parsed], &[Span]),
        time: &mut u64,
    ) -> usize {
        if !self.is_plain(engine, &member.connection) {
            return 0;
        }
        let Connection { info, output, protocol, database, no_touch, parked_times, .. } =
            &mut *member.connection;
        let shared = &engine.workers[self.id];
        let (stats, tuning, unix_ms) = (&shared.stats, &self.tuning, self.now.unix_ms);
        let books = Books { engine, worker: self.id, stats, tuning, unix_ms };
        self.effects.news.set_author(info.id);
        let mut context = Context {
            keys: Keys {
                held,
                keyspace: &engine.keyspace,
                database: *database,
                now: unix_ms,
                limits: &tuning.limits,
                counters: &shared.counters,
                effects: &mut self.effects,
                ready: &mut self.ready_keys,
                stale: &self.stale,
                changes: 0,
                explained: false,
                usage: Usage::new(!*no_touch, unix_ms, tuning.frequency.as_ref()),
            },
            reply: Reply::new(output, *protocol),
            random: &mut self.random,
            settings: &tuning.settings,
            may_wait: true,
            in_script: false,
            may_read_all: true,
            first_key: None,
        };
        let (mut ran, mut last) = (0, 0);
        for parsed in commands {
            let Some((entry, plain, first_key)) = parsed.plain(number) else { break };
            let args = Args::new(&member.input[parsed.start..], &spans[parsed.spans.clone()]);
            let unsent = context.reply.output().bytes();
            let (least, most) = plain.words;
            if args.len() < least || args.len() > most || unsent >= OUTPUT_HIGH_BYTES {
                break;
            }
            let place = Place { database: *database, slot: first_key.1.slot().0 };
            let wanted = Wanted { place, mode: plain.mode };
            if !matches!(lock_slot(&engine.keyspace, context.keys.held, wanted), Ok(true)) {
                break;
            }
            context.first_key = Some(first_key);
            if context.keys.effects.wanted() {
                context.keys.stale.begin();
            }
            let outcome = (plain.apply)(&mut context, args);
            settle(&mut context.keys, stats, args);
            let Some(failed) = end(&mut context, stats, outcome) else { break };
            let nanos = (engine.environment.nanos)();
            let duration_ns = nanos.saturating_sub(std::mem::replace(time, nanos));
            let replied = context.reply.output().bytes().saturating_sub(unsent) as u64;
            books.enter(info, entry, args, Cost { duration_ns, replied, failed });
            (ran, last) = (ran + 1, entry.id);
        }
        if ran > 0 {
            *parked_times = 0;
            info.command.store(last + 1, Relaxed);
            books.count(info, ran as u64);
            member.executed = commands[ran - 1].end;
            member.goes_on = member.connection.can_execute();
        }
        ran
    }
}

/// Whether a command failed, which is its reply then. None: it needs more than its slot.
#[inline(always)]
fn end(context: &mut Context<'_, '_>, stats: &Stats, outcome: Outcome) -> Option<bool> {
    match outcome {
        Ok(Flow::Done) => Some(false),
        Ok(Flow::Wait(_) | Flow::Busy(_)) => None,
        Err(error) => {
            stats.count_error(&error.0);
            context.reply.error_bytes(&error.0);
            Some(true)
        }
    }
}
