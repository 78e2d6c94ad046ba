//! The byte in front of a value that names its type and form.

pub(crate) const STRING: u8 = 0;
pub(crate) const LIST: u8 = 1;
pub(crate) const SET: u8 = 2;
/// Scores as text.
pub(crate) const SORTED_SET_TEXT: u8 = 3;
pub(crate) const HASH: u8 = 4;
/// Scores as doubles.
pub(crate) const SORTED_SET: u8 = 5;
pub(crate) const HASH_ZIPMAP: u8 = 9;
pub(crate) const LIST_ZIPLIST: u8 = 10;
pub(crate) const SET_INTSET: u8 = 11;
pub(crate) const SORTED_SET_ZIPLIST: u8 = 12;
pub(crate) const HASH_ZIPLIST: u8 = 13;
/// A list as a number of ziplists.
pub(crate) const LIST_ZIPLISTS: u8 = 14;
/// A stream as Redis 5 knew it.
pub(crate) const STREAM: u8 = 15;
pub(crate) const HASH_LISTPACK: u8 = 16;
pub(crate) const SORTED_SET_LISTPACK: u8 = 17;
/// A list as a number of listpacks and single elements.
pub(crate) const LIST_NODES: u8 = 18;
/// A stream with what it counts, from Redis 7.0 on.
pub(crate) const STREAM_COUNTED: u8 = 19;
pub(crate) const SET_LISTPACK: u8 = 20;
/// A stream whose consumers were active at some time, from Redis 7.2 on.
pub(crate) const STREAM_ACTIVE: u8 = 21;
/// In Valkey: a hash with the time of each field's end, -1 for none.
pub(crate) const HASH_ENDS: u8 = 22;
/// Where a field has no end there.
pub(crate) const NEVER: i64 = -1;
/// In Redis 7.4's candidates: a hash with the end of each field, 0 for none.
pub(crate) const HASH_ENDS_PRE: u8 = 22;
/// In Redis 7.4's candidates: field, value, end, field, value, end.
pub(crate) const HASH_TRIPLES_PRE: u8 = 23;
/// In Redis 7.4: the earliest end, then each field's end relative to it.
pub(crate) const HASH_ENDS_RELATIVE: u8 = 24;
/// In Redis 7.4: the earliest end, then field, value, end, field, value, end.
pub(crate) const HASH_TRIPLES: u8 = 25;

/// In a list's nodes: one element by itself.
pub(crate) const NODE_PLAIN: usize = 1;
/// In a list's nodes: a listpack.
pub(crate) const NODE_PACKED: usize = 2;
