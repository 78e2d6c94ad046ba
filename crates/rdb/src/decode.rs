//! A value on its way in: every form that Redis and Valkey ever wrote.
//!
//! Elements are inserted one by one, as commands would: so order and uniqueness hold whatever the
//! bytes claim, and what was counted but is not there was never allocated.

use crate::{Malformed, Reader, Text, Version, intset, kind, listpack, stream, ziplist, zipmap};
use caudal_text::float;
use caudal_value::{Change, Hash, Item, Limits, List, Object, Set, SortedSet};

/// A value that was read.
#[derive(Clone, Debug)]
pub enum Decoded {
    /// A string that was stored as a number.
    Integer(i64),
    /// A string.
    Bytes(Vec<u8>),
    /// A collection, never empty but for a stream.
    Object(Object),
}

/// What reading depends on.
#[derive(Clone, Copy, Debug)]
pub struct Decoding<'a> {
    /// When collections change their encoding.
    pub limits: &'a Limits,
    /// The longest string that is allowed, unpacked.
    pub string_bytes_max: usize,
    /// Who wrote the bytes.
    pub version: Version,
}

/// Reads the value behind the byte `kind`.
pub fn decode(
    kind: u8,
    reader: &mut Reader<'_>,
    decoding: &Decoding<'_>,
) -> Result<Decoded, Malformed> {
    let limits = decoding.limits;
    let object = match kind {
        kind::STRING => {
            return Ok(match reader.string()? {
                Text::Integer(integer) => Decoded::Integer(integer),
                text => Decoded::Bytes(text.into_bytes()),
            });
        }
        kind::LIST | kind::LIST_ZIPLIST | kind::LIST_ZIPLISTS | kind::LIST_NODES => {
            Object::List(decode_list(kind, reader, limits)?)
        }
        kind::SET | kind::SET_INTSET | kind::SET_LISTPACK => {
            Object::Set(decode_set(kind, reader, limits)?)
        }
        kind::SORTED_SET_TEXT
        | kind::SORTED_SET
        | kind::SORTED_SET_ZIPLIST
        | kind::SORTED_SET_LISTPACK => Object::SortedSet(decode_sorted_set(kind, reader, limits)?),
        kind::HASH | kind::HASH_ZIPMAP | kind::HASH_ZIPLIST | kind::HASH_LISTPACK => {
            Object::Hash(decode_hash(kind, reader, limits)?)
        }
        kind::HASH_ENDS if decoding.version.is_valkey() => {
            Object::Hash(decode_ends(reader, limits)?)
        }
        kind::HASH_ENDS_PRE
        | kind::HASH_TRIPLES_PRE
        | kind::HASH_ENDS_RELATIVE
        | kind::HASH_TRIPLES
            if !decoding.version.is_valkey() =>
        {
            Object::Hash(decode_redis_ends(kind, reader, limits)?)
        }
        kind::STREAM | kind::STREAM_COUNTED | kind::STREAM_ACTIVE => {
            Object::Stream(stream::decode(kind, reader)?)
        }
        other => return Err(Malformed::Kind(other)),
    };
    Ok(Decoded::Object(object))
}

fn decode_list(kind: u8, reader: &mut Reader<'_>, limits: &Limits) -> Result<List, Malformed> {
    let mut list = List::new();
    let mut push = |item: Item<'_>| {
        item.with(|element| list.push_back(element, limits));
        Ok(())
    };
    if kind == kind::LIST_ZIPLIST {
        reader.string()?.with(|bytes| ziplist::read(bytes, &mut push))?;
    } else {
        for _ in 0..reader.length()? {
            match kind {
                kind::LIST => reader.string()?.with(|element| push(Item::Bytes(element)))?,
                kind::LIST_ZIPLISTS => {
                    reader.string()?.with(|bytes| ziplist::read(bytes, &mut push))?;
                }
                _ => decode_node(reader, &mut push)?,
            }
        }
    }
    if list.is_empty() { Err(Malformed::Empty) } else { Ok(list) }
}

fn decode_node(
    reader: &mut Reader<'_>,
    push: &mut impl FnMut(Item<'_>) -> Result<(), Malformed>,
) -> Result<(), Malformed> {
    let form = usize::try_from(reader.length()?).map_err(|_| Malformed::Length)?;
    let node = reader.string()?;
    node.with(|bytes| match form {
        _ if bytes.is_empty() => Err(Malformed::Length),
        kind::NODE_PLAIN => push(Item::Bytes(bytes)),
        kind::NODE_PACKED => listpack::read(bytes, push),
        _ => Err(Malformed::Length),
    })
}

fn decode_set(kind: u8, reader: &mut Reader<'_>, limits: &Limits) -> Result<Set, Malformed> {
    let mut set = Set::new();
    let add = |set: &mut Set, member: &[u8]| {
        if set.insert(member, limits) { Ok(()) } else { Err(Malformed::Duplicate) }
    };
    match kind {
        kind::SET_INTSET => reader.string()?.with(|bytes| {
            intset::read(bytes, |integer| {
                Item::Integer(integer).with(|member| add(&mut set, member))
            })
        })?,
        kind::SET_LISTPACK => {
            // It stays one, though its members be integers.
            set.anticipate(b"", 1, limits);
            reader.string()?.with(|bytes| {
                listpack::read(bytes, |item| item.with(|member| add(&mut set, member)))
            })?;
        }
        _ => {
            for _ in 0..reader.length()? {
                reader.string()?.with(|member| add(&mut set, member))?;
            }
        }
    }
    if set.is_empty() { Err(Malformed::Empty) } else { Ok(set) }
}

fn decode_sorted_set(
    kind: u8,
    reader: &mut Reader<'_>,
    limits: &Limits,
) -> Result<SortedSet, Malformed> {
    let mut set = SortedSet::new();
    let mut add = |member: &[u8], score: f64| {
        if score.is_nan() {
            return Err(Malformed::Score);
        }
        match set.insert(member, score, limits) {
            Change::Added => Ok(()),
            Change::Updated | Change::Unchanged => Err(Malformed::Duplicate),
        }
    };
    match kind {
        kind::SORTED_SET_ZIPLIST | kind::SORTED_SET_LISTPACK => {
            let packed = reader.string()?;
            packed.with(|bytes| {
                let mut pairs = Pairs::new(|member: Item<'_>, score: Item<'_>| {
                    let score = score_of(score)?;
                    member.with(|member| add(member, score))
                });
                match kind {
                    kind::SORTED_SET_ZIPLIST => ziplist::read(bytes, |item| pairs.push(item))?,
                    _ => listpack::read(bytes, |item| pairs.push(item))?,
                }
                pairs.finish()
            })?;
        }
        _ => {
            for _ in 0..reader.length()? {
                let member = reader.string()?;
                let score = match kind {
                    kind::SORTED_SET_TEXT => text_score(reader)?,
                    _ => reader.f64()?,
                };
                member.with(|member| add(member, score))?;
            }
        }
    }
    if set.is_empty() { Err(Malformed::Empty) } else { Ok(set) }
}

/// A score in a packed collection.
#[allow(clippy::cast_precision_loss, reason = "a score beyond 2^53 is the nearest double")]
fn score_of(item: Item<'_>) -> Result<f64, Malformed> {
    match item {
        Item::Integer(integer) => Ok(integer as f64),
        Item::Bytes(text) => float::parse_f64(text).ok_or(Malformed::Score),
    }
}

/// A score behind its length in one byte, three of which name what is no finite number.
fn text_score(reader: &mut Reader<'_>) -> Result<f64, Malformed> {
    match reader.byte()? {
        255 => Ok(f64::NEG_INFINITY),
        254 => Ok(f64::INFINITY),
        253 => Err(Malformed::Score),
        length => {
            let text = reader.bytes(usize::from(length))?;
            float::parse_f64(text).ok_or(Malformed::Score)
        }
    }
}

fn add_field(
    hash: &mut Hash,
    field: &[u8],
    value: &[u8],
    limits: &Limits,
) -> Result<(), Malformed> {
    if hash.insert(field, value, limits) { Ok(()) } else { Err(Malformed::Duplicate) }
}

fn decode_hash(kind: u8, reader: &mut Reader<'_>, limits: &Limits) -> Result<Hash, Malformed> {
    let mut hash = Hash::new();
    if kind == kind::HASH {
        for _ in 0..reader.length()? {
            let (field, value) = (reader.string()?, reader.string()?);
            field.with(|field| value.with(|value| add_field(&mut hash, field, value, limits)))?;
        }
    } else {
        reader.string()?.with(|bytes| {
            if kind == kind::HASH_ZIPMAP {
                return zipmap::read(bytes, |field, value| {
                    add_field(&mut hash, field, value, limits)
                });
            }
            let mut pairs = Pairs::new(|field: Item<'_>, value: Item<'_>| {
                field.with(|field| value.with(|value| add_field(&mut hash, field, value, limits)))
            });
            match kind {
                kind::HASH_ZIPLIST => ziplist::read(bytes, |item| pairs.push(item))?,
                _ => listpack::read(bytes, |item| pairs.push(item))?,
            }
            pairs.finish()
        })?;
    }
    if hash.is_empty() { Err(Malformed::Empty) } else { Ok(hash) }
}

/// Adds a field with its end, in Unix milliseconds.
fn add_ending(
    hash: &mut Hash,
    (field, value): (&[u8], &[u8]),
    end: Option<i64>,
    limits: &Limits,
) -> Result<(), Malformed> {
    let end = end.map(u64::try_from).transpose().map_err(|_| Malformed::FieldExpiry)?;
    let is_new = hash.insert_until(field, value, end, limits);
    if is_new { Ok(()) } else { Err(Malformed::Duplicate) }
}

/// Valkey's hash of which a field may expire: field, value, end.
fn decode_ends(reader: &mut Reader<'_>, limits: &Limits) -> Result<Hash, Malformed> {
    let mut hash = Hash::new();
    for _ in 0..reader.length()? {
        let (field, value) = (reader.string()?, reader.string()?);
        let end = reader.i64()?;
        let end = (end != kind::NEVER).then_some(end);
        field
            .with(|field| value.with(|value| add_ending(&mut hash, (field, value), end, limits)))?;
    }
    if hash.is_empty() { Err(Malformed::Empty) } else { Ok(hash) }
}

/// Redis's hashes of which a field may expire: the end is 0 for a field that does not.
fn decode_redis_ends(
    kind: u8,
    reader: &mut Reader<'_>,
    limits: &Limits,
) -> Result<Hash, Malformed> {
    let mut hash = Hash::new();
    let is_in_triples = matches!(kind, kind::HASH_TRIPLES | kind::HASH_TRIPLES_PRE);
    // One form tells ends from just before the earliest, so that 0 is free; the others from 1970.
    let mut from = 0;
    if matches!(kind, kind::HASH_ENDS_RELATIVE | kind::HASH_TRIPLES) {
        let earliest = reader.i64()?;
        if kind == kind::HASH_ENDS_RELATIVE {
            from = earliest.checked_sub(1).ok_or(Malformed::FieldExpiry)?;
        }
    }
    let end_of = |told: i64| match told {
        0 => Ok(None),
        told => told.checked_add(from).map(Some).ok_or(Malformed::FieldExpiry),
    };
    if is_in_triples {
        reader.string()?.with(|bytes| {
            let mut triple = Vec::with_capacity(3);
            listpack::read(bytes, |item| {
                triple.push(item);
                let [field, value, end] = triple.as_slice() else { return Ok(()) };
                let end = end_of(end.integer().ok_or(Malformed::FieldExpiry)?)?;
                field.with(|field| {
                    value.with(|value| add_ending(&mut hash, (field, value), end, limits))
                })?;
                triple.clear();
                Ok(())
            })?;
            if triple.is_empty() { Ok(()) } else { Err(Malformed::Packed) }
        })?;
    } else {
        for _ in 0..reader.length()? {
            let told = i64::try_from(reader.length()?).map_err(|_| Malformed::FieldExpiry)?;
            let end = end_of(told)?;
            let (field, value) = (reader.string()?, reader.string()?);
            field.with(|field| {
                value.with(|value| add_ending(&mut hash, (field, value), end, limits))
            })?;
        }
    }
    if hash.is_empty() { Err(Malformed::Empty) } else { Ok(hash) }
}

/// Puts elements together two by two.
struct Pairs<'a, F> {
    first: Option<Item<'a>>,
    each: F,
}

impl<'a, F: FnMut(Item<'a>, Item<'a>) -> Result<(), Malformed>> Pairs<'a, F> {
    fn new(each: F) -> Pairs<'a, F> {
        Pairs { first: None, each }
    }

    fn push(&mut self, item: Item<'a>) -> Result<(), Malformed> {
        match self.first.take() {
            None => {
                self.first = Some(item);
                Ok(())
            }
            Some(first) => (self.each)(first, item),
        }
    }

    fn finish(self) -> Result<(), Malformed> {
        if self.first.is_none() { Ok(()) } else { Err(Malformed::Packed) }
    }
}
