//! `IFEQ`, `IFNE`, `IFDEQ`, `IFDNE`: what the string at a key must be, in SET and DELEX.

use super::digest::Digest;
use super::text::Text;
use crate::{Cursor, Error};
use caudal_table::ValueRef;

/// What an old string is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison<'a> {
    /// It is this one.
    Equal(&'a [u8]),
    /// It is another one.
    NotEqual(&'a [u8]),
    /// It has this hash.
    DigestEqual(Digest),
    /// It has another hash.
    DigestNotEqual(Digest),
}

impl<'a> Comparison<'a> {
    /// Takes a comparison with its operand from a cursor, if one comes next.
    pub(super) fn take(cursor: &mut Cursor<'a>) -> Result<Option<Comparison<'a>>, Error> {
        if cursor.left() < 2 {
            return Ok(None);
        }
        let mut operand = |word| cursor.take(word).then(|| cursor.next().unwrap_or_default());
        Ok(if let Some(text) = operand("IFEQ") {
            Some(Comparison::Equal(text))
        } else if let Some(text) = operand("IFNE") {
            Some(Comparison::NotEqual(text))
        } else if let Some(word) = operand("IFDEQ") {
            Some(Comparison::DigestEqual(Digest::parse(word)?))
        } else if let Some(word) = operand("IFDNE") {
            Some(Comparison::DigestNotEqual(Digest::parse(word)?))
        } else {
            None
        })
    }

    /// Whether a string is as it must be. No string differs from any.
    pub(super) fn holds(self, old: Option<ValueRef<'_>>) -> bool {
        let Some(old) = old.map(Text::of) else {
            return matches!(self, Comparison::NotEqual(_) | Comparison::DigestNotEqual(_));
        };
        match self {
            Comparison::Equal(text) => *old == *text,
            Comparison::NotEqual(text) => *old != *text,
            Comparison::DigestEqual(digest) => Digest::of(&old) == digest,
            Comparison::DigestNotEqual(digest) => Digest::of(&old) != digest,
        }
    }
}
