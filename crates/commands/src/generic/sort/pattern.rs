//! The patterns of SORT's BY and GET: from an element to a key, or to a field of a hash.

use caudal_keyspace::{Busy, Key, Keys};
use caudal_table::{Mode, ValueRef};
use caudal_value::{Item, Object};

/// A pattern.
pub(super) enum Pattern<'a> {
    /// `#`: the element itself.
    Element,
    /// The element between `before` and `after` names a key.
    Key {
        before: &'a [u8],
        after: &'a [u8],
        /// The field of a hash that is meant; none: the key is a string.
        field: Option<&'a [u8]>,
    },
    /// There is no place for the element: it leads nowhere.
    Nothing,
}

/// What a pattern led to.
pub(super) enum Found<'k> {
    Item(Item<'k>),
    String(ValueRef<'k>),
    Nothing,
}

/// Whether an element has its place in a pattern: `*`. As in Valkey, a zero byte ends the search.
pub(super) fn has_gap(word: &[u8]) -> bool {
    gap(word).is_some()
}

fn gap(word: &[u8]) -> Option<usize> {
    word.iter().take_while(|byte| **byte != 0).position(|byte| *byte == b'*')
}

impl<'a> Pattern<'a> {
    pub(super) fn parse(word: &'a [u8]) -> Pattern<'a> {
        if word == b"#" {
            return Pattern::Element;
        }
        let Some(at) = gap(word) else { return Pattern::Nothing };
        let (before, behind) = (&word[..at], &word[at + 1..]);
        let text = behind.split(|byte| *byte == 0).next().unwrap_or_default();
        let arrow = text.windows(2).position(|pair| pair == b"->");
        match arrow.filter(|arrow| arrow + 2 < text.len()) {
            Some(arrow) => {
                let (after, field) = (&behind[..arrow], Some(&behind[arrow + 2..]));
                Pattern::Key { before, after, field }
            }
            None => Pattern::Key { before, after: behind, field: None },
        }
    }

    /// Whether it leads to fields of hashes.
    pub(super) fn reads_fields(&self) -> bool {
        matches!(self, Pattern::Key { field: Some(_), .. })
    }

    /// The value that an element leads to, whose slot is locked.
    pub(super) fn find<'k>(
        &self,
        keys: &'k mut Keys<'_, '_>,
        element: Item<'k>,
        name: &mut Vec<u8>,
    ) -> Result<Found<'k>, Busy> {
        if let Some(key) = self.key(keys, element, name) {
            keys.reach(&key, Mode::Shared)?;
        }
        Ok(self.look_up(keys, element, name))
    }

    /// Locks the slot of the key that an element leads to.
    pub(super) fn reach(
        &self,
        keys: &mut Keys<'_, '_>,
        element: Item<'_>,
        name: &mut Vec<u8>,
    ) -> Result<(), Busy> {
        self.key(keys, element, name).map_or(Ok(()), |key| keys.reach(&key, Mode::Shared))
    }

    /// The value that an element leads to in a slot that was locked before.
    pub(super) fn look_up<'k>(
        &self,
        keys: &'k Keys<'_, '_>,
        element: Item<'k>,
        name: &mut Vec<u8>,
    ) -> Found<'k> {
        let Pattern::Key { field, .. } = self else {
            let is_element = matches!(self, Pattern::Element);
            return if is_element { Found::Item(element) } else { Found::Nothing };
        };
        let key = self.key(keys, element, name);
        let Some(record) = key.and_then(|key| keys.find(&key)) else { return Found::Nothing };
        match (record.value(), field) {
            (ValueRef::Object(Object::Hash(hash)), Some(field)) => {
                hash.alive(keys.now).get(field).map_or(Found::Nothing, Found::Item)
            }
            (ValueRef::Object(_), _) | (_, Some(_)) => Found::Nothing,
            (value, None) => Found::String(value),
        }
    }

    /// The key that an element leads to; its name is put into `name`.
    fn key<'n>(
        &self,
        keys: &Keys<'_, '_>,
        element: Item<'_>,
        name: &'n mut Vec<u8>,
    ) -> Option<Key<'n>> {
        let Pattern::Key { before, after, .. } = self else { return None };
        name.clear();
        name.extend_from_slice(before);
        element.append_to(name);
        name.extend_from_slice(after);
        Some(keys.key(name))
    }
}

impl Found<'_> {
    /// Calls `then` with what was found, as text.
    pub(super) fn with<R>(&self, then: impl FnOnce(&[u8]) -> R) -> Option<R> {
        match self {
            Found::Item(item) => Some(item.with(then)),
            Found::String(ValueRef::Integer(integer)) => Some(Item::Integer(*integer).with(then)),
            Found::String(ValueRef::Bytes(bytes)) => Some(then(bytes)),
            Found::String(ValueRef::Blob(blob)) => Some(then(blob)),
            Found::String(ValueRef::Object(_)) | Found::Nothing => None,
        }
    }

    /// What was found, if it is kept as an integer.
    pub(super) fn integer(&self) -> Option<i64> {
        match self {
            Found::Item(Item::Integer(integer)) | Found::String(ValueRef::Integer(integer)) => {
                Some(*integer)
            }
            _ => None,
        }
    }
}
