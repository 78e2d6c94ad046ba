//! A stream: what XADD and its family keep.
//!
//! Entries stand in blocks of bounded size ([`block`]), blocks in an ordered map by their first
//! entry's id ([`map`]); consumer groups beside them ([`group`]). Cloning counts one reference:
//! an image, from which a writer then copies the blocks and nodes that it touches. What must stay
//! true: entries ascend by id; no block is without a live entry; a stream without entries is a
//! value all the same.

mod block;
mod group;
mod id;
mod map;
mod whole;

use crate::Limits;
use block::{Block, Verdict};
pub use block::{Entry, Fields};
pub use group::{Consumer, ConsumerId, Group, Pending};
pub use id::StreamId;
use map::IdMap;
use std::collections::BTreeMap;
use std::sync::Arc;
pub use whole::{BlockView, Restored};

/// Entries by id, and who has read them. `Clone` is O(1).
#[derive(Debug, Clone, Default)]
pub struct Stream {
    body: Arc<Body>,
}

#[derive(Debug, Clone, Default)]
struct Body {
    blocks: IdMap<Arc<Block>>,
    /// Bytes of all blocks.
    block_bytes: usize,
    /// Live entries.
    len: usize,
    last_id: StreamId,
    max_deleted_id: StreamId,
    entries_added: u64,
    groups: BTreeMap<Box<[u8]>, Arc<Group>>,
}

/// Why an entry was not added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppendError {
    /// Its fields and values are more than any block holds: 1 GiB.
    TooLarge,
}

/// How far a stream is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trim {
    /// To at most so many entries.
    MaxLen(u64),
    /// To entries from this id on.
    MinId(StreamId),
}

/// What becomes of deliveries of an entry that goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum References {
    /// They stay pending.
    Keep,
    /// They go too.
    Drop,
    /// Only what every group has read and acknowledged goes.
    Acknowledged,
}

/// What a stream is cut by, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trimming {
    /// How far.
    pub to: Trim,
    /// Stop before a block of which only a part would go.
    pub whole_blocks: bool,
    /// Stop before more entries than this are gone; 0: no limit.
    pub entries_max: usize,
    /// What becomes of deliveries.
    pub references: References,
}

/// What a cut took away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Trimmed {
    /// How many entries.
    pub count: usize,
    /// The last one of them, or one behind it that was deleted before.
    pub last: Option<StreamId>,
}

/// Entries.
impl Stream {
    /// No entries, no groups.
    pub fn new() -> Stream {
        Stream::default()
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.body.len
    }

    /// True without entries; the key stays.
    pub fn is_empty(&self) -> bool {
        self.body.len == 0
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.body.blocks.len()
    }

    /// The last id that was given, `0-0` before the first.
    pub fn last_id(&self) -> StreamId {
        self.body.last_id
    }

    /// The highest id that was deleted by name, `0-0` if none was.
    pub fn max_deleted_id(&self) -> StreamId {
        self.body.max_deleted_id
    }

    /// How many entries were ever added.
    pub fn entries_added(&self) -> u64 {
        self.body.entries_added
    }

    /// The first entry's id, `0-0` without entries.
    pub fn first_id(&self) -> StreamId {
        self.first().map_or(StreamId::MIN, |entry| entry.id)
    }

    /// The first entry.
    pub fn first(&self) -> Option<Entry<'_>> {
        let (_, block) = self.body.blocks.first()?;
        block.iter().next()
    }

    /// The last entry.
    pub fn last(&self) -> Option<Entry<'_>> {
        self.range_back(StreamId::MIN, StreamId::MAX).next()
    }

    /// Adds an entry: names and values in turn, at least one of each. `id` is above the last one.
    ///
    /// # Errors
    /// See [`AppendError`]; nothing has changed.
    pub fn append<'w>(
        &mut self,
        id: StreamId,
        words: impl ExactSizeIterator<Item = &'w [u8]> + Clone,
        limits: &Limits,
    ) -> Result<(), AppendError> {
        debug_assert!(id > self.last_id(), "ids ascend");
        debug_assert!(words.len() >= 2 && words.len().is_multiple_of(2), "names with values");
        let bytes = words.clone().map(<[u8]>::len).sum();
        block::check_bytes(bytes)?;
        let body = Arc::make_mut(&mut self.body);
        match body.blocks.last_mut() {
            Some(block) if !block.is_full(bytes, limits) => {
                body.block_bytes -= block.memory();
                let block = Arc::make_mut(block);
                block.append(id, words);
                body.block_bytes += block.memory();
            }
            _ => {
                let block = Block::new(id, words);
                body.block_bytes += block.memory();
                body.blocks.insert(id, Arc::new(block));
            }
        }
        body.last_id = id;
        body.len += 1;
        body.entries_added = body.entries_added.wrapping_add(1);
        Ok(())
    }

    /// The entry with that id.
    pub fn get(&self, id: StreamId) -> Option<Entry<'_>> {
        let (_, block) = self.body.blocks.descending(id).next()?;
        block.get(id)
    }

    /// Whether there is an entry with that id.
    pub fn contains(&self, id: StreamId) -> bool {
        self.get(id).is_some()
    }

    /// The entries from `from` to `to`, both included.
    pub fn range(&self, from: StreamId, to: StreamId) -> Range<'_> {
        Range::new(&self.body.blocks, from, to)
    }

    /// The entries from `to` back to `from`, both included.
    pub fn range_back(&self, from: StreamId, to: StreamId) -> RangeBack<'_> {
        RangeBack { blocks: self.body.blocks.descending(to), block: None, from, to }
    }

    /// Takes the entry with that id out. False if it is not there.
    pub fn delete(&mut self, id: StreamId) -> bool {
        if !self.contains(id) {
            return false;
        }
        let body = Arc::make_mut(&mut self.body);
        let (first, _) = body.blocks.descending(id).next().expect("the entry is in a block");
        body.change_block(first, |block| usize::from(block.delete(id)));
        body.max_deleted_id = body.max_deleted_id.max(id);
        true
    }

    /// Cuts the oldest entries off.
    pub fn trim(&mut self, trimming: &Trimming) -> Trimmed {
        if let Trim::MaxLen(most) = trimming.to
            && self.len() as u64 <= most
        {
            return Trimmed::default();
        }
        Arc::make_mut(&mut self.body).trim(trimming)
    }

    /// Sets what XADD goes on from.
    pub fn set_last_id(&mut self, id: StreamId) {
        Arc::make_mut(&mut self.body).last_id = id;
    }

    /// Sets how many entries were ever added.
    pub fn set_entries_added(&mut self, count: u64) {
        Arc::make_mut(&mut self.body).entries_added = count;
    }

    /// Sets the highest id that was deleted by name.
    pub fn set_max_deleted_id(&mut self, id: StreamId) {
        Arc::make_mut(&mut self.body).max_deleted_id = id;
    }

    /// What OBJECT ENCODING answers.
    pub fn encoding(&self) -> &'static str {
        "stream"
    }

    /// Bytes allocated; an image counts what it shares.
    pub fn memory(&self) -> usize {
        let body = &*self.body;
        let groups: usize = self.groups().map(|(name, group)| name.len() + group.memory()).sum();
        size_of::<Body>() + body.block_bytes + body.blocks.memory() + groups
    }
}

/// Consumer groups.
impl Stream {
    /// The groups with their names, in the order of these.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = (&[u8], &Group)> {
        self.body.groups.iter().map(|(name, group)| (&**name, &**group))
    }

    /// The group with that name.
    pub fn group(&self, name: &[u8]) -> Option<&Group> {
        self.body.groups.get(name).map(|group| &**group)
    }

    /// The group with that name, to be changed.
    pub fn group_mut(&mut self, name: &[u8]) -> Option<&mut Group> {
        // A miss copies nothing.
        self.group(name)?;
        Arc::make_mut(&mut self.body).groups.get_mut(name).map(Arc::make_mut)
    }

    /// Adds a group that goes on behind `last_id`. False if there is one of that name.
    pub fn create_group(
        &mut self,
        name: &[u8],
        last_id: StreamId,
        entries_read: Option<u64>,
    ) -> bool {
        if self.group(name).is_some() {
            return false;
        }
        let group = Group::new(last_id, entries_read);
        Arc::make_mut(&mut self.body).groups.insert(name.into(), Arc::new(group));
        true
    }

    /// Takes a group away. False if there is none of that name.
    pub fn destroy_group(&mut self, name: &[u8]) -> bool {
        self.group(name).is_some() && Arc::make_mut(&mut self.body).groups.remove(name).is_some()
    }

    /// Whether a group has still to read or to acknowledge the entry with that id.
    pub fn is_referenced(&self, id: StreamId) -> bool {
        self.body.is_referenced(id)
    }

    /// Takes the deliveries of an entry away, in all groups.
    pub fn drop_references(&mut self, id: StreamId) {
        if self.body.groups.values().any(|group| group.pending(id).is_some()) {
            Arc::make_mut(&mut self.body).drop_references(id);
        }
    }

    /// How many entries were added up to `id`, it included, if that can be told.
    pub fn entries_up_to(&self, id: StreamId) -> Option<u64> {
        let added = self.entries_added();
        if added == 0 || (self.is_empty() && id <= self.last_id()) {
            return Some(added);
        }
        match id.cmp(&self.last_id()) {
            std::cmp::Ordering::Equal => return Some(added),
            std::cmp::Ordering::Greater => return None,
            std::cmp::Ordering::Less => {}
        }
        let first = self.first_id();
        if self.max_deleted_id() != StreamId::MIN && self.max_deleted_id() >= first {
            return None;
        }
        let before = added.checked_sub(self.len() as u64);
        match id.cmp(&first) {
            std::cmp::Ordering::Less => before,
            std::cmp::Ordering::Equal => before.map(|before| before + 1),
            std::cmp::Ordering::Greater => None,
        }
    }

    /// How many entries stand before a group that it has not read, if that can be told.
    pub fn lag(&self, group: &Group) -> Option<u64> {
        if self.entries_added() == 0 {
            return Some(0);
        }
        let read = group.entries_read.filter(|_| !self.has_tombstones(group.last_id));
        let read = read.or_else(|| self.entries_up_to(group.last_id))?;
        Some(self.entries_added().wrapping_sub(read))
    }

    /// Whether an entry from `from` on, among those that the stream spans, was deleted by name.
    pub fn has_tombstones(&self, from: StreamId) -> bool {
        let deleted = self.max_deleted_id();
        !self.is_empty()
            && deleted != StreamId::MIN
            && self.first_id() <= deleted
            && from <= deleted
    }
}

impl Body {
    fn trim(&mut self, trimming: &Trimming) -> Trimmed {
        let (mut gone, mut from) = (Trimmed::default(), StreamId::MIN);
        loop {
            if let Trim::MaxLen(most) = trimming.to
                && self.len as u64 <= most
            {
                return gone;
            }
            let Some((first, block)) = self.blocks.ascending(from).next() else { return gone };
            let (len, last) = (block.len(), block.last_id());
            if trimming.entries_max > 0 && gone.count + len > trimming.entries_max {
                return gone;
            }
            let goes_whole = match trimming.to {
                Trim::MaxLen(most) => (self.len - len) as u64 >= most,
                Trim::MinId(least) => last < least,
            };
            if !goes_whole && trimming.whole_blocks {
                return gone;
            }
            if goes_whole && trimming.references == References::Keep {
                self.remove_block(first);
                gone.count += len;
                gone.last = Some(last);
            } else {
                self.cut_block(first, trimming, &mut gone);
            }
            if !goes_whole {
                return gone;
            }
            let Some(next) = first.next() else { return gone };
            from = next;
        }
    }

    fn remove_block(&mut self, first: StreamId) {
        let block = self.blocks.remove(first).expect("it was found");
        self.block_bytes -= block.memory();
        self.len -= block.len();
    }

    /// Cuts entries off one block, as far as `trimming` goes.
    fn cut_block(&mut self, first: StreamId, trimming: &Trimming, gone: &mut Trimmed) {
        let mut left = match trimming.to {
            Trim::MaxLen(most) => (self.len as u64).saturating_sub(most),
            Trim::MinId(_) => u64::MAX,
        };
        let block = self.blocks.get(first).expect("it was found");
        let mut goes = Vec::new();
        for Entry { id, .. } in block.iter() {
            if left == 0 || matches!(trimming.to, Trim::MinId(least) if id >= least) {
                break;
            }
            if trimming.references != References::Acknowledged || !self.is_referenced(id) {
                goes.push(id);
                left -= 1;
            }
        }
        if trimming.references == References::Drop {
            goes.iter().for_each(|id| self.drop_references(*id));
        }
        let Some(last) = goes.last() else { return };
        gone.last = Some(*last);
        let mut next = goes.iter().peekable();
        gone.count += self.change_block(first, |block| {
            block.delete_where(|id| match next.peek() {
                None => Verdict::Stop,
                Some(gone) if **gone == id => {
                    next.next();
                    Verdict::Delete
                }
                Some(_) => Verdict::Keep,
            })
        });
    }

    /// Takes entries out of the block that begins with `first`; `change` says how many.
    fn change_block(&mut self, first: StreamId, change: impl FnOnce(&mut Block) -> usize) -> usize {
        let block = self.blocks.get_mut(first).expect("it was found");
        self.block_bytes -= block.memory();
        let block = Arc::make_mut(block);
        let gone = change(block);
        self.len -= gone;
        if block.len() == 0 {
            self.blocks.remove(first);
        } else {
            self.block_bytes += block.memory();
        }
        gone
    }

    fn is_referenced(&self, id: StreamId) -> bool {
        let refers = |group: &Arc<Group>| group.last_id < id || group.pending(id).is_some();
        self.groups.values().any(refers)
    }

    fn drop_references(&mut self, id: StreamId) {
        for group in self.groups.values_mut() {
            if group.pending(id).is_some() {
                Arc::make_mut(group).release(id);
            }
        }
    }
}

/// A walk over entries in order.
#[derive(Debug, Clone)]
pub struct Range<'a> {
    blocks: map::Ascending<'a, Arc<Block>>,
    records: Option<block::Records<'a>>,
    from: StreamId,
    to: StreamId,
}

impl<'a> Range<'a> {
    fn new(blocks: &'a IdMap<Arc<Block>>, from: StreamId, to: StreamId) -> Range<'a> {
        let first = blocks.descending(from).next().map_or(from, |(first, _)| first);
        Range { blocks: blocks.ascending(first), records: None, from, to }
    }
}

impl<'a> Iterator for Range<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        loop {
            let Some(records) = &mut self.records else {
                let (first, block) = self.blocks.next()?;
                if first > self.to {
                    return None;
                }
                self.records = Some(block.records());
                continue;
            };
            match records.next() {
                None => self.records = None,
                Some(entry) if entry.id > self.to => return None,
                Some(entry) if entry.id >= self.from && !entry.is_deleted() => return Some(entry),
                Some(_) => {}
            }
        }
    }
}

/// A walk over entries backwards.
#[derive(Debug, Clone)]
pub struct RangeBack<'a> {
    blocks: map::Descending<'a, Arc<Block>>,
    /// The block that the walk is in, and where the entries begin that are left of it.
    block: Option<(&'a Block, Vec<u32>)>,
    from: StreamId,
    to: StreamId,
}

impl<'a> Iterator for RangeBack<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        loop {
            if let Some((block, places)) = &mut self.block
                && let Some(place) = places.pop()
            {
                return Some(block.at(place));
            }
            let (_, block) = self.blocks.next()?;
            if block.last_id() < self.from {
                return None;
            }
            self.block = Some((block, block.places(self.from, self.to)));
        }
    }
}

#[cfg(test)]
impl Stream {
    /// Asserts what must stay true.
    fn check(&self) {
        let body = &*self.body;
        body.blocks.check();
        let blocks = || body.blocks.ascending(StreamId::MIN);
        assert!(blocks().all(|(first, block)| block.first_id() == first && block.len() > 0));
        assert_eq!(blocks().map(|(_, block)| block.len()).sum::<usize>(), body.len);
        assert_eq!(blocks().map(|(_, block)| block.memory()).sum::<usize>(), body.block_bytes);
        body.groups.values().for_each(|group| group.check());
    }
}

#[cfg(test)]
mod tests;
