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
use crate::worker::{Token, Worker};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Receivers that get messages in one slice of a turn, about a fifth of a millisecond; the rest of
/// the post waits while others have theirs. One message goes to all its receivers at once.
const RECEIVERS_A_SLICE: usize = 4096;

/// The connections of one worker by what they subscribe to.
#[derive(Default)]
pub(crate) struct Audience {
    topics: [HashMap<Arc<[u8]>, Vec<Token>>; TOPICS],
}

impl Audience {
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
            connection.listens = false;
        }
        connection.count_subscriptions(topic);
    }

    /// Ends all subscriptions of a connection that is leaving, or new again.
    pub(crate) fn unsubscribe_all(&mut self, connection: &mut Connection) {
        let Some(subscriptions) = connection.subscriptions.take() else { return };
        connection.listens = false;
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
        let mut receivers = 0;
        while receivers < RECEIVERS_A_SLICE {
            let Some((number, post)) = self.inbox.pop(postbox) else { break };
            receivers += 1 + match post {
                Post::Published(publication) => self.give_out(number, &publication),
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

    /// Gives a connection the post that waits for it and that was made by now; its worker has taken
    /// it out to run its commands.
    pub(crate) fn catch_up(&mut self, connection: &mut Connection) {
        let from = connection.heard;
        connection.heard = self.inbox.end();
        let Some(subscriptions) = connection.subscriptions.as_deref() else { return };
        let target = if self.in_transaction {
            &mut self.after_exec
        } else {
            connection.unmuted.as_deref_mut().unwrap_or(&mut connection.output)
        };
        for post in self.inbox.since(from) {
            match post {
                Post::Published(publication) => subscriptions
                    .hears(publication)
                    .for_each(|message| message.append_to(target, connection.protocol)),
            }
        }
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
