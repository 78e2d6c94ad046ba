//! One worker's receivers: subscribing, unsubscribing, and giving them the worker's post.
//!
//! Post is given out between batches, when every connection is at home. A connection that receives
//! messages also gets what waits for it after each of its own commands (its own PUBLISH comes back
//! right behind the reply) and before its subscriptions change. What must stay true: each post is
//! given to a connection once, in order, by the subscriptions that it had when the post was made.

use super::message::{Message, Publication};
use super::{Post, TOPICS, Topic};
use crate::connection::{Close, Connection};
use crate::engine::Engine;
use crate::mail::Mail;
use crate::stats;
use crate::tracking::{Invalidation, Tracking};
use crate::worker::{Token, Worker};
use caudal_wire::Output;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Copies that are given out in one slice of a turn, some half a millisecond; the rest of the post
/// waits while others have their turn. One message goes to all its receivers at once. Sending costs
/// far more than appending, and what one slice appends to a connection is sent at once: with 4,096,
/// sixteen messages to a thousand connections were sent in four parts, at 1.3 times the cost.
const COPIES_A_SLICE: usize = 16_384;

/// The connections of one worker by what they subscribe to.
#[derive(Default)]
pub(crate) struct Audience {
    topics: [HashMap<Arc<[u8]>, Vec<Token>>; TOPICS],
    /// Those that want all changes of keys with a prefix.
    prefixes: HashMap<Arc<[u8]>, Vec<Token>>,
    /// Those that track.
    pub(crate) trackers: Vec<Token>,
    /// Those that monitor.
    pub(crate) monitors: Vec<Token>,
}

impl Audience {
    /// Adds a connection that wants all changes of keys with a prefix.
    pub(crate) fn add_prefix(&mut self, prefix: &Arc<[u8]>, token: Token) {
        self.prefixes.entry(Arc::clone(prefix)).or_default().push(token);
    }

    /// Removes it.
    pub(crate) fn remove_prefix(&mut self, prefix: &[u8], token: Token) {
        let Some(tokens) = self.prefixes.get_mut(prefix) else { return };
        tokens.retain(|at| *at != token);
        if tokens.is_empty() {
            self.prefixes.remove(prefix);
        }
    }

    fn add(&mut self, topic: Topic, name: Arc<[u8]>, token: Token) {
        self.topics[topic as usize].entry(name).or_default().push(token);
    }

    fn remove(&mut self, topic: Topic, name: &[u8], token: Token) {
        let topic = &mut self.topics[topic as usize];
        let Some(tokens) = topic.get_mut(name) else { return };
        if let Some(at) = tokens.iter().position(|at| *at == token) {
            tokens.swap_remove(at);
        }
        if tokens.is_empty() {
            topic.remove(name);
        }
    }

    /// Each message of a publication, with those that get it.
    fn of<'a>(
        &'a self,
        publication: &'a Publication,
    ) -> impl Iterator<Item = (&'a Message, &'a [Token])> {
        let tokens = |topic: Topic, name: &[u8]| {
            self.topics[topic as usize].get(name).map_or(&[][..], Vec::as_slice)
        };
        let channel = if publication.is_shard { Topic::ShardChannel } else { Topic::Channel };
        let own = publication.message.iter();
        let own = own.map(move |message| (message, tokens(channel, &publication.channel)));
        let matched = publication.matched.iter();
        own.chain(matched.map(move |(name, message)| (message, tokens(Topic::Pattern, name))))
    }

    /// Whether anybody subscribes to anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.topics.iter().all(HashMap::is_empty)
    }
}

/// What one connection subscribes to.
#[derive(Debug, Default)]
pub(crate) struct Subscriptions {
    topics: [BTreeSet<Arc<[u8]>>; TOPICS],
}

impl Subscriptions {
    /// The names of a topic.
    pub(crate) fn names(&self, topic: Topic) -> &BTreeSet<Arc<[u8]>> {
        &self.topics[topic as usize]
    }

    fn has(&self, topic: Topic, name: &[u8]) -> bool {
        self.topics[topic as usize].contains(name)
    }

    fn is_empty(&self) -> bool {
        self.topics.iter().all(BTreeSet::is_empty)
    }

    /// Each message of a publication that is for the connection.
    fn hears<'a>(&'a self, publication: &'a Publication) -> impl Iterator<Item = &'a Message> {
        let channel = if publication.is_shard { Topic::ShardChannel } else { Topic::Channel };
        let own = publication.message.iter();
        let own = own.filter(move |_| self.has(channel, &publication.channel));
        let matched = publication.matched.iter();
        let matched = matched.filter(move |(name, _)| self.has(Topic::Pattern, name));
        own.chain(matched.map(|(_, message)| message))
    }
}

impl Connection {
    /// After one of its reasons to listen has gone.
    pub(crate) fn settle_listening(&mut self) {
        self.listens = self.subscriptions.is_some() || self.tracking.is_some() || self.is_monitor;
    }

    /// How many names of these topics it subscribes to: what a confirmation says.
    pub(crate) fn subscriptions(&self, topics: &[Topic]) -> usize {
        let names = |subscriptions: &Subscriptions| {
            topics.iter().map(|topic| subscriptions.names(*topic).len()).sum()
        };
        self.subscriptions.as_deref().map_or(0, names)
    }

    fn count_subscriptions(&self, topic: Topic) {
        let count = u32::try_from(self.subscriptions(&[topic])).unwrap_or(u32::MAX);
        self.info.subscriptions[topic as usize].store(count, Relaxed);
    }
}

/// Subscribing.
impl Worker {
    /// Subscribes a connection, unless it does.
    pub(crate) fn subscribe(
        &mut self,
        engine: &Engine,
        connection: &mut Connection,
        topic: Topic,
        name: &[u8],
    ) {
        if connection.subscriptions.as_ref().is_some_and(|at| at.has(topic, name)) {
            return;
        }
        // A transaction with a subscription in it is never undone.
        self.effects.news.tell_held();
        let worker = self.number();
        let (inbox, postbox) = (&mut self.inbox, engine.workers[self.id].mailbox.postbox());
        let name = engine.pubsub.add(topic, name, worker, || inbox.take(postbox));
        self.catch_up(connection);
        self.audience.add(topic, Arc::clone(&name), connection.token);
        connection.subscriptions.get_or_insert_default().topics[topic as usize].insert(name);
        connection.listens = true;
        connection.count_subscriptions(topic);
    }

    /// Ends a subscription, if there is one.
    pub(crate) fn unsubscribe(
        &mut self,
        engine: &Engine,
        connection: &mut Connection,
        topic: Topic,
        name: &[u8],
    ) {
        if connection.subscriptions.as_ref().is_none_or(|at| !at.has(topic, name)) {
            return;
        }
        self.effects.news.tell_held();
        let worker = self.number();
        let (inbox, postbox) = (&mut self.inbox, engine.workers[self.id].mailbox.postbox());
        engine.pubsub.remove(topic, name, worker, || inbox.take(postbox));
        self.catch_up(connection);
        self.audience.remove(topic, name, connection.token);
        let subscriptions = connection.subscriptions.get_or_insert_default();
        subscriptions.topics[topic as usize].remove(name);
        if subscriptions.is_empty() {
            connection.subscriptions = None;
            connection.settle_listening();
        }
        connection.count_subscriptions(topic);
    }

    /// Ends all subscriptions of a connection that is leaving, or new again.
    pub(crate) fn unsubscribe_all(&mut self, connection: &mut Connection) {
        let Some(subscriptions) = connection.subscriptions.take() else { return };
        connection.settle_listening();
        let worker = self.number();
        for topic in [Topic::Channel, Topic::Pattern, Topic::ShardChannel] {
            for name in subscriptions.names(topic) {
                self.engine.pubsub.remove(topic, name, worker, || ());
                self.audience.remove(topic, name, connection.token);
            }
            connection.count_subscriptions(topic);
        }
    }
}

/// Giving out the post.
impl Worker {
    /// Gives post to its receivers, as much as one slice of a turn bears. Every connection is at
    /// home.
    pub(crate) fn give_out_post(&mut self) {
        let engine = Arc::clone(&self.engine);
        let postbox = engine.workers[self.id].mailbox.postbox();
        self.inbox.take(postbox);
        if engine.pubsub.trackers.load(Relaxed) > 0 {
            // The reply to who waited for a key was mailed before a change of that key was posted.
            self.read_mail();
        }
        let mut receivers = 0;
        while receivers < COPIES_A_SLICE {
            let Some((number, post)) = self.inbox.pop(postbox) else { break };
            receivers += 1 + match post {
                Post::Published(publication) => self.give_out(number, &publication),
                other => self.give_out_to_few(number, &other),
            };
        }
        if self.inbox.is_empty() && postbox.end_flood(&engine.pubsub.floods) {
            engine.broadcast(|| Mail::Drained);
        }
    }

    /// Returns how many got it.
    fn give_out(&mut self, number: u64, publication: &Publication) -> usize {
        let Worker { audience, connections, outgoing, tuning, now, .. } = self;
        let (mut receivers, mut closed) = (0, 0);
        for (message, tokens) in audience.of(publication) {
            receivers += tokens.len();
            for token in tokens {
                let Some(connection) = &mut connections[*token] else { continue };
                if connection.heard > number || connection.close != Close::No {
                    continue;
                }
                message.append_to(&mut connection.output, connection.protocol);
                closed += u64::from(tuning.closes_for_output(connection, now.unix_ms));
                connection.info.output.store(connection.output.bytes() as u64, Relaxed);
                if !connection.is_outgoing {
                    connection.is_outgoing = true;
                    outgoing.push(*token);
                }
            }
        }
        if closed > 0 {
            stats::add(&self.shared().stats.output_limit_closed, closed);
        }
        receivers
    }

    /// Gives out what is for one connection, or for some that are told each by itself. Returns how
    /// many.
    fn give_out_to_few(&mut self, number: u64, post: &Post) -> usize {
        let tokens: Vec<Token> = match post {
            Post::Invalidated { connection, .. } | Post::Redirected { connection, .. } => {
                self.token(*connection).into_iter().collect()
            }
            Post::Broadcast(broadcast) => {
                self.audience.prefixes.get(&broadcast.prefix).cloned().unwrap_or_default()
            }
            Post::Flushed => self.audience.trackers.clone(),
            Post::Monitored(_) => self.audience.monitors.clone(),
            Post::Published(_) => Vec::new(),
        };
        for &token in &tokens {
            let Some(mut connection) = self.connections[token].take() else { continue };
            if connection.heard <= number && connection.close == Close::No {
                self.hear(&mut connection, post);
                self.check_output_limit(&mut connection);
                connection.info.output.store(connection.output.bytes() as u64, Relaxed);
            }
            self.connections[token] = Some(connection);
            self.mark_outgoing(token);
        }
        tokens.len()
    }

    /// Gives a connection what is for it of a post.
    fn hear(&mut self, connection: &mut Connection, post: &Post) {
        let own = |id: u64| id == connection.info.id;
        match post {
            Post::Published(publication) => {
                let Some(subscriptions) = connection.subscriptions.take() else { return };
                let protocol = connection.protocol;
                for message in subscriptions.hears(publication) {
                    message.append_to(self.messages(connection), protocol);
                }
                connection.subscriptions = Some(subscriptions);
            }
            Post::Invalidated { connection: id, what } if own(*id) => {
                self.invalidate(connection, what);
            }
            Post::Redirected { connection: id, what } if own(*id) => {
                self.append_invalidation(connection, what, true);
            }
            Post::Broadcast(broadcast) => {
                let wants = |at: &Tracking| at.prefixes.contains(&broadcast.prefix);
                if connection.tracking.as_deref().is_some_and(wants) {
                    self.hear_broadcast(connection, broadcast);
                }
            }
            Post::Flushed => self.invalidate(connection, &Arc::new(Invalidation::EVERYTHING)),
            Post::Monitored(line) if connection.is_monitor => {
                self.messages(connection).tail().extend_from_slice(line);
            }
            Post::Invalidated { .. } | Post::Redirected { .. } | Post::Monitored(_) => {}
        }
    }

    /// Where messages for a connection go: behind its transaction's reply while that is written,
    /// and never where CLIENT REPLY takes them away.
    pub(crate) fn messages<'o>(&'o mut self, connection: &'o mut Connection) -> &'o mut Output {
        if self.in_transaction {
            return &mut self.after_exec;
        }
        connection.unmuted.as_deref_mut().unwrap_or(&mut connection.output)
    }

    /// Gives a connection the post that waits for it and that was made by now; its worker has taken
    /// it out to run its commands.
    pub(crate) fn catch_up(&mut self, connection: &mut Connection) {
        let from = connection.heard;
        connection.heard = self.inbox.end();
        if !connection.listens {
            return;
        }
        let inbox = std::mem::take(&mut self.inbox);
        inbox.since(from).for_each(|post| self.hear(connection, post));
        self.inbox = inbox;
    }

    /// After a command of a connection that receives messages.
    #[cold]
    pub(crate) fn catch_up_after_command(&mut self, connection: &mut Connection) {
        let postbox = self.engine.workers[self.id].mailbox.postbox();
        self.inbox.take(postbox);
        if !self.inbox.is_empty() {
            self.catch_up(connection);
        }
    }
}
