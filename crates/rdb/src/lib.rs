//! One value as bytes and back: the inside of RDB files and of DUMP.
//!
//! Stands between the values and whoever moves them: DUMP and RESTORE, snapshots, replication.
//! Everything that Redis up to 8 and Valkey up to 9 write is read, the oldest forms too; what is
//! written is read by Redis 7.0 and everything after it.
//!
//! What must stay true: no bytes make [`decode`] panic, or allocate more than a fixed multiple of
//! what they are; whatever it returns is a value that commands could have made. So the checks that
//! Redis calls deep (order, duplicates, every length) are always made: elements are inserted one by
//! one, and a value that is not whole is never returned.
#![forbid(unsafe_code)]

pub mod crc64;
mod decode;
mod encode;
mod error;
mod intset;
mod kind;
mod listpack;
mod lzf;
pub mod payload;
mod reader;
mod stream;
mod writer;
mod ziplist;
mod zipmap;

pub use decode::{Decoded, Decoding, decode};
pub use encode::{Source, encode};
pub use error::Malformed;
pub use reader::{Reader, Text};
pub use writer::{length, string};

/// The number of a format: what stands in an RDB file's head and in a DUMP's footer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u16);

impl Version {
    /// Redis 7.0's: whatever can be said in it is written in it.
    pub const REDIS_7: Version = Version(10);
    /// The newest of Redis that is read. Its type bytes never change their meaning: one that is
    /// not known is refused by itself.
    pub const REDIS_MAX: Version = Version(15);
    /// Valkey 9's, which uses some type bytes in its own way.
    pub const VALKEY_9: Version = Version(80);

    /// Whether values of this version are read.
    pub fn is_read(self) -> bool {
        (1..=Version::REDIS_MAX.0).contains(&self.0) || self == Version::VALKEY_9
    }

    /// Whether Valkey wrote it, from its own first version on.
    pub fn is_valkey(self) -> bool {
        self >= Version::VALKEY_9
    }
}
