//! The part of a string that BITCOUNT and BITPOS look at: `start end [BYTE | BIT]`.

use crate::{Args, Error};
use std::ops::Range;

/// What start and end count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Byte,
    Bit,
}

/// A part as a client named it; negative numbers count from the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) start: i64,
    /// Included. None: up to the end of the string, and then it was not said.
    pub(super) end: Option<i64>,
    unit: Unit,
}

impl Part {
    /// Reads the words from `first` to the last.
    pub(super) fn parse(args: Args<'_>, first: usize) -> Result<Part, Error> {
        if args.len() > first + 3 {
            return Err(Error::SYNTAX);
        }
        let mut part = Part { start: 0, end: None, unit: Unit::Byte };
        if args.len() > first {
            part.start = args.integer(first)?;
        }
        // A bad unit is told before a bad end.
        if args.len() > first + 2 {
            part.unit = if args.is(first + 2, "BIT") {
                Unit::Bit
            } else if args.is(first + 2, "BYTE") {
                Unit::Byte
            } else {
                return Err(Error::SYNTAX);
            };
        }
        if args.len() > first + 1 {
            part.end = Some(args.integer(first + 1)?);
        }
        Ok(part)
    }

    /// The bits of a string of `bytes` bytes that are meant, if there are any.
    pub(super) fn bits(&self, bytes: usize) -> Option<Range<usize>> {
        let (total, bits_each) = match self.unit {
            Unit::Byte => (bytes, 8),
            Unit::Bit => (bytes * 8, 1),
        };
        let total = i64::try_from(total).expect("strings are far below 2^60 bytes");
        let from_end = |at: i64| if at < 0 { at.saturating_add(total).max(0) } else { at };
        let start = from_end(self.start);
        let end = from_end(self.end.unwrap_or(-1)).min(total - 1);
        if start > end {
            return None;
        }
        let at = |index: i64| usize::try_from(index).expect("it was cut to the length");
        Some(at(start) * bits_each..(at(end) + 1) * bits_each)
    }
}

#[cfg(test)]
mod tests {
    use super::{Part, Unit};

    #[test]
    fn parts_are_cut_as_redis_cuts_them() {
        let bits = |start, end, unit, bytes| Part { start, end: Some(end), unit }.bits(bytes);
        assert_eq!(bits(0, -1, Unit::Byte, 3), Some(0..24));
        assert_eq!(bits(1, 1, Unit::Byte, 3), Some(8..16));
        assert_eq!(bits(-100, -50, Unit::Byte, 3), Some(0..8));
        assert_eq!(bits(-1, -5, Unit::Byte, 3), None);
        assert_eq!(bits(i64::MIN, i64::MAX, Unit::Bit, 3), Some(0..24));
        assert_eq!(bits(5, -2, Unit::Bit, 3), Some(5..23));
        assert_eq!(bits(0, -1, Unit::Bit, 0), None);
        assert_eq!(bits(0, 0, Unit::Byte, 0), None);
        assert_eq!(bits(3, 9, Unit::Byte, 3), None);
    }
}
