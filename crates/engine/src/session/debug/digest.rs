//! A digest of the data: 160 bits that are equal for equal content, whatever the order and the
//! encoding.
//!
//! A key's part is the SHA-1 of its database, name, expiry, type and value; the whole is the
//! exclusive or of all parts, so that no order is needed. The elements of sets, hashes (with their
//! moments) and sorted sets are mixed in the same way. Every piece goes in behind its length, so
//! that no two contents read the same.

use caudal_table::{RecordRef, ValueRef};
use caudal_value::{Item, Object, Stream, StreamId};
use sha1_smol::Sha1;

/// A digest. All zeros: nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Digest([u8; 20]);

impl Digest {
    /// Mixes in something whose place among the others does not count.
    pub(super) fn mix(&mut self, other: Digest) {
        for (byte, other) in self.0.iter_mut().zip(other.0) {
            *byte ^= other;
        }
    }

    /// The digest of a key and its value in a database.
    pub(super) fn of_key(database: u8, record: RecordRef<'_>) -> Digest {
        let expiry = record.expiry().unwrap_or(u64::MAX).to_be_bytes();
        let value = Digest::of_value(record.value());
        Digest::of(&[&[database], record.key(), &expiry, &value.0])
    }

    /// The digest of a value.
    pub(super) fn of_value(value: ValueRef<'_>) -> Digest {
        match value {
            ValueRef::Integer(integer) => {
                Item::Integer(integer).with(|bytes| Digest::of(&[b"string", bytes]))
            }
            ValueRef::Bytes(bytes) => Digest::of(&[b"string", bytes]),
            ValueRef::Blob(blob) => Digest::of(&[b"string", blob]),
            ValueRef::Object(object) => Digest::of_object(object),
        }
    }

    fn of_object(object: &Object) -> Digest {
        let mut elements = Digest::default();
        let kind: &[u8] = match object {
            Object::List(list) => {
                let mut sha1 = Sha1::new();
                list.iter().for_each(|item| item.with(|bytes| push(&mut sha1, bytes)));
                elements = Digest(sha1.digest().bytes());
                b"list"
            }
            Object::Set(set) => {
                set.iter().for_each(|item| {
                    elements.mix(item.with(|member| Digest::of(&[member])));
                });
                b"set"
            }
            Object::Hash(hash) => {
                hash.iter_timed().for_each(|(field, value, moment)| {
                    let moment = moment.unwrap_or(u64::MAX).to_be_bytes();
                    let of = |field: &[u8], value: &[u8]| Digest::of(&[field, value, &moment]);
                    elements.mix(field.with(|field| value.with(|value| of(field, value))));
                });
                b"hash"
            }
            Object::SortedSet(set) => {
                set.iter().for_each(|(member, score)| {
                    // Zero has two spellings and one order.
                    let score = if score == 0.0 { 0.0_f64 } else { score }.to_be_bytes();
                    elements.mix(member.with(|member| Digest::of(&[member, &score])));
                });
                b"zset"
            }
            Object::Stream(stream) => {
                elements = Digest::of_stream(stream);
                b"stream"
            }
        };
        Digest::of(&[kind, &elements.0])
    }

    /// Entries in order, and what each group has read and not acknowledged; not when or how often
    /// something was delivered, which effects do not tell to the letter.
    fn of_stream(stream: &Stream) -> Digest {
        let mut sha1 = Sha1::new();
        let entries = stream.range(StreamId::MIN, StreamId::MAX);
        for entry in entries {
            push(&mut sha1, &entry.id.text());
            for (field, value) in &entry {
                field.with(|field| push(&mut sha1, field));
                value.with(|value| push(&mut sha1, value));
            }
        }
        for id in [stream.last_id(), stream.max_deleted_id()] {
            push(&mut sha1, &id.text());
        }
        push(&mut sha1, &stream.entries_added().to_be_bytes());
        for (name, group) in stream.groups() {
            push(&mut sha1, name);
            push(&mut sha1, &group.last_id.text());
            push(&mut sha1, &group.entries_read.unwrap_or(u64::MAX).to_be_bytes());
            group.consumers().for_each(|consumer| push(&mut sha1, consumer.name()));
            for (id, pending) in group.pending_from(StreamId::MIN) {
                let consumer = pending.consumer.map(|consumer| group.consumer(consumer).name());
                push(&mut sha1, &id.text());
                push(&mut sha1, consumer.unwrap_or_default());
            }
        }
        Digest(sha1.digest().bytes())
    }

    fn of(pieces: &[&[u8]]) -> Digest {
        let mut sha1 = Sha1::new();
        pieces.iter().for_each(|piece| push(&mut sha1, piece));
        Digest(sha1.digest().bytes())
    }

    /// 40 hexadecimal digits.
    pub(super) fn hex(self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

fn push(sha1: &mut Sha1, piece: &[u8]) {
    sha1.update(&(piece.len() as u64).to_be_bytes());
    sha1.update(piece);
}
