//! A small set of integers: sorted, all of the width that the widest one needs.

use crate::packed::good_capacity;

/// Sorted integers, each once.
#[derive(Debug, Clone, Default)]
pub(super) struct Integers {
    width: Width,
    /// `width` bytes each, little endian, ascending as integers.
    bytes: Vec<u8>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Width {
    #[default]
    Two = 2,
    Four = 4,
    Eight = 8,
}

impl Width {
    fn of(integer: i64) -> Width {
        if i16::try_from(integer).is_ok() {
            Width::Two
        } else if i32::try_from(integer).is_ok() {
            Width::Four
        } else {
            Width::Eight
        }
    }

    fn bytes(self) -> usize {
        self as usize
    }
}

impl Integers {
    pub(super) fn len(&self) -> usize {
        self.bytes.len() / self.width.bytes()
    }

    pub(super) fn memory(&self) -> usize {
        self.bytes.capacity()
    }

    pub(super) fn nth(&self, index: usize) -> Option<i64> {
        let width = self.width.bytes();
        let at = index.checked_mul(width)?;
        let bytes = self.bytes.get(at..at + width)?;
        let mut wide = [0; 8];
        wide[8 - width..].copy_from_slice(bytes);
        // The bytes stand at the high end: the shift down extends the sign.
        Some(i64::from_le_bytes(wide) >> (64 - 8 * width))
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = i64> {
        (0..self.len()).filter_map(|index| self.nth(index))
    }

    /// Length of the longest spelling.
    pub(super) fn longest(&self) -> usize {
        let ends = [self.nth(0), self.len().checked_sub(1).and_then(|last| self.nth(last))];
        let length = |integer| itoa::Buffer::new().format(integer).len();
        ends.into_iter().flatten().map(length).max().unwrap_or(0)
    }

    pub(super) fn contains(&self, integer: i64) -> bool {
        self.search(integer).is_ok()
    }

    pub(super) fn insert(&mut self, integer: i64) -> bool {
        let Err(index) = self.search(integer) else {
            return false;
        };
        self.widen(Width::of(integer));
        let width = self.width.bytes();
        let (at, old) = (index * width, self.bytes.len());
        if old + width > self.bytes.capacity() {
            self.bytes.reserve_exact(good_capacity(old + width) - old);
        }
        self.bytes.resize(old + width, 0);
        self.bytes.copy_within(at..old, at + width);
        self.bytes[at..at + width].copy_from_slice(&integer.to_le_bytes()[..width]);
        true
    }

    pub(super) fn remove(&mut self, integer: i64) -> bool {
        let Ok(index) = self.search(integer) else {
            return false;
        };
        let width = self.width.bytes();
        self.bytes.drain(index * width..(index + 1) * width);
        if self.bytes.len() * 2 <= self.bytes.capacity() {
            self.bytes.shrink_to(good_capacity(self.bytes.len()));
        }
        true
    }

    fn search(&self, integer: i64) -> Result<usize, usize> {
        let mut range = 0..self.len();
        while !range.is_empty() {
            let middle = range.start + range.len() / 2;
            match self.nth(middle) {
                Some(own) if own == integer => return Ok(middle),
                Some(own) if own < integer => range.start = middle + 1,
                _ => range.end = middle,
            }
        }
        Err(range.start)
    }

    fn widen(&mut self, width: Width) {
        if width <= self.width {
            return;
        }
        let mut bytes = Vec::new();
        bytes.reserve_exact(good_capacity((self.len() + 1) * width.bytes()));
        for integer in self.iter() {
            bytes.extend_from_slice(&integer.to_le_bytes()[..width.bytes()]);
        }
        (self.width, self.bytes) = (width, bytes);
    }
}
