//! Hashes as commands see them, and the end of their fields.
//!
//! A field past its moment is invisible: readers get an [`Alive`], and a command that changes a
//! hash does so through [`HashMut`], which takes each field that the command names away first, if
//! it is dead. What must stay true: every change of a hash in its table ends in [`index_expiry`],
//! so that counts and expiry index know its first moment; a dead field goes with an effect (HDEL)
//! before the effect of the command that met it, because replaying does not expire by the clock.

use crate::expiry::Ends;
use crate::keys::{Key, Keys, WrongType, index_expiry};
use crate::keyspace::tidy;
use crate::side::Side;
use crate::{Counters, Effects, Event, Keyspace, Millis, SetExpiry};
use caudal_table::{Guard, NewValue};
use caudal_value::{Alive, Hash, Item, Limits, Object};

/// A hash that a command changes. Fields that it names and that are past their moment are gone.
pub struct HashMut<'a> {
    hash: &'a mut Hash,
    limits: &'a Limits,
    now: Millis,
    /// Fields that were taken away because they were dead.
    dead: Vec<Box<[u8]>>,
}

impl HashMut<'_> {
    /// The value of a field.
    #[inline]
    pub fn get(&mut self, field: &[u8]) -> Option<Item<'_>> {
        self.bury(field);
        self.hash.get(field)
    }

    /// The value of a field, and its moment if it has one.
    #[inline]
    pub fn get_timed(&mut self, field: &[u8]) -> Option<(Item<'_>, Option<Millis>)> {
        self.bury(field);
        self.hash.get_timed(field)
    }

    /// True when the field exists.
    #[inline]
    pub fn contains(&mut self, field: &[u8]) -> bool {
        self.get(field).is_some()
    }

    /// Prepares for a command that sets `pairs` fields; see [`Hash::anticipate`].
    #[inline]
    pub fn anticipate(&mut self, pairs: usize) {
        self.hash.anticipate(pairs, self.limits);
    }

    /// Sets a field's value; it has no moment afterwards. True when the field is new.
    #[inline]
    pub fn insert(&mut self, field: &[u8], value: &[u8]) -> bool {
        self.bury(field);
        self.hash.insert(field, value, self.limits)
    }

    /// Sets a field's value and its moment. True when the field is new.
    #[inline]
    pub fn insert_until(&mut self, field: &[u8], value: &[u8], moment: Option<Millis>) -> bool {
        self.bury(field);
        self.hash.insert_until(field, value, moment, self.limits)
    }

    /// Gives a field a moment, or takes it away. False if there is no such field.
    pub fn set_moment(&mut self, field: &[u8], moment: Option<Millis>) -> bool {
        self.bury(field);
        self.hash.set_moment(field, moment)
    }

    /// Takes a field away. True when it existed.
    #[inline]
    pub fn remove(&mut self, field: &[u8]) -> bool {
        self.bury(field);
        self.hash.remove(field)
    }

    /// Takes a field away if it is past its moment.
    #[inline]
    fn bury(&mut self, field: &[u8]) {
        if self.hash.is_timed() {
            self.bury_timed(field);
        }
    }

    #[cold]
    fn bury_timed(&mut self, field: &[u8]) {
        let moment = self.hash.get_timed(field).and_then(|(_, moment)| moment);
        if moment.is_some_and(|moment| moment < self.now) {
            self.hash.remove(field);
            self.dead.push(field.into());
        }
    }
}

/// Hashes.
impl Keys<'_, '_> {
    /// The hash of a key, without the fields that are past their moment.
    #[inline]
    pub fn hash(&self, key: &Key<'_>) -> Result<Option<Alive<'_>>, WrongType> {
        match self.object(key)? {
            None => Ok(None),
            Some(Object::Hash(hash)) => {
                let alive = hash.alive(self.now);
                if hash.is_timed() && alive.has_dead() {
                    self.stale.add_lapsed(self.database, key);
                }
                Ok(Some(alive))
            }
            Some(_) => Err(WrongType),
        }
    }

    /// Has `change` work on the hash of a key in one look-up; none if there is no such key. Follow
    /// with [`Keys::drop_empty_hash`].
    #[inline]
    pub fn edit_hash<R>(
        &mut self,
        key: &Key<'_>,
        change: impl FnOnce(&mut HashMut<'_>) -> R,
    ) -> Result<Option<R>, WrongType> {
        let (limits, now) = (self.limits, self.now);
        let Some(record) = self.record_mut(key) else { return Ok(None) };
        let Some(Object::Hash(hash)) = record.into_object() else { return Err(WrongType) };
        let before = hash.first_moment();
        let mut edit = HashMut { hash, limits, now, dead: Vec::new() };
        let result = change(&mut edit);
        let HashMut { hash, dead, .. } = edit;
        let at = hash.first_moment();
        if before.is_some() || at.is_some() {
            self.settle_hash(key, before, &dead);
        }
        Ok(Some(result))
    }

    /// Has `change` work on the hash of a key in one look-up, on a new one if there is none, which
    /// is stored if it is not empty afterwards. Follow with [`Keys::drop_empty_hash`] if an old one
    /// may become empty.
    #[inline]
    pub fn change_hash<R>(
        &mut self,
        key: &Key<'_>,
        mut change: impl FnMut(&mut HashMut<'_>) -> R,
    ) -> Result<R, WrongType> {
        if let Some(result) = self.edit_hash(key, &mut change)? {
            return Ok(result);
        }
        let (limits, now) = (self.limits, self.now);
        let mut hash = Hash::new();
        let result = change(&mut HashMut { hash: &mut hash, limits, now, dead: Vec::new() });
        if !hash.is_empty() {
            self.set(key, NewValue::Object(Object::Hash(hash)), SetExpiry::Clear);
        }
        Ok(result)
    }

    /// Removes a key whose hash has become empty; true if it did.
    pub fn drop_empty_hash(&mut self, key: &Key<'_>) -> bool {
        self.drop_if(key, |object| matches!(object, Object::Hash(hash) if hash.is_empty()))
    }

    /// What follows from a change of a hash that had or has moments.
    #[cold]
    fn settle_hash(&mut self, key: &Key<'_>, before: Option<Millis>, dead: &[Box<[u8]>]) {
        let guard = self.held.at_mut(self.place(key)).expect("a command's keys are locked");
        let now = guard.table().find(key.hash, key.bytes).map(Ends::of).unwrap_or_default();
        let before = Ends { fields: before, ..now };
        index_expiry(guard, key, (before, now), self.keyspace, self.counters);
        if !dead.is_empty() {
            let event = Event::hash("hexpired");
            tell_dead((self.database, key), dead, event, self.counters, self.effects);
            self.touch(key);
        }
    }
}

/// Notes that fields of a hash are gone because they were past their moment.
fn tell_dead(
    (database, key): (u8, &Key<'_>),
    dead: &[Box<[u8]>],
    event: Event,
    counters: &Counters,
    effects: &mut Effects,
) {
    Counters::count(&counters.expired_fields, dead.len() as u64);
    if effects.wanted() {
        let mut words = vec![b"HDEL".as_slice(), key.bytes];
        words.extend(dead.iter().map(|field| &**field));
        effects.push(database, words.into_iter());
    }
    effects.news.tell(database, key.bytes, event);
}

/// Takes up to `max` fields of a hash away that are past their moment; the key too, if it was the
/// last. The slot's index has no entry for what is left. Returns how many.
pub(crate) fn lapse(
    guard: &mut Guard<'_, Side>,
    key: &Key<'_>,
    (now, max): (Millis, usize),
    keyspace: &Keyspace,
    (counters, effects): (&Counters, &mut Effects),
) -> usize {
    let database = guard.database();
    let Some(record) = guard.table_mut().find_mut(key.hash, key.bytes) else { return 0 };
    let expiry = record.expiry();
    let Some(Object::Hash(hash)) = record.into_object() else { return 0 };
    let before = Ends { key: expiry, fields: hash.first_moment() };
    let mut dead = Vec::new();
    hash.drop_dead(now, max, |field| dead.push(Box::from(&*field.to_bytes())));
    if dead.is_empty() {
        return 0;
    }
    let is_empty = hash.is_empty();
    let mut after = Ends { key: expiry, fields: hash.first_moment() };
    if is_empty {
        after = Ends::default();
        drop(guard.table_mut().remove(key.hash, key.bytes));
        counters.add(database, -1, 0, 0);
    }
    index_expiry(guard, key, (before, after), keyspace, counters);
    if let Some(side) = guard.side_mut() {
        side.watches.touch(key.bytes);
        side.trackers.touch(key.bytes, 0, &effects.news);
    }
    effects.news.note_change(key.bytes, 0);
    tell_dead((database, key), &dead, Event::FIELDS_EXPIRED, counters, effects);
    if is_empty {
        effects.news.tell(database, key.bytes, Event::DEL);
    }
    tidy(guard.side_mut());
    dead.len()
}
