//! A small collection as one string of bytes.
//!
//! Small hashes, sets and sorted sets are one [`Packed`]; a list is a chain of them. Elements keep
//! their order; a walk goes both ways. What must stay true: the stored form of an element depends
//! on nothing but its spelling, so that equal elements are equal bytes ([`Packed::find`] compares
//! them so).
//!
//! ```text
//! empty      no bytes at all
//! otherwise  count: u32, little endian | element | element | ...
//!
//! element    head | data | tail
//!
//! head       0x00..=0x7f           a string of that length
//!            0x80..=0xbf           the integer head - 0x80
//!            0xc0..=0xdf, 1 byte   a string, length in 13 bits (high 5 in the head)
//!            0xe0..=0xe7           an integer of 1 to 8 bytes, little endian, sign extended
//!            0xf0, 4 bytes         a string, length in 32 bits, little endian
//! tail       length of head and data, base 128, to be read from its last byte backwards: low
//!            digits are nearest the end, a set high bit says that a higher digit stands before it
//! ```

use crate::item::{Item, integer_of};

/// A sequence of elements in one allocation. Cloning copies it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Packed {
    bytes: Vec<u8>,
}

/// Where an element of one [`Packed`] begins. Any change before it makes it stale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position(usize);

const _: () = assert!(size_of::<Packed>() <= 24);

/// Bytes of the count in front of the elements.
const COUNT_BYTES: usize = size_of::<u32>();

const HEAD_SMALL_INTEGER: u8 = 0x80;
const SMALL_INTEGER_MAX: i64 = 63;
const HEAD_STRING_13: u8 = 0xc0;
const HEAD_INTEGER: u8 = 0xe0;
const HEAD_STRING_32: u8 = 0xf0;
const STRING_7_MAX: usize = 0x7f;
const STRING_13_MAX: usize = 0x1fff;

impl Packed {
    /// No elements, no allocation.
    pub const fn new() -> Packed {
        Packed { bytes: Vec::new() }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.bytes.first_chunk().map_or(0, |count| u32::from_le_bytes(*count) as usize)
    }

    /// True without elements.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Bytes of the stored form: what limits on size compare with.
    pub fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes allocated.
    pub fn memory(&self) -> usize {
        self.bytes.capacity()
    }

    /// Bytes that pushing `element` would add to [`Packed::byte_len`] of a collection that is not
    /// empty.
    pub fn cost(element: &[u8]) -> usize {
        Encoded::new(element).len()
    }

    /// Adds `element` behind the last one.
    pub fn push_back(&mut self, element: &[u8]) {
        self.insert(self.end(), element);
    }

    /// Adds the spelling of `integer` behind the last element.
    pub fn push_back_integer(&mut self, integer: i64) {
        self.insert_encoded(self.end(), &Encoded::integer(integer));
    }

    /// Adds `element` before the first one.
    pub fn push_front(&mut self, element: &[u8]) {
        self.insert(Position(COUNT_BYTES), element);
    }

    /// Adds `element` before the one at `at` ([`Packed::end`] appends). `at` is then the new
    /// element's place.
    pub fn insert(&mut self, at: Position, element: &[u8]) {
        self.insert_encoded(at, &Encoded::new(element));
    }

    /// Adds the spelling of `integer` before the element at `at`.
    pub fn insert_integer(&mut self, at: Position, integer: i64) {
        self.insert_encoded(at, &Encoded::integer(integer));
    }

    fn insert_encoded(&mut self, at: Position, encoded: &Encoded<'_>) {
        if self.bytes.is_empty() {
            self.bytes.reserve_exact(good_capacity(COUNT_BYTES + encoded.len()));
            self.bytes.extend_from_slice(&[0; COUNT_BYTES]);
        }
        self.splice(at.0, 0, &encoded.pieces());
        self.set_len(self.len() + 1);
    }

    /// Puts `element` in the place of the one at `at`.
    pub fn replace(&mut self, at: Position, element: &[u8]) {
        let encoded = Encoded::new(element);
        let old = Extent::read(&self.bytes, at.0).total();
        self.splice(at.0, old, &encoded.pieces());
    }

    /// Takes `count` elements away from `at` on (fewer when fewer are left). `at` is then the place
    /// of what followed them, or the end.
    pub fn remove(&mut self, at: Position, count: usize) {
        let mut stop = at.0;
        let mut removed = 0;
        while removed < count && stop < self.bytes.len() {
            stop += Extent::read(&self.bytes, stop).total();
            removed += 1;
        }
        let left = self.len() - removed;
        if left == 0 {
            self.bytes = Vec::new();
            return;
        }
        self.splice(at.0, stop - at.0, &[]);
        self.set_len(left);
        self.shrink();
    }

    /// Moves the elements from `at` on into a new collection.
    pub fn split_off(&mut self, at: Position) -> Packed {
        let moved = self.iter_from(at).count();
        if moved == self.len() {
            return std::mem::take(self);
        }
        let mut tail = Packed::new();
        if moved > 0 {
            tail.bytes.reserve_exact(good_capacity(COUNT_BYTES + self.bytes.len() - at.0));
            tail.bytes.extend_from_slice(&[0; COUNT_BYTES]);
            tail.bytes.extend_from_slice(&self.bytes[at.0..]);
            tail.set_len(moved);
            self.bytes.truncate(at.0);
            self.set_len(self.len() - moved);
            self.shrink();
        }
        tail
    }

    /// Adds all elements of `other` behind the last one.
    pub fn append(&mut self, other: &Packed) {
        if self.is_empty() {
            self.clone_from(other);
        } else if !other.is_empty() {
            let count = self.len() + other.len();
            self.splice(self.bytes.len(), 0, &[&other.bytes[COUNT_BYTES..]]);
            self.set_len(count);
        }
    }

    /// The same elements, the last one first.
    pub fn reversed(&self) -> Packed {
        let mut bytes = Vec::with_capacity(good_capacity(self.bytes.len()));
        let mut stop = self.bytes.len();
        bytes.extend_from_slice(&self.bytes[..stop.min(COUNT_BYTES)]);
        while stop > COUNT_BYTES {
            let start = start_before(&self.bytes, stop);
            bytes.extend_from_slice(&self.bytes[start..stop]);
            stop = start;
        }
        Packed { bytes }
    }

    /// The place behind the last element.
    pub fn end(&self) -> Position {
        Position(self.bytes.len().max(COUNT_BYTES))
    }

    /// The first element's place.
    pub fn first(&self) -> Option<Position> {
        (!self.is_empty()).then_some(Position(COUNT_BYTES))
    }

    /// The last element's place.
    pub fn last(&self) -> Option<Position> {
        self.previous(self.end())
    }

    /// The place of the element behind the one at `at`.
    pub fn next(&self, at: Position) -> Option<Position> {
        let next = at.0 + Extent::read(&self.bytes, at.0).total();
        (next < self.bytes.len()).then_some(Position(next))
    }

    /// The place of the element before `at`, which may be the end.
    pub fn previous(&self, at: Position) -> Option<Position> {
        (at.0 > COUNT_BYTES).then(|| Position(start_before(&self.bytes, at.0)))
    }

    /// The place of the element with that index, from 0: walks from the nearer end.
    pub fn nth(&self, index: usize) -> Option<Position> {
        let count = self.len();
        if index >= count {
            return None;
        }
        let mut at;
        if index <= count / 2 {
            at = COUNT_BYTES;
            for _ in 0..index {
                at += Extent::read(&self.bytes, at).total();
            }
        } else {
            at = self.bytes.len();
            for _ in index..count {
                at = start_before(&self.bytes, at);
            }
        }
        Some(Position(at))
    }

    /// The element at `at`.
    pub fn item(&self, at: Position) -> Item<'_> {
        Extent::read(&self.bytes, at.0).item(&self.bytes, at.0)
    }

    /// The place of the first element equal to `element`, looking at `from` and then at each
    /// `step`-th element behind it (2 looks at the fields of field, value, field, value).
    pub fn find(&self, from: Position, step: usize, element: &[u8]) -> Option<Position> {
        debug_assert!(step > 0, "a search must advance");
        let encoded = Encoded::new(element);
        let (head, data) = (encoded.head(), encoded.data);
        let mut at = from.0;
        while at < self.bytes.len() {
            let own = &self.bytes[at..];
            if own[0] == head[0] && own.starts_with(head) && own[head.len()..].starts_with(data) {
                return Some(Position(at));
            }
            for _ in 0..step {
                if at < self.bytes.len() {
                    at += Extent::read(&self.bytes, at).total();
                }
            }
        }
        None
    }

    /// All elements, from either end.
    pub fn iter(&self) -> Iter<'_> {
        Iter { bytes: &self.bytes, front: COUNT_BYTES, back: self.bytes.len() }
    }

    /// The elements from `at` on, from either end.
    pub fn iter_from(&self, at: Position) -> Iter<'_> {
        Iter { bytes: &self.bytes, front: at.0, back: self.bytes.len() }
    }

    /// The elements before `at`, from either end: `.rev()` walks backwards from there.
    pub fn iter_until(&self, at: Position) -> Iter<'_> {
        Iter { bytes: &self.bytes, front: COUNT_BYTES, back: at.0.min(self.bytes.len()) }
    }

    fn set_len(&mut self, count: usize) {
        let count = u32::try_from(count).expect("packed collections stay below 2^32 elements");
        self.bytes[..COUNT_BYTES].copy_from_slice(&count.to_le_bytes());
    }

    /// Replaces `removed` bytes at `at` by `pieces`.
    fn splice(&mut self, at: usize, removed: usize, pieces: &[&[u8]]) {
        let added: usize = pieces.iter().map(|piece| piece.len()).sum();
        let old_len = self.bytes.len();
        let new_len = old_len - removed + added;
        if new_len > self.bytes.capacity() {
            self.bytes.reserve_exact(good_capacity(new_len) - old_len);
        }
        if added > removed {
            self.bytes.resize(new_len, 0);
        }
        self.bytes.copy_within(at + removed..old_len, at + added);
        self.bytes.truncate(new_len);
        let mut to = at;
        for piece in pieces {
            self.bytes[to..to + piece.len()].copy_from_slice(piece);
            to += piece.len();
        }
    }

    /// Gives memory back once half of it is unused: removing and adding one element in turn does
    /// not reallocate.
    fn shrink(&mut self) {
        if self.bytes.len() * 2 <= self.bytes.capacity() {
            self.bytes.shrink_to(good_capacity(self.bytes.len()));
        }
    }
}

impl std::fmt::Debug for Packed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<'a> FromIterator<&'a [u8]> for Packed {
    fn from_iter<I: IntoIterator<Item = &'a [u8]>>(elements: I) -> Packed {
        let mut packed = Packed::new();
        for element in elements {
            packed.push_back(element);
        }
        packed
    }
}

impl<'a> IntoIterator for &'a Packed {
    type Item = Item<'a>;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// A walk over the elements of a [`Packed`].
#[derive(Debug, Clone)]
pub struct Iter<'a> {
    bytes: &'a [u8],
    /// front <= back, or there is nothing left.
    front: usize,
    back: usize,
}

impl<'a> Iterator for Iter<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        if self.front >= self.back {
            return None;
        }
        let extent = Extent::read(self.bytes, self.front);
        let item = extent.item(self.bytes, self.front);
        self.front += extent.total();
        Some(item)
    }
}

impl<'a> DoubleEndedIterator for Iter<'a> {
    fn next_back(&mut self) -> Option<Item<'a>> {
        if self.front >= self.back {
            return None;
        }
        self.back = start_before(self.bytes, self.back);
        Some(Extent::read(self.bytes, self.back).item(self.bytes, self.back))
    }
}

/// Lengths of a stored element's parts.
struct Extent {
    head: usize,
    data: usize,
}

impl Extent {
    #[inline]
    fn read(bytes: &[u8], at: usize) -> Extent {
        let head = bytes[at];
        match head {
            0..HEAD_SMALL_INTEGER => Extent { head: 1, data: usize::from(head) },
            HEAD_SMALL_INTEGER..HEAD_STRING_13 => Extent { head: 1, data: 0 },
            HEAD_STRING_13..HEAD_INTEGER => {
                let high = usize::from(head & 0x1f) << 8;
                Extent { head: 2, data: high | usize::from(bytes[at + 1]) }
            }
            HEAD_INTEGER..HEAD_STRING_32 => {
                Extent { head: 1, data: usize::from(head - HEAD_INTEGER) + 1 }
            }
            _ => {
                let length = bytes[at + 1..].first_chunk().expect("a long head has four bytes");
                Extent { head: 5, data: u32::from_le_bytes(*length) as usize }
            }
        }
    }

    fn total(&self) -> usize {
        let length = self.head + self.data;
        length + tail_len(length)
    }

    fn item<'a>(&self, bytes: &'a [u8], at: usize) -> Item<'a> {
        let head = bytes[at];
        let data = &bytes[at + self.head..at + self.head + self.data];
        match head {
            HEAD_SMALL_INTEGER..HEAD_STRING_13 => {
                Item::Integer(i64::from(head - HEAD_SMALL_INTEGER))
            }
            HEAD_INTEGER..HEAD_STRING_32 => {
                let mut wide = [0; 8];
                wide[8 - data.len()..].copy_from_slice(data);
                // The bytes stand at the high end: the shift down extends the sign.
                Item::Integer(i64::from_le_bytes(wide) >> (64 - 8 * data.len()))
            }
            _ => Item::Bytes(data),
        }
    }
}

/// An element on its way in.
struct Encoded<'a> {
    /// Head and an integer's data, or the head alone.
    front: [u8; 9],
    front_len: usize,
    /// A string's data.
    data: &'a [u8],
    tail: [u8; 5],
    tail_len: usize,
}

impl<'a> Encoded<'a> {
    fn new(element: &'a [u8]) -> Encoded<'a> {
        if let Some(integer) = integer_of(element) {
            return Encoded::integer(integer);
        }
        let mut front = [0; 9];
        let front_len = string_head(&mut front, element.len());
        Encoded::with_tail(front, front_len, element)
    }

    fn integer(integer: i64) -> Encoded<'a> {
        let mut front = [0; 9];
        if (0..=SMALL_INTEGER_MAX).contains(&integer) {
            front[0] = HEAD_SMALL_INTEGER + integer.to_le_bytes()[0];
            return Encoded::with_tail(front, 1, &[]);
        }
        let width = integer_width(integer);
        front[0] = HEAD_INTEGER + width - 1;
        front[1..].copy_from_slice(&integer.to_le_bytes());
        Encoded::with_tail(front, 1 + usize::from(width), &[])
    }

    fn with_tail(front: [u8; 9], front_len: usize, data: &'a [u8]) -> Encoded<'a> {
        let mut encoded = Encoded { front, front_len, data, tail: [0; 5], tail_len: 0 };
        encoded.write_tail();
        encoded
    }

    fn write_tail(&mut self) {
        let length = self.front_len + self.data.len();
        self.tail_len = tail_len(length);
        let mut rest = length;
        for (index, place) in self.tail[..self.tail_len].iter_mut().rev().enumerate() {
            let more = if index + 1 < self.tail_len { 0x80 } else { 0 };
            *place = (rest & 0x7f).to_le_bytes()[0] | more;
            rest >>= 7;
        }
    }

    fn head(&self) -> &[u8] {
        &self.front[..self.front_len]
    }

    fn pieces(&self) -> [&[u8]; 3] {
        [self.head(), self.data, &self.tail[..self.tail_len]]
    }

    fn len(&self) -> usize {
        self.front_len + self.data.len() + self.tail_len
    }
}

/// Writes a string's head, returns its length.
fn string_head(front: &mut [u8; 9], length: usize) -> usize {
    let bytes = u32::try_from(length).expect("elements stay below 4 GiB").to_le_bytes();
    if length <= STRING_7_MAX {
        front[0] = bytes[0];
        1
    } else if length <= STRING_13_MAX {
        front[0] = HEAD_STRING_13 | bytes[1];
        front[1] = bytes[0];
        2
    } else {
        front[0] = HEAD_STRING_32;
        front[1..5].copy_from_slice(&bytes);
        5
    }
}

/// Bytes that hold `integer` with its sign: 1 to 8.
fn integer_width(integer: i64) -> u8 {
    let folded = if integer < 0 { !integer } else { integer };
    let bits = 65 - folded.leading_zeros();
    u8::try_from(bits.div_ceil(8)).expect("at most 64 bits")
}

/// Base-128 digits of an element's length.
#[inline]
fn tail_len(length: usize) -> usize {
    match length {
        0..0x80 => 1,
        0x80..0x4000 => 2,
        0x4000..0x20_0000 => 3,
        0x20_0000..0x1000_0000 => 4,
        _ => 5,
    }
}

/// Where the element that ends at `end` begins.
fn start_before(bytes: &[u8], end: usize) -> usize {
    let mut length = 0;
    let mut digits = 0;
    loop {
        let byte = bytes[end - 1 - digits];
        length |= usize::from(byte & 0x7f) << (7 * digits);
        digits += 1;
        if byte & 0x80 == 0 {
            return end - digits - length;
        }
    }
}

/// The allocator's size class that holds `length` bytes (16 apart up to 128, then four a doubling,
/// as jemalloc's): growing from class to class is amortised, and capacity beyond the class would
/// be resident bytes for nothing.
pub(crate) fn good_capacity(length: usize) -> usize {
    if length <= 128 {
        return length.next_multiple_of(16);
    }
    let spacing = ((length - 1).ilog2() - 2).min(usize::BITS - 2);
    length.next_multiple_of(1 << spacing)
}

#[cfg(test)]
mod tests;
