//! One value of a key that is not a short string.

use crate::{Hash, List, Set, SortedSet, Stream};
use std::sync::Arc;

/// A string beyond 16 KiB: reference-counted, so that a reply can leave without a copy.
pub type Blob = Arc<Vec<u8>>;

/// A collection. Moves as plain bytes with its record, so it stays small.
#[derive(Debug, Clone)]
pub enum Object {
    /// LPUSH and its family.
    List(List),
    /// SADD and its family.
    Set(Set),
    /// HSET and its family.
    Hash(Hash),
    /// ZADD and its family.
    SortedSet(SortedSet),
    /// XADD and its family.
    Stream(Stream),
}

const _: () = assert!(size_of::<Object>() <= 32 && align_of::<Object>() <= 8);
