//! Arguments that are numbers, with the error texts of each kind.

use crate::{Args, Error};
use caudal_text::{float, integer};

impl Args<'_> {
    /// The 64-bit integer at `index`.
    pub fn integer(self, index: usize) -> Result<i64, Error> {
        integer::parse_i64(self.at(index)).ok_or(Error::NOT_INTEGER)
    }

    /// The integer at `index`, from `least` to `most`.
    pub fn integer_within(self, index: usize, least: i64, most: i64) -> Result<i64, Error> {
        let value = self.integer(index)?;
        if (least..=most).contains(&value) {
            return Ok(value);
        }
        Err(Error::new(format!("ERR value is out of range, value must between {least} and {most}")))
    }

    /// The integer at `index`, one whose sign can be changed.
    pub fn signed_count(self, index: usize) -> Result<i64, Error> {
        self.integer_within(index, -i64::MAX, i64::MAX)
    }

    /// The number of a database at `index`, one of `databases`.
    pub fn database(self, index: usize, databases: usize) -> Result<u8, Error> {
        let number = self.integer_within(index, i64::from(i32::MIN), i64::from(i32::MAX))?;
        let number = u8::try_from(number).ok().filter(|it| usize::from(*it) < databases);
        number.ok_or(Error::DATABASE_RANGE)
    }

    /// The integer at `index` as a number that is not negative, with Redis's text for one that is.
    pub fn positive(self, index: usize) -> Result<u64, Error> {
        let value = integer::parse_i64(self.at(index)).ok_or(Error::NOT_POSITIVE)?;
        u64::try_from(value).map_err(|_| Error::NOT_POSITIVE)
    }

    /// The double at `index`.
    pub fn float(self, index: usize) -> Result<f64, Error> {
        float::parse_f64(self.at(index)).ok_or(Error::NOT_FLOAT)
    }

    /// A blocking command's timeout at `index`, seconds with a fraction, as milliseconds rounded
    /// up; none for zero, which waits for ever.
    #[allow(clippy::cast_possible_truncation, reason = "it was held against the largest")]
    pub fn timeout(self, index: usize) -> Result<Option<u64>, Error> {
        let seconds = float::parse_f64(self.at(index)).ok_or(Error::BAD_TIMEOUT)?;
        let ms = (seconds * 1000.0).ceil();
        if ms > i64::MAX as f64 {
            return Err(Error::text("ERR timeout is out of range"));
        }
        if ms < 0.0 {
            return Err(Error::NEGATIVE_TIMEOUT);
        }
        Ok((ms > 0.0).then_some(ms as u64))
    }
}

/// A range of indexes as Redis writes them, negative ones from the end, cut to `0..len`; empty if
/// it holds nothing.
pub(crate) fn index_range(start: i64, stop: i64, len: usize) -> std::ops::Range<usize> {
    let length = i64::try_from(len).expect("lengths stay below 2^63");
    let from_end = |index: i64| if index < 0 { index.saturating_add(length).max(0) } else { index };
    let absolute_stop = if stop < 0 { stop.saturating_add(length) } else { stop.min(length - 1) };
    let start = from_end(start);
    if start > absolute_stop || start >= length {
        return 0..0;
    }
    let at = |index: i64| usize::try_from(index).expect("it was cut to the length");
    at(start)..at(absolute_stop) + 1
}

#[cfg(test)]
mod tests {
    use super::index_range;

    #[test]
    fn ranges_are_cut_as_redis_cuts_them() {
        assert_eq!(index_range(0, -1, 5), 0..5);
        assert_eq!(index_range(-100, 1, 5), 0..2);
        assert_eq!(index_range(-2, 100, 5), 3..5);
        assert_eq!(index_range(3, 1, 5), 0..0);
        assert_eq!(index_range(5, 9, 5), 0..0);
        assert_eq!(index_range(0, -6, 5), 0..0);
        assert_eq!(index_range(0, 0, 0), 0..0);
        assert_eq!(index_range(i64::MIN, i64::MAX, 2), 0..2);
    }
}
