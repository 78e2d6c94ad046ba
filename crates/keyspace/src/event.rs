//! What happened to a key: the name that WATCH, tracking and keyspace notifications are told.

/// Class of an event, as `notify-keyspace-events` groups them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// `g`: any type.
    Generic,
    /// `$`.
    String,
    /// `l`.
    List,
    /// `s`.
    Set,
    /// `h`.
    Hash,
    /// `z`.
    SortedSet,
    /// `t`.
    Stream,
    /// `x`.
    Expired,
    /// `n`: a key that was not there before.
    New,
    /// `e`: removed to make room.
    Evicted,
    /// `m`: somebody read a key that is not there.
    KeyMiss,
}

impl Class {
    /// Each class with its letter in `notify-keyspace-events`.
    pub const LETTERS: [(Class, char); 11] = [
        (Class::Generic, 'g'),
        (Class::String, '$'),
        (Class::List, 'l'),
        (Class::Set, 's'),
        (Class::Hash, 'h'),
        (Class::SortedSet, 'z'),
        (Class::Expired, 'x'),
        (Class::New, 'n'),
        (Class::Stream, 't'),
        (Class::Evicted, 'e'),
        (Class::KeyMiss, 'm'),
    ];
}

/// An event of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its class.
    pub class: Class,
    /// Redis's name for it.
    pub name: &'static str,
}

impl Event {
    /// An event of any type's keys: `del`, `expire`, `rename_from`.
    pub const fn generic(name: &'static str) -> Event {
        Event { class: Class::Generic, name }
    }
    /// A string's event.
    pub const fn string(name: &'static str) -> Event {
        Event { class: Class::String, name }
    }
    /// A list's event.
    pub const fn list(name: &'static str) -> Event {
        Event { class: Class::List, name }
    }
    /// A set's event.
    pub const fn set(name: &'static str) -> Event {
        Event { class: Class::Set, name }
    }
    /// A hash's event.
    pub const fn hash(name: &'static str) -> Event {
        Event { class: Class::Hash, name }
    }
    /// A sorted set's event.
    pub const fn sorted_set(name: &'static str) -> Event {
        Event { class: Class::SortedSet, name }
    }
    /// A stream's event.
    pub const fn stream(name: &'static str) -> Event {
        Event { class: Class::Stream, name }
    }
    /// The key's time was over.
    pub const EXPIRED: Event = Event { class: Class::Expired, name: "expired" };
    /// The time of fields was over: the expiry cycle found them. (A command that finds or makes
    /// them so tells a hash's event of that name.)
    pub const FIELDS_EXPIRED: Event = Event { class: Class::Expired, name: "hexpired" };
    /// Somebody read the key, and it is not there.
    pub const KEY_MISS: Event = Event { class: Class::KeyMiss, name: "keymiss" };
    /// The key was not there before.
    pub const NEW: Event = Event { class: Class::New, name: "new" };
    /// The key was deleted.
    pub const DEL: Event = Event::generic("del");
}
