//! A block: a run of entries as one string of bytes, told apart from the first one.
//!
//! What must stay true: ids ascend; a block in a stream has a live entry; a deleted entry keeps its
//! place until the whole block goes.
//!
//! ```text
//! bytes      name of a field, ... (those of the first entry) | entry | entry | ...
//!
//! entry      flags: u8 | length of the rest | ms | seq | fields
//! flags      1: deleted    2: the fields are named as the first entry's
//! ms         milliseconds since the first entry's
//! seq        the number; within the first entry's millisecond, since that one's
//! fields     flag 2: value, value, ...
//!            else: how many | name, value, name, value, ...
//!
//! item       2 * length | bytes, or 2 * zigzag(integer) + 1 for an integer below 2^61
//! ```
//!
//! Lengths, numbers and items' heads are in base 128, low digits first, a set high bit says that
//! more follow.

use super::{AppendError, StreamId};
use crate::Limits;
use crate::item::{Item, integer_of};
use crate::packed::good_capacity;
use smallvec::SmallVec;

/// A block never grows beyond this, whatever the limits are.
const BYTES_MAX: usize = 1 << 30;
/// Zigzag integers below this share their word with the mark of an integer.
const INTEGER_MAX: i64 = 1 << 61;

const DELETED: u8 = 1;
const SAME_NAMES: u8 = 2;

/// Some entries that follow each other.
#[derive(Debug, Clone)]
pub(super) struct Block {
    /// The id that the others are told from: the first entry's, be it deleted or not.
    first: StreamId,
    /// The last entry's id, be it deleted or not.
    last: StreamId,
    /// Entries that are not deleted.
    live: u32,
    /// Entries that are.
    deleted: u32,
    /// Field names in front of the entries, and where the entries begin.
    names: u32,
    names_end: u32,
    /// Bytes that Valkey's listpack of the same entries takes: its limit decides where a block
    /// ends, and what approximate trimming takes is a whole block.
    weight: usize,
    bytes: Vec<u8>,
}

impl Block {
    /// A block with its first entry. `words` are names and values in turn.
    pub(super) fn new<'w>(
        id: StreamId,
        words: impl ExactSizeIterator<Item = &'w [u8]> + Clone,
    ) -> Block {
        let mut block = Block::named(id, words.clone().step_by(2));
        block.append(id, words);
        block
    }

    /// A block without entries that has these names.
    pub(super) fn named<'w>(id: StreamId, names: impl Iterator<Item = &'w [u8]>) -> Block {
        let (mut count, mut bytes, mut weight) = (0, Scratch::new(), 0);
        for name in names {
            push_item(&mut bytes, name);
            weight += Weight::of(name);
            count += 1;
        }
        weight += Weight::EMPTY + Weight::of_integer(i64::from(count)) + 3 * Weight::SMALL;
        Block {
            first: id,
            last: id,
            live: 0,
            deleted: 0,
            names: count,
            names_end: small(bytes.len()),
            weight,
            bytes: bytes.to_vec(),
        }
    }

    /// Whether an entry with names and values of `added` bytes has to begin a new block.
    pub(super) fn is_full(&self, added: usize, limits: &Limits) -> bool {
        let bytes_max = match limits.stream_block_bytes_max {
            0 => BYTES_MAX,
            bytes => bytes.min(BYTES_MAX),
        };
        let entries_max = limits.stream_block_entries_max;
        let entries = self.live as usize + self.deleted as usize;
        self.weight + added >= bytes_max || (entries_max > 0 && entries >= entries_max)
    }

    /// Adds an entry behind the last one.
    pub(super) fn append<'w>(
        &mut self,
        id: StreamId,
        words: impl ExactSizeIterator<Item = &'w [u8]> + Clone,
    ) {
        let same = self.has_names(words.clone().step_by(2));
        let stored = words.clone().skip(usize::from(same)).step_by(1 + usize::from(same));
        self.push(id, same, words.len() / 2, stored);
    }

    /// Adds an entry of `pairs` fields behind the last one: their values if it has the `same` names
    /// as the block, else names and values in turn.
    pub(super) fn push<'w>(
        &mut self,
        id: StreamId,
        same: bool,
        pairs: usize,
        stored: impl Iterator<Item = &'w [u8]> + Clone,
    ) {
        debug_assert!(id >= self.last, "ids ascend");
        let mut body = Scratch::new();
        let ms = id.ms - self.first.ms;
        push_number(&mut body, ms);
        push_number(&mut body, if ms == 0 { id.seq - self.first.seq } else { id.seq });
        if !same {
            push_number(&mut body, pairs as u64);
        }
        stored.clone().for_each(|word| push_item(&mut body, word));
        self.weight += self.weight_of(id, same, pairs) + stored.map(Weight::of).sum::<usize>();
        self.count_live(1);
        self.last = id;
        let mut head = Scratch::new();
        head.push(if same { SAME_NAMES } else { 0 });
        push_number(&mut head, body.len() as u64);
        let len = head.len() + body.len();
        if self.bytes.capacity() - self.bytes.len() < len {
            let target = good_capacity(self.bytes.len() * 3 / 2 + len);
            self.bytes.reserve_exact(target - self.bytes.len());
        }
        self.bytes.extend_from_slice(&head);
        self.bytes.extend_from_slice(&body);
    }

    /// Marks an entry as deleted. False if it is not there.
    pub(super) fn delete(&mut self, id: StreamId) -> bool {
        let Some(entry) = self.get(id) else { return false };
        let at = entry.start;
        self.delete_at(at);
        true
    }

    /// Marks the live entries as deleted that `verdict` says, oldest first. Returns how many.
    pub(super) fn delete_where(&mut self, mut verdict: impl FnMut(StreamId) -> Verdict) -> usize {
        let (mut at, mut deleted) = (self.names_end as usize, 0);
        while at < self.bytes.len() {
            let record = Record::read(self, at);
            let next = record.end;
            if !record.is_deleted() {
                match verdict(record.id) {
                    Verdict::Delete => {
                        self.delete_at(at);
                        deleted += 1;
                    }
                    Verdict::Keep => {}
                    Verdict::Stop => break,
                }
            }
            at = next;
        }
        deleted
    }

    /// The live entry with that id.
    pub(super) fn get(&self, id: StreamId) -> Option<Entry<'_>> {
        self.records().find(|record| record.id >= id).filter(|at| at.id == id && !at.is_deleted())
    }

    /// The live entries in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Entry<'_>> + use<'_> {
        self.records().filter(|record| !record.is_deleted())
    }

    /// The live entries from `from` to `to`, to be taken from the end: where each begins.
    pub(super) fn places(&self, from: StreamId, to: StreamId) -> Vec<u32> {
        let within = self.iter().skip_while(|at| at.id < from).take_while(|at| at.id <= to);
        within.map(|entry| small(entry.start)).collect()
    }

    /// The entry that begins at `start`.
    pub(super) fn at(&self, start: u32) -> Entry<'_> {
        Record::read(self, start as usize)
    }

    pub(super) fn last_id(&self) -> StreamId {
        self.last
    }

    /// The names in front.
    pub(super) fn names(&self) -> Items<'_> {
        Items { bytes: &self.bytes[..self.names_end as usize] }
    }

    pub(super) fn first_id(&self) -> StreamId {
        self.first
    }

    /// Entries that are not deleted.
    pub(super) fn len(&self) -> usize {
        self.live as usize
    }

    /// Bytes allocated.
    pub(super) fn memory(&self) -> usize {
        self.bytes.capacity() + size_of::<Block>() + 2 * size_of::<usize>()
    }

    /// All entries in order, deleted ones too.
    pub(super) fn records(&self) -> Records<'_> {
        Records { block: self, at: self.names_end as usize }
    }

    fn delete_at(&mut self, at: usize) {
        debug_assert!(self.bytes[at] & DELETED == 0, "it is live");
        self.bytes[at] |= DELETED;
        self.count_live(-1);
        let before = Weight::of_integer(i64::from(self.deleted));
        self.deleted += 1;
        self.weight += Weight::of_integer(i64::from(self.deleted)) - before;
    }

    fn count_live(&mut self, change: i32) {
        let before = Weight::of_integer(i64::from(self.live));
        self.live = self.live.checked_add_signed(change).expect("as many as there are");
        self.weight = self.weight + Weight::of_integer(i64::from(self.live)) - before;
    }

    fn has_names<'w>(&self, names: impl ExactSizeIterator<Item = &'w [u8]>) -> bool {
        if names.len() != self.names as usize {
            return false;
        }
        let mut own = self.names();
        let mut names = names;
        names.all(|name| own.next().is_some_and(|own| own.equals(name)))
    }

    /// What Valkey's listpack grows by, but for names and values.
    fn weight_of(&self, id: StreamId, same: bool, pairs: usize) -> usize {
        let delta = |own: u64, base: u64| Weight::of_integer(own.wrapping_sub(base).cast_signed());
        let pairs = i64::try_from(pairs).expect("fewer than 2^63");
        let elements = if same { pairs + 3 } else { 2 * pairs + 4 };
        let count = if same { 0 } else { Weight::of_integer(pairs) };
        Weight::SMALL
            + delta(id.ms, self.first.ms)
            + delta(id.seq, self.first.seq)
            + count
            + Weight::of_integer(elements)
    }
}

/// Whether names and values of this many bytes are too much for any block.
pub(super) fn check_bytes(bytes: usize) -> Result<(), AppendError> {
    if bytes > BYTES_MAX { Err(AppendError::TooLarge) } else { Ok(()) }
}

/// What to do with an entry on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Delete,
    Keep,
    Stop,
}

/// An entry: its id, its fields and their values.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// Its id.
    pub id: StreamId,
    flags: u8,
    /// Where it begins, and what follows it, in its block.
    start: usize,
    end: usize,
    pairs: usize,
    /// The block's names, if the entry has the same; else nothing.
    names: &'a [u8],
    /// Values, or names and values.
    items: &'a [u8],
}

/// An entry, perhaps a deleted one.
type Record<'a> = Entry<'a>;

impl<'a> Entry<'a> {
    fn read(block: &'a Block, start: usize) -> Entry<'a> {
        let flags = block.bytes[start];
        let mut rest = &block.bytes[start + 1..];
        let len = length(pull_number(&mut rest));
        let end = block.bytes.len() - rest.len() + len;
        let mut items = &rest[..len];
        let (ms, seq) = (pull_number(&mut items), pull_number(&mut items));
        let seq = if ms == 0 { block.first.seq + seq } else { seq };
        let id = StreamId { ms: block.first.ms + ms, seq };
        let (names, pairs) = if flags & SAME_NAMES == 0 {
            (&[][..], length(pull_number(&mut items)))
        } else {
            (&block.bytes[..block.names_end as usize], block.names as usize)
        };
        Entry { id, flags, start, end, pairs, names, items }
    }

    pub(super) fn is_deleted(&self) -> bool {
        self.flags & DELETED != 0
    }

    /// Number of fields.
    #[allow(clippy::len_without_is_empty, reason = "an entry has at least one field")]
    pub fn len(&self) -> usize {
        self.pairs
    }

    /// Whether its fields are named as those of its block.
    pub fn shares_names(&self) -> bool {
        self.flags & SAME_NAMES != 0
    }

    /// Fields and values, in the order in which they were given.
    pub fn iter(&self) -> Fields<'a> {
        let names = self.shares_names().then_some(Items { bytes: self.names });
        Fields { names, items: Items { bytes: self.items } }
    }
}

impl<'a> IntoIterator for &Entry<'a> {
    type Item = (Item<'a>, Item<'a>);
    type IntoIter = Fields<'a>;

    fn into_iter(self) -> Fields<'a> {
        self.iter()
    }
}

/// A walk over the fields of an [`Entry`] and their values.
#[derive(Debug, Clone)]
pub struct Fields<'a> {
    names: Option<Items<'a>>,
    items: Items<'a>,
}

impl<'a> Iterator for Fields<'a> {
    type Item = (Item<'a>, Item<'a>);

    fn next(&mut self) -> Option<(Item<'a>, Item<'a>)> {
        let name = match &mut self.names {
            Some(names) => names.next(),
            None => self.items.next(),
        };
        name.zip(self.items.next())
    }
}

/// A walk over the entries of a block.
#[derive(Debug, Clone)]
pub(super) struct Records<'a> {
    block: &'a Block,
    at: usize,
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        if self.at >= self.block.bytes.len() {
            return None;
        }
        let record = Record::read(self.block, self.at);
        self.at = record.end;
        Some(record)
    }
}

/// A walk over names or values.
#[derive(Debug, Clone)]
pub(super) struct Items<'a> {
    bytes: &'a [u8],
}

impl<'a> Iterator for Items<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        if self.bytes.is_empty() {
            return None;
        }
        let head = pull_number(&mut self.bytes);
        let (word, is_integer) = (head >> 1, head & 1 == 1);
        if is_integer {
            let folded = i64::try_from(word >> 1).expect("62 bits");
            return Some(Item::Integer(if word & 1 == 0 { folded } else { !folded }));
        }
        let (item, rest) = self.bytes.split_at(length(word));
        self.bytes = rest;
        Some(Item::Bytes(item))
    }
}

/// Bytes on their way into a block.
type Scratch = SmallVec<[u8; 128]>;

fn push_item(target: &mut Scratch, item: &[u8]) {
    match integer_of(item) {
        Some(integer) if (-INTEGER_MAX..INTEGER_MAX).contains(&integer) => {
            let zigzag = (integer << 1) ^ (integer >> 63);
            push_number(target, zigzag.cast_unsigned() << 1 | 1);
        }
        _ => {
            push_number(target, (item.len() as u64) << 1);
            target.extend_from_slice(item);
        }
    }
}

fn push_number(target: &mut Scratch, mut number: u64) {
    while number >= 0x80 {
        target.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    target.push(number.to_le_bytes()[0]);
}

/// Reads a number and moves `bytes` behind it.
#[inline]
fn pull_number(bytes: &mut &[u8]) -> u64 {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (digit, rest) = bytes.split_first().expect("numbers are whole");
        *bytes = rest;
        number |= u64::from(digit & 0x7f) << shift;
        if *digit < 0x80 {
            return number;
        }
        shift += 7;
    }
}

fn length(number: u64) -> usize {
    usize::try_from(number).expect("lengths were written from a usize")
}

fn small(number: usize) -> u32 {
    u32::try_from(number).expect("blocks stay below 4 GiB")
}

/// What elements weigh in a listpack, Valkey's form of a block.
struct Weight;

impl Weight {
    /// A listpack's header and end.
    const EMPTY: usize = 7;
    /// An integer of up to 127.
    const SMALL: usize = 2;

    fn of_integer(integer: i64) -> usize {
        let bytes = match integer {
            0..=127 => 1,
            -4096..=4095 => 2,
            -0x8000..=0x7fff => 3,
            -0x80_0000..=0x7f_ffff => 4,
            -0x8000_0000..=0x7fff_ffff => 5,
            _ => 9,
        };
        bytes + 1
    }

    fn of(element: &[u8]) -> usize {
        if let Some(integer) = integer_of(element) {
            return Weight::of_integer(integer);
        }
        let bytes = match element.len() {
            len @ 0..64 => 1 + len,
            len @ 64..4096 => 2 + len,
            len => 5 + len,
        };
        let back = match bytes {
            0..0x80 => 1,
            0x80..0x3fff => 2,
            0x3fff..0x1f_ffff => 3,
            0x1f_ffff..0xfff_ffff => 4,
            _ => 5,
        };
        bytes + back
    }
}
