//! A stream entry's name: a time in milliseconds and a number within it.

use crate::ItemBytes;

/// The id of an entry. Ordered by time, then by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct StreamId {
    /// Unix milliseconds, by convention.
    pub ms: u64,
    /// Counts the entries of one millisecond.
    pub seq: u64,
}

impl StreamId {
    /// `0-0`: before any entry, for no entry has it.
    pub const MIN: StreamId = StreamId { ms: 0, seq: 0 };
    /// The last id there is.
    pub const MAX: StreamId = StreamId { ms: u64::MAX, seq: u64::MAX };

    /// The id of its two parts.
    pub const fn new(ms: u64, seq: u64) -> StreamId {
        StreamId { ms, seq }
    }

    /// The id behind this one; none behind the last.
    pub fn next(self) -> Option<StreamId> {
        match (self.ms, self.seq) {
            (ms, seq) if seq < u64::MAX => Some(StreamId { ms, seq: seq + 1 }),
            (ms, _) => Some(StreamId { ms: ms.checked_add(1)?, seq: 0 }),
        }
    }

    /// The id before this one; none before `0-0`.
    pub fn previous(self) -> Option<StreamId> {
        match (self.ms, self.seq) {
            (ms, seq) if seq > 0 => Some(StreamId { ms, seq: seq - 1 }),
            (ms, _) => Some(StreamId { ms: ms.checked_sub(1)?, seq: u64::MAX }),
        }
    }

    /// `ms-seq`.
    pub fn text(self) -> ItemBytes {
        let mut buffer = itoa::Buffer::new();
        let mut text = ItemBytes::from_slice(buffer.format(self.ms).as_bytes());
        text.push(b'-');
        text.extend_from_slice(buffer.format(self.seq).as_bytes());
        text
    }
}

#[cfg(test)]
mod tests {
    use super::StreamId;

    #[test]
    fn neighbours_carry_over_and_end() {
        let id = StreamId::new(7, u64::MAX);
        assert_eq!(id.next(), Some(StreamId::new(8, 0)));
        assert_eq!(StreamId::new(8, 0).previous(), Some(id));
        assert_eq!((StreamId::MAX.next(), StreamId::MIN.previous()), (None, None));
    }

    #[test]
    fn ids_are_spelled_in_two_parts() {
        assert_eq!(&StreamId::new(5, 0).text()[..], b"5-0");
        let text = format!("{0}-{0}", u64::MAX);
        assert_eq!(&StreamId::MAX.text()[..], text.as_bytes());
    }
}
