//! Why bytes are no value.

/// What is wrong with bytes that should be a value. An operator who meets one in a file has a
/// damaged file, or one of a program that extends the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// They end before the value does.
    #[error("the bytes end before the value does")]
    Short,
    /// A type that is not known, or a module's.
    #[error("values of type {0} are not known")]
    Kind(u8),
    /// A length that is no length, or that its surroundings contradict.
    #[error("a length is wrong")]
    Length,
    /// A compressed string that does not decompress to what it says.
    #[error("a compressed string is damaged")]
    Compressed,
    /// A string beyond the longest that is allowed.
    #[error("a string is longer than allowed")]
    TooLong,
    /// A listpack, ziplist, zipmap or intset whose parts do not fit together.
    #[error("a packed collection is damaged")]
    Packed,
    /// A member or field stands there twice.
    #[error("a member or field is there twice")]
    Duplicate,
    /// A stream whose ids, entries or consumers do not fit together.
    #[error("a stream is damaged")]
    Stream,
    /// A score that is no number.
    #[error("a score is not a number")]
    Score,
    /// A collection without elements: its key could not exist.
    #[error("a collection without elements")]
    Empty,
    /// A field of a hash that ends before 1970, or beyond all time.
    #[error("a field ends at no time")]
    FieldExpiry,
}
