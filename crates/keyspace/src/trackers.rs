//! Client tracking: marks on keys of one slot, taken by the first who changes the key.
//!
//! A mark is made by whoever reads the key, under its slot's lock, so that no change falls between
//! the reading and the mark. What must stay true: a key is marked at most once a tracker; the
//! totals count the marks of all slots.

use crate::News;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A connection that is told when keys that it read change.
#[derive(Debug)]
pub struct Tracker {
    /// Its id.
    pub connection: u64,
    /// Its worker.
    pub worker: u16,
    /// Whether its own changes are no news to it.
    skips_own: AtomicBool,
    is_on: AtomicBool,
}

impl Tracker {
    /// A connection that begins to track.
    pub fn new(connection: u64, worker: u16) -> Tracker {
        let (skips_own, is_on) = (AtomicBool::new(false), AtomicBool::new(true));
        Tracker { connection, worker, skips_own, is_on }
    }

    /// Whether it is told of its own changes.
    pub fn set_skips_own(&self, skips_own: bool) {
        self.skips_own.store(skips_own, Ordering::Relaxed);
    }

    /// Whether it is not told of its own changes.
    pub fn skips_own(&self) -> bool {
        self.skips_own.load(Ordering::Relaxed)
    }

    /// It does not track any more: its marks mean nothing.
    pub fn end(&self) {
        self.is_on.store(false, Ordering::Release);
    }

    /// Whether its marks mean something.
    pub fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Acquire)
    }
}

/// What all workers know of those who are interested in changes.
#[derive(Debug, Default)]
pub struct Interest {
    /// How many prefixes of keys somebody wants all changes of.
    pub prefixes: AtomicUsize,
    /// Keys with marks.
    pub keys: AtomicUsize,
    /// Marks.
    pub marks: AtomicUsize,
}

type Marks = SmallVec<[Arc<Tracker>; 1]>;

/// The marks of one slot.
#[derive(Default)]
pub(crate) struct Trackers {
    marks: HashMap<Box<[u8]>, Marks>,
}

impl Trackers {
    /// Whether no key is marked.
    pub(crate) fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// Marks a key.
    pub(crate) fn add(&mut self, key: &[u8], tracker: &Arc<Tracker>, interest: &Interest) {
        if let Some(marks) = self.marks.get_mut(key) {
            if !marks.iter().any(|at| Arc::ptr_eq(at, tracker)) {
                marks.push(Arc::clone(tracker));
                interest.marks.fetch_add(1, Ordering::Relaxed);
            }
            return;
        }
        self.marks.insert(key.into(), Marks::from_iter([Arc::clone(tracker)]));
        interest.keys.fetch_add(1, Ordering::Relaxed);
        interest.marks.fetch_add(1, Ordering::Relaxed);
    }

    /// A key changed by `author`'s doing: whoever marked it is told, once.
    pub(crate) fn touch(&mut self, key: &[u8], author: u64, news: &News) {
        if let Some(marks) = self.marks.remove(key) {
            forget(&marks, &news.interest);
            news.invalidate(key, &marks, author);
        }
    }

    /// All keys for which `changed` holds changed.
    pub(crate) fn touch_where(&mut self, changed: impl Fn(&[u8]) -> bool, news: &News) {
        for (key, marks) in self.marks.extract_if(|key, _| changed(key)) {
            forget(&marks, &news.interest);
            news.invalidate(&key, &marks, 0);
        }
    }

    /// Takes the marks of up to `count` keys, but not of `spared`, as if these had changed: there
    /// are too many.
    pub(crate) fn evict(&mut self, count: usize, spared: Option<&[u8]>, news: &News) {
        let others = self.marks.keys().filter(|key| Some(&***key) != spared);
        let keys: Vec<Box<[u8]>> = others.take(count).cloned().collect();
        keys.iter().for_each(|key| self.touch(key, 0, news));
    }

    /// Takes the marks away of those who do not track any more.
    pub(crate) fn sweep(&mut self, interest: &Interest) {
        self.marks.retain(|_, marks| {
            let before = marks.len();
            marks.retain(|tracker| tracker.is_on());
            interest.marks.fetch_sub(before - marks.len(), Ordering::Relaxed);
            interest.keys.fetch_sub(usize::from(marks.is_empty()), Ordering::Relaxed);
            !marks.is_empty()
        });
    }

    /// Takes all marks away: everybody is told otherwise.
    pub(crate) fn clear(&mut self, interest: &Interest) {
        self.marks.drain().for_each(|(_, marks)| forget(&marks, interest));
    }
}

/// A key's marks are gone.
fn forget(marks: &Marks, interest: &Interest) {
    interest.keys.fetch_sub(1, Ordering::Relaxed);
    interest.marks.fetch_sub(marks.len(), Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(news: &News) -> (usize, usize) {
        let load = |at: &AtomicUsize| at.load(Ordering::Relaxed);
        (load(&news.interest.keys), load(&news.interest.marks))
    }

    #[test]
    fn a_mark_is_taken_by_the_first_change() {
        let (news, mut trackers) = (News::default(), Trackers::default());
        let (one, two) = (Arc::new(Tracker::new(1, 0)), Arc::new(Tracker::new(2, 0)));
        for (key, tracker) in [(b"a", &one), (b"a", &one), (b"a", &two), (b"b", &one)] {
            trackers.add(key, tracker, &news.interest);
        }
        assert_eq!(totals(&news), (2, 3));
        trackers.touch(b"a", 0, &news);
        trackers.touch(b"c", 0, &news);
        assert_eq!(totals(&news), (1, 1));
        trackers.touch_where(|_| true, &news);
        assert!(trackers.is_empty());
        assert_eq!(totals(&news), (0, 0));
    }

    #[test]
    fn marks_of_the_gone_are_swept_and_too_many_are_evicted() {
        let (news, mut trackers) = (News::default(), Trackers::default());
        let (one, two) = (Arc::new(Tracker::new(1, 0)), Arc::new(Tracker::new(2, 0)));
        for key in [b"a", b"b", b"c"] {
            trackers.add(key, &one, &news.interest);
        }
        trackers.add(b"a", &two, &news.interest);
        one.end();
        trackers.sweep(&news.interest);
        assert_eq!(totals(&news), (1, 1));
        trackers.add(b"d", &two, &news.interest);
        trackers.evict(5, Some(b"d"), &news);
        assert_eq!(totals(&news), (1, 1));
        trackers.clear(&news.interest);
        assert_eq!(totals(&news), (0, 0));
    }
}
