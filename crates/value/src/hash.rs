//! A hash: fields and their values.
//!
//! Packed while it is small (field, value, field, value, in order of arrival), a tree by the hash
//! of the field above the limits; it does not become small again. What must stay true: no field
//! twice; [`Hash::encoding`] changes exactly where Valkey's does.

use crate::item::{Item, ItemBytes};
use crate::limits::Limits;
use crate::packed::{self, Packed, Position};
use crate::seed;
use crate::tree::{Ascending, Entry, Fields, Tree};

/// Fields and their values. Cloning a large one is O(1) and gives an image that later writes do
/// not touch.
#[derive(Debug, Clone, Default)]
pub struct Hash {
    form: Form,
}

#[derive(Debug, Clone)]
enum Form {
    Packed(Packed),
    Tree(Box<Tree<Fields>>),
}

impl Default for Form {
    fn default() -> Form {
        Form::Packed(Packed::new())
    }
}

const _: () = assert!(size_of::<Hash>() <= 24);

impl Hash {
    /// No fields.
    pub fn new() -> Hash {
        Hash::default()
    }

    /// Number of fields.
    pub fn len(&self) -> usize {
        match &self.form {
            Form::Packed(packed) => packed.len() / 2,
            Form::Tree(tree) => tree.len(),
        }
    }

    /// True without fields: the key is then to be deleted.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a field.
    pub fn get(&self, field: &[u8]) -> Option<Item<'_>> {
        match &self.form {
            Form::Packed(packed) => {
                let at = find_field(packed, field)?;
                Some(packed.item(value_of(packed, at)))
            }
            Form::Tree(tree) => {
                tree.find(seed::hash(field), field).map(|place| Item::Bytes(place.value()))
            }
        }
    }

    /// True when the field exists.
    pub fn contains(&self, field: &[u8]) -> bool {
        match &self.form {
            Form::Packed(packed) => find_field(packed, field).is_some(),
            Form::Tree(tree) => tree.find(seed::hash(field), field).is_some(),
        }
    }

    /// Prepares for a command that sets `pairs` fields: more than the limit make a hash large even
    /// when some of them are the same.
    pub fn anticipate(&mut self, pairs: usize, limits: &Limits) {
        if pairs > limits.hash_packed_entries_max {
            self.enlarge();
        }
    }

    /// Sets a field's value. True when the field is new.
    pub fn insert(&mut self, field: &[u8], value: &[u8], limits: &Limits) -> bool {
        if field.len().max(value.len()) > limits.hash_packed_value_bytes_max {
            self.enlarge();
        }
        let added = match &mut self.form {
            Form::Packed(packed) => insert_packed(packed, field, value),
            Form::Tree(tree) => {
                return tree.insert(&Entry { word: seed::hash(field), key: field, value });
            }
        };
        if self.len() > limits.hash_packed_entries_max {
            self.enlarge();
        }
        added
    }

    /// Takes a field away. True when it existed.
    pub fn remove(&mut self, field: &[u8]) -> bool {
        match &mut self.form {
            Form::Packed(packed) => match find_field(packed, field) {
                Some(at) => {
                    packed.remove(at, 2);
                    true
                }
                None => false,
            },
            Form::Tree(tree) => tree.remove(seed::hash(field), field),
        }
    }

    /// Takes a field away and gives its value.
    pub fn take(&mut self, field: &[u8]) -> Option<ItemBytes> {
        let value = self.get(field)?.to_bytes();
        self.remove(field);
        Some(value)
    }

    /// The field with that index, from 0 in the order of [`Hash::iter`], and its value.
    pub fn nth(&self, index: usize) -> Option<(Item<'_>, Item<'_>)> {
        match &self.form {
            Form::Packed(packed) => {
                let at = packed.nth(index.checked_mul(2)?)?;
                Some((packed.item(at), packed.item(value_of(packed, at))))
            }
            Form::Tree(tree) => tree.nth(index).map(|place| items(place.pair())),
        }
    }

    /// All fields and values: in order of arrival while the hash is small, then in no order to rely
    /// on.
    pub fn iter(&self) -> Iter<'_> {
        self.iter_from(0)
    }

    /// The fields and values from an index on: how a long reply goes on with an image.
    pub fn iter_from(&self, index: usize) -> Iter<'_> {
        let form = match &self.form {
            Form::Packed(packed) => {
                let at = packed.nth(index.saturating_mul(2)).unwrap_or(packed.end());
                IterForm::Packed(packed.iter_from(at))
            }
            Form::Tree(tree) => IterForm::Tree(tree.iter_from(index)),
        };
        Iter { form, left: self.len().saturating_sub(index) }
    }

    /// Calls `f` with about `count` fields and values from a cursor on (0 to begin), returns
    /// the cursor to go on with (0 at the end). A field that exists from the first call to the last
    /// is given at least once, whatever else changes in between. A small hash is given whole.
    pub fn scan(&self, cursor: u64, count: usize, mut f: impl FnMut(Item<'_>, Item<'_>)) -> u64 {
        match &self.form {
            Form::Packed(_) => {
                self.iter().for_each(|(field, value)| f(field, value));
                0
            }
            Form::Tree(tree) => tree.scan(cursor, count, |place| {
                let (field, value) = items(place.pair());
                f(field, value);
            }),
        }
    }

    /// What OBJECT ENCODING says.
    pub fn encoding(&self) -> &'static str {
        match &self.form {
            Form::Packed(_) => "listpack",
            Form::Tree(_) => "hashtable",
        }
    }

    /// Bytes allocated; an image counts what it shares.
    pub fn memory(&self) -> usize {
        match &self.form {
            Form::Packed(packed) => packed.memory(),
            Form::Tree(tree) => size_of::<Tree<Fields>>() + tree.memory(),
        }
    }

    fn enlarge(&mut self) {
        let Form::Packed(packed) = &self.form else {
            return;
        };
        let mut tree = Tree::new();
        for (field, value) in Pairs(packed.iter()) {
            field.with(|key| {
                value.with(|value| tree.insert(&Entry { word: seed::hash(key), key, value }))
            });
        }
        self.form = Form::Tree(Box::new(tree));
    }
}

impl<'a> IntoIterator for &'a Hash {
    type Item = (Item<'a>, Item<'a>);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// A walk over the fields and values of a [`Hash`](struct@Hash).
#[derive(Debug, Clone)]
pub struct Iter<'a> {
    form: IterForm<'a>,
    left: usize,
}

#[derive(Debug, Clone)]
enum IterForm<'a> {
    Packed(packed::Iter<'a>),
    Tree(Ascending<'a, Fields>),
}

impl<'a> Iterator for Iter<'a> {
    type Item = (Item<'a>, Item<'a>);

    fn next(&mut self) -> Option<(Item<'a>, Item<'a>)> {
        let pair = match &mut self.form {
            IterForm::Packed(packed) => packed.next().zip(packed.next()),
            IterForm::Tree(tree) => tree.next().map(|place| items(place.pair())),
        }?;
        self.left -= 1;
        Some(pair)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Iter<'_> {}

/// Field and value of a packed hash in turn.
struct Pairs<'a>(packed::Iter<'a>);

impl<'a> Iterator for Pairs<'a> {
    type Item = (Item<'a>, Item<'a>);

    fn next(&mut self) -> Option<(Item<'a>, Item<'a>)> {
        self.0.next().zip(self.0.next())
    }
}

fn items<'a>((field, value): (&'a [u8], &'a [u8])) -> (Item<'a>, Item<'a>) {
    (Item::Bytes(field), Item::Bytes(value))
}

fn find_field(packed: &Packed, field: &[u8]) -> Option<Position> {
    packed.find(packed.first()?, 2, field)
}

fn value_of(packed: &Packed, field: Position) -> Position {
    packed.next(field).expect("a value follows each field")
}

fn insert_packed(packed: &mut Packed, field: &[u8], value: &[u8]) -> bool {
    if let Some(at) = find_field(packed, field) {
        packed.replace(value_of(packed, at), value);
        return false;
    }
    packed.push_back(field);
    packed.push_back(value);
    true
}

#[cfg(test)]
mod tests;
