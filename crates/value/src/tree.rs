//! A counted B+tree of shared nodes: what large hashes, sets and sorted sets are.
//!
//! Cloning a tree is O(1) and gives an image: nodes are reference-counted, and a write copies the
//! nodes on its path that an image shares. Inner nodes count the entries below each child, so an
//! index becomes an entry and an entry its index on one way down. What must stay true: entries are
//! sorted by (word, key), no key twice under one word; leaves are equally deep; `memory`
//! is the sum over this tree's nodes, shared or not.

use smallvec::SmallVec;
use std::fmt::Debug;
use std::sync::Arc;

mod inner;
mod kind;
mod leaf;
mod scan;

use inner::{Child, Children, FANOUT, Inner, Node, Part};
pub(crate) use kind::{Fields, Kind, Members, Scored, Scores, Word};
pub(crate) use leaf::Entry;
use leaf::{LEAF_BYTES_MAX, Leaf};

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

    /// Adds an entry, or replaces the value of the one with the same word and key. True when added.
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

/// What an insertion did to a node.
enum Change<K: Kind> {
    Replaced,
    Added,
    /// The node kept its first entries; the parts belong behind it.
    Split {
        parts: Parts<K>,
        added: bool,
    },
}

type Parts<K> = SmallVec<[Part<K>; 2]>;

/// `last`: no entry of the tree is above this node's.
fn insert_inner<K: Kind>(
    inner: &mut Arc<Inner<K>>,
    entry: &Entry<'_, K::Word>,
    bounds: Bounds<K>,
    last: bool,
    memory: &mut usize,
) -> Change<K> {
    let inner = Arc::make_mut(inner);
    let (index, bounds) = inner.child(entry.word, entry.key, bounds);
    let last = last && index + 1 == inner.len();
    let count = *inner.count_at(index);
    let change = match &mut inner.children {
        Children::Leaves(slots) => {
            insert_leaf(&mut slots[index].node, count, entry, bounds, last, memory)
        }
        Children::Inners(slots) => {
            insert_inner(&mut slots[index].node, entry, bounds, last, memory)
        }
    };
    match change {
        Change::Replaced => Change::Replaced,
        Change::Added => {
            *inner.count_at(index) += 1;
            Change::Added
        }
        Change::Split { parts, added } => {
            let kept = count + usize::from(added);
            let parted: usize = parts.iter().map(|part| part.node.count()).sum();
            *inner.count_at(index) = kept - parted;
            match adopt(inner, index + 1, parts, last, memory) {
                None if added => Change::Added,
                None => Change::Replaced,
                Some(part) => Change::Split { parts: SmallVec::from_iter([part]), added },
            }
        }
    }
}

/// Adds children from `index` on; what does not fit becomes a node of its own.
fn adopt<K: Kind>(
    inner: &mut Inner<K>,
    index: usize,
    parts: Parts<K>,
    last: bool,
    memory: &mut usize,
) -> Option<Part<K>> {
    let mut right = None;
    if inner.len() + parts.len() > FANOUT {
        // Appending leaves full nodes behind.
        let middle = if last { inner.len() - 1 } else { inner.len() / 2 };
        right = Some((middle, inner.split_off(middle)));
        *memory += Inner::<K>::MEMORY;
    }
    for (offset, part) in parts.into_iter().enumerate() {
        let at = index + offset;
        match &mut right {
            Some((middle, Part { node: Node::Inner(right), .. })) if at > *middle => {
                let right = Arc::get_mut(right).expect("the new node is not shared yet");
                right.insert(at - *middle, part);
            }
            Some((middle, _)) => {
                inner.insert(at, part);
                *middle += 1;
            }
            None => inner.insert(at, part),
        }
    }
    right.map(|(_, part)| part)
}

fn insert_leaf<K: Kind>(
    leaf: &mut Leaf,
    count: usize,
    entry: &Entry<'_, K::Word>,
    bounds: Bounds<K>,
    last: bool,
    memory: &mut usize,
) -> Change<K> {
    let before = leaf.memory();
    // The header is needed below: fetched now, its line arrives together with the slot's.
    std::hint::black_box(leaf.count());
    let place = leaf.locate::<K>(count, entry.word, entry.key, bounds);
    let done = match place {
        Ok(index) => leaf.replace::<K>(index, entry),
        Err(index) => leaf.insert::<K>(index, entry),
    };
    let added = place.is_err();
    let change = match done {
        Ok(()) if added => Change::Added,
        Ok(()) => Change::Replaced,
        Err(_) => {
            let (Ok(index) | Err(index)) = place;
            let mut leaves = split_leaf::<K>(leaf, index, entry, added, last).into_iter();
            *leaf = leaves.next().expect("an insertion leaves an entry");
            let mut parts = Parts::new();
            for right in leaves {
                let left = match parts.last() {
                    Some(Part { node: Node::Leaf(left), .. }) => left,
                    _ => leaf,
                };
                let (word, tie) = separator::<K>(left, &right);
                *memory += right.memory();
                parts.push(Part { word, tie, node: Node::Leaf(right) });
            }
            Change::Split { parts, added }
        }
    };
    *memory = *memory + leaf.memory() - before;
    change
}

/// Leaves that hold a full leaf's entries and one more, which is added at `index` or takes that
/// one's place.
fn split_leaf<K: Kind>(
    leaf: &Leaf,
    index: usize,
    entry: &Entry<'_, K::Word>,
    added: bool,
    last: bool,
) -> SmallVec<[Leaf; 3]> {
    let count = leaf.count();
    let after = index + usize::from(!added);
    let alone = || leaf.part::<K>(0..0, Some(entry), 0..0);
    if added && last && index == count && count > 0 {
        // Entries that come in order leave full leaves behind.
        return SmallVec::from_iter([leaf.clone(), alone()]);
    }
    if let Some(cut) = middle::<K>(leaf, index, entry, after) {
        // Entries of the old leaf that go left of the cut, besides the new one.
        return if cut <= index {
            SmallVec::from_iter([
                leaf.part::<K>(0..cut, None, 0..0),
                leaf.part::<K>(cut..index, Some(entry), after..count),
            ])
        } else {
            let cut = after + (cut - index - 1);
            SmallVec::from_iter([
                leaf.part::<K>(0..index, Some(entry), after..cut),
                leaf.part::<K>(cut..count, None, 0..0),
            ])
        };
    }
    let mut leaves = SmallVec::new();
    if index > 0 {
        leaves.push(leaf.part::<K>(0..index, None, 0..0));
    }
    leaves.push(alone());
    if after < count {
        leaves.push(leaf.part::<K>(after..count, None, 0..0));
    }
    leaves
}

/// How many entries, the new one counted, the left one of two equally large leaves holds: none when
/// two leaves do not suffice.
fn middle<K: Kind>(
    leaf: &Leaf,
    index: usize,
    entry: &Entry<'_, K::Word>,
    after: usize,
) -> Option<usize> {
    let own = entry.footprint::<K>();
    let sizes = || {
        let before = (0..index).map(|i| leaf.footprint::<K>(i));
        before.chain([own]).chain((after..leaf.count()).map(|i| leaf.footprint::<K>(i)))
    };
    let total: usize = sizes().sum();
    let (mut left, mut cut) = (0, 0);
    for size in sizes() {
        if left + size / 2 >= total / 2 && cut > 0 {
            break;
        }
        left += size;
        cut += 1;
    }
    let fits = left.max(total - left) + Leaf::HEADER <= LEAF_BYTES_MAX;
    (fits && total > left).then_some(cut)
}

/// The lowest word and shortest key that are above all of `left` and not above `right`'s first.
fn separator<K: Kind>(left: &Leaf, right: &Leaf) -> (K::Word, Box<[u8]>) {
    let word = right.word::<K>(0);
    let last = left.count() - 1;
    if left.word::<K>(last) != word {
        return (word, Box::default());
    }
    let (below, above) = (left.key::<K>(last), right.key::<K>(0));
    let common = below.iter().zip(above).take_while(|(a, b)| a == b).count();
    (word, Box::from(&above[..common + 1]))
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

/// A walk upwards.
#[derive(Debug, Clone)]
pub(crate) struct Ascending<'a, K: Kind> {
    tree: &'a Tree<K>,
    /// Index of the next entry.
    next: usize,
    /// The last entry given.
    place: Option<Place<'a, K>>,
}

impl<'a, K: Kind> Iterator for Ascending<'a, K> {
    type Item = Place<'a, K>;

    fn next(&mut self) -> Option<Place<'a, K>> {
        let place = match self.place {
            Some(place) if place.index + 1 < place.count => {
                Place { index: place.index + 1, ..place }
            }
            // A way down for each leaf.
            _ => self.tree.nth(self.next)?,
        };
        self.next += 1;
        self.place = Some(place);
        Some(place)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.tree.len.saturating_sub(self.next);
        (left, Some(left))
    }
}

impl<K: Kind> ExactSizeIterator for Ascending<'_, K> {}

/// A walk downwards.
#[derive(Debug, Clone)]
pub(crate) struct Descending<'a, K: Kind> {
    tree: &'a Tree<K>,
    /// Index behind the next entry.
    end: usize,
    /// The last entry given.
    place: Option<Place<'a, K>>,
}

impl<'a, K: Kind> Iterator for Descending<'a, K> {
    type Item = Place<'a, K>;

    fn next(&mut self) -> Option<Place<'a, K>> {
        let index = self.end.checked_sub(1)?;
        let place = match self.place {
            Some(place) if place.index > 0 => Place { index: place.index - 1, ..place },
            _ => self.tree.nth(index)?,
        };
        self.end = index;
        self.place = Some(place);
        Some(place)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.end, Some(self.end))
    }
}

impl<K: Kind> ExactSizeIterator for Descending<'_, K> {}

#[cfg(test)]
mod tests;
