//! The list: what LPUSH and its family keep.
//!
//! Up to `list-max-listpack-size` a list is one packed run. Beyond, it is a chain of such runs: a
//! chunk at each end, where pushes and pops are amortised O(1) and allocate once in some hundred
//! elements, and a counted tree of chunks between them, where finding an index costs O(log n) and
//! changing what is there moves at most one chunk's bytes. Cloning a chain counts one
//! reference: an image, from which a writer then copies the chunks and nodes that it touches.
//! What must stay true: a list is large if and only if OBJECT ENCODING says quicklist.
//!
//! One difference from Valkey can be seen: a large list that shrinks becomes a listpack again when
//! one chunk of at most half the limit is left, and after removals in the middle the borders
//! between chunks are not Valkey's to the element.

mod chain;
mod chunk;
mod iter;
mod tree;

use crate::{Item, ItemBytes, Limits, Packed};
use chain::Chain;
use chunk::{Bounds, End};
pub use iter::Iter;
use std::ops::Range;
use std::sync::Arc;

/// A sequence of elements. `Clone` is O(1), or copies one run of at most `list-max-listpack-size`.
#[derive(Debug, Clone, Default)]
pub struct List {
    repr: Repr,
}

const _: () = assert!(size_of::<List>() <= 24);

#[derive(Debug, Clone)]
enum Repr {
    Small(Packed),
    Large(Arc<Chain>),
}

impl Default for Repr {
    fn default() -> Repr {
        Repr::Small(Packed::new())
    }
}

impl List {
    /// No elements, no allocation.
    pub const fn new() -> List {
        List { repr: Repr::Small(Packed::new()) }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        match &self.repr {
            Repr::Small(run) => run.len(),
            Repr::Large(chain) => chain.len(),
        }
    }

    /// True without elements: its key must go.
    pub fn is_empty(&self) -> bool {
        matches!(&self.repr, Repr::Small(run) if run.is_empty())
    }

    /// Bytes allocated. What an image shares counts in both.
    pub fn memory(&self) -> usize {
        match &self.repr {
            Repr::Small(run) => run.memory(),
            Repr::Large(chain) => chain.memory(),
        }
    }

    /// What OBJECT ENCODING answers.
    pub fn encoding(&self) -> &'static str {
        match &self.repr {
            Repr::Small(_) => "listpack",
            Repr::Large(_) => "quicklist",
        }
    }

    /// Adds `element` before the first one.
    pub fn push_front(&mut self, element: &[u8], limits: &Limits) {
        self.push(End::Front, element, limits);
    }

    /// Adds `element` behind the last one.
    pub fn push_back(&mut self, element: &[u8], limits: &Limits) {
        self.push(End::Back, element, limits);
    }

    /// The first element.
    pub fn front(&self) -> Option<Item<'_>> {
        match &self.repr {
            Repr::Small(run) => run.iter().next(),
            Repr::Large(chain) => chain.end_item(End::Front),
        }
    }

    /// The last element.
    pub fn back(&self) -> Option<Item<'_>> {
        match &self.repr {
            Repr::Small(run) => run.iter().next_back(),
            Repr::Large(chain) => chain.end_item(End::Back),
        }
    }

    /// Takes the first element out. [`List::front`] and [`List::remove_front`] do it without a
    /// copy.
    pub fn pop_front(&mut self, limits: &Limits) -> Option<ItemBytes> {
        let element = self.front()?.to_bytes();
        self.remove_front(1, limits);
        Some(element)
    }

    /// Takes the last element out. [`List::back`] and [`List::remove_back`] do it without a copy.
    pub fn pop_back(&mut self, limits: &Limits) -> Option<ItemBytes> {
        let element = self.back()?.to_bytes();
        self.remove_back(1, limits);
        Some(element)
    }

    /// Takes the first `count` elements away, or as many as there are.
    pub fn remove_front(&mut self, count: usize, limits: &Limits) {
        self.remove_at(End::Front, count, limits);
    }

    /// Takes the last `count` elements away, or as many as there are.
    pub fn remove_back(&mut self, count: usize, limits: &Limits) {
        self.remove_at(End::Back, count, limits);
    }

    /// Keeps the elements of `range` only; what of it lies beyond the end is ignored.
    pub fn trim(&mut self, range: Range<usize>, limits: &Limits) {
        let len = self.len();
        let end = range.end.min(len);
        if range.start >= end {
            *self = List::new();
            return;
        }
        self.remove_back(len - end, limits);
        self.remove_front(range.start, limits);
    }

    /// The element with that index, from 0.
    pub fn get(&self, index: usize) -> Option<Item<'_>> {
        match &self.repr {
            Repr::Small(run) => run.nth(index).map(|at| run.item(at)),
            Repr::Large(chain) => chain.find(index).map(|(chunk, index)| chunk.item(index)),
        }
    }

    /// Puts `element` in the place of the one with that index. False if there is none.
    pub fn set(&mut self, index: usize, element: &[u8], limits: &Limits) -> bool {
        if index >= self.len() {
            return false;
        }
        let bounds = Bounds::new(limits);
        self.grow(element.len(), &bounds);
        match &mut self.repr {
            Repr::Small(run) => {
                let at = run.nth(index).expect("the index is below the length");
                run.replace(at, element);
            }
            Repr::Large(chain) => {
                set_in_chain(Arc::make_mut(chain), index, element, &bounds);
            }
        }
        self.shrink(&bounds);
        true
    }

    /// Inserts `element` before the one with that index. False if there is none.
    pub fn insert_before(&mut self, index: usize, element: &[u8], limits: &Limits) -> bool {
        self.insert(index, 0, element, limits)
    }

    /// Inserts `element` behind the one with that index. False if there is none.
    pub fn insert_after(&mut self, index: usize, element: &[u8], limits: &Limits) -> bool {
        self.insert(index, 1, element, limits)
    }

    /// The index of the first element equal to `pivot`.
    pub fn position(&self, pivot: &[u8]) -> Option<usize> {
        let pivot = Item::of(pivot);
        self.iter().position(|item| item == pivot)
    }

    /// Removes elements equal to `element` as LREM does: the first `count`, the last `-count`, or
    /// with 0 all. Answers how many there were.
    pub fn remove_matching(&mut self, element: &[u8], count: i64, limits: &Limits) -> usize {
        let element = Item::of(element);
        let most = match usize::try_from(count.unsigned_abs()) {
            Ok(0) | Err(_) => usize::MAX,
            Ok(most) => most,
        };
        let end = if count < 0 { End::Back } else { End::Front };
        let bounds = Bounds::new(limits);
        let removed = match &mut self.repr {
            Repr::Small(run) => chunk::remove_matching(run, element, most, end == End::Front),
            Repr::Large(chain) => remove_from_chain(chain, element, most, end, &bounds),
        };
        if removed > 0 {
            self.shrink(&bounds);
        }
        removed
    }

    /// All elements, first to last.
    pub fn iter(&self) -> Iter<'_> {
        self.iter_from(0)
    }

    /// The elements from that index on to the last one.
    pub fn iter_from(&self, index: usize) -> Iter<'_> {
        Iter::new(self, index, End::Back)
    }

    /// The elements from that index back to the first one.
    pub fn iter_back_from(&self, index: usize) -> Iter<'_> {
        Iter::new(self, index, End::Front)
    }

    fn push(&mut self, end: End, element: &[u8], limits: &Limits) {
        let bounds = Bounds::new(limits);
        self.grow(element.len(), &bounds);
        match (&mut self.repr, end) {
            (Repr::Small(run), End::Front) => run.push_front(element),
            (Repr::Small(run), End::Back) => run.push_back(element),
            (Repr::Large(chain), _) => Arc::make_mut(chain).push(end, element, &bounds),
        }
    }

    fn remove_at(&mut self, end: End, count: usize, limits: &Limits) {
        let len = self.len();
        if count >= len {
            *self = List::new();
            return;
        }
        match &mut self.repr {
            Repr::Small(run) => {
                let index = if end == End::Front { 0 } else { len - count };
                if let Some(at) = run.nth(index) {
                    run.remove(at, count);
                }
            }
            Repr::Large(chain) => Arc::make_mut(chain).remove_at(end, count),
        }
        self.shrink(&Bounds::new(limits));
    }

    fn insert(&mut self, index: usize, behind: usize, element: &[u8], limits: &Limits) -> bool {
        if index >= self.len() {
            return false;
        }
        let bounds = Bounds::new(limits);
        self.grow(element.len(), &bounds);
        match &mut self.repr {
            Repr::Small(run) => {
                let at = run.nth(index + behind).unwrap_or(run.end());
                run.insert(at, element);
            }
            Repr::Large(chain) => Arc::make_mut(chain)
                .update(index, &bounds, |chunk, at| chunk.insert(at + behind, element, &bounds)),
        }
        true
    }

    /// Makes a chain of a run that must not take `added` bytes more.
    fn grow(&mut self, added: usize, bounds: &Bounds) {
        if let Repr::Small(run) = &mut self.repr
            && !bounds.admit(run, added)
        {
            self.repr = Repr::Large(Arc::new(Chain::new(std::mem::take(run))));
        }
    }

    /// Makes a run of a chain of which so little is left, after a removal.
    fn shrink(&mut self, bounds: &Bounds) {
        if let Repr::Large(chain) = &mut self.repr
            && chain.is_small(&bounds.halved())
        {
            let chain =
                Arc::try_unwrap(std::mem::replace(chain, Arc::new(Chain::new(Packed::new()))))
                    .unwrap_or_else(|shared| Chain::clone(&shared));
            self.repr = Repr::Small(chain.into_run());
        }
    }
}

impl<'a> IntoIterator for &'a List {
    type Item = Item<'a>;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// Replaces an element; where it does not fit, chunks are cut anew, and may then join.
fn set_in_chain(chain: &mut Chain, index: usize, element: &[u8], bounds: &Bounds) {
    let mut in_place = false;
    chain.update(index, bounds, |chunk, at| {
        in_place = chunk.replace(at, element, bounds);
        if in_place {
            return Vec::new();
        }
        chunk.remove(at, 1);
        chunk.insert(at, element, bounds)
    });
    if !in_place {
        chain.join(bounds);
    }
}

/// Goes from chunk to chunk: a chunk without a match is neither copied nor written.
fn remove_from_chain(
    chain: &mut Arc<Chain>,
    element: Item<'_>,
    most: usize,
    end: End,
    bounds: &Bounds,
) -> usize {
    let mut removed = 0;
    // Elements of the chunks that are done, from `end` on.
    let mut done = 0;
    while removed < most {
        let len = chain.len();
        if done >= len {
            break;
        }
        let index = if end == End::Front { done } else { len - 1 - done };
        let (chunk, offset) = chain.find(index).expect("the index is below the length");
        let mut rest =
            chunk.len() - if end == End::Front { offset } else { chunk.len() - 1 - offset };
        if chunk.walk(offset, end.opposite()).any(|item| item == element) {
            let before = rest;
            Arc::make_mut(chain).update(index, bounds, |chunk, _| {
                let found = chunk.remove_matching(element, most - removed, end);
                removed += found;
                rest = before - found;
                Vec::new()
            });
        }
        done += rest;
    }
    removed
}

#[cfg(test)]
mod tests;
