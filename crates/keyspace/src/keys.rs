//! What a command sees of the keyspace: one database's keys, in slots that are already locked.
//!
//! A key past its expiry is invisible to every method; a writing one removes it on the way. What
//! must stay true: every insertion, removal and change of expiry passes through here, so that
//! counts, expiry index, watches and waiters agree with the tables.

use crate::expiry::Ends;
use crate::held::{Busy, Held, Wanted};
use crate::keyspace::expire_key;
use crate::side::Side;
use crate::{Counters, Effects, Event, Keyspace, Millis, Place, Stale, Usage, WatchedKey};
use caudal_table::{
    Guard, KeyHash, Kind, Mode, NewValue, OwnedValue, RecordMut, RecordRef, Removed, Stamp, Table,
    ValueRef,
};
use caudal_value::{Blob, Limits, List, Object, Set, SortedSet, Stream};

/// A key and its hash.
#[derive(Clone, Copy, Debug)]
pub struct Key<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Its hash, which names its slot.
    pub hash: KeyHash,
}

/// A key holds another type than the command is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongType;

/// What a write does to the expiry of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetExpiry {
    /// The key has none afterwards.
    Clear,
    /// The key keeps what it has.
    Keep,
    /// Unix milliseconds.
    At(Millis),
}

/// A key that got a value of a type that clients block on, while somebody waited in its slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ready {
    /// Where it is.
    pub place: Place,
    /// Its name.
    pub key: Box<[u8]>,
    /// What it holds.
    pub kind: Kind,
}

/// One database's keys, for one command.
pub struct Keys<'a, 'k> {
    /// The locked slots.
    pub held: &'a mut Held<'k>,
    /// All databases.
    pub keyspace: &'k Keyspace,
    /// The number of the database that the connection has selected.
    pub database: u8,
    /// The turn's time.
    pub now: Millis,
    /// When collections change their encoding.
    pub limits: &'a Limits,
    /// This worker's counts.
    pub counters: &'a Counters,
    /// The writes, as commands that redo them.
    pub effects: &'a mut Effects,
    /// Keys that waiters may want.
    pub ready: &'a mut Vec<Ready>,
    /// Keys that a reader found past their expiry: it may not remove them, who comes after it does.
    pub stale: &'a Stale,
    /// How many changes the command has made.
    pub changes: u64,
    /// Whether the command has given its own effects; if not, its words are its effect.
    pub explained: bool,
    /// What it leaves in the clocks of records that it uses.
    pub usage: Usage<'a>,
}

/// Locking.
impl Keys<'_, '_> {
    /// Makes sure that the slot of a key which the command's words do not name is locked. To be
    /// called before the command's first change: nothing undoes that one's if this fails.
    ///
    /// # Errors
    /// The slot is busy: the command returns that as its flow and runs again.
    pub fn reach(&mut self, key: &Key<'_>, mode: Mode) -> Result<(), Busy> {
        self.held.reach(self.keyspace, Wanted { place: self.place(key), mode })
    }
}

/// Reading.
impl Keys<'_, '_> {
    /// A key with its hash.
    #[inline]
    pub fn key<'b>(&self, bytes: &'b [u8]) -> Key<'b> {
        Key { bytes, hash: self.keyspace.hash(bytes) }
    }

    /// The record of a key, counted as a hit or a miss and stamped as used.
    #[inline]
    pub fn find(&self, key: &Key<'_>) -> Option<RecordRef<'_>> {
        let found = self.observe(key);
        if let Some(record) = &found
            && self.usage.counts
        {
            record.set_clock(self.usage.used(record.clock(), self.now));
        }
        found
    }

    /// The record of a key, counted as a hit or a miss but not as used: EXISTS, TTL, TYPE.
    #[inline]
    pub fn observe(&self, key: &Key<'_>) -> Option<RecordRef<'_>> {
        let found = self.peek(key);
        let counters = self.counters;
        if found.is_some() {
            Counters::count(&counters.hits, 1);
        } else {
            Counters::count(&counters.misses, 1);
            self.effects.news.tell(self.database, key.bytes, Event::KEY_MISS);
        }
        found
    }

    /// The record of a key, leaving no trace.
    #[inline]
    pub fn peek(&self, key: &Key<'_>) -> Option<RecordRef<'_>> {
        self.peek_in(self.database, key)
    }

    /// The record of a key in another database, whose slot is locked too.
    #[inline]
    pub fn peek_in(&self, database: u8, key: &Key<'_>) -> Option<RecordRef<'_>> {
        let guard = self.held.at(Place { database, slot: key.hash.slot().0 })?;
        let record = guard.table().find(key.hash, key.bytes)?;
        match record.expiry() {
            Some(expiry) if expiry < self.now => {
                self.stale.add(guard.database(), key);
                None
            }
            _ => Some(record),
        }
    }

    /// Whether a key is there. Does not count as a use.
    pub fn exists(&self, key: &Key<'_>) -> bool {
        self.observe(key).is_some()
    }

    /// A string's value.
    #[inline]
    pub fn string(&self, key: &Key<'_>) -> Result<Option<ValueRef<'_>>, WrongType> {
        match self.find(key).map(|record| record.value()) {
            Some(ValueRef::Object(_)) => Err(WrongType),
            value => Ok(value),
        }
    }

    pub(crate) fn object(&self, key: &Key<'_>) -> Result<Option<&Object>, WrongType> {
        match self.find(key).map(|record| record.value()) {
            None => Ok(None),
            Some(ValueRef::Object(object)) => Ok(Some(object)),
            Some(_) => Err(WrongType),
        }
    }
}

/// Writing: any type.
impl Keys<'_, '_> {
    pub(crate) fn place(&self, key: &Key<'_>) -> Place {
        Place { database: self.database, slot: key.hash.slot().0 }
    }

    fn table_mut(&mut self, database: u8, key: &Key<'_>) -> &mut Table {
        let place = Place { database, slot: key.hash.slot().0 };
        if self.held.undo.is_some() {
            self.held.save(place, key);
        }
        self.held.at_mut(place).expect("a command's keys are locked").table_mut()
    }

    /// Removes a key that is past its expiry, so that a write starts from nothing.
    #[inline]
    pub fn reclaim(&mut self, key: &Key<'_>) {
        let place = self.place(key);
        let guard = self.held.at_mut(place).expect("a command's keys are locked");
        if guard.side().as_ref().is_none_or(|side| side.expiry.volatile() == 0) {
            return;
        }
        let record = guard.table().find(key.hash, key.bytes);
        if record.and_then(|at| at.expiry()).is_some_and(|expiry| expiry < self.now) {
            self.held.save(place, key);
            let guard = self.held.at_mut(place).expect("it was there before");
            let key = (key.hash, key.bytes);
            expire_key(guard, key, self.counters, self.effects, self.ready);
        }
    }

    /// Stores a value, whatever was there.
    #[inline]
    pub fn set(&mut self, key: &Key<'_>, value: NewValue<'_>, expiry: SetExpiry) {
        self.store(self.database, key, value, expiry);
    }

    /// Puts a value into the key's table, in one look-up, and keeps the counts and the expiry index
    /// right.
    #[inline]
    fn store(&mut self, database: u8, key: &Key<'_>, value: NewValue<'_>, expiry: SetExpiry) {
        let (now, usage, kind) = (self.now, self.usage, value.kind());
        let place = Place { database, slot: key.hash.slot().0 };
        if self.held.undo.is_some() {
            self.held.save(place, key);
        }
        let guard = self.held.at_mut(place).expect("a command's keys are locked");
        let (mut is_new, mut was_stream, mut before) = (true, false, Ends::default());
        let mut ends = Ends::of_new(&value, None);
        let replaced = guard.table_mut().set_stamped(key.hash, key.bytes, value, |old| {
            is_new = old.is_none();
            was_stream = old.is_some_and(|old| old.kind() == Kind::Stream);
            before = old.map_or(Ends::default(), Ends::of);
            ends.key = match expiry {
                SetExpiry::Clear => None,
                SetExpiry::Keep => before.key.filter(|before| *before >= now),
                SetExpiry::At(at) => Some(at),
            };
            let clock = match old.map(RecordRef::clock) {
                None => usage.born(now),
                Some(old) if usage.counts => usage.used(old, now),
                Some(old) => old,
            };
            Stamp { expiry: ends.key, clock }
        });
        drop(replaced);
        if before.key.is_some_and(|before| before < now) {
            // Replaying does not expire by the clock: what stood there must go first.
            Counters::count(&self.counters.expired, 1);
            self.effects.push(database, [b"DEL".as_slice(), key.bytes].into_iter());
            self.effects.news.tell(database, key.bytes, Event::EXPIRED);
            self.effects.news.tell(database, key.bytes, Event::NEW);
        }
        self.counters.add(database, i64::from(is_new), 0, 0);
        if is_new {
            self.effects.news.tell(database, key.bytes, Event::NEW);
        }
        self.index_expiry(place, key, before, ends);
        if kind != Kind::String || was_stream {
            self.became_ready(place, key, kind);
        }
    }

    /// Keeps the expiry index right after what ends of a key, and when, went from `before` to
    /// `now`.
    #[inline]
    fn index_expiry(&mut self, place: Place, key: &Key<'_>, before: Ends, now: Ends) {
        if before == Ends::default() && now == Ends::default() {
            return;
        }
        let guard = self.held.at_mut(place).expect("a command's keys are locked");
        index_expiry(guard, key, (before, now), self.keyspace, self.counters);
    }

    /// Gives a key an expiry, or takes it away. False if there is no such key.
    pub fn set_expiry(&mut self, key: &Key<'_>, expiry: Option<Millis>) -> bool {
        let Some(before) = self.peek(key).map(Ends::of) else { return false };
        let (database, place) = (self.database, self.place(key));
        self.table_mut(database, key).set_expiry(key.hash, key.bytes, expiry);
        self.index_expiry(place, key, before, Ends { key: expiry, ..before });
        true
    }

    /// Removes a key; true if it was there.
    pub fn remove(&mut self, key: &Key<'_>) -> bool {
        self.reclaim(key);
        self.detach(self.database, key).is_some()
    }

    /// Removes a key and gives its value and expiry.
    pub fn take(&mut self, key: &Key<'_>) -> Option<(OwnedValue, Option<Millis>)> {
        self.reclaim(key);
        let removed = self.detach(self.database, key)?;
        let expiry = removed.expiry();
        Some((removed.into_value(), expiry))
    }

    fn detach(&mut self, database: u8, key: &Key<'_>) -> Option<Removed> {
        let removed = self.table_mut(database, key).remove(key.hash, key.bytes)?;
        self.counters.add(database, -1, 0, 0);
        let place = Place { database, slot: key.hash.slot().0 };
        self.index_expiry(place, key, Ends::of(removed.record()), Ends::default());
        if removed.kind() == Kind::Stream {
            self.became_ready(place, key, Kind::Stream);
        }
        Some(removed)
    }

    /// Stores a value that another key, or this key in another database, gave up.
    pub fn put_in(
        &mut self,
        database: u8,
        key: &Key<'_>,
        value: OwnedValue,
        expiry: Option<Millis>,
    ) {
        let expiry = expiry.map_or(SetExpiry::Clear, SetExpiry::At);
        if self.effects.news.is_on() && self.peek_in(database, key).is_some() {
            // What stood there was another key.
            self.effects.news.tell(database, key.bytes, Event::NEW);
        }
        value.with_new(|value| self.store(database, key, value, expiry));
    }

    /// Notes that a stream has more to give, or a group less: its readers may go on.
    pub fn stream_moved(&mut self, key: &Key<'_>) {
        self.became_ready(self.place(key), key, Kind::Stream);
    }

    /// Notes that a key now holds something that waiters of its slot may want, or no longer holds
    /// the stream that they read.
    fn became_ready(&mut self, place: Place, key: &Key<'_>, kind: Kind) {
        let side = self.held.at(place).and_then(|guard| guard.side().as_ref());
        if side.is_some_and(|side| side.waiters.has(key.bytes)) {
            self.ready.push(Ready { place, key: key.bytes.into(), kind });
        }
    }

    /// A key changed: the one place that serves WATCH, tracking and notifications.
    #[inline]
    pub fn changed(&mut self, key: &Key<'_>, event: Event) {
        self.changes += 1;
        self.note(key, event);
    }

    /// A further event of a key whose change is already counted: the `expire` of SET with EX.
    #[inline]
    pub fn also(&mut self, key: &Key<'_>, event: Event) {
        self.note(key, event);
    }

    /// An event that changed nothing.
    pub fn tell(&self, key: &Key<'_>, event: Event) {
        self.effects.news.tell(self.database, key.bytes, event);
    }

    /// A key changed in a way that its watchers need not know: what the groups of a stream have
    /// read.
    #[inline]
    pub fn changed_aside(&mut self, key: &Key<'_>, event: Event) {
        self.changes += 1;
        self.effects.news.tell(self.database, key.bytes, event);
    }

    /// A key changed in a way that is nobody's event: PFCOUNT keeps what it counted.
    pub fn changed_quietly(&mut self, key: &Key<'_>) {
        self.changes += 1;
        self.touch(key);
    }

    /// A key changed in another database.
    pub fn changed_in(&mut self, database: u8, key: &Key<'_>, event: Event) {
        let own = std::mem::replace(&mut self.database, database);
        self.changed(key, event);
        self.database = own;
    }

    #[inline]
    fn note(&mut self, key: &Key<'_>, event: Event) {
        self.touch(key);
        self.effects.news.tell(self.database, key.bytes, event);
    }

    /// Tells who watches or tracks a key.
    #[inline]
    pub(crate) fn touch(&mut self, key: &Key<'_>) {
        let place = self.place(key);
        let guard = self.held.at(place).expect("a command's keys are locked");
        if guard.side().is_some() {
            if self.held.has_undo() {
                self.held.touch_later(place, key);
            } else {
                self.held.touch(place, key.bytes, &self.effects.news);
            }
        }
        self.effects.news.note_change(key.bytes, self.effects.news.author());
    }

    /// Adds effects that remove the keys that the command missed because they are past their
    /// expiry. To be called before its own effect is added.
    pub fn explain_misses(&mut self) {
        if self.stale.has_news() {
            let effects = &mut *self.effects;
            let remove = |missed: &WatchedKey| {
                effects.push(missed.place.database, [b"DEL".as_slice(), &missed.key].into_iter());
            };
            self.stale.take_news(remove);
        }
    }

    /// Adds an effect that redoes what the command did, in place of the command's own words.
    pub fn effect(&mut self, words: &[&[u8]]) {
        self.explain_misses();
        self.explained = true;
        self.effects.push(self.database, words.iter().copied());
    }

    /// Whether a key that can be written is there, and its kind.
    pub fn kind_mut(&mut self, key: &Key<'_>) -> Option<Kind> {
        self.reclaim(key);
        self.peek(key).map(|record| record.kind())
    }

    /// The record of a key, to be changed where it stands; stamped as used.
    #[inline]
    pub fn record_mut(&mut self, key: &Key<'_>) -> Option<RecordMut<'_>> {
        self.reclaim(key);
        let (database, usage, now) = (self.database, self.usage, self.now);
        let record = self.table_mut(database, key).find_mut(key.hash, key.bytes)?;
        if usage.counts {
            let view = record.view();
            view.set_clock(usage.used(view.clock(), now));
        }
        Some(record)
    }

    /// A large string's own chunk, to be changed in place.
    pub fn blob_mut(&mut self, key: &Key<'_>) -> Option<&mut Blob> {
        self.record_mut(key)?.into_blob()
    }
}

/// Keeps the counts and the expiry index of a slot right after what ends of one of its keys, and
/// when, went from `before` to `now`.
pub(crate) fn index_expiry(
    guard: &mut Guard<'_, Side>,
    key: &Key<'_>,
    (before, now): (Ends, Ends),
    keyspace: &Keyspace,
    counters: &Counters,
) {
    if before == now {
        return;
    }
    let change = |before: Option<Millis>, now: Option<Millis>| {
        i64::from(now.is_some()) - i64::from(before.is_some())
    };
    let volatile = change(before.key, now.key);
    let timed = change(before.fields, now.fields);
    counters.add(guard.database(), 0, volatile, timed);
    let (table, side) = guard.parts_mut();
    let expiry = &mut side.get_or_insert_default().expiry;
    expiry.count(volatile, timed);
    // An earlier entry is found again when its time comes.
    if let Some(at) = now.first().filter(|at| before.first().is_none_or(|before| before > *at)) {
        expiry.add(at, key.hash.position());
        if expiry.is_stale() {
            let volatile = table.iter().filter_map(|record| {
                Some((Ends::of(record).first()?, keyspace.hash(record.key()).position()))
            });
            expiry.rebuild(volatile);
        }
    }
}

impl Keys<'_, '_> {
    /// Removes a key whose collection has become empty; true if it did.
    pub(crate) fn drop_if(
        &mut self,
        key: &Key<'_>,
        is_empty: impl FnOnce(&Object) -> bool,
    ) -> bool {
        let database = self.database;
        let record = self.table_mut(database, key).find(key.hash, key.bytes);
        let empty = record.is_some_and(|record| match record.value() {
            ValueRef::Object(object) => is_empty(object),
            _ => false,
        });
        if empty {
            self.detach(database, key);
            self.changed(key, Event::DEL);
        }
        empty
    }
}

/// Reading and writing by type.
macro_rules! typed {
    (
        $type:ident,
        $read:ident,
        $write:ident,
        $create:ident,
        $what:literal
    ) => {
        impl Keys<'_, '_> {
            #[doc = concat!("The ", $what, " of a key.")]
            #[inline]
            pub fn $read(&self, key: &Key<'_>) -> Result<Option<&$type>, WrongType> {
                match self.object(key)? {
                    None => Ok(None),
                    Some(Object::$type(value)) => Ok(Some(value)),
                    Some(_) => Err(WrongType),
                }
            }

            #[doc = concat!("The ", $what, " of a key, to be changed. Where it may become")]
            #[doc = "empty and then has to go, follow with its `drop_empty_`."]
            #[inline]
            pub fn $write(&mut self, key: &Key<'_>) -> Result<Option<&mut $type>, WrongType> {
                let Some(record) = self.record_mut(key) else { return Ok(None) };
                match record.into_object() {
                    Some(Object::$type(value)) => Ok(Some(value)),
                    _ => Err(WrongType),
                }
            }

            #[doc = concat!("The ", $what, " of a key, a new empty one if there is none;")]
            #[doc = "the caller adds to it."]
            #[inline]
            pub fn $create(&mut self, key: &Key<'_>) -> Result<&mut $type, WrongType> {
                if self.kind_mut(key).is_none() {
                    let value = Object::$type($type::default());
                    self.set(key, NewValue::Object(value), SetExpiry::Clear);
                }
                self.$write(key).map(|found| found.expect("it was just created"))
            }
        }
    };
}

/// What goes when it is empty.
macro_rules! perishable {
    (
        $type:ident,
        $write:ident,
        $change:ident,
        $drop_empty:ident,
        $what:literal
    ) => {
        impl Keys<'_, '_> {
            #[doc = concat!("Has `change` work on the ", $what, " of a key in one look-up,")]
            #[doc = "on a new one"]
            #[doc = "if there is none, which is stored if it is not empty afterwards. Follow with"]
            #[doc = concat!("`", stringify!($drop_empty), "` if an old one may become empty.")]
            #[inline]
            pub fn $change<R>(
                &mut self,
                key: &Key<'_>,
                change: impl FnOnce(&mut $type, &Limits) -> R,
            ) -> Result<R, WrongType> {
                let limits = self.limits;
                if let Some(value) = self.$write(key)? {
                    return Ok(change(value, limits));
                }
                let mut value = $type::default();
                let result = change(&mut value, limits);
                if value.len() > 0 {
                    self.set(key, NewValue::Object(Object::$type(value)), SetExpiry::Clear);
                }
                Ok(result)
            }

            #[doc = concat!("Removes a key whose ", $what, " has become empty; true if it did.")]
            pub fn $drop_empty(&mut self, key: &Key<'_>) -> bool {
                self.drop_if(key, |object| {
                    matches!(object, Object::$type(value) if value.len() == 0)
                })
            }
        }
    };
}

typed!(List, list, list_mut, list_or_new, "list");
typed!(Set, set_of, set_mut, set_or_new, "set");
typed!(SortedSet, sorted_set, sorted_set_mut, sorted_set_or_new, "sorted set");
typed!(Stream, stream, stream_mut, stream_or_new, "stream");

perishable!(List, list_mut, change_list, drop_empty_list, "list");
perishable!(Set, set_mut, change_set, drop_empty_set, "set");
perishable!(SortedSet, sorted_set_mut, change_sorted_set, drop_empty_sorted_set, "sorted set");
