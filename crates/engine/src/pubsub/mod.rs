//! Messages to connections that did not ask for them with their last command: published ones,
//! and what follows from changes of keys.
//!
//! Beside the path of a request. Whoever publishes asks [`registry`] which workers have receivers,
//! encodes the message once ([`message`]) and leaves it in these workers' post boxes ([`post`]);
//! each worker gives it to its own connections ([`audience`]), so that nobody writes to another's
//! connections and a slow receiver delays nobody.
//!
//! What must stay true: a receiver gets the messages of one publisher in their order, none of them
//! inside a reply; PUBLISH answers with the number of exactly those that get the message, so that
//! counting the subscribers and posting the message are one step, and no subscriber comes or goes
//! between them.

mod audience;
mod message;
mod notify;
mod post;
mod registry;

pub(crate) use audience::{Audience, Subscriptions};
pub(crate) use post::{Floods, Inbox, Post, Postbox};

use crate::engine::Shared;
use caudal_keyspace::Interest;
use caudal_text::glob::{self, Case};
use message::{Message, Payload, Publication};
use registry::{Counts, Map, Names, Rules, total};
use smallvec::SmallVec;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Release};
use std::sync::{Arc, RwLockReadGuard};

/// What a connection subscribes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topic {
    /// SUBSCRIBE.
    Channel,
    /// PSUBSCRIBE.
    Pattern,
    /// SSUBSCRIBE: a channel of a shard, which in a cluster belongs to a slot.
    ShardChannel,
}

/// How many topics there are; each is an index.
pub(crate) const TOPICS: usize = 3;

/// Who listens to what, for all workers.
pub(crate) struct PubSub {
    workers: Arc<[Shared]>,
    channels: Names,
    shard_channels: Names,
    patterns: Rules,
    /// Prefixes of keys that connections want all changes of.
    prefixes: Rules,
    pub(crate) interest: Arc<Interest>,
    /// How many connections track.
    pub(crate) trackers: AtomicUsize,
    /// How many connections have ceased to track: their marks are still to be swept.
    pub(crate) ended_trackers: AtomicU64,
    /// How many connections monitor, by worker.
    pub(crate) monitors: Box<[AtomicUsize]>,
    /// How many these are together.
    pub(crate) monitored: AtomicUsize,
    pub(crate) floods: Floods,
}

impl PubSub {
    /// Nobody listens yet.
    pub(crate) fn new(workers: Arc<[Shared]>) -> PubSub {
        PubSub {
            monitors: workers.iter().map(|_| AtomicUsize::new(0)).collect(),
            workers,
            channels: Names::new(),
            shard_channels: Names::new(),
            patterns: Rules::default(),
            prefixes: Rules::default(),
            interest: Arc::default(),
            trackers: AtomicUsize::new(0),
            ended_trackers: AtomicU64::new(0),
            monitored: AtomicUsize::new(0),
            floods: Floods::default(),
        }
    }

    /// Whether nobody subscribes to any channel or pattern.
    fn is_deaf(&self) -> bool {
        self.channels.len() == 0 && self.patterns.len() == 0
    }

    /// Publishes to a channel, or to one of a shard. Returns how many connections get the message.
    fn publish_to(&self, is_shard: bool, channel: &[u8], payload: &[u8]) -> usize {
        if is_shard {
            self.publish_in_shard(channel, payload)
        } else {
            self.publish(channel, payload)
        }
    }

    /// Publishes to a channel. Returns how many connections get the message; one that subscribes
    /// to the channel and to patterns counts for each.
    fn publish(&self, channel: &[u8], payload: &[u8]) -> usize {
        if self.is_deaf() {
            return 0;
        }
        let payload = Payload::of(payload);
        self.channels.with(channel, |subscribed| {
            let mut receivers = Receivers::default();
            let name = subscribed.map(|(name, counts)| {
                receivers.add(counts);
                Arc::clone(name)
            });
            let message = name.as_ref().map(|_| Message::new(&[b"message", channel], &payload));
            let patterns = self.patterns.all();
            let mut matched = Vec::new();
            for (pattern, counts) in patterns.iter().flat_map(|patterns| patterns.iter()) {
                if glob::matches(pattern, channel, Case::Sensitive) {
                    receivers.add(counts);
                    let words = [b"pmessage".as_slice(), pattern, channel];
                    matched.push((Arc::clone(pattern), Message::new(&words, &payload)));
                }
            }
            if receivers.count > 0 {
                let channel = name.unwrap_or_else(|| channel.into());
                let is_shard = false;
                self.post(&receivers, Publication { is_shard, channel, message, matched });
            }
            receivers.count
        })
    }

    /// Publishes to a channel of a shard. Returns how many connections get the message.
    fn publish_in_shard(&self, channel: &[u8], payload: &[u8]) -> usize {
        if self.shard_channels.len() == 0 {
            return 0;
        }
        let payload = Payload::of(payload);
        self.shard_channels.with(channel, |subscribed| {
            let Some((name, counts)) = subscribed else { return 0 };
            let mut receivers = Receivers::default();
            receivers.add(counts);
            let (is_shard, channel) = (true, Arc::clone(name));
            let message = Some(Message::new(&[b"smessage", &channel], &payload));
            let publication = Publication { is_shard, channel, message, matched: Vec::new() };
            self.post(&receivers, publication);
            receivers.count
        })
    }

    /// How many connections would get a message now.
    pub(crate) fn receivers(&self, is_shard: bool, channel: &[u8]) -> usize {
        if is_shard {
            return self.subscribers(Topic::ShardChannel, channel);
        }
        // Nobody takes a channel's lock with that of the patterns in hand.
        let subscribers = self.subscribers(Topic::Channel, channel);
        let patterns = self.patterns.all();
        let matching = patterns.iter().flat_map(|patterns| patterns.iter());
        let matching = matching
            .filter(|(pattern, _)| glob::matches(pattern, channel, Case::Sensitive))
            .map(|(_, counts)| total(counts));
        subscribers + matching.sum::<usize>()
    }

    /// The channels with subscribers that match a pattern.
    pub(crate) fn active(&self, topic: Topic, pattern: Option<&[u8]>) -> Vec<Arc<[u8]>> {
        self.names(topic).list(|name| {
            pattern.is_none_or(|pattern| glob::matches(pattern, name, Case::Sensitive))
        })
    }

    /// How many connections subscribe to a channel.
    pub(crate) fn subscribers(&self, topic: Topic, channel: &[u8]) -> usize {
        self.names(topic).with(channel, |at| at.map_or(0, |(_, counts)| total(counts)))
    }

    /// How many names of a topic have subscribers.
    pub(crate) fn len(&self, topic: Topic) -> usize {
        match topic {
            Topic::Pattern => self.patterns.len(),
            _ => self.names(topic).len(),
        }
    }

    /// Counts a worker's subscriber and gives the name to share; `then` runs at that instant.
    fn add(&self, topic: Topic, name: &[u8], worker: u16, then: impl FnOnce()) -> Arc<[u8]> {
        match topic {
            Topic::Pattern => self.patterns.add(name, worker, |_| then()),
            _ => self.names(topic).add(name, worker, then),
        }
    }

    /// Takes a worker's subscriber away; `then` runs at that instant.
    fn remove(&self, topic: Topic, name: &[u8], worker: u16, then: impl FnOnce()) {
        match topic {
            Topic::Pattern => self.patterns.remove(name, worker, |_| then()),
            _ => self.names(topic).remove(name, worker, then),
        }
    }

    fn names(&self, topic: Topic) -> &Names {
        if topic == Topic::ShardChannel { &self.shard_channels } else { &self.channels }
    }

    fn post(&self, receivers: &Receivers, publication: Publication) {
        let publication = Arc::new(publication);
        for worker in &receivers.workers {
            self.post_to(*worker, Post::Published(Arc::clone(&publication)));
        }
    }

    /// Leaves a message for connections of a worker.
    pub(crate) fn post_to(&self, worker: u16, post: Post) {
        self.workers[usize::from(worker)].mailbox.post(post, &self.floods);
    }

    /// Leaves a message for connections of all workers.
    pub(crate) fn post_to_all(&self, post: &Post) {
        self.workers.iter().for_each(|worker| worker.mailbox.post(post.clone(), &self.floods));
    }

    /// Counts a connection that wants all changes of keys with a prefix.
    pub(crate) fn add_prefix(&self, prefix: &[u8], worker: u16) -> Arc<[u8]> {
        self.prefixes.add(prefix, worker, |len| self.interest.prefixes.store(len, Release))
    }

    /// One that does not any more.
    pub(crate) fn remove_prefix(&self, prefix: &[u8], worker: u16) {
        self.prefixes.remove(prefix, worker, |len| self.interest.prefixes.store(len, Release));
    }

    /// Who wants all changes of which prefixes; none if nobody does.
    pub(crate) fn prefixes(&self) -> Option<RwLockReadGuard<'_, Map>> {
        self.prefixes.all()
    }
}

/// The workers that have receivers of a message, and how many these are together.
#[derive(Default)]
struct Receivers {
    workers: SmallVec<[u16; 8]>,
    count: usize,
}

impl Receivers {
    fn add(&mut self, counts: &Counts) {
        self.count += total(counts);
        for (worker, _) in counts {
            if !self.workers.contains(worker) {
                self.workers.push(*worker);
            }
        }
    }
}
