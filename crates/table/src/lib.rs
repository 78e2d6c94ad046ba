//! Slots: lock words, pages of entry words, records. The unsafe part.
//!
//! Stands below the keyspace: a command reaches its keys through a [`Guard`] of a [`SlotArray`],
//! and finds in the slot's [`Table`] the record of each key. Knows nothing of commands, clocks,
//! sockets or eviction.
//!
//! What must stay true: a record is reachable from one entry word only; whoever changes a table
//! holds its slot exclusively; memory that the lock-free prefetch passes may still read is freed
//! through the epoch only.

mod epoch;
mod hash;
mod heap;
mod lock;
pub mod memory;
mod record;
mod slot;
mod table;
mod used;

pub use epoch::{Pin, pin};
pub use hash::{KeyHash, KeyHasher, POSITION_BITS, POSITIONS, SLOTS, SlotId};
pub use lock::{LockWord, Mode};
pub use record::{
    CLOCK_MASK, INLINE_BYTES_MAX, Kind, NewValue, OwnedValue, RecordMut, RecordRef, Removed, Stamp,
    ValueMut, ValueRef,
};
pub use slot::{Guard, SlotArray, Unpark};
pub use table::{Bucket, Iter, Table};
