//! How Redis spells things: integers, doubles, glob patterns, quoted words, the slot of a key.
//!
//! Stands at the bottom: pure functions from bytes to values and back, with no state, no I/O and no
//! knowledge of commands. Every function accepts any bytes and never panics.
#![forbid(unsafe_code)]

pub mod crc16;
pub mod float;
pub mod glob;
pub mod integer;
pub mod nearest;
pub mod words;
