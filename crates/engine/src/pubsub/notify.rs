//! Keyspace notifications: what happens to keys, published to channels.
//!
//! The keyspace tells of events under the locks of their slots; this says them to the channels that
//! `notify-keyspace-events` asks for. Beside it, PUBLISH inside a transaction or script, which
//! waits for the end of that in one queue with the events.

use super::{Post, PubSub};
use crate::tracking::Invalidation;
use crate::worker::Worker;
use caudal_keyspace::{Class, Event, Listener, Message, Tracker};
use std::sync::Arc;

/// Publishes events of keys.
struct Notifier {
    pubsub: Arc<PubSub>,
    /// `K`: `__keyspace@0__:key` gets the event's name.
    by_key: bool,
    /// `E`: `__keyevent@0__:event` gets the key.
    by_event: bool,
}

impl Listener for Notifier {
    fn event(&self, database: u8, key: &[u8], event: Event) {
        if self.pubsub.is_deaf() {
            return;
        }
        if self.by_key {
            let channel = [format!("__keyspace@{database}__:").as_bytes(), key].concat();
            self.pubsub.publish(&channel, event.name.as_bytes());
        }
        if self.by_event {
            let channel = format!("__keyevent@{database}__:{}", event.name);
            self.pubsub.publish(channel.as_bytes(), key);
        }
    }

    fn message(&self, message: &Message) {
        self.pubsub.publish_to(message.is_shard, &message.channel, &message.payload);
    }

    fn invalidated(&self, key: &[u8], trackers: &[Arc<Tracker>], author: u64) {
        let what = Arc::new(Invalidation::of(std::iter::once(key)));
        let own = |tracker: &Tracker| tracker.connection == author && tracker.skips_own();
        for tracker in trackers.iter().filter(|tracker| tracker.is_on() && !own(tracker)) {
            let (connection, what) = (tracker.connection, Arc::clone(&what));
            self.pubsub.post_to(tracker.worker, Post::Invalidated { connection, what });
        }
    }
}

impl Worker {
    /// Has the events that the configuration asks for published.
    pub(crate) fn listen_to_news(&mut self) {
        let events = self.tuning.config.clients.events;
        let (by_key, by_event) = (events.has('K'), events.has('E'));
        let wanted = |(class, letter): (Class, char)| {
            ((by_key || by_event) && events.has(letter)).then_some(class)
        };
        let pubsub = Arc::clone(&self.engine.pubsub);
        let notifier = Notifier { pubsub, by_key, by_event };
        let classes = Class::LETTERS.into_iter().filter_map(wanted);
        self.effects.news.interest = Arc::clone(&self.engine.pubsub.interest);
        self.effects.news.listen(classes, Arc::new(notifier));
    }

    /// Publishes a message: now, or when the running transaction or script ends. Returns how many
    /// connections get it.
    pub(crate) fn publish(&mut self, is_shard: bool, channel: &[u8], payload: &[u8]) -> usize {
        let news = &self.effects.news;
        if !news.is_holding() {
            return self.engine.pubsub.publish_to(is_shard, channel, payload);
        }
        news.hold(Message { is_shard, channel: channel.into(), payload: payload.into() });
        self.engine.pubsub.receivers(is_shard, channel)
    }
}
