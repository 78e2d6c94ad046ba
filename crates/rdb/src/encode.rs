//! A value on its way out: in the oldest form that holds it, so that Redis 7.0 reads it; a hash
//! with fields that are to end in Valkey's, which Redis does not read.
//!
//! Small collections go as listpacks and intsets, but for small sets that are not of integers:
//! their listpack is known to Redis 7.2 only. Nothing is compressed.

use crate::listpack::Listpack;
use crate::{Version, intset, kind, stream, writer};
use caudal_text::float;
use caudal_value::{Hash, Item, List, Object, Set, SortedSet};

/// A value to be written.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// A string that is a number.
    Integer(i64),
    /// A string.
    Bytes(&'a [u8]),
    /// A collection.
    Object(&'a Object),
}

/// A list's node is closed when it has so many bytes, and a longer element is a node of its own:
/// what Redis does by default.
const NODE_BYTES_MAX: usize = 8 * 1024;
/// A small collection beyond this goes element by element: readers want to have listpacks whole.
const LISTPACK_BYTES_MAX: usize = 1024 * 1024;

/// Appends the byte that names the form and then the value; tells which version knows that form.
pub fn encode(source: Source<'_>, out: &mut Vec<u8>) -> Version {
    match source {
        Source::Integer(number) => {
            out.push(kind::STRING);
            writer::integer(out, number);
        }
        Source::Bytes(bytes) => {
            out.push(kind::STRING);
            writer::string(out, bytes);
        }
        Source::Object(Object::List(list)) => encode_list(list, out),
        Source::Object(Object::Set(set)) => encode_set(set, out),
        Source::Object(Object::Hash(hash)) if hash.is_timed() => {
            encode_timed_hash(hash, out);
            return Version::VALKEY_9;
        }
        Source::Object(Object::Hash(hash)) => encode_hash(hash, out),
        Source::Object(Object::SortedSet(sorted_set)) => encode_sorted_set(sorted_set, out),
        Source::Object(Object::Stream(stream)) => {
            out.push(kind::STREAM_COUNTED);
            stream::encode(stream, out);
        }
    }
    Version::REDIS_7
}

/// Room for a count of 32 bits: only a smaller one has the nodes moved.
const COUNT_BYTES: usize = 5;

fn encode_list(list: &List, out: &mut Vec<u8>) {
    out.push(kind::LIST_NODES);
    // How many nodes there are is known at the end.
    let count_at = out.len();
    out.extend_from_slice(&[0; COUNT_BYTES]);
    let mut count = 0;
    let mut node = Listpack::new();
    for item in list {
        let is_plain = item.len() > NODE_BYTES_MAX;
        if !node.is_empty() && (is_plain || node.len() + item.len() > NODE_BYTES_MAX) {
            push_node(&mut node, out);
            count += 1;
        }
        if is_plain {
            writer::length(out, kind::NODE_PLAIN);
            item.with(|element| writer::raw(out, element));
            count += 1;
        } else {
            node.push(item);
        }
    }
    if !node.is_empty() {
        push_node(&mut node, out);
        count += 1;
    }
    let mut count_bytes = Vec::with_capacity(COUNT_BYTES);
    writer::length(&mut count_bytes, count);
    out.splice(count_at..count_at + COUNT_BYTES, count_bytes);
}

fn push_node(node: &mut Listpack, out: &mut Vec<u8>) {
    writer::length(out, kind::NODE_PACKED);
    writer::raw(out, &node.finish());
}

fn encode_set(set: &Set, out: &mut Vec<u8>) {
    if set.encoding() == "intset" {
        out.push(kind::SET_INTSET);
        let integer = |item: Item<'_>| item.integer().expect("an intset holds integers");
        writer::raw(out, &intset::write(set.iter().map(integer)));
        return;
    }
    out.push(kind::SET);
    writer::length(out, set.len());
    set.iter().for_each(|member| writer::item(out, member));
}

fn encode_hash(hash: &Hash, out: &mut Vec<u8>) {
    if hash.encoding() == "listpack" && hash.memory() <= LISTPACK_BYTES_MAX {
        out.push(kind::HASH_LISTPACK);
        let mut listpack = Listpack::new();
        for (field, value) in hash {
            listpack.push(field);
            listpack.push(value);
        }
        writer::raw(out, &listpack.finish());
        return;
    }
    out.push(kind::HASH);
    writer::length(out, hash.len());
    for (field, value) in hash {
        writer::item(out, field);
        writer::item(out, value);
    }
}

/// Each field with its moment.
fn encode_timed_hash(hash: &Hash, out: &mut Vec<u8>) {
    out.push(kind::HASH_ENDS);
    writer::length(out, hash.len());
    for (field, value, moment) in hash.iter_timed() {
        writer::item(out, field);
        writer::item(out, value);
        let moment = moment.map_or(kind::NEVER, |moment| i64::try_from(moment).unwrap_or(i64::MAX));
        out.extend_from_slice(&moment.to_le_bytes());
    }
}

fn encode_sorted_set(sorted_set: &SortedSet, out: &mut Vec<u8>) {
    if sorted_set.encoding() == "listpack" && sorted_set.memory() <= LISTPACK_BYTES_MAX {
        out.push(kind::SORTED_SET_LISTPACK);
        let mut listpack = Listpack::new();
        let mut text = Vec::with_capacity(float::FORMATTED_BYTES_MAX);
        for (member, score) in sorted_set.iter() {
            text.clear();
            float::format_f64(score, &mut text);
            listpack.push(member);
            listpack.push(Item::Bytes(&text));
        }
        writer::raw(out, &listpack.finish());
        return;
    }
    out.push(kind::SORTED_SET);
    writer::length(out, sorted_set.len());
    // From the highest on: Redis inserts in front, which finds the place at once.
    if let Some(last) = sorted_set.len().checked_sub(1) {
        for (member, score) in sorted_set.iter_back_from(last) {
            writer::item(out, member);
            out.extend_from_slice(&score.to_le_bytes());
        }
    }
}
