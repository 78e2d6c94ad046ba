//! A large list: a chunk at each end, and the tree of chunks between them.
//!
//! Pushes and pops touch the end chunks only; a full one moves into the tree, an empty one is
//! replaced from there, once in some hundred elements. What must stay true: the head is not empty
//! (or the list is, and is thrown away); the tail is empty only if the head is the only chunk.

use super::chunk::{Bounds, Chunk, End};
use super::tree::Tree;
use crate::{Item, Packed};

/// More elements, or larger ones, than one packed run may have.
#[derive(Debug, Clone)]
pub(super) struct Chain {
    head: Chunk,
    middle: Tree,
    tail: Chunk,
}

impl Chain {
    /// A chain of one run.
    pub(super) fn new(run: Packed) -> Chain {
        Chain { head: Chunk::run(run), middle: Tree::default(), tail: Chunk::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.head.len() + self.middle.len() + self.tail.len()
    }

    /// Bytes allocated.
    pub(super) fn memory(&self) -> usize {
        size_of::<Chain>() + self.head.memory() + self.middle.memory() + self.tail.memory()
    }

    /// The chunk of the element with that index, and the element's index in it.
    pub(super) fn find(&self, index: usize) -> Option<(&Chunk, usize)> {
        let Some(behind_head) = index.checked_sub(self.head.len()) else {
            return Some((&self.head, index));
        };
        let Some(behind_middle) = behind_head.checked_sub(self.middle.len()) else {
            return self.middle.find(behind_head);
        };
        (behind_middle < self.tail.len()).then_some((&self.tail, behind_middle))
    }

    /// The element at one end.
    pub(super) fn end_item(&self, end: End) -> Option<Item<'_>> {
        let chunk = match end {
            End::Front => &self.head,
            End::Back if self.tail.is_empty() => &self.head,
            End::Back => &self.tail,
        };
        let index = if end == End::Front { 0 } else { chunk.len().checked_sub(1)? };
        (!chunk.is_empty()).then(|| chunk.item(index))
    }

    pub(super) fn push(&mut self, end: End, element: &[u8], bounds: &Bounds) {
        let chunk = self.end_chunk(end);
        if chunk.is_empty() {
            *chunk = Chunk::of(element, end);
        } else if chunk.admits(element.len(), bounds) {
            chunk.push(end, element);
        } else {
            self.push_chunk(end, Chunk::of(element, end));
        }
    }

    /// Takes `count <= len` elements away at one end.
    pub(super) fn remove_at(&mut self, end: End, mut count: usize) {
        while count > 0 {
            let chunk = self.end_chunk_as_is(end);
            if count < chunk.len() {
                break;
            }
            count -= chunk.len();
            *chunk = Chunk::default();
            self.settle();
        }
        if count > 0 {
            let chunk = self.end_chunk(end);
            let index = if end == End::Front { 0 } else { chunk.len() - count };
            chunk.remove(index, count);
        }
    }

    /// Calls `change` with the chunk of the element with that index and the element's index in it,
    /// and puts the chunks that it answers behind that one.
    pub(super) fn update(
        &mut self,
        index: usize,
        bounds: &Bounds,
        change: impl FnOnce(&mut Chunk, usize) -> Vec<Chunk>,
    ) {
        let head_len = self.head.len();
        if index < head_len {
            for chunk in change(&mut self.head, index).into_iter().rev() {
                if self.tail.is_empty() {
                    self.tail = chunk;
                } else {
                    self.middle.push(End::Front, chunk);
                }
            }
        } else if index - head_len < self.middle.len() {
            self.middle.update(index - head_len, bounds, change);
        } else {
            let index = index - head_len - self.middle.len();
            for chunk in change(&mut self.tail, index) {
                self.push_chunk(End::Back, chunk);
            }
        }
        self.settle();
    }

    /// Joins two remaining chunks that fit into one.
    pub(super) fn join(&mut self, bounds: &Bounds) {
        if self.middle.is_empty() && !self.tail.is_empty() && self.head.joins(&self.tail, bounds) {
            self.head.absorb(&std::mem::take(&mut self.tail));
        }
    }

    /// True if all that is left is one run within `bounds`.
    pub(super) fn is_small(&self, bounds: &Bounds) -> bool {
        self.tail.is_empty() && self.head.within(bounds)
    }

    /// The one run that is left.
    pub(super) fn into_run(self) -> Packed {
        self.head.into_packed().expect("a small chain is one run")
    }

    /// The chunk at one end, ready to grow and shrink there. An only chunk stays as it is: turning
    /// it again and again would cost more than moving its bytes.
    fn end_chunk(&mut self, end: End) -> &mut Chunk {
        if !self.tail.is_empty() {
            self.end_chunk_as_is(end).orient(end);
        }
        self.end_chunk_as_is(end)
    }

    fn end_chunk_as_is(&mut self, end: End) -> &mut Chunk {
        if end == End::Front || self.tail.is_empty() { &mut self.head } else { &mut self.tail }
    }

    fn push_chunk(&mut self, end: End, chunk: Chunk) {
        let only = self.tail.is_empty();
        match end {
            End::Front if only => self.tail = std::mem::replace(&mut self.head, chunk),
            End::Front => self.middle.push(end, std::mem::replace(&mut self.head, chunk)),
            End::Back if only => self.tail = chunk,
            End::Back => self.middle.push(end, std::mem::replace(&mut self.tail, chunk)),
        }
    }

    /// Fills the ends from the middle.
    fn settle(&mut self) {
        if self.head.is_empty() {
            self.head =
                self.middle.pop(End::Front).unwrap_or_else(|| std::mem::take(&mut self.tail));
        }
        if self.tail.is_empty() {
            self.tail = self.middle.pop(End::Back).unwrap_or_default();
        }
    }

    /// Asserts what must stay true.
    #[cfg(test)]
    pub(super) fn check(&self) {
        assert!(!self.head.is_empty(), "the head is not empty");
        assert!(!self.tail.is_empty() || self.middle.is_empty(), "the tail is filled");
        self.middle.check();
    }
}
