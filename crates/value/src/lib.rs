//! The values behind keys: list, hash, set, sorted set, stream.
//!
//! Stands below the table: a record holds one [`Object`]. Knows nothing of keys, slots, clocks,
//! sockets.
#![forbid(unsafe_code)]

pub mod geo;
mod hash;
pub mod hll;
mod item;
mod limits;
mod list;
mod object;
pub mod packed;
pub mod seed;
mod set;
mod sorted_set;
mod stream;
mod tree;

pub use hash::{Alive, Hash, Iter as HashIter, IterTimed as HashIterTimed};
pub use item::{Item, ItemBytes};
pub use limits::Limits;
pub use list::{Iter as ListIter, List};
pub use object::{Blob, Object};
pub use packed::Packed;
pub use set::{Iter as SetIter, Set};
pub use sorted_set::{
    Change, Iter as SortedSetIter, IterBack as SortedSetIterBack, LexBound, ScoreBound, SortedSet,
};
pub use stream::{
    AppendError, BlockView, Consumer, ConsumerId, Entry, Fields, Group, Pending, Range, RangeBack,
    References, Restored, Stream, StreamId, Trim, Trimmed, Trimming,
};
