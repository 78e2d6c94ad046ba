//! Client tracking: connections that keep copies of keys are told when these change.
//!
//! A read of a connection that tracks marks its keys, under their slots' locks, which for such a
//! connection are taken exclusive; whoever changes a marked key takes the marks and posts an
//! invalidation to the worker of each that made one. In broadcast mode nothing is marked: changes
//! are compared with prefixes at the end of the batch that made them. What must stay true: the
//! invalidation of a key that was read comes after the read's reply.

mod broadcast;
mod invalidation;

pub(crate) use broadcast::Broadcast;
pub(crate) use invalidation::Invalidation;

use crate::connection::Connection;
use crate::engine::Engine;
use crate::execute::Call;
use crate::pubsub::Post;
use crate::worker::Worker;
use caudal_commands::{Args, Flags};
use caudal_keyspace::{Held, Place, Tracker};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Which reads are tracked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    /// All.
    #[default]
    All,
    /// Those that CLIENT CACHING YES announces.
    OptIn,
    /// All but those that CLIENT CACHING NO announces.
    OptOut,
    /// None: all changes of keys with certain prefixes are told.
    Broadcast,
}

/// A connection's tracking.
pub(crate) struct Tracking {
    tracker: Arc<Tracker>,
    pub(crate) mode: Mode,
    /// Whether CLIENT CACHING was said for the next command or transaction.
    pub(crate) said_caching: bool,
    /// The connection that is told in its stead.
    pub(crate) redirection: Option<u64>,
    /// Whether that connection was found gone.
    pub(crate) is_broken: bool,
    /// In broadcast mode; the empty one is for all keys.
    pub(crate) prefixes: BTreeSet<Arc<[u8]>>,
}

impl Tracking {
    /// Whether its own changes are no news.
    pub(crate) fn skips_own(&self) -> bool {
        self.tracker.skips_own()
    }

    /// Whether the reads of the next command are tracked.
    fn marks_next(&self) -> bool {
        match self.mode {
            Mode::All => true,
            Mode::OptIn => self.said_caching,
            Mode::OptOut => !self.said_caching,
            Mode::Broadcast => false,
        }
    }
}

/// What CLIENT TRACKING ON asks for.
pub(crate) struct Wish<'a> {
    pub(crate) mode: Mode,
    pub(crate) skips_own: bool,
    pub(crate) redirection: Option<u64>,
    /// Only in broadcast mode; none: all keys.
    pub(crate) prefixes: Vec<&'a [u8]>,
}

/// What CLIENT LIST shows of a connection's tracking.
pub(crate) mod face {
    /// It tracks.
    pub(crate) const ON: u8 = 1;
    /// In broadcast mode.
    pub(crate) const BROADCAST: u8 = 2;
    /// Its redirection was found gone.
    pub(crate) const BROKEN: u8 = 4;
}

impl Connection {
    /// Whether keys that it reads may have to be marked: their slots are locked exclusive for it.
    #[inline]
    pub(crate) fn may_mark(&self) -> bool {
        self.listens && self.tracking.as_ref().is_some_and(|at| at.mode != Mode::Broadcast)
    }

    /// Who is to be marked on the keys that its next command reads.
    #[inline]
    pub(crate) fn marks(&self) -> Option<Arc<Tracker>> {
        let tracking = self.tracking.as_deref().filter(|_| self.listens)?;
        tracking.marks_next().then(|| Arc::clone(&tracking.tracker))
    }

    /// Shows in CLIENT LIST how it tracks.
    fn show_tracking(&self) {
        let (mut shown, mut redirection) = (0, 0);
        if let Some(tracking) = &self.tracking {
            shown = face::ON;
            if tracking.mode == Mode::Broadcast {
                shown |= face::BROADCAST;
            }
            if tracking.is_broken {
                shown |= face::BROKEN;
            }
            redirection = tracking.redirection.unwrap_or(0);
        }
        self.info.tracking.store(shown, Relaxed);
        self.info.redirection.store(redirection, Relaxed);
    }
}

impl Worker {
    /// Begins to track a connection's reads, or changes how it does.
    pub(crate) fn track(&mut self, engine: &Engine, connection: &mut Connection, wish: &Wish<'_>) {
        if connection.tracking.is_none() {
            let tracker = Arc::new(Tracker::new(connection.info.id, self.number()));
            connection.tracking = Some(Box::new(Tracking {
                tracker,
                mode: wish.mode,
                said_caching: false,
                redirection: None,
                is_broken: false,
                prefixes: BTreeSet::new(),
            }));
            self.audience.trackers.push(connection.token);
            engine.pubsub.trackers.fetch_add(1, Relaxed);
            // What waits for others is no news to it.
            self.inbox.take(engine.workers[self.id].mailbox.postbox());
            self.catch_up(connection);
            connection.listens = true;
        }
        let tracking = connection.tracking.as_mut().expect("it was just made");
        if wish.mode != Mode::All {
            tracking.mode = wish.mode;
        }
        tracking.tracker.set_skips_own(wish.skips_own);
        tracking.redirection = wish.redirection;
        tracking.is_broken = false;
        let all: [&[u8]; 1] = [b""];
        let prefixes = match wish.mode {
            Mode::Broadcast if wish.prefixes.is_empty() => &all[..],
            _ => &wish.prefixes[..],
        };
        for prefix in prefixes {
            if !tracking.prefixes.contains(*prefix) {
                let prefix = engine.pubsub.add_prefix(prefix, u16::try_from(self.id).unwrap_or(0));
                self.audience.add_prefix(&prefix, connection.token);
                tracking.prefixes.insert(prefix);
            }
        }
        connection.show_tracking();
    }

    /// Ends a connection's tracking.
    pub(crate) fn end_tracking(&mut self, connection: &mut Connection) {
        let Some(tracking) = connection.tracking.take() else { return };
        tracking.tracker.end();
        for prefix in &tracking.prefixes {
            self.engine.pubsub.remove_prefix(prefix, self.number());
            self.audience.remove_prefix(prefix, connection.token);
        }
        self.audience.trackers.retain(|token| *token != connection.token);
        self.engine.pubsub.trackers.fetch_sub(1, Relaxed);
        self.engine.pubsub.ended_trackers.fetch_add(1, Relaxed);
        connection.show_tracking();
        connection.settle_listening();
    }

    /// Marks the keys that a command has read; their slots are locked.
    #[cold]
    pub(crate) fn mark_reads(
        &self,
        engine: &Engine,
        held: &mut Held<'_>,
        database: u8,
        call: Call<'_>,
        tracker: &Arc<Tracker>,
    ) {
        if !call.entry.spec.flags.has(Flags::READONLY) {
            return;
        }
        let keys_max = self.tuning.config.clients.tracking_keys_max.unwrap_or(usize::MAX);
        call.entry.each_key(call.args, |at, _| {
            let key = call.args.at(at);
            let place = Place { database, slot: engine.keyspace.hash(key).slot().0 };
            engine.keyspace.track(held, (place, key), tracker, keys_max, &self.effects.news);
        });
    }

    /// CLIENT CACHING holds for one command, or for one transaction.
    pub(crate) fn forget_caching(connection: &mut Connection, args: Args<'_>) {
        if let Some(tracking) = &mut connection.tracking
            && connection.queue.is_none()
            && !args.is(0, "CLIENT")
        {
            tracking.said_caching = false;
        }
    }

    /// Everything is gone: all who track are told.
    pub(crate) fn tell_flushed(engine: &Engine) {
        if engine.pubsub.trackers.load(Relaxed) > 0 {
            engine.pubsub.post_to_all(&Post::Flushed);
        }
    }
}

/// Giving out invalidations.
impl Worker {
    /// Tells a connection that tracks, or whoever it redirects to.
    pub(crate) fn invalidate(&mut self, connection: &mut Connection, what: &Arc<Invalidation>) {
        let Some(tracking) = &mut connection.tracking else { return };
        let Some(target) = tracking.redirection else {
            return self.append_invalidation(connection, what, false);
        };
        if let Some(info) = self.engine.clients.find(target) {
            let post = Post::Redirected { connection: target, what: Arc::clone(what) };
            return self.engine.pubsub.post_to(info.worker, post);
        }
        tracking.is_broken = true;
        connection.show_tracking();
        let protocol = connection.protocol;
        invalidation::append_broken(self.messages(connection), protocol, target);
    }

    /// Appends an invalidation to the connection that it is for.
    pub(crate) fn append_invalidation(
        &mut self,
        connection: &mut Connection,
        what: &Invalidation,
        is_redirected: bool,
    ) {
        let is_subscriber = connection.subscriptions.is_some();
        let protocol = connection.protocol;
        what.append_to(self.messages(connection), protocol, is_redirected && is_subscriber);
    }
}
