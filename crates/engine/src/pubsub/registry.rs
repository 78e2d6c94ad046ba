//! Who subscribes to a name, worker by worker: what a publisher asks, and PUBSUB.
//!
//! A publisher locks one shard of the names, for a look-up; how many subscribers a name has makes
//! no difference. What must stay true: a name is here while it has subscribers; a worker changes
//! only its own counts; what a caller does under the lock of a name happens before or after any
//! change of the name's subscribers, and never in the middle.

use smallvec::SmallVec;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

/// Names are spread over this many locks: several for each worker that may publish at once.
const SHARDS: usize = 64;

/// How many subscribers each worker has. No count is zero.
pub(crate) type Counts = SmallVec<[(u16, u32); 2]>;

/// Names with the subscribers of each worker.
pub(crate) type Map = HashMap<Arc<[u8]>, Counts>;

/// Adds up the subscribers of all workers.
pub(super) fn total(counts: &Counts) -> usize {
    counts.iter().map(|(_, count)| *count as usize).sum()
}

/// Counts a subscriber of `worker`, and gives the name to share. True: the name is new.
fn add(names: &mut Map, name: &[u8], worker: u16) -> (Arc<[u8]>, bool) {
    if let Some((name, _)) = names.get_key_value(name) {
        let name = Arc::clone(name);
        let counts = names.get_mut(&name).expect("it was just found");
        match counts.iter_mut().find(|(at, _)| *at == worker) {
            Some((_, count)) => *count += 1,
            None => counts.push((worker, 1)),
        }
        return (name, false);
    }
    let name: Arc<[u8]> = name.into();
    names.insert(Arc::clone(&name), Counts::from_slice(&[(worker, 1)]));
    (name, true)
}

/// Takes a subscriber of `worker` away. True: it was the name's last.
fn remove(names: &mut Map, name: &[u8], worker: u16) -> bool {
    let Some(counts) = names.get_mut(name) else { return false };
    let Some(at) = counts.iter().position(|(at, _)| *at == worker) else { return false };
    counts[at].1 -= 1;
    if counts[at].1 == 0 {
        counts.swap_remove(at);
    }
    let is_last = counts.is_empty();
    if is_last {
        names.remove(name);
    }
    is_last
}

/// Names that are looked up whole: channels.
pub(super) struct Names {
    shards: Box<[Mutex<Map>]>,
    hasher: RandomState,
    len: AtomicUsize,
}

impl Names {
    pub(super) fn new() -> Names {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        Names { shards, hasher: RandomState::new(), len: AtomicUsize::new(0) }
    }

    /// How many names have subscribers.
    pub(super) fn len(&self) -> usize {
        self.len.load(Ordering::Acquire)
    }

    /// Counts a subscriber; `then` runs at the instant at which it begins to count.
    pub(super) fn add(&self, name: &[u8], worker: u16, then: impl FnOnce()) -> Arc<[u8]> {
        let mut shard = self.shard(name);
        let (name, is_new) = add(&mut shard, name, worker);
        self.len.fetch_add(usize::from(is_new), Ordering::AcqRel);
        then();
        name
    }

    /// Takes a subscriber away; `then` runs at the instant at which it ceases to count.
    pub(super) fn remove(&self, name: &[u8], worker: u16, then: impl FnOnce()) {
        let mut shard = self.shard(name);
        let was_last = remove(&mut shard, name, worker);
        self.len.fetch_sub(usize::from(was_last), Ordering::AcqRel);
        then();
    }

    /// Has `look` work with a name's subscribers while they stay what they are.
    pub(super) fn with<R>(
        &self,
        name: &[u8],
        look: impl FnOnce(Option<(&Arc<[u8]>, &Counts)>) -> R,
    ) -> R {
        look(self.shard(name).get_key_value(name))
    }

    /// The names for which `wanted` holds.
    pub(super) fn list(&self, wanted: impl Fn(&[u8]) -> bool) -> Vec<Arc<[u8]>> {
        let mut names = Vec::new();
        for shard in &self.shards {
            let shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            names.extend(shard.keys().filter(|name| wanted(name)).cloned());
        }
        names
    }

    #[allow(clippy::cast_possible_truncation, reason = "the low bits of a hash are as good as any")]
    fn shard(&self, name: &[u8]) -> MutexGuard<'_, Map> {
        let shard = self.hasher.hash_one(name) as usize % SHARDS;
        self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Names that are compared with others one by one: patterns, prefixes.
#[derive(Default)]
pub(super) struct Rules {
    rules: RwLock<Map>,
    len: AtomicUsize,
}

impl Rules {
    /// How many rules have subscribers.
    pub(super) fn len(&self) -> usize {
        self.len.load(Ordering::Acquire)
    }

    /// Counts a subscriber; `then` runs at the instant at which it begins to count, with the number
    /// of rules.
    pub(super) fn add(&self, rule: &[u8], worker: u16, then: impl FnOnce(usize)) -> Arc<[u8]> {
        let mut rules = self.rules.write().unwrap_or_else(PoisonError::into_inner);
        let (rule, _) = add(&mut rules, rule, worker);
        self.len.store(rules.len(), Ordering::Release);
        then(rules.len());
        rule
    }

    /// Takes a subscriber away; `then` runs at the instant at which it ceases to count, with the
    /// number of rules.
    pub(super) fn remove(&self, rule: &[u8], worker: u16, then: impl FnOnce(usize)) {
        let mut rules = self.rules.write().unwrap_or_else(PoisonError::into_inner);
        remove(&mut rules, rule, worker);
        self.len.store(rules.len(), Ordering::Release);
        then(rules.len());
    }

    /// All rules, which stay what they are while this is held; none if there are none.
    pub(super) fn all(&self) -> Option<RwLockReadGuard<'_, Map>> {
        (self.len() > 0).then(|| self.rules.read().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_lives_as_long_as_its_subscribers() {
        let names = Names::new();
        let count = |name: &[u8]| names.with(name, |at| at.map_or(0, |(_, counts)| total(counts)));
        names.add(b"a", 0, || ());
        names.add(b"a", 1, || ());
        names.add(b"a", 1, || ());
        names.add(b"b", 0, || ());
        assert_eq!((names.len(), count(b"a"), count(b"b"), count(b"c")), (2, 3, 1, 0));
        for worker in [1, 0, 1] {
            names.remove(b"a", worker, || ());
        }
        assert_eq!((names.len(), count(b"a")), (1, 0));
        assert_eq!(names.list(|_| true), [Arc::from(b"b".as_slice())]);
    }

    #[test]
    fn rules_are_gone_with_their_last_subscriber() {
        let rules = Rules::default();
        assert!(rules.all().is_none());
        rules.add(b"a*", 0, |_| ());
        rules.add(b"a*", 3, |_| ());
        assert_eq!(rules.all().map(|all| all.len()), Some(1));
        rules.remove(b"a*", 0, |_| ());
        rules.remove(b"a*", 3, |_| ());
        rules.remove(b"a*", 3, |_| ());
        assert!(rules.all().is_none());
    }
}
