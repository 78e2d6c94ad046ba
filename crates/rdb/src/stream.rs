//! Streams: their entries in listpacks, their groups behind them.
//!
//! ```text
//! listpack   live | deleted | names | name, ... | 0 | entry, ...
//! entry      flags | ms | seq | [names] | name, value, ... or value, ... | elements before this
//! ```
//!
//! `ms` and `seq` count from the listpack's key, which is the id of its first entry. What was given
//! back has no consumer; it is written as pending with the consumer of no name since no time, a
//! form that older readers accept, and is read back as what it is.

use crate::listpack::{self, Listpack};
use crate::{Malformed, Reader, kind, writer};
use caudal_value::{
    BlockView, Consumer, Entry, Group, Item, ItemBytes, Pending, Restored, Stream, StreamId,
};
use std::collections::BTreeMap;

const DELETED: i64 = 1;
const SAME_NAMES: i64 = 2;
/// Elements of an entry beside names and values: flags, ms, seq, and the count at its end.
const FRAME: usize = 3;
/// An id as a string of its two halves, big endian.
const ID_BYTES: usize = 16;
/// Who has what nobody has.
const NOBODY: &[u8] = b"";

/// Appends a stream in the form of Redis 7.0.
pub(crate) fn encode(stream: &Stream, out: &mut Vec<u8>) {
    writer::length(out, stream.blocks());
    for block in stream.block_views() {
        writer::raw(out, &raw_id(block.base_id()));
        writer::raw(out, &encode_block(&block));
    }
    writer::length(out, stream.len());
    for id in [stream.last_id(), stream.first_id(), stream.max_deleted_id()] {
        push_id(out, id);
    }
    writer::number(out, stream.entries_added());
    writer::length(out, stream.groups().len());
    for (name, group) in stream.groups() {
        writer::string(out, name);
        encode_group(group, out);
    }
}

fn encode_block(block: &BlockView<'_>) -> Vec<u8> {
    let mut listpack = Listpack::new();
    let names = block.names();
    for count in [block.len(), 0, names.clone().count()] {
        listpack.push(count_item(count));
    }
    names.for_each(|name| listpack.push(name));
    listpack.push(Item::Integer(0));
    for entry in block.entries() {
        encode_entry(&entry, block.base_id(), &mut listpack);
    }
    listpack.finish()
}

fn encode_entry(entry: &Entry<'_>, base: StreamId, listpack: &mut Listpack) {
    let shares_names = entry.shares_names();
    listpack.push(Item::Integer(if shares_names { SAME_NAMES } else { 0 }));
    listpack.push(Item::Integer(entry.id.ms.wrapping_sub(base.ms).cast_signed()));
    listpack.push(Item::Integer(entry.id.seq.wrapping_sub(base.seq).cast_signed()));
    let mut elements = FRAME + entry.len();
    if !shares_names {
        elements += 1 + entry.len();
        listpack.push(count_item(entry.len()));
    }
    for (name, value) in entry {
        if !shares_names {
            listpack.push(name);
        }
        listpack.push(value);
    }
    listpack.push(count_item(elements));
}

fn count_item(count: usize) -> Item<'static> {
    Item::Integer(i64::try_from(count).expect("counts stay below 2^63"))
}

fn encode_group(group: &Group, out: &mut Vec<u8>) {
    push_id(out, group.last_id);
    // What is not known is written as the highest number.
    writer::number(out, group.entries_read.unwrap_or(u64::MAX));
    writer::length(out, group.len());
    for (id, pending) in group.pending_from(StreamId::MIN) {
        out.extend_from_slice(&raw_id(id));
        out.extend_from_slice(&pending.delivered_ms().to_le_bytes());
        writer::number(out, pending.deliveries);
    }
    let unowned = unowned(group);
    let has_nobody = group.find_consumer(NOBODY).is_none() && !unowned.is_empty();
    writer::length(out, group.consumers().len() + usize::from(has_nobody));
    if has_nobody {
        encode_consumer((NOBODY, 0), &unowned, out);
    }
    for consumer in group.consumers() {
        let number = group.find_consumer(consumer.name()).expect("it is the group's");
        let mut ids: Vec<StreamId> =
            group.pending_with(number, StreamId::MIN).map(|(id, _)| id).collect();
        if consumer.name() == NOBODY {
            ids.extend(&unowned);
        }
        encode_consumer((consumer.name(), consumer.seen_ms), &ids, out);
    }
}

/// What was given back, in the order in which it will be claimed.
fn unowned(group: &Group) -> Vec<StreamId> {
    if group.unowned() == 0 {
        return Vec::new();
    }
    let pending = group.pending_from(StreamId::MIN);
    let mut unowned: Vec<(StreamId, &Pending)> =
        pending.filter(|(_, pending)| pending.consumer.is_none()).collect();
    unowned.sort_by_key(|(_, pending)| pending.urgency());
    unowned.into_iter().map(|(id, _)| id).collect()
}

fn encode_consumer((name, seen_ms): (&[u8], u64), ids: &[StreamId], out: &mut Vec<u8>) {
    writer::string(out, name);
    out.extend_from_slice(&seen_ms.to_le_bytes());
    writer::length(out, ids.len());
    ids.iter().for_each(|id| out.extend_from_slice(&raw_id(*id)));
}

fn raw_id(id: StreamId) -> [u8; ID_BYTES] {
    (u128::from(id.ms) << 64 | u128::from(id.seq)).to_be_bytes()
}

fn push_id(out: &mut Vec<u8>, id: StreamId) {
    writer::number(out, id.ms);
    writer::number(out, id.seq);
}

/// Reads a stream behind its kind.
pub(crate) fn decode(kind: u8, reader: &mut Reader<'_>) -> Result<Stream, Malformed> {
    let mut stream = Stream::new();
    for _ in 0..reader.length()? {
        let base = reader.string()?.with(|key| key.try_into().map(id_of));
        let base = base.map_err(|_| Malformed::Stream)?;
        reader.string()?.with(|bytes| decode_block(&mut stream, base, bytes))?;
    }
    if reader.length()? != stream.len() as u64 {
        return Err(Malformed::Stream);
    }
    let last = pull_id(reader)?;
    if last < stream.last_id() {
        return Err(Malformed::Stream);
    }
    stream.set_last_id(last);
    if kind != kind::STREAM {
        // The first id is what the entries say.
        pull_id(reader)?;
        let max_deleted = pull_id(reader)?;
        let added = reader.length()?;
        if max_deleted > last || added < stream.len() as u64 {
            return Err(Malformed::Stream);
        }
        stream.set_max_deleted_id(max_deleted);
        stream.set_entries_added(added);
    }
    for _ in 0..reader.length()? {
        decode_group(kind, reader, &mut stream)?;
    }
    Ok(stream)
}

fn id_of(bytes: [u8; ID_BYTES]) -> StreamId {
    let both = u128::from_be_bytes(bytes);
    let half = |number: u128| u64::try_from(number & u128::from(u64::MAX)).expect("64 bits");
    StreamId::new(half(both >> 64), half(both))
}

fn pull_id(reader: &mut Reader<'_>) -> Result<StreamId, Malformed> {
    Ok(StreamId::new(reader.length()?, reader.length()?))
}

fn decode_block(stream: &mut Stream, base: StreamId, bytes: &[u8]) -> Result<(), Malformed> {
    let mut items = Vec::new();
    listpack::read(bytes, |item| {
        items.push(item);
        Ok(())
    })?;
    let mut items = Items(items.into_iter());
    let (live, deleted) = (items.count()?, items.count()?);
    let count = items.count()?;
    let names = items.words(count)?;
    if items.integer()? != 0 {
        return Err(Malformed::Stream);
    }
    let (mut entries, mut gone) = (Vec::new(), 0);
    while !items.is_empty() {
        match items.entry(base, names.len())? {
            Some(entry) => entries.push(entry),
            None => gone += 1,
        }
    }
    let fits = entries.len() == live && gone == deleted;
    if fits && stream.restore_block(base, &names, &entries) {
        Ok(())
    } else {
        Err(Malformed::Stream)
    }
}

/// The elements of a listpack that are left.
struct Items<'a>(std::vec::IntoIter<Item<'a>>);

impl Items<'_> {
    fn is_empty(&self) -> bool {
        self.0.len() == 0
    }

    fn integer(&mut self) -> Result<i64, Malformed> {
        self.0.next().and_then(|item| item.integer()).ok_or(Malformed::Stream)
    }

    fn count(&mut self) -> Result<usize, Malformed> {
        usize::try_from(self.integer()?).map_err(|_| Malformed::Stream)
    }

    fn words(&mut self, count: usize) -> Result<Vec<ItemBytes>, Malformed> {
        if count > self.0.len() {
            return Err(Malformed::Stream);
        }
        Ok(self.0.by_ref().take(count).map(|item| item.to_bytes()).collect())
    }

    /// The next entry; nothing if it was deleted.
    fn entry(&mut self, base: StreamId, names: usize) -> Result<Option<Restored>, Malformed> {
        let flags = self.integer()?;
        let ms = base.ms.wrapping_add_signed(self.integer()?);
        let seq = base.seq.wrapping_add_signed(self.integer()?);
        let shares_names = flags & SAME_NAMES != 0;
        let (pairs, frame) = if shares_names { (names, FRAME) } else { (self.count()?, FRAME + 1) };
        let len = if shares_names { Some(pairs) } else { pairs.checked_mul(2) };
        let words = self.words(len.ok_or(Malformed::Stream)?)?;
        if self.count()? != frame + words.len() {
            return Err(Malformed::Stream);
        }
        let id = StreamId::new(ms, seq);
        Ok((flags & DELETED == 0).then_some(Restored { id, shares_names, words }))
    }
}

fn decode_group(kind: u8, reader: &mut Reader<'_>, stream: &mut Stream) -> Result<(), Malformed> {
    let name = reader.string()?.into_bytes();
    let last = pull_id(reader)?;
    let read = if kind == kind::STREAM {
        stream.entries_up_to(last)
    } else {
        Some(reader.length()?).filter(|read| *read != u64::MAX)
    };
    if !stream.create_group(&name, last, read) {
        return Err(Malformed::Duplicate);
    }
    let group = stream.group_mut(&name).expect("it was just created");
    let mut pending = BTreeMap::new();
    for _ in 0..reader.length()? {
        let id = id_of(reader.array()?);
        let delivery = (time(reader)?, reader.length()?);
        if pending.insert(id, delivery).is_some() {
            return Err(Malformed::Duplicate);
        }
    }
    for _ in 0..reader.length()? {
        decode_consumer(kind, reader, group, &mut pending)?;
    }
    // Newer servers write what was given back without a consumer.
    pending.into_iter().for_each(|(id, (_, deliveries))| group.give_back(id, deliveries));
    Ok(())
}

fn decode_consumer(
    kind: u8,
    reader: &mut Reader<'_>,
    group: &mut Group,
    pending: &mut BTreeMap<StreamId, (u64, u64)>,
) -> Result<(), Malformed> {
    let name = reader.string()?.into_bytes();
    let seen = time(reader)?;
    let active =
        if kind == kind::STREAM_ACTIVE { u64::try_from(reader.i64()?).ok() } else { Some(seen) };
    let is_nobody = name == NOBODY;
    let mut consumer = None;
    if !is_nobody || seen > 0 {
        consumer = Some(group.create_consumer(&name, seen).ok_or(Malformed::Duplicate)?);
    }
    for _ in 0..reader.length()? {
        let id = id_of(reader.array()?);
        let (at, deliveries) = pending.remove(&id).ok_or(Malformed::Stream)?;
        match consumer {
            Some(consumer) if !is_nobody || at > 0 => group.deliver(id, consumer, at, deliveries),
            _ => group.give_back(id, deliveries),
        }
    }
    if let Some(consumer) = consumer {
        let consumer: &mut Consumer = group.consumer_mut(consumer);
        consumer.active_ms = active;
    }
    Ok(())
}

/// A time that is not before time began.
fn time(reader: &mut Reader<'_>) -> Result<u64, Malformed> {
    Ok(u64::try_from(reader.i64()?).unwrap_or(0))
}
