//! Walking a tree of hashes in steps between which it may change.
//!
//! The cursor is the lowest hash that was not given yet. Entries never change their hash, so one
//! that is there all the time is given exactly once.

use super::{Kind, Place, Tree};

impl<K: Kind<Word = u32>> Tree<K> {
    /// Calls `f` with about `count` entries (all that share the last one's hash too) from a cursor
    /// on, returns the next cursor: 0 at the end.
    pub(crate) fn scan(&self, cursor: u64, count: usize, mut f: impl FnMut(Place<'_, K>)) -> u64 {
        let Ok(first) = u32::try_from(cursor) else {
            return 0;
        };
        let (Ok(index) | Err(index)) = self.rank(first, &[]);
        let mut last = None;
        for (given, place) in self.iter_from(index).enumerate() {
            let word = place.word();
            if given >= count.max(1) && last != Some(word) {
                return u64::from(word);
            }
            last = Some(word);
            f(place);
        }
        0
    }
}
