//! HOTKEYS: which keys cost most CPU time or network bytes while a search for them runs.
//!
//! Beside the path of every command, and only while a search runs: it lowers the threshold from
//! which on the `books` look at a command again, so that without one nothing is asked. Each worker
//! keeps a sketch of bounded size; who reads adds them up. What must stay true: a sketch says of no
//! key more than was measured.

use crate::catalog::{Entry, RunsScript};
use crate::engine::{Engine, Usage};
use caudal_commands::{Args, Random};
use caudal_table::KeyHash;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Keys that a sketch follows for each that is shown: what is less than its share of all cost can
/// be lost, so there are to be several times as many.
const FOLLOWED_FOR_EACH_SHOWN: usize = 10;
/// Bytes of a key that are kept and shown: keys can be of any length, and are told apart by their
/// hashes.
const SHOWN_BYTES_MAX: usize = 1024;

/// What HOTKEYS START asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    pub(crate) cpu: bool,
    pub(crate) net: bool,
    /// Keys to show.
    pub(crate) count: usize,
    /// Milliseconds until it ends by itself.
    pub(crate) duration_ms: Option<u64>,
    /// One command in so many is looked at. > 0
    pub(crate) sample: usize,
}

/// The one search of the process, running or over.
#[derive(Default)]
pub(crate) struct HotKeys(Mutex<Option<Arc<Search>>>);

impl HotKeys {
    /// The search that was started last, unless it was forgotten.
    pub(crate) fn last(&self) -> Option<Arc<Search>> {
        self.lock().clone()
    }

    /// The search that runs.
    pub(crate) fn running(&self) -> Option<Arc<Search>> {
        self.last().filter(|search| search.is_running.load(Relaxed))
    }

    /// Puts a search in the place of the last one, or forgets it.
    pub(crate) fn set(&self, search: Option<Arc<Search>>) {
        *self.lock() = search;
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<Search>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A search for hot keys.
pub(crate) struct Search {
    pub(crate) terms: Terms,
    pub(crate) started_ms: u64,
    is_running: AtomicBool,
    start: Reading,
    end: Mutex<Option<(u64, Reading)>>,
    /// One a worker, which alone adds to it.
    parts: Box<[Mutex<Part>]>,
}

/// What the process had used at some time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reading {
    usage: Usage,
    net_bytes: u64,
}

impl Reading {
    fn now(engine: &Engine) -> Reading {
        let net_bytes = engine.sum(|at| &at.stats.bytes_in) + engine.sum(|at| &at.stats.bytes_out);
        Reading { usage: (engine.environment.usage)(), net_bytes }
    }
}

/// What a search has found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) is_running: bool,
    pub(crate) duration_ms: u64,
    pub(crate) user_ms: u64,
    pub(crate) system_ms: u64,
    /// Bytes received and sent, of whatever command.
    pub(crate) net_bytes: u64,
    /// Of all commands, whether or not they were looked at.
    pub(crate) all: Spent,
    /// Keys with their nanoseconds, the dearest first.
    pub(crate) by_cpu: Vec<(Box<[u8]>, u64)>,
    /// Keys with their bytes.
    pub(crate) by_net: Vec<(Box<[u8]>, u64)>,
}

/// What commands cost.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    pub(crate) nanos: u64,
    /// Bytes of requests and replies.
    pub(crate) bytes: u64,
}

impl Search {
    /// A search that starts now.
    pub(crate) fn new(engine: &Engine, terms: Terms, now_ms: u64) -> Search {
        let part = |worker: usize| {
            let random = Random::new(engine.environment.seed ^ now_ms ^ worker as u64);
            let sketch = |is_wanted: bool| {
                Sketch::new(if is_wanted { terms.count * FOLLOWED_FOR_EACH_SHOWN } else { 0 })
            };
            let (cpu, net) = (sketch(terms.cpu), sketch(terms.net));
            Mutex::new(Part { all: Spent::default(), random, cpu, net })
        };
        Search {
            terms,
            started_ms: now_ms,
            is_running: AtomicBool::new(true),
            start: Reading::now(engine),
            end: Mutex::new(None),
            parts: (0..engine.workers.len()).map(part).collect(),
        }
    }

    /// Counts a command that a worker ran. A command on several keys costs each of them its share.
    pub(crate) fn count(
        &self,
        engine: &Engine,
        (worker, now_ms): (usize, u64),
        (entry, args): (&Entry, Args<'_>),
        cost: Spent,
    ) {
        if self.is_over(now_ms) {
            self.stop(engine, now_ms);
            return;
        }
        // The commands of an EXEC are counted one by one.
        if entry.runs_script == RunsScript::IfQueued {
            return;
        }
        let mut part = lock(&self.parts[worker]);
        part.all.nanos += cost.nanos;
        part.all.bytes += cost.bytes;
        if self.terms.sample > 1 && part.random.below(self.terms.sample) > 0 {
            return;
        }
        let mut keys = 0_u64;
        entry.each_key(args, |_, _| keys += 1);
        entry.each_key(args, |at, _| {
            let key = args.at(at);
            let hash = engine.keyspace.hash(key);
            part.cpu.add(hash, key, cost.nanos / keys);
            part.net.add(hash, key, cost.bytes / keys);
        });
    }

    /// Whether its time has passed.
    pub(crate) fn is_over(&self, now_ms: u64) -> bool {
        let duration = self.terms.duration_ms;
        duration.is_some_and(|duration| now_ms >= self.started_ms.saturating_add(duration))
    }

    /// Ends it. False: it had ended.
    pub(crate) fn stop(&self, engine: &Engine, now_ms: u64) -> bool {
        let mut end = lock(&self.end);
        if end.is_some() {
            return false;
        }
        let ends_ms = self.terms.duration_ms.map_or(u64::MAX, |it| self.started_ms + it);
        *end = Some((now_ms.min(ends_ms), Reading::now(engine)));
        self.is_running.store(false, Relaxed);
        engine.renew_tuning();
        true
    }

    /// What it has found until now, or did find.
    pub(crate) fn found(&self, engine: &Engine, now_ms: u64) -> Found {
        let end = *lock(&self.end);
        let (until_ms, reading) = end.unwrap_or_else(|| (now_ms, Reading::now(engine)));
        let (mut all, mut cpu, mut net) = (Spent::default(), Sums::new(), Sums::new());
        for part in &self.parts {
            let part = lock(part);
            all.nanos += part.all.nanos;
            all.bytes += part.all.bytes;
            part.cpu.add_to(&mut cpu);
            part.net.add_to(&mut net);
        }
        let (start, end) = (&self.start.usage, &reading.usage);
        let millis =
            |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Found {
            is_running: self.is_running.load(Relaxed),
            duration_ms: until_ms.saturating_sub(self.started_ms),
            user_ms: millis(end.user.saturating_sub(start.user)),
            system_ms: millis(end.system.saturating_sub(start.system)),
            net_bytes: reading.net_bytes.saturating_sub(self.start.net_bytes),
            all,
            by_cpu: dearest(cpu, self.terms.count),
            by_net: dearest(net, self.terms.count),
        }
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The costs of keys, by their hashes.
type Sums = HashMap<KeyHash, (Box<[u8]>, u64)>;

fn dearest(sums: Sums, count: usize) -> Vec<(Box<[u8]>, u64)> {
    let mut keys: Vec<_> = sums.into_values().filter(|(_, cost)| *cost > 0).collect();
    keys.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    keys.truncate(count);
    keys
}

/// A worker's part of a search.
struct Part {
    all: Spent,
    /// Chooses the commands that are looked at.
    random: Random,
    cpu: Sketch,
    net: Sketch,
}

/// The keys with the largest sums, in bounded memory: the space-saving sketch of Metwally, Agrawal
/// and El Abbadi ("Efficient computation of frequent and top-k elements in data streams", 2005),
/// with weights.
///
/// A key that is not followed takes over the place of the one with the least, and what that had
/// counted is its possible error. So each key whose sum is more than the whole divided by the
/// number of places is followed, and `sums - errors` was surely measured.
struct Sketch {
    places_max: usize,
    by_hash: HashMap<KeyHash, usize>,
    /// Counted for a place, whoever had it. Apart from the rest, as all are gone through for the
    /// least.
    sums: Vec<u64>,
    places: Vec<Followed>,
}

struct Followed {
    hash: KeyHash,
    /// What the place had counted before it was this key's. <= its sum
    error: u64,
    key: Box<[u8]>,
}

impl Sketch {
    fn new(places_max: usize) -> Sketch {
        Sketch { places_max, by_hash: HashMap::new(), sums: Vec::new(), places: Vec::new() }
    }

    fn add(&mut self, hash: KeyHash, key: &[u8], cost: u64) {
        if self.places_max == 0 || cost == 0 {
            return;
        }
        if let Some(at) = self.by_hash.get(&hash) {
            self.sums[*at] += cost;
            return;
        }
        let key: Box<[u8]> = key[..key.len().min(SHOWN_BYTES_MAX)].into();
        let at = if self.places.len() < self.places_max {
            self.places.push(Followed { hash, error: 0, key });
            self.sums.push(cost);
            self.places.len() - 1
        } else {
            let least = self.sums.iter().enumerate().min_by_key(|(_, sum)| **sum);
            let (at, error) = least.map(|(at, sum)| (at, *sum)).expect("there are places");
            self.by_hash.remove(&self.places[at].hash);
            self.places[at] = Followed { hash, error, key };
            self.sums[at] += cost;
            at
        };
        self.by_hash.insert(hash, at);
    }

    fn add_to(&self, sums: &mut Sums) {
        for (place, sum) in self.places.iter().zip(&self.sums) {
            let entry = sums.entry(place.hash).or_insert_with(|| (place.key.clone(), 0));
            entry.1 += sum - place.error;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use caudal_table::KeyHasher;

    fn add(sketch: &mut Sketch, key: &[u8], cost: u64) {
        sketch.add(KeyHasher::new(7).hash(key), key, cost);
    }

    fn found(sketches: &[Sketch], count: usize) -> Vec<(String, u64)> {
        let mut sums = Sums::new();
        sketches.iter().for_each(|sketch| sketch.add_to(&mut sums));
        let text = |key: &[u8]| String::from_utf8(key.to_vec()).unwrap();
        dearest(sums, count).iter().map(|(key, cost)| (text(key), *cost)).collect()
    }

    #[test]
    fn the_dearest_keys_are_found_among_many_cheap_ones() {
        let mut sketch = Sketch::new(40);
        for round in 0..1000_u64 {
            add(&mut sketch, b"hot", 30);
            add(&mut sketch, b"warm", 20);
            (0..5)
                .for_each(|other| add(&mut sketch, format!("cold:{round}:{other}").as_bytes(), 1));
        }
        assert_eq!(sketch.places.len(), 40);
        assert_eq!(sketch.by_hash.len(), 40);
        let found = found(&[sketch], 2);
        assert_eq!(found, [("hot".to_owned(), 30_000), ("warm".to_owned(), 20_000)]);
    }

    #[test]
    fn no_key_is_said_to_cost_more_than_it_did() {
        let mut sketch = Sketch::new(10);
        (0..10_000_u64).for_each(|at| add(&mut sketch, at.to_string().as_bytes(), 7));
        assert!(found(&[sketch], 10).iter().all(|(_, cost)| *cost == 7));
    }

    #[test]
    fn the_parts_of_workers_are_added_up() {
        let mut parts = [Sketch::new(4), Sketch::new(4)];
        add(&mut parts[0], b"a", 5);
        add(&mut parts[1], b"a", 6);
        add(&mut parts[1], b"b", 7);
        assert_eq!(found(&parts, 9), [("a".to_owned(), 11), ("b".to_owned(), 7)]);
    }

    #[test]
    fn long_keys_are_told_apart_and_cut() {
        let mut sketch = Sketch::new(4);
        let key = |end| [vec![b'x'; 5000], vec![end]].concat();
        add(&mut sketch, &key(b'1'), 1);
        add(&mut sketch, &key(b'2'), 2);
        let found = found(&[sketch], 9);
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|(key, _)| key.len() == SHOWN_BYTES_MAX));
    }
}
