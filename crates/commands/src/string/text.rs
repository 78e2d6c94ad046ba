//! A string's bytes, however it is stored.

use caudal_table::{NewValue, ValueRef};
use caudal_text::integer::{self, Decimal};
use std::ops::Deref;

/// The bytes of a string in the table.
pub(crate) enum Text<'a> {
    /// Of one that is stored as a number.
    Digits(Decimal),
    /// Of any other.
    Bytes(&'a [u8]),
}

impl<'a> Text<'a> {
    /// The bytes of a value that is known to be a string.
    pub(crate) fn of(value: ValueRef<'a>) -> Text<'a> {
        match value {
            ValueRef::Integer(value) => Text::Digits(Decimal::new(value)),
            ValueRef::Bytes(bytes) => Text::Bytes(bytes),
            ValueRef::Blob(blob) => Text::Bytes(blob),
            ValueRef::Object(_) => unreachable!("the type was checked"),
        }
    }
}

impl Deref for Text<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Text::Digits(digits) => digits,
            Text::Bytes(bytes) => bytes,
        }
    }
}

/// A string as it is stored: an integer stays one.
#[inline]
pub(crate) fn to_store(bytes: &[u8]) -> NewValue<'_> {
    /// Characters of the longest 64-bit integer.
    const DIGITS_MAX: usize = 20;
    match bytes {
        [b'-' | b'0'..=b'9', ..] if bytes.len() <= DIGITS_MAX => {
            integer::parse_i64(bytes).map_or(NewValue::Bytes(bytes), NewValue::Integer)
        }
        _ => NewValue::Bytes(bytes),
    }
}
