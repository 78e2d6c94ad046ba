//! A consumer group: how far it has read, and what its consumers have not yet acknowledged.
//!
//! What must stay true: an entry is pending once in a group; a consumer's own index holds exactly
//! the entries that are pending with it.

use super::StreamId;
use super::map::IdMap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Readers that share a stream. A clone is an image: it copies a line a consumer.
#[derive(Debug, Clone)]
pub struct Group {
    /// The last entry that was delivered to anybody.
    pub last_id: StreamId,
    /// How many entries of the stream stand up to `last_id`, if that is known.
    pub entries_read: Option<u64>,
    pending: IdMap<Pending>,
    /// Entries that were ever given back: tells their order.
    given_back: u64,
    /// By number; numbers of consumers that are gone are given again.
    consumers: Vec<Option<Consumer>>,
    numbers: BTreeMap<Arc<[u8]>, ConsumerId>,
}

/// A consumer's number within its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConsumerId(u32);

/// An entry that was delivered and not acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pending {
    /// When it was last delivered, in Unix milliseconds; of one that was given back, as what
    /// number.
    at: u64,
    /// How often.
    pub deliveries: u64,
    /// To whom; none: it was given back and waits for anybody.
    pub consumer: Option<ConsumerId>,
}

const _: () = assert!(size_of::<Pending>() <= 24);

impl Pending {
    /// When it was last delivered, in Unix milliseconds; 0 if it was given back.
    pub fn delivered_ms(&self) -> u64 {
        if self.consumer.is_some() { self.at } else { 0 }
    }

    /// In this order entries are claimed: first what was given back, then what was delivered
    /// longest ago.
    pub fn urgency(&self) -> (bool, u64) {
        (self.consumer.is_some(), self.at)
    }
}

/// A reader of a group.
#[derive(Debug, Clone)]
pub struct Consumer {
    name: Arc<[u8]>,
    /// When it last asked for anything, in Unix milliseconds.
    pub seen_ms: u64,
    /// When it last got anything, if it ever did.
    pub active_ms: Option<u64>,
    pending: IdMap<()>,
}

impl Consumer {
    /// Its name.
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// How many entries are pending with it.
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    /// Whether nothing is pending with it.
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }
}

impl Group {
    /// A group that goes on behind `last_id`.
    pub(super) fn new(last_id: StreamId, entries_read: Option<u64>) -> Group {
        Group {
            last_id,
            entries_read,
            pending: IdMap::default(),
            given_back: 0,
            consumers: Vec::new(),
            numbers: BTreeMap::new(),
        }
    }

    /// Number of entries that are pending.
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Number of entries that were given back and are pending with nobody.
    pub fn unowned(&self) -> usize {
        self.len() - self.consumers().map(Consumer::len).sum::<usize>()
    }

    /// The first and the last entry that is pending.
    pub fn bounds(&self) -> Option<(StreamId, StreamId)> {
        let ((first, _), (last, _)) = self.pending.first().zip(self.pending.last())?;
        Some((first, last))
    }

    /// What is known of an entry that is pending.
    pub fn pending(&self, id: StreamId) -> Option<&Pending> {
        self.pending.get(id)
    }

    /// What is pending from `from` on, in order.
    pub fn pending_from(&self, from: StreamId) -> impl Iterator<Item = (StreamId, &Pending)> {
        self.pending.ascending(from)
    }

    /// What is pending with one consumer from `from` on, in order.
    pub fn pending_with(
        &self,
        consumer: ConsumerId,
        from: StreamId,
    ) -> impl Iterator<Item = (StreamId, &Pending)> {
        let own = self.consumer(consumer).pending.ascending(from);
        own.map(|(id, ())| (id, self.pending.get(id).expect("both indexes hold it")))
    }

    /// Delivers an entry to a consumer, whoever had it before.
    pub fn deliver(&mut self, id: StreamId, consumer: ConsumerId, at_ms: u64, deliveries: u64) {
        let pending = Pending { at: at_ms, deliveries, consumer: Some(consumer) };
        let before = self.pending.insert(id, pending).map(|before| before.consumer);
        if before == Some(Some(consumer)) {
            return;
        }
        if let Some(Some(before)) = before {
            self.consumer_mut(before).pending.remove(id);
        }
        self.consumer_mut(consumer).pending.insert(id, ());
    }

    /// Gives an entry back: it is pending with nobody, and the last of those.
    pub fn give_back(&mut self, id: StreamId, deliveries: u64) {
        self.given_back += 1;
        let pending = Pending { at: self.given_back, deliveries, consumer: None };
        let before = self.pending.insert(id, pending).and_then(|before| before.consumer);
        if let Some(before) = before {
            self.consumer_mut(before).pending.remove(id);
        }
    }

    /// Ends an entry's delivery. False if it is not pending.
    pub fn release(&mut self, id: StreamId) -> bool {
        let Some(pending) = self.pending.remove(id) else { return false };
        if let Some(consumer) = pending.consumer {
            self.consumer_mut(consumer).pending.remove(id);
        }
        true
    }

    /// The consumers in the order of their names.
    pub fn consumers(&self) -> impl ExactSizeIterator<Item = &Consumer> {
        self.numbers.values().map(|id| self.consumer(*id))
    }

    /// The consumer with that name.
    pub fn find_consumer(&self, name: &[u8]) -> Option<ConsumerId> {
        self.numbers.get(name).copied()
    }

    /// The consumer with that number.
    pub fn consumer(&self, id: ConsumerId) -> &Consumer {
        self.consumers[id.0 as usize].as_ref().expect("numbers are those of consumers")
    }

    /// The consumer with that number, to be changed.
    pub fn consumer_mut(&mut self, id: ConsumerId) -> &mut Consumer {
        self.consumers[id.0 as usize].as_mut().expect("numbers are those of consumers")
    }

    /// Adds a consumer; none if there is one of that name.
    pub fn create_consumer(&mut self, name: &[u8], seen_ms: u64) -> Option<ConsumerId> {
        if self.numbers.contains_key(name) {
            return None;
        }
        if self.numbers.len() == self.consumers.len() {
            self.consumers.push(None);
        }
        let free = self.consumers.iter().rposition(Option::is_none);
        let number = free.expect("fewer names than places");
        let name: Arc<[u8]> = name.into();
        let pending = IdMap::default();
        let consumer = Consumer { name: Arc::clone(&name), seen_ms, active_ms: None, pending };
        self.consumers[number] = Some(consumer);
        let id = ConsumerId(u32::try_from(number).expect("consumers are fewer than 2^32"));
        self.numbers.insert(name, id);
        Some(id)
    }

    /// Takes a consumer away with all that is pending with it; how many that was.
    pub fn delete_consumer(&mut self, name: &[u8]) -> Option<usize> {
        let id = self.numbers.remove(name)?;
        let consumer = self.consumers[id.0 as usize].take().expect("it has a name");
        for (entry, ()) in consumer.pending.ascending(StreamId::MIN) {
            self.pending.remove(entry);
        }
        Some(consumer.len())
    }

    /// Bytes allocated.
    pub(super) fn memory(&self) -> usize {
        let consumer = |it: &Consumer| {
            size_of::<Option<Consumer>>()
                + 2 * size_of::<&[u8]>()
                + it.name.len()
                + it.pending.memory()
        };
        let consumers: usize = self.consumers.iter().flatten().map(consumer).sum();
        size_of::<Group>() + self.pending.memory() + consumers
    }

    /// Asserts what must stay true.
    #[cfg(test)]
    pub(super) fn check(&self) {
        self.pending.check();
        for (name, id) in &self.numbers {
            let consumer = self.consumer(*id);
            assert_eq!(consumer.name, *name);
            consumer.pending.check();
            for (entry, ()) in consumer.pending.ascending(StreamId::MIN) {
                assert_eq!(self.pending.get(entry).and_then(|it| it.consumer), Some(*id));
            }
        }
        let owned = self.pending.ascending(StreamId::MIN).filter(|(_, it)| it.consumer.is_some());
        let indexed: usize = self.consumers().map(Consumer::len).sum();
        assert_eq!(owned.count(), indexed);
        assert_eq!(self.numbers.len(), self.consumers.iter().flatten().count());
    }
}
