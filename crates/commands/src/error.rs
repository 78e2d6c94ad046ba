//! Error replies, to the letter of Valkey's.

use caudal_keyspace::WrongType;
use std::borrow::Cow;

/// The text of an error reply, with its code: `ERR syntax error`. Bytes, because it may repeat what
/// a client sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(pub Cow<'static, [u8]>);

impl Error {
    /// Arguments that do not fit the command's grammar.
    pub const SYNTAX: Error = Error::text("ERR syntax error");
    /// A key holds another type.
    pub const WRONG_TYPE: Error =
        Error::text("WRONGTYPE Operation against a key holding the wrong kind of value");
    /// Not a 64-bit integer.
    pub const NOT_INTEGER: Error = Error::text("ERR value is not an integer or out of range");
    /// Not a finite or infinite number.
    pub const NOT_FLOAT: Error = Error::text("ERR value is not a valid float");
    /// The key does not exist, for commands that refuse that.
    pub const NO_SUCH_KEY: Error = Error::text("ERR no such key");
    /// An index beyond the list.
    pub const INDEX_RANGE: Error = Error::text("ERR index out of range");
    /// A negative count.
    pub const NOT_POSITIVE: Error = Error::text("ERR value is out of range, must be positive");
    /// A string would pass `proto-max-bulk-len`.
    pub const TOO_LONG: Error =
        Error::text("ERR string exceeds maximum allowed size (proto-max-bulk-len)");
    /// A database number beyond `databases`.
    pub const DATABASE_RANGE: Error = Error::text("ERR DB index is out of range");
    /// Source and target are one key.
    pub const SAME_OBJECT: Error = Error::text("ERR source and destination objects are the same");
    /// A blocking command's timeout below zero.
    pub const NEGATIVE_TIMEOUT: Error = Error::text("ERR timeout is negative");
    /// A blocking command's timeout that is no number.
    pub const BAD_TIMEOUT: Error = Error::text("ERR timeout is not a float or out of range");

    /// A fixed text.
    pub const fn text(text: &'static str) -> Error {
        Error(Cow::Borrowed(text.as_bytes()))
    }

    /// A text made on the spot.
    pub fn new(text: impl Into<String>) -> Error {
        Error(Cow::Owned(text.into().into_bytes()))
    }

    /// A text around a word that a client sent, byte for byte. As in Valkey, a zero byte ends the
    /// word.
    pub fn quoting(before: &str, word: &[u8], after: &str) -> Error {
        let word = word.split(|byte| *byte == 0).next().unwrap_or_default();
        Error(Cow::Owned([before.as_bytes(), word, after.as_bytes()].concat()))
    }

    /// Too few or too many words for `name` (as `Spec::full_name` spells it).
    pub fn arity(name: &str) -> Error {
        Error::new(format!("ERR wrong number of arguments for '{name}' command"))
    }

    /// A relative or absolute expiry that leaves 64-bit milliseconds.
    pub fn expire_time(name: &str) -> Error {
        Error::new(format!("ERR invalid expire time in '{name}' command"))
    }
}

impl From<WrongType> for Error {
    fn from(_: WrongType) -> Error {
        Error::WRONG_TYPE
    }
}
