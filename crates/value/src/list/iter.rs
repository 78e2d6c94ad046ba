//! A walk over a list, in either direction, chunk by chunk.

use super::chunk::{End, Walk};
use super::{List, Repr};
use crate::{Item, packed};

/// A walk from one element towards one end of a list.
#[derive(Debug, Clone)]
pub struct Iter<'a> {
    list: &'a List,
    towards: End,
    /// Index of the element behind the walk's current chunk; `None` when there is none.
    next: Option<usize>,
    /// Elements not yet given: 0..=len of the list.
    left: usize,
    walk: Walk<'a>,
}

impl<'a> Iter<'a> {
    pub(super) fn new(list: &'a List, index: usize, towards: End) -> Iter<'a> {
        let len = list.len();
        let left = match towards {
            End::Back => len.saturating_sub(index),
            End::Front if index < len => index + 1,
            End::Front => 0,
        };
        let next = (left > 0).then_some(index);
        Iter { list, towards, next, left, walk: Walk::Blob(None) }
    }

    /// Enters the chunk of the element `next`.
    #[cold]
    fn enter(&mut self) -> Option<Item<'a>> {
        let index = self.next.take()?;
        let (walk, steps) = match &self.list.repr {
            Repr::Small(run) => (walk_run(run, index, self.towards), self.left),
            Repr::Large(chain) => {
                let (chunk, offset) = chain.find(index)?;
                let steps = match self.towards {
                    End::Back => chunk.len() - offset,
                    End::Front => offset + 1,
                };
                (chunk.walk(offset, self.towards), steps)
            }
        };
        self.walk = walk;
        self.next = match self.towards {
            End::Back => (steps < self.left).then_some(index + steps),
            End::Front => index.checked_sub(steps),
        };
        self.walk.next()
    }
}

/// The elements of `run` from `index` on.
fn walk_run(run: &packed::Packed, index: usize, towards: End) -> Walk<'_> {
    let at = run.nth(index).unwrap_or(run.end());
    match towards {
        End::Back => Walk::Up(run.iter_from(at)),
        End::Front => Walk::Down(run.iter_until(run.next(at).unwrap_or(run.end()))),
    }
}

impl<'a> Iterator for Iter<'a> {
    type Item = Item<'a>;

    #[inline]
    fn next(&mut self) -> Option<Item<'a>> {
        let item = match self.walk.next() {
            Some(item) => item,
            None => self.enter()?,
        };
        self.left -= 1;
        Some(item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Iter<'_> {}
