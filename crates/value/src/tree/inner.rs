//! An inner node: its children, where each begins, and how many entries are below each.
//!
//! The parts that a descent reads are arrays of their own (words, counts, children), so that it touches about one
//! line of each. What must stay true: child `i` holds the entries from its separator up to the next
//! child's; the first child's separator is not used (whatever led here bounds it from below);
//! counts are exact.

use super::kind::{Kind, Word};
use super::leaf::{ARC_BYTES, LEAF_BYTES_MAX, Leaf};
use smallvec::SmallVec;
use std::sync::Arc;

/// Children of one node. The nodes above the leaves of a million entries then are some hundreds, and
/// one is below 2 KiB. Tests get deep trees.
pub(crate) const FANOUT: usize = if cfg!(test) { 6 } else { 64 };

/// Either kind of node.
#[derive(Debug, Clone)]
pub(crate) enum Node<K: Kind> {
    Leaf(Leaf),
    Inner(Arc<Inner<K>>),
}

/// An inner node.
#[derive(Debug, Clone)]
pub(crate) struct Inner<K: Kind> {
    /// Words of the separators.
    pub(crate) words: SmallVec<[K::Word; FANOUT]>,
    /// Keys of the separators, cut to what tells the neighbours apart; empty where the word does.
    /// Shorter than the others when all that are left out are empty.
    ties: Vec<Box<[u8]>>,
    /// Entries below each child, none of them 0.
    pub(crate) counts: SmallVec<[usize; FANOUT]>,
    pub(crate) children: Children<K>,
}

/// Children of one level.
#[derive(Debug, Clone)]
pub(crate) enum Children<K: Kind> {
    Leaves(SmallVec<[Leaf; FANOUT]>),
    Inners(SmallVec<[Arc<Inner<K>>; FANOUT]>),
}

/// A child on its way into a node.
#[derive(Debug)]
pub(crate) struct Part<K: Kind> {
    pub(crate) word: K::Word,
    pub(crate) tie: Box<[u8]>,
    pub(crate) node: Node<K>,
}

impl<K: Kind> Node<K> {
    /// Entries below.
    pub(crate) fn count(&self) -> usize {
        match self {
            Node::Leaf(leaf) => leaf.count(),
            Node::Inner(inner) => inner.counts.iter().sum(),
        }
    }
}

impl<K: Kind> Inner<K> {
    /// Bytes of one node's allocation.
    pub(crate) const MEMORY: usize = ARC_BYTES + size_of::<Inner<K>>();

    /// A node above `first` and what follows it.
    pub(crate) fn above(first: Node<K>) -> Inner<K> {
        let mut inner = Inner {
            words: SmallVec::new(),
            ties: Vec::new(),
            counts: SmallVec::new(),
            children: match first {
                Node::Leaf(_) => Children::Leaves(SmallVec::new()),
                Node::Inner(_) => Children::Inners(SmallVec::new()),
            },
        };
        inner.insert(0, Part { word: K::Word::MIN, tie: Box::default(), node: first });
        inner
    }

    /// Number of children.
    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    /// The child in whose range that word and key fall. All words below lie in the bounds.
    #[inline]
    pub(crate) fn child(
        &self,
        word: K::Word,
        key: &[u8],
        (low, high): (K::Word, K::Word),
    ) -> usize {
        let words = &self.words[..];
        let mut index;
        if K::UNIFORM {
            index = word.guess(low, high, words.len());
            while index + 1 < words.len() && words[index + 1] <= word {
                index += 1;
            }
            while index > 0 && words[index] > word {
                index -= 1;
            }
        } else {
            index = words[1..].partition_point(|own| *own <= word);
        }
        if index > 0 && words[index] == word && self.tie(index) > key {
            index = self.child_of_equals(index, word, key);
        }
        index
    }

    /// The child, when several begin with the same word: `last` is the last one.
    fn child_of_equals(&self, last: usize, word: K::Word, key: &[u8]) -> usize {
        let first = 1 + self.words[1..last].partition_point(|own| *own < word);
        let mut range = first..last;
        while !range.is_empty() {
            let middle = range.start + range.len() / 2;
            if self.tie(middle) <= key {
                range.start = middle + 1;
            } else {
                range.end = middle;
            }
        }
        range.start - 1
    }

    /// The bounds of the words below a child.
    #[inline]
    pub(crate) fn narrow(
        &self,
        index: usize,
        (low, high): (K::Word, K::Word),
    ) -> (K::Word, K::Word) {
        let low = if index == 0 { low } else { self.words[index] };
        (low, self.words.get(index + 1).copied().unwrap_or(high))
    }

    /// The key of a separator.
    pub(crate) fn tie(&self, index: usize) -> &[u8] {
        self.ties.get(index).map_or(&[], |tie| tie)
    }

    /// Adds a child before the one at `index`.
    pub(crate) fn insert(&mut self, index: usize, part: Part<K>) {
        if !part.tie.is_empty() && self.ties.len() < index {
            self.ties.resize(index, Box::default());
        }
        if !part.tie.is_empty() || index < self.ties.len() {
            self.ties.insert(index, part.tie);
        }
        self.words.insert(index, part.word);
        self.counts.insert(index, part.node.count());
        match (&mut self.children, part.node) {
            (Children::Leaves(leaves), Node::Leaf(leaf)) => leaves.insert(index, leaf),
            (Children::Inners(inners), Node::Inner(inner)) => inners.insert(index, inner),
            _ => unreachable!("all leaves of a tree are equally deep"),
        }
    }

    /// Takes a child away.
    pub(crate) fn remove(&mut self, index: usize) -> Part<K> {
        self.counts.remove(index);
        let tie = if index < self.ties.len() { self.ties.remove(index) } else { Box::default() };
        let node = match &mut self.children {
            Children::Leaves(leaves) => Node::Leaf(leaves.remove(index)),
            Children::Inners(inners) => Node::Inner(inners.remove(index)),
        };
        Part { word: self.words.remove(index), tie, node }
    }

    /// Moves the children from `index` on into a new node.
    pub(crate) fn split_off(&mut self, index: usize) -> Part<K> {
        let mut ties = Vec::new();
        if index < self.ties.len() {
            ties = self.ties.split_off(index);
        }
        let tie = ties.first_mut().map(std::mem::take).unwrap_or_default();
        let right = Inner {
            words: self.words.drain(index..).collect(),
            ties,
            counts: self.counts.drain(index..).collect(),
            children: match &mut self.children {
                Children::Leaves(all) => Children::Leaves(all.drain(index..).collect()),
                Children::Inners(all) => Children::Inners(all.drain(index..).collect()),
            },
        };
        Part { word: right.words[0], tie, node: Node::Inner(Arc::new(right)) }
    }

    /// Joins the child at `index` with a neighbour when it has become small and both fit one node;
    /// drops it when it is empty. Returns how many bytes were allocated, and how many freed.
    pub(crate) fn mend(&mut self, index: usize) -> (usize, usize) {
        if self.counts[index] == 0 {
            let freed = match self.remove(index).node {
                Node::Leaf(leaf) => leaf.memory(),
                Node::Inner(_) => Inner::<K>::MEMORY,
            };
            return (0, freed);
        }
        if self.weight(index) >= WEIGHT_MIN {
            return (0, 0);
        }
        let neighbours = [index.checked_sub(1), (index + 1 < self.len()).then_some(index)];
        for left in neighbours.into_iter().flatten() {
            if self.weight(left) + self.weight(left + 1) <= WEIGHT_JOINED_MAX {
                return self.join(left);
            }
        }
        (0, 0)
    }

    /// How full a child is: a full one weighs [`WEIGHT_FULL`].
    fn weight(&self, index: usize) -> usize {
        match &self.children {
            Children::Leaves(leaves) => leaves[index].live::<K>() * WEIGHT_FULL / LEAF_BYTES_MAX,
            Children::Inners(inners) => inners[index].len() * WEIGHT_FULL / FANOUT,
        }
    }

    /// Moves what is below the child behind `left` into `left`.
    fn join(&mut self, left: usize) -> (usize, usize) {
        let Part { word, tie, node } = self.remove(left + 1);
        match (&mut self.children, node) {
            (Children::Leaves(leaves), Node::Leaf(right)) => {
                let target = &mut leaves[left];
                let freed = target.memory() + right.memory();
                target.append::<K>(&right);
                self.counts[left] = target.count();
                (target.memory(), freed)
            }
            (Children::Inners(inners), Node::Inner(right)) => {
                let target = Arc::make_mut(&mut inners[left]);
                let mut right = Arc::unwrap_or_clone(right);
                let mut separator = Some((word, tie));
                while right.len() > 0 {
                    let mut part = right.remove(0);
                    // The first child's separator is the node's.
                    if let Some((word, tie)) = separator.take() {
                        (part.word, part.tie) = (word, tie);
                    }
                    target.insert(target.len(), part);
                }
                self.counts[left] = target.counts.iter().sum();
                (0, Inner::<K>::MEMORY)
            }
            _ => unreachable!("all leaves of a tree are equally deep"),
        }
    }
}

const WEIGHT_FULL: usize = 64;
/// A node below this looks for a neighbour to join.
const WEIGHT_MIN: usize = WEIGHT_FULL / 4;
/// Joined nodes leave room for insertions.
const WEIGHT_JOINED_MAX: usize = WEIGHT_FULL * 3 / 4;
