//! One element of a collection as it is kept: an integer or bytes.
//!
//! Every collection takes elements as bytes and answers with an [`Item`]. What is spelled as a
//! canonical 64-bit integer is kept as one; its spelling is made again when somebody asks. What
//! must stay true: the same bytes always become the same kind of item, so that two kept elements
//! are equal exactly when their stored forms are.

use smallvec::SmallVec;

/// An element as it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item<'a> {
    /// An integer whose decimal spelling is the element.
    Integer(i64),
    /// Bytes that do not spell a canonical integer (or that a large collection keeps as they came).
    Bytes(&'a [u8]),
}

/// The spelling of an item: no allocation for an integer or up to 24 bytes.
pub type ItemBytes = SmallVec<[u8; 24]>;

impl<'a> Item<'a> {
    /// What `bytes` would be kept as.
    pub fn of(bytes: &'a [u8]) -> Item<'a> {
        integer_of(bytes).map_or(Item::Bytes(bytes), Item::Integer)
    }

    /// True when the element is spelled `bytes`.
    pub fn equals(&self, bytes: &[u8]) -> bool {
        match self {
            Item::Integer(integer) => itoa::Buffer::new().format(*integer).as_bytes() == bytes,
            Item::Bytes(own) => *own == bytes,
        }
    }

    /// Appends the element's spelling.
    pub fn append_to(&self, target: &mut Vec<u8>) {
        self.with(|bytes| target.extend_from_slice(bytes));
    }

    /// The element's spelling, owned.
    pub fn to_bytes(&self) -> ItemBytes {
        self.with(SmallVec::from_slice)
    }

    /// Calls `f` with the element's spelling, without a copy.
    pub fn with<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R {
        match self {
            Item::Integer(integer) => f(itoa::Buffer::new().format(*integer).as_bytes()),
            Item::Bytes(bytes) => f(bytes),
        }
    }

    /// The length of the element's spelling in bytes.
    pub fn len(&self) -> usize {
        match self {
            Item::Integer(integer) => itoa::Buffer::new().format(*integer).len(),
            Item::Bytes(bytes) => bytes.len(),
        }
    }

    /// True for the empty string.
    pub fn is_empty(&self) -> bool {
        matches!(self, Item::Bytes([]))
    }

    /// The integer that the element spells, kept as one or not.
    pub fn integer(&self) -> Option<i64> {
        match self {
            Item::Integer(integer) => Some(*integer),
            Item::Bytes(bytes) => integer_of(bytes),
        }
    }
}

/// The integer of which `bytes` is the one canonical spelling: no plus sign, no leading zero, no
/// `-0`, nothing beyond 64 bits.
pub(crate) fn integer_of(bytes: &[u8]) -> Option<i64> {
    let (negative, digits) = match bytes {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    match digits {
        [b'0'] => return (!negative).then_some(0),
        [b'1'..=b'9', ..] if digits.len() <= DIGITS_MAX => {}
        _ => return None,
    }
    let mut magnitude: u64 = 0;
    for &digit in digits {
        let value = digit.wrapping_sub(b'0');
        if value > 9 {
            return None;
        }
        // 19 digits stay below 10^19, which is below 2^64.
        magnitude = magnitude * 10 + u64::from(value);
    }
    if negative { 0i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
}

/// Decimal digits of `i64::MAX`.
const DIGITS_MAX: usize = 19;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_canonical_spellings_are_integers() {
        for text in ["0", "1", "-1", "63", "9223372036854775807", "-9223372036854775808"] {
            assert_eq!(integer_of(text.as_bytes()), text.parse().ok(), "{text}");
        }
        for text in [
            "",
            "-",
            "+1",
            "-0",
            "00",
            "01",
            " 1",
            "1 ",
            "1a",
            "9223372036854775808",
            "-9223372036854775809",
            "10000000000000000000",
            "99999999999999999999",
        ] {
            assert_eq!(integer_of(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_integer_is_spelled_back(integer: i64) {
            let text = integer.to_string();
            let item = Item::of(text.as_bytes());
            prop_assert_eq!(item, Item::Integer(integer));
            prop_assert!(item.equals(text.as_bytes()));
            prop_assert_eq!(&item.to_bytes()[..], text.as_bytes());
            prop_assert_eq!(item.len(), text.len());
        }
    }
}
