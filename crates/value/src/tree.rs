//! A counted B+tree of shared nodes: what large hashes, sets and sorted sets are.
//!
//! Cloning a tree is O(1) and gives an image: nodes are reference-counted, and a write copies the
//! nodes on its path that an image shares. Inner nodes count the entries below each child, so an
//! index becomes an entry and an entry its index on one way down. What must stay true: entries are
//! sorted by (word, key), no key twice under one word; leaves are equally deep; `memory`
//! is the sum over this tree's nodes, shared or not.

use std::fmt::Debug;
use std::sync::Arc;

mod inner;
mod insert;
mod kind;
mod leaf;
mod scan;
mod walk;

use inner::{Child, Children, Inner, Node};
use insert::{Change, Parts, insert_inner, insert_leaf};
pub(crate) use kind::{Due, Fields, Kind, Members, Scored, Scores, Word};
pub(crate) use leaf::Entry;
use leaf::Leaf;
pub(crate) use walk::{Ascending, Descending};

/// A sorted collection of entries.
#[derive(Debug, Clone)]
pub(crate) struct Tree<K: Kind> {
    root: Node<K>,
    len: usize,
    memory: usize,
}

/// Where an entry stands: its leaf, and its index there.
#[derive(Debug)]
pub(crate) struct Place<'a, K: Kind> {
    leaf: &'a Leaf,
    index: usize,
    /// Entries in the leaf.
    count: usize,
    kind: std::marker::PhantomData<K>,
}

impl<K: Kind> Clone for Place<'_, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K: Kind> Copy for Place<'_, K> {}

impl<'a, K: Kind> Place<'a, K> {
    fn new(leaf: &'a Leaf, index: usize, count: usize) -> Self {
        Place { leaf, index, count, kind: std::marker::PhantomData }
    }

    /// What the entry is sorted by first.
    pub(crate) fn word(&self) -> K::Word {
        self.leaf.word::<K>(self.index)
    }

    /// The entry's key.
    pub(crate) fn key(&self) -> &'a [u8] {
        self.leaf.key::<K>(self.index)
    }

    /// The entry's value.
    pub(crate) fn value(&self) -> &'a [u8] {
        self.leaf.value::<K>(self.index)
    }

    /// The entry's moment, if it has one.
    #[inline]
    pub(crate) fn moment(&self) -> Option<u64> {
        self.leaf.moment::<K>(self.index)
    }

    /// The entry's key and value.
    pub(crate) fn pair(&self) -> (&'a [u8], &'a [u8]) {
        self.leaf.pair::<K>(self.index)
    }
}

type Bounds<K> = (<K as Kind>::Word, <K as Kind>::Word);

impl<K: Kind> Default for Tree<K> {
    fn default() -> Self {
        Tree::new()
    }
}

impl<K: Kind> Tree<K> {
    const BOUNDS: Bounds<K> = (K::Word::MIN, K::Word::MAX);

    /// No entries.
    pub(crate) fn new() -> Tree<K> {
        let leaf = Leaf::empty();
        Tree { len: 0, memory: leaf.memory(), root: Node::Leaf(leaf) }
    }

    /// Number of entries.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Bytes of all nodes, shared or not.
    pub(crate) fn memory(&self) -> usize {
        self.memory
    }

    /// The entry with that word and key.
    #[inline]
    pub(crate) fn find(&self, word: K::Word, key: &[u8]) -> Option<Place<'_, K>> {
        let (leaf, count, bounds) = self.descend(word, key);
        let index = leaf.locate::<K>(count, word, key, bounds).ok()?;
        Some(Place::new(leaf, index, count))
    }

    /// The first entry with that word.
    #[inline]
    pub(crate) fn first_with(&self, word: K::Word) -> Option<Place<'_, K>> {
        let (leaf, count, bounds) = self.descend(word, &[]);
        let (Ok(index) | Err(index)) = leaf.locate::<K>(count, word, &[], bounds);
        let place = if index < count {
            Place::new(leaf, index, count)
        } else {
            // It would be the next leaf's first.
            let (Ok(index) | Err(index)) = self.rank(word, &[]);
            self.nth(index)?
        };
        (place.word() == word).then_some(place)
    }

    /// The leaf in whose range that word and key fall, its entries' number and its words' bounds.
    #[inline]
    fn descend(&self, word: K::Word, key: &[u8]) -> (&Leaf, usize, Bounds<K>) {
        let mut bounds = Self::BOUNDS;
        let mut node = match &self.root {
            Node::Leaf(leaf) => return (leaf, self.len, bounds),
            Node::Inner(inner) => inner,
        };
        loop {
            let (index, narrowed) = node.child(word, key, bounds);
            bounds = narrowed;
            match &node.children {
                Children::Leaves(slots) => {
                    return (&slots[index].node, slots[index].count, bounds);
                }
                Children::Inners(slots) => node = &slots[index].node,
            }
        }
    }

    /// The index of the entry with that word and key, or else the index it would have.
    pub(crate) fn rank(&self, word: K::Word, key: &[u8]) -> Result<usize, usize> {
        let mut bounds = Self::BOUNDS;
        let mut before = 0;
        let mut node = match &self.root {
            Node::Leaf(leaf) => return leaf.locate::<K>(self.len, word, key, bounds),
            Node::Inner(inner) => inner,
        };
        loop {
            let (index, narrowed) = node.child(word, key, bounds);
            bounds = narrowed;
            match &node.children {
                Children::Leaves(slots) => {
                    before += slots[..index].iter().map(|slot| slot.count).sum::<usize>();
                    let Child { node: leaf, count, .. } = &slots[index];
                    return match leaf.locate::<K>(*count, word, key, bounds) {
                        Ok(index) => Ok(before + index),
                        Err(index) => Err(before + index),
                    };
                }
                Children::Inners(slots) => {
                    before += slots[..index].iter().map(|slot| slot.count).sum::<usize>();
                    node = &slots[index].node;
                }
            }
        }
    }

    /// The entry with that index.
    pub(crate) fn nth(&self, mut index: usize) -> Option<Place<'_, K>> {
        if index >= self.len {
            return None;
        }
        let mut node = match &self.root {
            Node::Leaf(leaf) => return Some(Place::new(leaf, index, self.len)),
            Node::Inner(inner) => inner,
        };
        loop {
            match &node.children {
                Children::Leaves(slots) => {
                    let slot = &slots[skip(slots, &mut index)];
                    return Some(Place::new(&slot.node, index, slot.count));
                }
                Children::Inners(slots) => node = &slots[skip(slots, &mut index)].node,
            }
        }
    }

    /// The entries from an index on, in order.
    pub(crate) fn iter_from(&self, index: usize) -> Ascending<'_, K> {
        Ascending { tree: self, next: index, place: None }
    }

    /// The entries below an index, in reverse order.
    pub(crate) fn iter_back_from(&self, end: usize) -> Descending<'_, K> {
        Descending { tree: self, end: end.min(self.len), place: None }
    }

    /// Adds an entry, or replaces value and moment of the one with the same word and key. True when
    /// added.
    pub(crate) fn insert(&mut self, entry: &Entry<'_, K::Word>) -> bool {
        let change = match &mut self.root {
            Node::Leaf(leaf) => {
                insert_leaf(leaf, self.len, entry, Self::BOUNDS, true, &mut self.memory)
            }
            Node::Inner(inner) => insert_inner(inner, entry, Self::BOUNDS, true, &mut self.memory),
        };
        let added = match change {
            Change::Replaced => false,
            Change::Added => true,
            Change::Split { parts, added } => {
                self.grow(parts);
                added
            }
        };
        self.len += usize::from(added);
        added
    }

    /// Takes an entry away. True when it was there.
    pub(crate) fn remove(&mut self, word: K::Word, key: &[u8]) -> bool {
        // Looking first keeps nodes shared when there is nothing to remove.
        let found = self.find(word, key).is_some();
        if found {
            self.remove_found(word, key);
        }
        found
    }

    /// Takes an entry away that is there.
    pub(crate) fn remove_found(&mut self, word: K::Word, key: &[u8]) {
        match &mut self.root {
            Node::Leaf(leaf) => {
                remove_leaf::<K>(leaf, self.len, word, key, Self::BOUNDS, &mut self.memory);
            }
            Node::Inner(inner) => {
                remove_inner(inner, word, key, Self::BOUNDS, &mut self.memory);
            }
        }
        self.len -= 1;
        self.sink();
    }

    /// Gives an entry that is there another key of the same length, when it is sure to keep its
    /// place: false when another entry may have its word.
    pub(crate) fn replace_key(&mut self, word: K::Word, old: &[u8], new: &[u8]) -> bool {
        let (mut count, mut bounds) = (self.len, Self::BOUNDS);
        let mut node = match &mut self.root {
            Node::Leaf(leaf) => return replace_key_in::<K>(leaf, count, (word, old), new, bounds),
            Node::Inner(inner) => inner,
        };
        loop {
            let inner = Arc::make_mut(node);
            let (index, narrowed) = inner.child(word, old, bounds);
            bounds = narrowed;
            count = *inner.count_at(index);
            match &mut inner.children {
                Children::Leaves(slots) => {
                    let leaf = &mut slots[index].node;
                    return replace_key_in::<K>(leaf, count, (word, old), new, bounds);
                }
                Children::Inners(slots) => node = &mut slots[index].node,
            }
        }
    }

    /// Puts a root above the old one and what it was split into.
    fn grow(&mut self, parts: Parts<K>) {
        if parts.is_empty() {
            return;
        }
        let old = std::mem::replace(&mut self.root, Node::Leaf(Leaf::empty()));
        let mut root = Inner::above(old);
        for part in parts {
            root.insert(root.len(), part);
        }
        self.memory += Inner::<K>::MEMORY;
        self.root = Node::Inner(Arc::new(root));
    }

    /// Takes roots with one child or none away.
    fn sink(&mut self) {
        while let Node::Inner(inner) = &mut self.root {
            if inner.len() > 1 {
                return;
            }
            self.memory -= Inner::<K>::MEMORY;
            self.root = match inner.len() {
                0 => {
                    let leaf = Leaf::empty();
                    self.memory += leaf.memory();
                    Node::Leaf(leaf)
                }
                _ => Arc::make_mut(inner).remove(0).node,
            };
        }
    }
}

/// The child with the entry that has that index, which becomes the index below the child.
fn skip<K: Kind, N>(slots: &[Child<K, N>], index: &mut usize) -> usize {
    let mut child = 0;
    while *index >= slots[child].count {
        *index -= slots[child].count;
        child += 1;
    }
    child
}

/// The entry is there.
fn remove_inner<K: Kind>(
    inner: &mut Arc<Inner<K>>,
    word: K::Word,
    key: &[u8],
    bounds: Bounds<K>,
    memory: &mut usize,
) {
    let inner = Arc::make_mut(inner);
    let (index, bounds) = inner.child(word, key, bounds);
    match &mut inner.children {
        Children::Leaves(slots) => {
            let Child { node, count, .. } = &mut slots[index];
            remove_leaf::<K>(node, *count, word, key, bounds, memory);
        }
        Children::Inners(slots) => {
            remove_inner(&mut slots[index].node, word, key, bounds, memory);
        }
    }
    *inner.count_at(index) -= 1;
    let (allocated, freed) = inner.mend(index);
    *memory = *memory + allocated - freed;
}

/// The entry is there.
fn remove_leaf<K: Kind>(
    leaf: &mut Leaf,
    count: usize,
    word: K::Word,
    key: &[u8],
    bounds: Bounds<K>,
    memory: &mut usize,
) {
    let before = leaf.memory();
    std::hint::black_box(leaf.count());
    let index = leaf.locate::<K>(count, word, key, bounds).expect("the entry was found");
    leaf.remove::<K>(index);
    *memory = *memory + leaf.memory() - before;
}

fn replace_key_in<K: Kind>(
    leaf: &mut Leaf,
    count: usize,
    (word, old): (K::Word, &[u8]),
    new: &[u8],
    (low, high): Bounds<K>,
) -> bool {
    let index = leaf.locate::<K>(count, word, old, (low, high)).expect("the entry is there");
    let before = index.checked_sub(1).map_or(low, |before| leaf.word::<K>(before));
    let after = if index + 1 < count { leaf.word::<K>(index + 1) } else { high };
    let alone = before < word && word < after;
    if alone {
        leaf.replace_key::<K>(index, new);
    }
    alone
}

#[cfg(test)]
mod tests;
