//! Ids as commands take them: whole, as bounds of a range, or left to the server.

use crate::Error;
use caudal_value::StreamId;

pub(super) const INVALID: Error =
    Error::text("ERR Invalid stream ID specified as stream command argument");

/// Longest spelling that is looked at: two numbers with some zeros in front.
const BYTES_MAX: usize = 127;

/// An id that is spelled out: `ms-seq`, or `ms` alone with `seq` for the rest.
pub(super) fn exact(word: &[u8], seq: u64) -> Result<StreamId, Error> {
    parse(word, seq).ok_or(INVALID)
}

/// An id that is spelled out, or `-` for the first and `+` for the last there is.
pub(super) fn any(word: &[u8], seq: u64) -> Result<StreamId, Error> {
    match word {
        b"-" => Ok(StreamId::MIN),
        b"+" => Ok(StreamId::MAX),
        _ => exact(word, seq),
    }
}

/// The lower bound of a range: the first id that is in it.
pub(super) fn start(word: &[u8]) -> Result<StreamId, Error> {
    let text = "ERR invalid start ID for the interval";
    match word {
        [b'(', id @ ..] => exact(id, 0)?.next().ok_or(Error::text(text)),
        id => any(id, 0),
    }
}

/// The upper bound of a range: the last id that is in it.
pub(super) fn end(word: &[u8]) -> Result<StreamId, Error> {
    let text = "ERR invalid end ID for the interval";
    match word {
        [b'(', id @ ..] => exact(id, u64::MAX)?.previous().ok_or(Error::text(text)),
        id => any(id, u64::MAX),
    }
}

/// What XADD is told of the id to give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NewId {
    /// `*`
    Auto,
    /// `ms-*`
    AutoSequence(u64),
    /// `ms-seq` or `ms`
    Exact(StreamId),
}

impl NewId {
    pub(super) fn parse(word: &[u8]) -> Result<NewId, Error> {
        match word {
            b"*" => Ok(NewId::Auto),
            [ms @ .., b'-', b'*'] => number(ms).map(NewId::AutoSequence).ok_or(INVALID),
            id => exact(id, 0).map(NewId::Exact),
        }
    }

    /// The id of the entry that follows `last` at the time `now`.
    pub(super) fn settle(self, last: StreamId, now: u64) -> Result<StreamId, Error> {
        const NOT_ABOVE: Error = Error::text(
            "ERR The ID specified in XADD is equal or smaller than the target stream top item",
        );
        const EXHAUSTED: Error = Error::text(
            "ERR The stream has exhausted the last possible ID, unable to add more items",
        );
        let next = last.next().ok_or(EXHAUSTED)?;
        let id = match self {
            NewId::Auto => next.max(StreamId::new(now, 0)),
            NewId::AutoSequence(ms) if ms == last.ms => next,
            NewId::AutoSequence(ms) => StreamId::new(ms, 0),
            NewId::Exact(id) => id,
        };
        // The next id may have left the millisecond that was asked for.
        let fits = !matches!(self, NewId::AutoSequence(ms) if ms != id.ms);
        if id > last && fits { Ok(id) } else { Err(NOT_ABOVE) }
    }
}

fn parse(word: &[u8], seq: u64) -> Option<StreamId> {
    if word.len() > BYTES_MAX {
        return None;
    }
    match word.iter().position(|byte| *byte == b'-') {
        None => Some(StreamId::new(number(word)?, seq)),
        Some(at) => Some(StreamId::new(number(&word[..at])?, number(&word[at + 1..])?)),
    }
}

/// A number without sign; zeros in front and a plus sign do no harm.
fn number(word: &[u8]) -> Option<u64> {
    let digits = word.strip_prefix(b"+").unwrap_or(word);
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ids_have_one_part_or_two() {
        assert_eq!(parse(b"7", 9), Some(StreamId::new(7, 9)));
        assert_eq!(parse(b"007-+3", 9), Some(StreamId::new(7, 3)));
        for word in ["", "-", "7-", "-7", "7-3-1", "7x", "7-x", "18446744073709551616", " 7"] {
            assert_eq!(parse(word.as_bytes(), 0), None, "{word}");
        }
    }

    #[test]
    fn ranges_end_where_they_say() {
        assert_eq!(start(b"(7-18446744073709551615"), Ok(StreamId::new(8, 0)));
        assert_eq!(end(b"7"), Ok(StreamId::new(7, u64::MAX)));
        assert_eq!(end(b"(7-0"), Ok(StreamId::new(6, u64::MAX)));
        assert!(start(b"(+").is_err() && end(b"(0-0").is_err());
    }

    #[test]
    fn new_ids_follow_the_last() {
        let last = StreamId::new(5, 5);
        let settled = |word: &[u8], now| NewId::parse(word).unwrap().settle(last, now);
        assert_eq!(settled(b"*", 4), Ok(StreamId::new(5, 6)));
        assert_eq!(settled(b"*", 6), Ok(StreamId::new(6, 0)));
        assert_eq!(settled(b"5-*", 9), Ok(StreamId::new(5, 6)));
        assert_eq!(settled(b"8-*", 9), Ok(StreamId::new(8, 0)));
        assert!(settled(b"4-*", 9).is_err() && settled(b"5-5", 9).is_err());
        let full = StreamId::new(5, u64::MAX);
        assert!(NewId::AutoSequence(5).settle(full, 9).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_id_or_an_error(word: Vec<u8>, text in "[-+(*0-9]{0,45}") {
            for word in [&word[..], text.as_bytes()] {
                let _ = (super::any(word, 0), start(word), end(word));
                if let Ok(id) = NewId::parse(word) {
                    let _ = (id.settle(StreamId::MAX, 1), id.settle(StreamId::MIN, u64::MAX));
                }
            }
        }

        #[test]
        fn ids_are_read_as_they_are_spelled(ms: u64, seq: u64) {
            let id = StreamId::new(ms, seq);
            prop_assert_eq!(exact(&id.text(), 0), Ok(id));
        }
    }
}
