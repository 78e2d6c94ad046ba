//! A leaf: sorted slots and the bytes of their entries, in one allocation.
//!
//! ```text
//! count: u16 | unused: u16 | used: u32 | dead: u32 | slot 0 | slot 1 | ... | free | ... arena
//!
//! slot     word | distance of the entry from the leaf's end: u16   (FAR: the lone entry)
//!          word | key                                              (kinds whose keys stand inline)
//! entry    moment | key length | value length (kinds with values) | key | value
//! moment   nothing; or 0xff and u64
//! length   1 byte below 0xfd; 0xfd and u16; 0xfe and u32
//! ```
//!
//! A lookup touches the line of the slot and the line of the entry, no more: slots are contiguous,
//! the count comes from the parent, and the place of a hash is guessed. The arena grows downwards
//! in order of arrival; what a replaced or removed entry leaves behind is `dead` until the leaf is
//! built anew. What must stay true: slots sorted by (word, key), no key twice; `HEADER + count *
//! SLOT + used <= len`; a leaf above [`LEAF_BYTES_MAX`] has one entry.

use super::inner::gallop;
use super::kind::{Kind, Word};
use crate::packed::good_capacity;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

/// A leaf that several trees may share.
#[derive(Debug, Clone)]
pub(crate) struct Leaf {
    bytes: Arc<[u8]>,
}

/// Bytes of a leaf with more than one entry, without [`ARC_BYTES`]: some 50 small entries. Lookups
/// among a million cost the same with 1, 2 and 4 KiB (`examples/collections.rs`); larger leaves
/// cost more to copy while an image shares them, smaller ones more nodes above them.
pub(crate) const LEAF_BYTES_MAX: usize = 2048 - ARC_BYTES;

/// What `Arc` puts in front of the bytes: two counters.
pub(crate) const ARC_BYTES: usize = 16;

const HEADER: usize = 12;
const COUNT_AT: usize = 0;
const USED_AT: usize = 4;
const DEAD_AT: usize = 8;
/// A distance that says: the lone entry of this leaf, which begins where the arena begins.
const FAR: u16 = u16::MAX;

const _: () = assert!(LEAF_BYTES_MAX < FAR as usize);

/// An entry on its way into a tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'a, W> {
    /// Sorted by this first.
    pub(crate) word: W,
    /// Decides between equal words.
    pub(crate) key: &'a [u8],
    /// Empty for kinds without values.
    pub(crate) value: &'a [u8],
    /// None for kinds without moments.
    pub(crate) moment: Option<u64>,
}

impl<'a, W> Entry<'a, W> {
    /// An entry without value and moment.
    pub(crate) fn new(word: W, key: &'a [u8]) -> Self {
        Entry { word, key, value: &[], moment: None }
    }

    /// The same with a value.
    pub(crate) fn value(self, value: &'a [u8]) -> Self {
        Entry { value, ..self }
    }

    /// The same with a moment, or without.
    pub(crate) fn moment(self, moment: Option<u64>) -> Self {
        Entry { moment, ..self }
    }

    /// Bytes that the entry would take with its slot.
    pub(crate) fn footprint<K: Kind<Word = W>>(&self) -> usize
    where
        W: Word,
    {
        K::SLOT + entry_len::<K>(self)
    }
}

impl Leaf {
    /// Bytes of a leaf without entries.
    pub(crate) const HEADER: usize = HEADER;

    /// No entries.
    pub(crate) fn empty() -> Leaf {
        Leaf::with_capacity(leaf_capacity(HEADER))
    }

    /// No entries, room for `capacity` bytes in all.
    fn with_capacity(capacity: usize) -> Leaf {
        let bytes = match ZEROS.get(..capacity) {
            Some(zeros) => Arc::from(zeros),
            None => Arc::from(vec![0; capacity]),
        };
        Leaf { bytes }
    }

    /// Number of entries.
    pub(crate) fn count(&self) -> usize {
        usize::from(u16::from_le_bytes([self.bytes[COUNT_AT], self.bytes[COUNT_AT + 1]]))
    }

    /// Bytes allocated.
    pub(crate) fn memory(&self) -> usize {
        ARC_BYTES + self.bytes.len()
    }

    /// Bytes that a leaf with these entries needs.
    pub(crate) fn live<K: Kind>(&self) -> usize {
        HEADER + self.count() * K::SLOT + self.used() - self.dead()
    }

    /// The word of an entry.
    #[inline]
    pub(crate) fn word<K: Kind>(&self, index: usize) -> K::Word {
        K::Word::read(&self.bytes, HEADER + index * K::SLOT)
    }

    /// The key of an entry.
    #[inline]
    pub(crate) fn key<K: Kind>(&self, index: usize) -> &[u8] {
        if K::KEY_INLINE > 0 {
            let at = HEADER + index * K::SLOT + K::Word::BYTES;
            return &self.bytes[at..at + K::KEY_INLINE];
        }
        let parts = Parts::read::<K>(&self.bytes, self.start::<K>(index));
        &self.bytes[parts.key]
    }

    /// The value of an entry.
    #[inline]
    pub(crate) fn value<K: Kind>(&self, index: usize) -> &[u8] {
        if !K::VALUED {
            return &[];
        }
        let parts = Parts::read::<K>(&self.bytes, self.start::<K>(index));
        &self.bytes[parts.value]
    }

    /// The moment of an entry, if it has one.
    #[inline]
    pub(crate) fn moment<K: Kind>(&self, index: usize) -> Option<u64> {
        if !K::TIMED {
            return None;
        }
        let start = self.start::<K>(index);
        (self.bytes[start] == MOMENT).then(|| u64::read(&self.bytes, start + 1))
    }

    /// Key and value of an entry.
    #[inline]
    pub(crate) fn pair<K: Kind>(&self, index: usize) -> (&[u8], &[u8]) {
        if K::KEY_INLINE > 0 {
            return (self.key::<K>(index), &[]);
        }
        let parts = Parts::read::<K>(&self.bytes, self.start::<K>(index));
        (&self.bytes[parts.key], &self.bytes[parts.value])
    }

    /// The index of the entry with that word and key, or where it would stand. `count` is the
    /// leaf's (as its parent knows it); all words lie in `low..=high`, which only speeds the search
    /// up.
    #[inline]
    pub(crate) fn locate<K: Kind>(
        &self,
        count: usize,
        word: K::Word,
        key: &[u8],
        (low, high): (K::Word, K::Word),
    ) -> Result<usize, usize> {
        let first = gallop(word.guess(low, high, count), count, |i| self.word::<K>(i) < word);
        if first == count || self.word::<K>(first) != word {
            return Err(first);
        }
        match self.key::<K>(first).cmp(key) {
            Ordering::Equal => Ok(first),
            Ordering::Greater => Err(first),
            Ordering::Less => self.locate_among_equals::<K>(first + 1, count, word, key),
        }
    }

    /// The same from `first` on, where words are not below `word`.
    fn locate_among_equals<K: Kind>(
        &self,
        first: usize,
        count: usize,
        word: K::Word,
        key: &[u8],
    ) -> Result<usize, usize> {
        let below = |index| self.word::<K>(index) == word && self.key::<K>(index) < key;
        let index = first + gallop(0, count - first, |offset| below(first + offset));
        let found = index < count && self.word::<K>(index) == word && self.key::<K>(index) == key;
        if found { Ok(index) } else { Err(index) }
    }

    /// Puts an entry before the one at `index`, unless the leaf would become too large.
    pub(crate) fn insert<K: Kind>(
        &mut self,
        index: usize,
        entry: &Entry<'_, K::Word>,
    ) -> Result<(), Full> {
        let need = K::SLOT + entry_len::<K>(entry);
        if !self.has_room::<K>(need) {
            let live = self.live::<K>() + need;
            if live > LEAF_BYTES_MAX {
                return Err(Full);
            }
            self.rebuild::<K>(live);
        }
        let count = self.count();
        let bytes = Arc::make_mut(&mut self.bytes);
        let at = HEADER + index * K::SLOT;
        let end = HEADER + count * K::SLOT;
        bytes.copy_within(at..end, at + K::SLOT);
        set_count(bytes, count + 1);
        write_entry::<K>(bytes, at, entry);
        Ok(())
    }

    /// Replaces the value of the entry at `index`, unless the leaf would become too large.
    pub(crate) fn replace<K: Kind>(
        &mut self,
        index: usize,
        entry: &Entry<'_, K::Word>,
    ) -> Result<(), Full> {
        if !K::VALUED {
            return Ok(());
        }
        let start = self.start::<K>(index);
        let old = Parts::read::<K>(&self.bytes, start).value.end - start;
        let new = entry_len::<K>(entry);
        if new <= old {
            let bytes = Arc::make_mut(&mut self.bytes);
            write_parts::<K>(bytes, start, entry);
            add_dead(bytes, old - new);
            self.shrink::<K>();
            return Ok(());
        }
        if !self.has_room::<K>(new) {
            if self.live::<K>() - old + new > LEAF_BYTES_MAX {
                return Err(Full);
            }
            *self = self.part::<K>(0..index, Some(entry), index + 1..self.count());
            return Ok(());
        }
        let bytes = Arc::make_mut(&mut self.bytes);
        add_dead(bytes, old);
        write_entry::<K>(bytes, HEADER + index * K::SLOT, entry);
        Ok(())
    }

    /// Gives the entry at `index` another key that stands inline and sorts at the same place.
    pub(crate) fn replace_key<K: Kind>(&mut self, index: usize, key: &[u8]) {
        assert_eq!(key.len(), K::KEY_INLINE);
        let at = HEADER + index * K::SLOT + K::Word::BYTES;
        Arc::make_mut(&mut self.bytes)[at..at + K::KEY_INLINE].copy_from_slice(key);
    }

    /// Takes the entry at `index` away.
    pub(crate) fn remove<K: Kind>(&mut self, index: usize) {
        let count = self.count();
        let length = self.entry::<K>(index).len();
        let bytes = Arc::make_mut(&mut self.bytes);
        let at = HEADER + index * K::SLOT;
        bytes.copy_within(at + K::SLOT..HEADER + count * K::SLOT, at);
        set_count(bytes, count - 1);
        add_dead(bytes, length);
        self.shrink::<K>();
    }

    /// Moves the entries of `other`, all above this leaf's, into this leaf.
    pub(crate) fn append<K: Kind>(&mut self, other: &Leaf) {
        let length = self.live::<K>() + other.live::<K>() - HEADER;
        let mut joined = Leaf::with_capacity(leaf_capacity(length));
        joined.copy_from::<K>(self, 0..self.count());
        joined.copy_from::<K>(other, 0..other.count());
        *self = joined;
    }

    /// A leaf with some of this one's entries and perhaps one more behind or between them.
    pub(crate) fn part<K: Kind>(
        &self,
        before: Range<usize>,
        entry: Option<&Entry<'_, K::Word>>,
        after: Range<usize>,
    ) -> Leaf {
        let whole = before.len() + after.len() == self.count();
        if entry.is_none() && whole {
            return self.clone();
        }
        let mut length = HEADER + (before.len() + after.len()) * K::SLOT;
        length += entry.map_or(0, |entry| K::SLOT + entry_len::<K>(entry));
        length +=
            before.clone().chain(after.clone()).map(|i| self.entry::<K>(i).len()).sum::<usize>();
        let mut leaf = Leaf::with_capacity(leaf_capacity(length));
        leaf.copy_from::<K>(self, before);
        if let Some(entry) = entry {
            let count = leaf.count();
            let bytes = Arc::make_mut(&mut leaf.bytes);
            set_count(bytes, count + 1);
            write_entry::<K>(bytes, HEADER + count * K::SLOT, entry);
        }
        leaf.copy_from::<K>(self, after);
        leaf
    }

    /// Bytes that an entry takes with its slot.
    pub(crate) fn footprint<K: Kind>(&self, index: usize) -> usize {
        K::SLOT + self.entry::<K>(index).len()
    }

    fn used(&self) -> usize {
        u32::read(&self.bytes, USED_AT) as usize
    }

    fn dead(&self) -> usize {
        u32::read(&self.bytes, DEAD_AT) as usize
    }

    fn has_room<K: Kind>(&self, need: usize) -> bool {
        let length = self.bytes.len();
        HEADER + self.count() * K::SLOT + self.used() + need <= length && length <= LEAF_BYTES_MAX
    }

    /// Gives memory back once half of it is unused.
    fn shrink<K: Kind>(&mut self) {
        let live = self.live::<K>();
        if live * 2 <= self.bytes.len() {
            self.rebuild::<K>(live);
        }
    }

    /// Where an entry begins.
    #[inline]
    fn start<K: Kind>(&self, index: usize) -> usize {
        let at = HEADER + index * K::SLOT + K::Word::BYTES;
        let distance = u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]]);
        if distance == FAR {
            return self.bytes.len() - self.used();
        }
        self.bytes.len() - usize::from(distance)
    }

    /// An entry's bytes in the arena: none when keys stand inline.
    fn entry<K: Kind>(&self, index: usize) -> &[u8] {
        if K::KEY_INLINE > 0 {
            return &[];
        }
        let start = self.start::<K>(index);
        &self.bytes[start..Parts::read::<K>(&self.bytes, start).value.end]
    }

    /// Becomes a leaf of its own with room for `length` bytes.
    fn rebuild<K: Kind>(&mut self, length: usize) {
        let mut leaf = Leaf::with_capacity(leaf_capacity(length));
        if self.dead() == 0 {
            leaf.copy_all::<K>(self);
        } else {
            leaf.copy_from::<K>(self, 0..self.count());
        }
        *self = leaf;
    }

    /// Takes over slots and arena as they stand: distances from the end stay the same.
    fn copy_all<K: Kind>(&mut self, source: &Leaf) {
        let bytes = Arc::make_mut(&mut self.bytes);
        let slots = HEADER + source.count() * K::SLOT;
        bytes[..slots].copy_from_slice(&source.bytes[..slots]);
        let used = source.used();
        let (to, from) = (bytes.len() - used, source.bytes.len() - used);
        bytes[to..].copy_from_slice(&source.bytes[from..]);
    }

    /// Adds entries of `source` behind the last one. There is room.
    fn copy_from<K: Kind>(&mut self, source: &Leaf, range: Range<usize>) {
        let mut count = self.count();
        let bytes = Arc::make_mut(&mut self.bytes);
        let target = HEADER + count * K::SLOT;
        let slots = HEADER + range.start * K::SLOT..HEADER + range.end * K::SLOT;
        bytes[target..target + slots.len()].copy_from_slice(&source.bytes[slots]);
        count += range.len();
        set_count(bytes, count);
        if K::KEY_INLINE > 0 {
            return;
        }
        for (place, index) in range.enumerate() {
            let entry = source.entry::<K>(index);
            let start = take_arena(bytes, entry.len());
            bytes[start..start + entry.len()].copy_from_slice(entry);
            write_distance(bytes, target + place * K::SLOT + K::Word::BYTES, start);
        }
    }
}

/// The leaf has no room for an entry and may not grow: it is to be split.
#[derive(Debug)]
pub(crate) struct Full;

/// Copied for a new leaf: one pass over memory that the cache holds.
static ZEROS: [u8; LEAF_BYTES_MAX] = [0; LEAF_BYTES_MAX];

/// The capacity that makes the allocation of a leaf of `length` bytes a size class.
fn leaf_capacity(length: usize) -> usize {
    good_capacity(length + ARC_BYTES) - ARC_BYTES
}

/// Where the parts of an entry stand.
struct Parts {
    key: Range<usize>,
    value: Range<usize>,
}

impl Parts {
    #[inline]
    fn read<K: Kind>(bytes: &[u8], start: usize) -> Parts {
        let moment = if K::TIMED && bytes[start] == MOMENT { MOMENT_BYTES } else { 0 };
        let (key_len, mut at) = read_length(bytes, start + moment);
        let mut value_len = 0;
        if K::VALUED {
            (value_len, at) = read_length(bytes, at);
        }
        let middle = at + key_len;
        Parts { key: at..middle, value: middle..middle + value_len }
    }
}

fn entry_len<K: Kind>(entry: &Entry<'_, K::Word>) -> usize {
    if K::KEY_INLINE > 0 {
        return 0;
    }
    let lengths =
        length_len(entry.key.len()) + if K::VALUED { length_len(entry.value.len()) } else { 0 };
    let moment = if entry.moment.is_some() { MOMENT_BYTES } else { 0 };
    moment + lengths + entry.key.len() + entry.value.len()
}

/// Writes the slot at `at` and takes room for the entry in the arena. There is room.
fn write_entry<K: Kind>(bytes: &mut [u8], at: usize, entry: &Entry<'_, K::Word>) {
    entry.word.write(bytes, at);
    let at = at + K::Word::BYTES;
    if K::KEY_INLINE > 0 {
        bytes[at..at + K::KEY_INLINE].copy_from_slice(entry.key);
        return;
    }
    let start = take_arena(bytes, entry_len::<K>(entry));
    write_distance(bytes, at, start);
    write_parts::<K>(bytes, start, entry);
}

fn write_parts<K: Kind>(bytes: &mut [u8], start: usize, entry: &Entry<'_, K::Word>) {
    debug_assert!(K::TIMED || entry.moment.is_none(), "entries of this kind have no moment");
    let mut at = start;
    if let Some(moment) = entry.moment {
        bytes[at] = MOMENT;
        moment.write(bytes, at + 1);
        at += MOMENT_BYTES;
    }
    at = write_length(bytes, at, entry.key.len());
    if K::VALUED {
        at = write_length(bytes, at, entry.value.len());
    }
    let middle = at + entry.key.len();
    bytes[at..middle].copy_from_slice(entry.key);
    bytes[middle..middle + entry.value.len()].copy_from_slice(entry.value);
}

/// Takes `length` bytes of the arena, returns where they begin.
fn take_arena(bytes: &mut [u8], length: usize) -> usize {
    let used = u32::read(bytes, USED_AT) as usize + length;
    narrow(used).write(bytes, USED_AT);
    bytes.len() - used
}

fn write_distance(bytes: &mut [u8], at: usize, start: usize) {
    let distance = u16::try_from(bytes.len() - start).unwrap_or(FAR);
    bytes[at..at + 2].copy_from_slice(&distance.to_le_bytes());
}

fn add_dead(bytes: &mut [u8], length: usize) {
    let dead = u32::read(bytes, DEAD_AT) as usize + length;
    narrow(dead).write(bytes, DEAD_AT);
}

fn set_count(bytes: &mut [u8], count: usize) {
    let count = u16::try_from(count).expect("a leaf holds at most LEAF_BYTES_MAX / SLOT entries");
    bytes[COUNT_AT..COUNT_AT + 2].copy_from_slice(&count.to_le_bytes());
}

fn narrow(length: usize) -> u32 {
    u32::try_from(length).expect("entries stay below 4 GiB")
}

/// In the place of a length's first byte: a moment stands before it.
const MOMENT: u8 = 0xff;
const MOMENT_BYTES: usize = 1 + size_of::<u64>();

const LENGTH_BYTE_MAX: usize = 0xfc;
const LENGTH_U16: u8 = 0xfd;
const LENGTH_U32: u8 = 0xfe;

#[inline]
fn read_length(bytes: &[u8], at: usize) -> (usize, usize) {
    match bytes[at] {
        LENGTH_U16 => (usize::from(u16::from_le_bytes([bytes[at + 1], bytes[at + 2]])), at + 3),
        LENGTH_U32 => (u32::read(bytes, at + 1) as usize, at + 5),
        length => (usize::from(length), at + 1),
    }
}

#[inline]
fn length_len(length: usize) -> usize {
    if length <= LENGTH_BYTE_MAX {
        1
    } else if length <= usize::from(u16::MAX) {
        3
    } else {
        5
    }
}

fn write_length(bytes: &mut [u8], at: usize, length: usize) -> usize {
    let wide = narrow(length).to_le_bytes();
    match length_len(length) {
        1 => bytes[at] = wide[0],
        3 => {
            bytes[at] = LENGTH_U16;
            bytes[at + 1..at + 3].copy_from_slice(&wide[..2]);
        }
        _ => {
            bytes[at] = LENGTH_U32;
            bytes[at + 1..at + 5].copy_from_slice(&wide);
        }
    }
    at + length_len(length)
}
