//! The values behind keys: list, hash, set, sorted set.
//!
//! Stands below the table: a record holds one [`Object`]. Knows nothing of keys, slots, clocks, sockets.
#![forbid(unsafe_code)]

mod hash;
mod list;
mod object;
mod set;
mod sorted_set;

pub use hash::Hash;
pub use list::List;
pub use object::{Blob, Object};
pub use set::Set;
pub use sorted_set::SortedSet;
