//! One key with its value: a single block of the record heap.
//!
//! The end of every look-up. A record is reached from one entry word and from nowhere else.
//!
//! ```text
//!  0        1       2        4       8         10          12
//! +--------+-------+--------+-------+---------+-----------+----------+-----+-------+
//! | form   | flags | extent | clock | key     | value     | expiry   | key | value |
//! | u8     | u8    | u16    | u32   | len u16 | len u16   | u64, opt |     |       |
//! +--------+-------+--------+-------+---------+-----------+----------+-----+-------+
//! ```
//!
//! The expiry is there only if the record expires. A key beyond 16 KiB stands out of line: in its
//! place is a `Box<[u8]>`. The value is an `i64`, the bytes of a short string, or, aligned to 8, a
//! [`Blob`] or [`Object`]. So a 15-byte key with 16 bytes takes 48, a 16-byte key with 100 bytes
//! exactly 128.
//!
//! What must stay true: key and extent of a reachable record never change; a record is changed only
//! by who holds its slot exclusively, but for the clock, which readers write too. `table/tests.rs`
//! holds the model.

mod raw;
mod view;

pub(crate) use raw::Record;
pub use view::{RecordMut, RecordRef, Removed, ValueMut, ValueRef};

use caudal_value::{Blob, Object};

/// Longest string, and longest key, that stands in the record itself: 16 KiB. Beyond it a string is
/// a [`Blob`], which replies can share.
pub const INLINE_BYTES_MAX: usize = 16 * 1024;
/// The bits of a record's access clock.
pub const CLOCK_MASK: u32 = (1 << 24) - 1;

/// The type of a value, as TYPE sees it.
#[derive(Debug, Copy, Clone, Eq, PartialEq, Hash)]
pub enum Kind {
    /// Bytes or an integer.
    String,
    /// LPUSH and its family.
    List,
    /// SADD and its family.
    Set,
    /// HSET and its family.
    Hash,
    /// ZADD and its family.
    SortedSet,
    /// XADD and its family.
    Stream,
}

/// A value on its way into the table.
#[derive(Debug)]
pub enum NewValue<'a> {
    /// A string that is a number.
    Integer(i64),
    /// A string; becomes a blob if it is longer than [`INLINE_BYTES_MAX`].
    Bytes(&'a [u8]),
    /// The same of a string that was made in parts, as [`RecordMut::mark_edited`] notes it.
    Edited(&'a [u8]),
    /// A long string.
    Blob(Blob),
    /// A collection.
    Object(Object),
}

/// A value out of the table.
#[derive(Debug, Clone)]
pub enum OwnedValue {
    /// A string that is a number.
    Integer(i64),
    /// A short string.
    Bytes(Box<[u8]>),
    /// A short string that was made in parts.
    Edited(Box<[u8]>),
    /// A long string.
    Blob(Blob),
    /// A collection.
    Object(Object),
}

/// What a write gives a record beside its value.
#[derive(Debug, Copy, Clone, Eq, PartialEq)]
pub struct Stamp {
    /// When the key expires, in milliseconds of Unix time.
    pub expiry: Option<u64>,
    /// The access clock, 24 bits.
    pub clock: u32,
}

impl NewValue<'_> {
    /// The type of the value.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Object(object) => kind_of(object),
            _ => Kind::String,
        }
    }

    /// The same value with strings beyond the inline limit made blobs.
    pub(crate) fn settled(self) -> Self {
        match self {
            Self::Bytes(bytes) | Self::Edited(bytes) if bytes.len() > INLINE_BYTES_MAX => {
                Self::Blob(Blob::new(bytes.to_vec()))
            }
            other => other,
        }
    }
}

impl OwnedValue {
    /// The type of the value.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Object(object) => kind_of(object),
            _ => Kind::String,
        }
    }

    /// Calls `then` with the value as a new one. Collections and blobs move, they are not copied.
    pub fn with_new<R>(self, then: impl FnOnce(NewValue<'_>) -> R) -> R {
        match self {
            Self::Integer(integer) => then(NewValue::Integer(integer)),
            Self::Bytes(bytes) => then(NewValue::Bytes(&bytes)),
            Self::Edited(bytes) => then(NewValue::Edited(&bytes)),
            Self::Blob(blob) => then(NewValue::Blob(blob)),
            Self::Object(object) => then(NewValue::Object(object)),
        }
    }
}

/// The type of a collection.
pub(crate) fn kind_of(object: &Object) -> Kind {
    match object {
        Object::List(_) => Kind::List,
        Object::Set(_) => Kind::Set,
        Object::Hash(_) => Kind::Hash,
        Object::SortedSet(_) => Kind::SortedSet,
        Object::Stream(_) => Kind::Stream,
    }
}

/// Bytes that a collection holds beside its 32 in the record.
pub(crate) fn memory_of(object: &Object) -> usize {
    match object {
        Object::List(list) => list.memory(),
        Object::Set(set) => set.memory(),
        Object::Hash(hash) => hash.memory(),
        Object::SortedSet(sorted_set) => sorted_set.memory(),
        Object::Stream(stream) => stream.memory(),
    }
}
