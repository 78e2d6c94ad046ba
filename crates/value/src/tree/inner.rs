//! An inner node: its children, where each begins, and how many entries are below each.
//!
//! Word, count and pointer of a child stand side by side, and hashes are guessed to within a place
//! or two, so a descent touches a line or two of a node. What must stay true: child `i` holds the
//! entries from its separator up to the next child's; the first child's is the lowest word
//! (whatever led here bounds it from below); counts are exact and none is 0.

use super::kind::{Kind, Word};
use super::leaf::{ARC_BYTES, LEAF_BYTES_MAX, Leaf};
use smallvec::SmallVec;
use std::sync::Arc;

/// Children of one node: with its 32 bytes each and what `Arc` adds it stays below 2 KiB, and a
/// million entries have some hundreds of nodes above the leaves. Tests get deep trees.
pub(crate) const FANOUT: usize = if cfg!(test) { 6 } else { 60 };

const _: () = assert!(cfg!(test) || Inner::<super::Scored>::MEMORY <= 2048);

/// Either kind of node.
#[derive(Debug, Clone)]
pub(crate) enum Node<K: Kind> {
    Leaf(Leaf),
    Inner(Arc<Inner<K>>),
}

/// An inner node.
#[derive(Debug, Clone)]
pub(crate) struct Inner<K: Kind> {
    /// Keys of the separators, cut to what tells the neighbours apart; empty where the word does.
    /// Shorter than the children when all that are left out are empty.
    ties: Vec<Box<[u8]>>,
    pub(crate) children: Children<K>,
}

/// Children, all leaves or all inner nodes.
#[derive(Debug, Clone)]
pub(crate) enum Children<K: Kind> {
    Leaves(SmallVec<[Child<K, Leaf>; FANOUT]>),
    Inners(SmallVec<[Child<K, Arc<Inner<K>>>; FANOUT]>),
}

/// A child of an inner node.
#[derive(Debug, Clone)]
pub(crate) struct Child<K: Kind, N> {
    /// Word of its separator.
    pub(crate) word: K::Word,
    /// Entries below.
    pub(crate) count: usize,
    pub(crate) node: N,
}

/// A child on its way into a node.
#[derive(Debug)]
pub(crate) struct Part<K: Kind> {
    pub(crate) word: K::Word,
    pub(crate) tie: Box<[u8]>,
    pub(crate) node: Node<K>,
}

/// Does the same with children of either kind.
macro_rules! either {
    ($children:expr, $slots:ident => $body:expr) => {
        match $children {
            Children::Leaves($slots) => $body,
            Children::Inners($slots) => $body,
        }
    };
}

impl<K: Kind> Node<K> {
    /// Entries below.
    pub(crate) fn count(&self) -> usize {
        match self {
            Node::Leaf(leaf) => leaf.count(),
            Node::Inner(inner) => inner.count(),
        }
    }
}

impl<K: Kind> Inner<K> {
    /// Bytes of one node's allocation.
    pub(crate) const MEMORY: usize = ARC_BYTES + size_of::<Inner<K>>();

    /// A node above `first` and what will follow it.
    pub(crate) fn above(first: Node<K>) -> Inner<K> {
        let children = match first {
            Node::Leaf(_) => Children::Leaves(SmallVec::new()),
            Node::Inner(_) => Children::Inners(SmallVec::new()),
        };
        let mut inner = Inner { ties: Vec::new(), children };
        inner.insert(0, Part { word: K::Word::MIN, tie: Box::default(), node: first });
        inner
    }

    /// Number of children.
    pub(crate) fn len(&self) -> usize {
        either!(&self.children, slots => slots.len())
    }

    /// Entries below.
    pub(crate) fn count(&self) -> usize {
        either!(&self.children, slots => slots.iter().map(|slot| slot.count).sum())
    }

    /// Entries below a child.
    pub(crate) fn count_at(&mut self, index: usize) -> &mut usize {
        either!(&mut self.children, slots => &mut slots[index].count)
    }

    /// The child in whose range that word and key fall, and the bounds of the words below it. All
    /// words below this node lie in `bounds`.
    #[inline]
    pub(crate) fn child(
        &self,
        word: K::Word,
        key: &[u8],
        bounds: (K::Word, K::Word),
    ) -> (usize, (K::Word, K::Word)) {
        either!(&self.children, slots => {
            let mut index = last_not_above(slots, word, bounds);
            if index > 0 && slots[index].word == word && self.tie(index) > key {
                index = self.child_of_equals(slots, index, key);
            }
            let low = if index == 0 { bounds.0 } else { slots[index].word };
            (index, (low, slots.get(index + 1).map_or(bounds.1, |slot| slot.word)))
        })
    }

    /// The child, when several begin with the same word: `last` is the last one.
    #[cold]
    fn child_of_equals<N>(&self, slots: &[Child<K, N>], last: usize, key: &[u8]) -> usize {
        let word = slots[last].word;
        let first = 1 + slots[1..last].partition_point(|slot| slot.word < word);
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

    /// The key of a separator.
    pub(crate) fn tie(&self, index: usize) -> &[u8] {
        self.ties.get(index).map_or(&[], |tie| tie)
    }

    /// Adds a child before the one at `index`.
    pub(crate) fn insert(&mut self, index: usize, Part { word, tie, node }: Part<K>) {
        if !tie.is_empty() && self.ties.len() < index {
            self.ties.resize(index, Box::default());
        }
        if !tie.is_empty() || index < self.ties.len() {
            self.ties.insert(index, tie);
        }
        let count = node.count();
        match (&mut self.children, node) {
            (Children::Leaves(slots), Node::Leaf(node)) => {
                slots.insert(index, Child { word, count, node });
            }
            (Children::Inners(slots), Node::Inner(node)) => {
                slots.insert(index, Child { word, count, node });
            }
            _ => unreachable!("all leaves of a tree are equally deep"),
        }
    }

    /// Takes a child away.
    pub(crate) fn remove(&mut self, index: usize) -> Part<K> {
        let tie = if index < self.ties.len() { self.ties.remove(index) } else { Box::default() };
        let (word, node) = match &mut self.children {
            Children::Leaves(slots) => {
                let slot = slots.remove(index);
                (slot.word, Node::Leaf(slot.node))
            }
            Children::Inners(slots) => {
                let slot = slots.remove(index);
                (slot.word, Node::Inner(slot.node))
            }
        };
        self.open_first();
        Part { word, tie, node }
    }

    /// Makes the first child's separator the lowest word.
    fn open_first(&mut self) {
        if let Some(tie) = self.ties.first_mut() {
            *tie = Box::default();
        }
        either!(&mut self.children, slots => if let Some(first) = slots.first_mut() {
            first.word = K::Word::MIN;
        });
    }

    /// Gives the child at `index` a separator.
    fn separate(&mut self, index: usize, word: K::Word, tie: Box<[u8]>) {
        if !tie.is_empty() && self.ties.len() <= index {
            self.ties.resize(index + 1, Box::default());
        }
        if let Some(own) = self.ties.get_mut(index) {
            *own = tie;
        }
        either!(&mut self.children, slots => slots[index].word = word);
    }

    /// Moves the children from `index` on into a new node.
    pub(crate) fn split_off(&mut self, index: usize) -> Part<K> {
        let mut ties = Vec::new();
        if index < self.ties.len() {
            ties = self.ties.split_off(index);
        }
        let tie = ties.first_mut().map(std::mem::take).unwrap_or_default();
        let word = either!(&self.children, slots => slots[index].word);
        let children = match &mut self.children {
            Children::Leaves(slots) => Children::Leaves(slots.drain(index..).collect()),
            Children::Inners(slots) => Children::Inners(slots.drain(index..).collect()),
        };
        let mut right = Inner { ties, children };
        right.open_first();
        Part { word, tie, node: Node::Inner(Arc::new(right)) }
    }

    /// Joins the child at `index` with a neighbour when it has become small and both fit one node;
    /// drops it when it is empty. Returns how many bytes were allocated, and how many freed.
    pub(crate) fn mend(&mut self, index: usize) -> (usize, usize) {
        if *self.count_at(index) == 0 {
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
            Children::Leaves(leaves) => {
                leaves[index].node.live::<K>() * WEIGHT_FULL / LEAF_BYTES_MAX
            }
            Children::Inners(inners) => inners[index].node.len() * WEIGHT_FULL / FANOUT,
        }
    }

    /// Moves what is below the child behind `left` into `left`.
    fn join(&mut self, left: usize) -> (usize, usize) {
        let Part { word, tie, node } = self.remove(left + 1);
        match (&mut self.children, node) {
            (Children::Leaves(leaves), Node::Leaf(right)) => {
                let target = &mut leaves[left];
                let freed = target.node.memory() + right.memory();
                target.node.append::<K>(&right);
                target.count = target.node.count();
                (target.node.memory(), freed)
            }
            (Children::Inners(inners), Node::Inner(right)) => {
                let target = Arc::make_mut(&mut inners[left].node);
                let mut right = Arc::unwrap_or_clone(right);
                let at = target.len();
                for index in (0..right.len()).rev() {
                    target.insert(at, right.remove(index));
                }
                target.separate(at, word, tie);
                inners[left].count = target.count();
                (0, Inner::<K>::MEMORY)
            }
            _ => unreachable!("all leaves of a tree are equally deep"),
        }
    }
}

/// The last child whose separator's word is not above `word`, or the first one.
#[inline]
fn last_not_above<K: Kind, N>(
    slots: &[Child<K, N>],
    word: K::Word,
    (low, high): (K::Word, K::Word),
) -> usize {
    let above = gallop(word.guess(low, high, slots.len()), slots.len(), |i| slots[i].word <= word);
    above.saturating_sub(1)
}

/// The first index in `0..count` for which `below` does not hold, which it does for all before it:
/// the nearer to `guess`, the sooner.
#[inline]
pub(crate) fn gallop(guess: usize, count: usize, below: impl Fn(usize) -> bool) -> usize {
    let (mut start, mut end, mut step) = (0, count, 1);
    if guess < count && below(guess) {
        start = guess + 1;
        while start + step <= count {
            if !below(start + step - 1) {
                end = start + step - 1;
                break;
            }
            start += step;
            step *= 2;
        }
    } else {
        end = guess.min(count);
        while step <= end {
            if below(end - step) {
                start = end - step + 1;
                break;
            }
            end -= step;
            step *= 2;
        }
    }
    while start < end {
        let middle = start + (end - start) / 2;
        if below(middle) {
            start = middle + 1;
        } else {
            end = middle;
        }
    }
    start
}

const WEIGHT_FULL: usize = 64;
/// A node below this looks for a neighbour to join.
const WEIGHT_MIN: usize = WEIGHT_FULL / 4;
/// Joined nodes leave room for insertions.
const WEIGHT_JOINED_MAX: usize = WEIGHT_FULL * 3 / 4;
