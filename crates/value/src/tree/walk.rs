//! Walks over a tree: from entry to entry in a leaf, and a way down for each leaf.

use super::{Kind, Place, Tree};

/// A walk upwards.
#[derive(Debug, Clone)]
pub(crate) struct Ascending<'a, K: Kind> {
    pub(super) tree: &'a Tree<K>,
    /// Index of the next entry.
    pub(super) next: usize,
    /// The last entry given.
    pub(super) place: Option<Place<'a, K>>,
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
    pub(super) tree: &'a Tree<K>,
    /// Index behind the next entry.
    pub(super) end: usize,
    /// The last entry given.
    pub(super) place: Option<Place<'a, K>>,
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
