//! What a reader sees of a hash: the fields whose moment has not passed.
//!
//! Where no field has a moment this is the hash itself and costs nothing more. What must stay true:
//! no method but [`Alive::len_with_dead`] lets a field through whose moment is before `now`.

use super::{Form, Hash, items};
use crate::item::Item;

/// A hash at a moment.
#[derive(Debug, Clone, Copy)]
pub struct Alive<'a> {
    hash: &'a Hash,
    now: u64,
}

impl<'a> Alive<'a> {
    pub(super) fn new(hash: &'a Hash, now: u64) -> Alive<'a> {
        Alive { hash, now }
    }

    /// The hash, with its dead fields.
    pub fn whole(&self) -> &'a Hash {
        self.hash
    }

    /// How many fields there are, with those that are dead and not yet taken away.
    pub fn len_with_dead(&self) -> usize {
        self.hash.len()
    }

    /// Whether there are fields whose moment has passed.
    pub fn has_dead(&self) -> bool {
        self.hash.first_moment().is_some_and(|moment| moment < self.now)
    }

    /// How many fields there are: counts them when some are dead.
    pub fn count(&self) -> usize {
        if self.has_dead() { self.iter().count() } else { self.hash.len() }
    }

    /// The value of a field.
    #[inline]
    pub fn get(&self, field: &[u8]) -> Option<Item<'a>> {
        match &self.hash.form {
            Form::Timed(_) => self.get_timed(field).map(|(value, _)| value),
            _ => self.hash.get(field),
        }
    }

    /// The value of a field, and its moment if it has one.
    pub fn get_timed(&self, field: &[u8]) -> Option<(Item<'a>, Option<u64>)> {
        let found = self.hash.get_timed(field)?;
        found.1.is_none_or(|moment| moment >= self.now).then_some(found)
    }

    /// True when the field exists.
    pub fn contains(&self, field: &[u8]) -> bool {
        self.get(field).is_some()
    }

    /// All fields and values, in the order of [`Hash::iter`].
    pub fn iter(&self) -> impl Iterator<Item = (Item<'a>, Item<'a>)> + Clone + use<'a> {
        let now = self.now;
        let alive = self
            .hash
            .iter_timed()
            .filter(move |(_, _, moment)| moment.is_none_or(|moment| moment >= now));
        alive.map(|(field, value, _)| (field, value))
    }

    /// As [`Hash::scan`].
    pub fn scan(&self, cursor: u64, count: usize, mut f: impl FnMut(Item<'_>, Item<'_>)) -> u64 {
        let Form::Timed(timed) = &self.hash.form else { return self.hash.scan(cursor, count, f) };
        timed.fields.scan(cursor, count, |place| {
            if place.moment().is_none_or(|moment| moment >= self.now) {
                let (field, value) = items(place.pair());
                f(field, value);
            }
        })
    }
}
