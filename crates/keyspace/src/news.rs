//! News of keys: events on their way to whoever listens, and messages that must wait with them.
//!
//! Told under the lock of the key's slot, so that the events of one key are told in their order.
//! What must stay true: while nobody listens, an event costs one comparison; what a transaction or
//! script tells is held until it ends, and forgotten if it is undone.

use crate::{Class, Event, Interest, Tracker};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Somebody who is told what happens to keys.
pub trait Listener: Send + Sync {
    /// Something happened to a key of a database.
    fn event(&self, database: u8, key: &[u8], event: Event);
    /// A message that was held is to be sent.
    fn message(&self, message: &Message);
    /// A key changed that these connections have read. `author` is whose command it was; 0:
    /// nobody's.
    fn invalidated(&self, key: &[u8], trackers: &[Arc<Tracker>], author: u64);
}

/// A published message that waits for the end of its transaction or script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Whether the channel is one of a shard.
    pub is_shard: bool,
    /// Where it goes.
    pub channel: Box<[u8]>,
    /// What it says.
    pub payload: Box<[u8]>,
}

/// What is held.
enum Item {
    Event { database: u8, key: Box<[u8]>, event: Event },
    Message(Message),
}

/// One worker's news.
#[derive(Default)]
pub struct News {
    /// A bit for each class that somebody listens to.
    classes: u32,
    listener: Option<Arc<dyn Listener>>,
    /// Who is interested in changes, for all workers.
    pub interest: Arc<Interest>,
    /// The connection whose command runs.
    author: u64,
    /// Keys that changed, each with whose doing it was, while somebody wants all changes.
    changes: RefCell<Vec<(Box<[u8]>, u64)>>,
    /// What waits, oldest first.
    held: RefCell<Vec<Item>>,
    is_holding: bool,
}

impl News {
    /// Events of these classes go to `listener` from now on, and messages.
    pub fn listen(&mut self, classes: impl Iterator<Item = Class>, listener: Arc<dyn Listener>) {
        self.classes = classes.map(bit).fold(0, |classes, bit| classes | bit);
        self.listener = Some(listener);
    }

    /// Whether anybody is told of any class.
    pub fn is_on(&self) -> bool {
        self.classes != 0
    }

    /// The command that runs next is this connection's.
    #[inline]
    pub fn set_author(&mut self, connection: u64) {
        self.author = connection;
    }

    /// Whose command runs.
    pub(crate) fn author(&self) -> u64 {
        self.author
    }

    /// A key changed: noted if somebody wants all changes.
    #[inline]
    pub(crate) fn note_change(&self, key: &[u8], author: u64) {
        if self.interest.prefixes.load(Ordering::Relaxed) != 0 {
            self.changes.borrow_mut().push((key.into(), author));
        }
    }

    /// Takes the keys that changed.
    pub fn take_changes(&self) -> Vec<(Box<[u8]>, u64)> {
        self.changes.take()
    }

    /// Tells those who read a key that it changed.
    pub(crate) fn invalidate(&self, key: &[u8], trackers: &[Arc<Tracker>], author: u64) {
        if let Some(listener) = &self.listener {
            listener.invalidated(key, trackers, author);
        }
    }

    /// Something happened to a key.
    #[inline]
    pub fn tell(&self, database: u8, key: &[u8], event: Event) {
        if self.classes & bit(event.class) != 0 {
            self.tell_listener(database, key, event);
        }
    }

    #[cold]
    fn tell_listener(&self, database: u8, key: &[u8], event: Event) {
        if self.is_holding {
            self.held.borrow_mut().push(Item::Event { database, key: key.into(), event });
        } else if let Some(listener) = &self.listener {
            listener.event(database, key, event);
        }
    }

    /// Whether a transaction or script is running, so that messages are to be held.
    pub fn is_holding(&self) -> bool {
        self.is_holding
    }

    /// Holds a message.
    pub fn hold(&self, message: Message) {
        debug_assert!(self.is_holding, "a message that need not wait is sent");
        self.held.borrow_mut().push(Item::Message(message));
    }

    /// A transaction or script begins.
    pub fn begin(&mut self) {
        debug_assert!(!self.is_holding, "one inside another ends with that");
        self.is_holding = true;
    }

    /// It ends: what was held is told.
    pub fn end(&mut self) {
        self.is_holding = false;
        self.tell_held();
    }

    /// Tells what is held so far, by a transaction that cannot be undone any more.
    pub fn tell_held(&self) {
        let held = self.held.take();
        let Some(listener) = &self.listener else { return };
        for item in held {
            match item {
                Item::Event { database, key, event } => listener.event(database, &key, event),
                Item::Message(message) => listener.message(&message),
            }
        }
    }

    /// It is undone: what was held is forgotten.
    pub fn forget(&mut self) {
        self.is_holding = false;
        self.held.borrow_mut().clear();
    }
}

fn bit(class: Class) -> u32 {
    1 << class as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Mutex, PoisonError};

    #[derive(Default)]
    struct Heard(Mutex<Vec<String>>);

    impl Heard {
        fn add(&self, text: String) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(text);
        }

        fn take(&self) -> Vec<String> {
            std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
        }
    }

    impl Listener for Heard {
        fn event(&self, database: u8, key: &[u8], event: Event) {
            self.add(format!("{database} {} {}", String::from_utf8_lossy(key), event.name));
        }

        fn message(&self, message: &Message) {
            self.add(String::from_utf8_lossy(&message.payload).into_owned());
        }

        fn invalidated(&self, key: &[u8], trackers: &[Arc<Tracker>], _: u64) {
            let key = String::from_utf8_lossy(key);
            trackers.iter().for_each(|at| self.add(format!("{key} {}", at.connection)));
        }
    }

    fn message(text: &str) -> Message {
        let bytes = |text: &str| text.as_bytes().into();
        Message { is_shard: false, channel: bytes("ch"), payload: bytes(text) }
    }

    #[test]
    fn only_classes_that_somebody_listens_to_are_told() {
        let (mut news, heard) = (News::default(), Arc::new(Heard::default()));
        news.tell(0, b"k", Event::DEL);
        news.listen([Class::Generic].into_iter(), Arc::clone(&heard) as Arc<dyn Listener>);
        news.tell(0, b"k", Event::string("set"));
        news.tell(3, b"k", Event::DEL);
        assert_eq!(heard.take(), ["3 k del"]);
    }

    #[test]
    fn what_a_transaction_tells_waits_for_its_end_unless_it_is_undone() {
        let (mut news, heard) = (News::default(), Arc::new(Heard::default()));
        news.listen([Class::Generic].into_iter(), Arc::clone(&heard) as Arc<dyn Listener>);
        news.begin();
        news.tell(0, b"a", Event::DEL);
        news.hold(message("n"));
        news.forget();
        news.begin();
        news.tell(0, b"a", Event::DEL);
        news.hold(message("m"));
        news.tell(0, b"c", Event::DEL);
        assert_eq!(heard.take(), Vec::<String>::new());
        news.end();
        assert_eq!(heard.take(), ["0 a del", "m", "0 c del"]);
    }
}
