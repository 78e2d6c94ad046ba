//! A hash: fields and their values.
//!
//! Packed while it is small (field, value, field, value, in order of arrival), a tree by the hash
//! of the field above the limits; it does not become small again.
//!
//! A field may have a moment (Unix milliseconds) at which it is to end; before it has, the hash
//! becomes a tree. The moment stands before the field's own bytes in the tree, 9 bytes that the
//! other fields do not pay for. Beside it stands a second tree of what ends when ([`timed`]), while
//! there is such a field: so becoming timed, and being plain again, moves no field. The hash
//! does not know the time: a field past its moment is there until [`Hash::drop_dead`] takes it
//! away, and readers look through [`Alive`], which does not show it.
//!
//! What must stay true: no field twice; [`Hash::encoding`] changes exactly where Valkey's does.

use crate::item::{Item, ItemBytes};
use crate::limits::Limits;
use crate::packed::{self, Packed, Position};
use crate::seed;
use crate::tree::{Ascending, Entry, Fields, Place, Tree};

mod alive;
mod timed;

pub use alive::Alive;
use timed::Timed;

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
    /// Some field has a moment.
    Timed(Box<Timed>),
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
            Form::Timed(timed) => timed.fields.len(),
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
            Form::Timed(timed) => timed.find(field).map(|place| Item::Bytes(place.value())),
        }
    }

    /// The value of a field, and its moment if it has one.
    pub fn get_timed(&self, field: &[u8]) -> Option<(Item<'_>, Option<u64>)> {
        let Form::Timed(timed) = &self.form else { return Some((self.get(field)?, None)) };
        let place = timed.find(field)?;
        Some((Item::Bytes(place.value()), place.moment()))
    }

    /// What a reader sees at `now`.
    #[inline]
    pub fn alive(&self, now: u64) -> Alive<'_> {
        Alive::new(self, now)
    }

    /// Whether some field has a moment.
    #[inline]
    pub fn is_timed(&self) -> bool {
        matches!(self.form, Form::Timed(_))
    }

    /// The lowest moment of any field; none if no field has one.
    #[inline]
    pub fn first_moment(&self) -> Option<u64> {
        match &self.form {
            Form::Timed(timed) => timed.first_moment(),
            _ => None,
        }
    }

    /// True when the field exists.
    pub fn contains(&self, field: &[u8]) -> bool {
        match &self.form {
            Form::Packed(packed) => find_field(packed, field).is_some(),
            Form::Tree(tree) => tree.find(seed::hash(field), field).is_some(),
            Form::Timed(timed) => timed.find(field).is_some(),
        }
    }

    /// Prepares for a command that sets `pairs` fields: more than the limit make a hash large even
    /// when some of them are the same.
    pub fn anticipate(&mut self, pairs: usize, limits: &Limits) {
        if pairs > limits.hash_packed_entries_max {
            self.enlarge();
        }
    }

    /// Sets a field's value; it has no moment afterwards. True when the field is new.
    pub fn insert(&mut self, field: &[u8], value: &[u8], limits: &Limits) -> bool {
        if field.len().max(value.len()) > limits.hash_packed_value_bytes_max {
            self.enlarge();
        }
        let added = match &mut self.form {
            Form::Packed(packed) => insert_packed(packed, field, value),
            Form::Tree(tree) => {
                return tree.insert(&Entry::new(seed::hash(field), field).value(value));
            }
            Form::Timed(_) => return self.insert_timed(field, value, None),
        };
        if self.len() > limits.hash_packed_entries_max {
            self.enlarge();
        }
        added
    }

    /// Sets a field's value and its moment. True when the field is new.
    pub fn insert_until(
        &mut self,
        field: &[u8],
        value: &[u8],
        moment: Option<u64>,
        limits: &Limits,
    ) -> bool {
        if moment.is_some() {
            self.insert_timed(field, value, moment)
        } else {
            self.insert(field, value, limits)
        }
    }

    fn insert_timed(&mut self, field: &[u8], value: &[u8], moment: Option<u64>) -> bool {
        let added = self.timed().insert(field, value, moment);
        self.relax();
        added
    }

    /// Gives a field a moment, or takes it away. False if there is no such field.
    pub fn set_moment(&mut self, field: &[u8], moment: Option<u64>) -> bool {
        let Some((value, before)) = self.get_timed(field) else { return false };
        if before != moment {
            let value = value.to_bytes();
            self.insert_timed(field, &value, moment);
        }
        true
    }

    /// Takes up to `max` fields away whose moment is before `now`, giving each to `each`. Returns
    /// how many.
    pub fn drop_dead(&mut self, now: u64, max: usize, each: impl FnMut(Item<'_>)) -> usize {
        let Form::Timed(timed) = &mut self.form else { return 0 };
        let dropped = timed.drop_dead(now, max, each);
        self.relax();
        dropped
    }

    /// This hash as one that may have moments.
    fn timed(&mut self) -> &mut Timed {
        self.enlarge();
        if let Form::Tree(tree) = &mut self.form {
            self.form = Form::Timed(Box::new(Timed::new(std::mem::take(tree))));
        }
        match &mut self.form {
            Form::Timed(timed) => timed,
            _ => unreachable!("what was not timed was just made so"),
        }
    }

    /// Drops what only moments need once there are none.
    fn relax(&mut self) {
        if let Form::Timed(timed) = &mut self.form
            && timed.is_plain()
        {
            self.form = Form::Tree(Box::new(std::mem::take(&mut timed.fields)));
        }
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
            Form::Timed(timed) => {
                let removed = timed.remove(field);
                self.relax();
                removed
            }
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
            Form::Timed(timed) => timed.fields.nth(index).map(|place| items(place.pair())),
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
            Form::Timed(timed) => IterForm::Tree(timed.fields.iter_from(index)),
        };
        Iter { form, left: self.len().saturating_sub(index) }
    }

    /// All fields and values with their moments, in the order of [`Hash::iter`].
    pub fn iter_timed(&self) -> IterTimed<'_> {
        IterTimed(self.iter())
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
            Form::Tree(tree) => scan_tree(tree, cursor, count, f),
            Form::Timed(timed) => scan_tree(&timed.fields, cursor, count, f),
        }
    }

    /// What OBJECT ENCODING says.
    pub fn encoding(&self) -> &'static str {
        match &self.form {
            Form::Packed(_) => "listpack",
            Form::Tree(_) | Form::Timed(_) => "hashtable",
        }
    }

    /// Bytes allocated; an image counts what it shares.
    pub fn memory(&self) -> usize {
        match &self.form {
            Form::Packed(packed) => packed.memory(),
            Form::Tree(tree) => size_of::<Tree<Fields>>() + tree.memory(),
            Form::Timed(timed) => timed.memory(),
        }
    }

    fn enlarge(&mut self) {
        let Form::Packed(packed) = &self.form else {
            return;
        };
        let mut tree = Tree::new();
        for (field, value) in Pairs(packed.iter()) {
            field.with(|key| {
                value.with(|value| tree.insert(&Entry::new(seed::hash(key), key).value(value)))
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

/// A walk over the fields of a [`Hash`](struct@Hash) with their moments.
#[derive(Debug, Clone)]
pub struct IterTimed<'a>(Iter<'a>);

impl<'a> Iterator for IterTimed<'a> {
    type Item = (Item<'a>, Item<'a>, Option<u64>);

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0.form {
            IterForm::Packed(_) => self.0.next().map(|(field, value)| (field, value, None)),
            IterForm::Tree(tree) => tree.next().map(|place| {
                let (field, value) = items(place.pair());
                (field, value, place.moment())
            }),
        }
    }
}

/// Field and value of a packed hash in turn.
struct Pairs<'a>(packed::Iter<'a>);

impl<'a> Iterator for Pairs<'a> {
    type Item = (Item<'a>, Item<'a>);

    fn next(&mut self) -> Option<(Item<'a>, Item<'a>)> {
        self.0.next().zip(self.0.next())
    }
}

fn scan_tree(
    tree: &Tree<Fields>,
    cursor: u64,
    count: usize,
    mut f: impl FnMut(Item<'_>, Item<'_>),
) -> u64 {
    tree.scan(cursor, count, |place: Place<'_, Fields>| {
        let (field, value) = items(place.pair());
        f(field, value);
    })
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
