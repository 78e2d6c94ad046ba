//! Adding an entry: the way down, and the splits on the way back.
//!
//! A full leaf is split in two halves of equal bytes, or in three when the new entry is too large
//! for either. What is appended at the tree's end begins a new leaf, so entries that come in order
//! leave full ones behind.

use super::inner::{Children, FANOUT, Inner, Node, Part};
use super::leaf::{Entry, LEAF_BYTES_MAX, Leaf};
use super::{Bounds, Kind};
use smallvec::SmallVec;
use std::sync::Arc;

/// What an insertion did to a node.
pub(super) enum Change<K: Kind> {
    Replaced,
    Added,
    /// The node kept its first entries; the parts belong behind it.
    Split {
        parts: Parts<K>,
        added: bool,
    },
}

pub(super) type Parts<K> = SmallVec<[Part<K>; 2]>;

/// `last`: no entry of the tree is above this node's.
pub(super) fn insert_inner<K: Kind>(
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

pub(super) fn insert_leaf<K: Kind>(
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
