//! A set: members, each once.
//!
//! Three forms, from small to large: sorted integers, one packed string in order of arrival, a tree
//! by the member's hash. A set never goes back. What must stay true: no member twice;
//! [`Set::encoding`] changes exactly where Valkey's does.

use crate::item::{Item, ItemBytes, integer_of};
use crate::limits::Limits;
use crate::packed::{self, Packed};
use crate::seed;
use crate::tree::{Ascending, Entry, Members, Tree};

mod integers;
use integers::Integers;

/// Members, each once. Cloning a large one is O(1) and gives an image that later writes do not
/// touch.
#[derive(Debug, Clone, Default)]
pub struct Set {
    form: Form,
}

#[derive(Debug, Clone)]
enum Form {
    Integers(Integers),
    Packed(Packed),
    Tree(Box<Tree<Members>>),
}

impl Default for Form {
    fn default() -> Form {
        Form::Integers(Integers::default())
    }
}

const _: () = assert!(size_of::<Set>() <= 32);

impl Set {
    /// No members.
    pub fn new() -> Set {
        Set::default()
    }

    /// Number of members.
    pub fn len(&self) -> usize {
        match &self.form {
            Form::Integers(integers) => integers.len(),
            Form::Packed(packed) => packed.len(),
            Form::Tree(tree) => tree.len(),
        }
    }

    /// True without members: the key is then to be deleted.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True when `member` is in the set.
    pub fn contains(&self, member: &[u8]) -> bool {
        match &self.form {
            Form::Integers(integers) => {
                integer_of(member).is_some_and(|integer| integers.contains(integer))
            }
            Form::Packed(packed) => {
                packed.first().is_some_and(|first| packed.find(first, 1, member).is_some())
            }
            Form::Tree(tree) => tree.find(seed::hash(member), member).is_some(),
        }
    }

    /// Prepares for a command that adds `count` members of which `first` is the first: more than a
    /// limit make a set large even when some of them are the same.
    pub fn anticipate(&mut self, first: &[u8], count: usize, limits: &Limits) {
        let limit = match &self.form {
            Form::Integers(integers) if integers.len() == 0 => {
                self.form = form_for(first, count, limits);
                return;
            }
            Form::Integers(_) => limits.set_integers_max,
            Form::Packed(_) => limits.set_packed_entries_max,
            Form::Tree(_) => return,
        };
        if count > limit {
            self.enlarge();
        }
    }

    /// Adds a member. True when it is new.
    pub fn insert(&mut self, member: &[u8], limits: &Limits) -> bool {
        if self.is_empty() && matches!(self.form, Form::Integers(_)) {
            self.form = form_for(member, 1, limits);
        }
        if let Form::Integers(integers) = &mut self.form {
            if let Some(integer) = integer_of(member) {
                let added = integers.insert(integer);
                if integers.len() > limits.set_integers_max {
                    self.enlarge();
                }
                return added;
            }
            let longest = integers.longest().max(member.len());
            if integers.len() < limits.set_packed_entries_max
                && longest <= limits.set_packed_value_bytes_max
            {
                let packed = integers.iter().fold(Packed::new(), |mut packed, integer| {
                    packed.push_back_integer(integer);
                    packed
                });
                self.form = Form::Packed(packed);
            } else {
                self.enlarge();
            }
        }
        if let Form::Packed(packed) = &mut self.form {
            if packed.first().is_some_and(|first| packed.find(first, 1, member).is_some()) {
                return false;
            }
            if packed.len() < limits.set_packed_entries_max
                && member.len() <= limits.set_packed_value_bytes_max
            {
                packed.push_back(member);
                return true;
            }
        }
        self.enlarge().insert(&Entry::new(seed::hash(member), member))
    }

    /// Takes a member away. True when it was there.
    pub fn remove(&mut self, member: &[u8]) -> bool {
        match &mut self.form {
            Form::Integers(integers) => {
                integer_of(member).is_some_and(|integer| integers.remove(integer))
            }
            Form::Packed(packed) => {
                let found = packed.first().and_then(|first| packed.find(first, 1, member));
                if let Some(at) = found {
                    packed.remove(at, 1);
                }
                found.is_some()
            }
            Form::Tree(tree) => tree.remove(seed::hash(member), member),
        }
    }

    /// The member with that index, from 0 in the order of [`Set::iter`].
    pub fn nth(&self, index: usize) -> Option<Item<'_>> {
        match &self.form {
            Form::Integers(integers) => integers.nth(index).map(Item::Integer),
            Form::Packed(packed) => packed.nth(index).map(|at| packed.item(at)),
            Form::Tree(tree) => tree.nth(index).map(|place| Item::Bytes(place.key())),
        }
    }

    /// Takes the member with that index away and gives it: with a uniform index, a random member.
    pub fn pop_nth(&mut self, index: usize) -> Option<ItemBytes> {
        let member = self.nth(index)?.to_bytes();
        self.remove(&member);
        Some(member)
    }

    /// All members: integers in ascending order, then in order of arrival, then in no order to rely
    /// on.
    pub fn iter(&self) -> Iter<'_> {
        self.iter_from(0)
    }

    /// The members from an index on: how a long reply goes on with an image.
    pub fn iter_from(&self, index: usize) -> Iter<'_> {
        let form = match &self.form {
            Form::Integers(integers) => IterForm::Integers { integers, next: index },
            Form::Packed(packed) => {
                let at = packed.nth(index).unwrap_or(packed.end());
                IterForm::Packed(packed.iter_from(at))
            }
            Form::Tree(tree) => IterForm::Tree(tree.iter_from(index)),
        };
        Iter { form, left: self.len().saturating_sub(index) }
    }

    /// Calls `f` with about `count` members from a cursor on (0 to begin), returns the cursor to
    /// go on with (0 at the end). A member that is there from the first call to the last is given
    /// at least once, whatever else changes in between. A small set is given whole.
    pub fn scan(&self, cursor: u64, count: usize, mut f: impl FnMut(Item<'_>)) -> u64 {
        match &self.form {
            Form::Integers(_) | Form::Packed(_) => {
                self.iter().for_each(f);
                0
            }
            Form::Tree(tree) => tree.scan(cursor, count, |place| f(Item::Bytes(place.key()))),
        }
    }

    /// What OBJECT ENCODING says.
    pub fn encoding(&self) -> &'static str {
        match &self.form {
            Form::Integers(_) => "intset",
            Form::Packed(_) => "listpack",
            Form::Tree(_) => "hashtable",
        }
    }

    /// Bytes allocated; an image counts what it shares.
    pub fn memory(&self) -> usize {
        match &self.form {
            Form::Integers(integers) => integers.memory(),
            Form::Packed(packed) => packed.memory(),
            Form::Tree(tree) => size_of::<Tree<Members>>() + tree.memory(),
        }
    }

    /// Becomes a tree.
    fn enlarge(&mut self) -> &mut Tree<Members> {
        if !matches!(self.form, Form::Tree(_)) {
            let mut tree = Tree::new();
            for member in self.iter() {
                member.with(|key| tree.insert(&Entry::new(seed::hash(key), key)));
            }
            self.form = Form::Tree(Box::new(tree));
        }
        match &mut self.form {
            Form::Tree(tree) => tree,
            _ => unreachable!("it has just become a tree"),
        }
    }
}

/// The form in which a set begins.
fn form_for(first: &[u8], count: usize, limits: &Limits) -> Form {
    if integer_of(first).is_some() && count <= limits.set_integers_max {
        Form::Integers(Integers::default())
    } else if count <= limits.set_packed_entries_max {
        Form::Packed(Packed::new())
    } else {
        Form::Tree(Box::default())
    }
}

impl<'a> IntoIterator for &'a Set {
    type Item = Item<'a>;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// A walk over the members of a [`Set`].
#[derive(Debug, Clone)]
pub struct Iter<'a> {
    form: IterForm<'a>,
    left: usize,
}

#[derive(Debug, Clone)]
enum IterForm<'a> {
    Integers { integers: &'a Integers, next: usize },
    Packed(packed::Iter<'a>),
    Tree(Ascending<'a, Members>),
}

impl<'a> Iterator for Iter<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        let item = match &mut self.form {
            IterForm::Integers { integers, next } => {
                let item = integers.nth(*next).map(Item::Integer);
                *next += 1;
                item
            }
            IterForm::Packed(packed) => packed.next(),
            IterForm::Tree(tree) => tree.next().map(|place| Item::Bytes(place.key())),
        }?;
        self.left -= 1;
        Some(item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Iter<'_> {}

#[cfg(test)]
mod tests;
