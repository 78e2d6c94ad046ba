//! Clients that block on keys of one slot, first come first served.
//!
//! A waiter stands at each of its keys and is claimed once, by whoever comes first: the command
//! that makes a key ready, its timeout, CLIENT UNBLOCK, its connection's end.

use crate::held::{Busy, Held, Wanted};
use crate::keyspace::tidy;
use crate::side::Side;
use crate::{Keyspace, Place, Tracker};
use caudal_table::{Guard, Kind, Mode, SlotId};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A key and where it lives.
pub type PlacedKey = (Place, Box<[u8]>);

/// A command that waits for one of its keys. Shared by the slots of its keys and its connection.
#[derive(Debug)]
pub struct Waiter {
    claimed: AtomicBool,
    /// The worker that owns the connection.
    pub worker: u16,
    /// The connection's id.
    pub connection: u64,
    /// The command, as its place in the command table.
    pub command: u16,
    /// The database it runs on.
    pub database: u8,
    /// Whether its connection speaks RESP3.
    pub resp3: bool,
    /// The type that its keys must get.
    pub kind: Kind,
    /// Whether it has to be told when a key loses that type, or goes: XREADGROUP, whose group must
    /// be there.
    pub minds_loss: bool,
    /// Where its keys live, all of them, sorted: serving it needs these locks.
    pub places: Vec<Place>,
    /// The keys that it waits for, sorted.
    pub keys: Vec<PlacedKey>,
    /// The keys that serving it may give a value: BLMOVE's target.
    pub targets: Vec<PlacedKey>,
    /// The command's words.
    pub words: Vec<Box<[u8]>>,
    /// Who is marked on the keys that it reads when it is served.
    pub tracker: Option<Arc<Tracker>>,
}

impl Waiter {
    /// A waiter that nobody has claimed.
    #[allow(clippy::too_many_arguments, reason = "plain data, built in one place")]
    pub fn new(
        (worker, connection): (u16, u64),
        (command, database, resp3): (u16, u8, bool),
        (kind, minds_loss): (Kind, bool),
        places: Vec<Place>,
        (keys, targets): (Vec<PlacedKey>, Vec<PlacedKey>),
        words: Vec<Box<[u8]>>,
        tracker: Option<Arc<Tracker>>,
    ) -> Waiter {
        Waiter {
            claimed: AtomicBool::new(false),
            worker,
            connection,
            command,
            database,
            resp3,
            kind,
            minds_loss,
            places,
            keys,
            targets,
            words,
            tracker,
        }
    }

    /// Whether serving it can touch more than one slot.
    fn roams(&self) -> bool {
        self.places.len() > 1
    }

    /// Claims it; true for exactly one caller.
    pub fn claim(&self) -> bool {
        self.claimed.compare_exchange(false, true, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Gives it back: whoever claimed it could not serve it, and it stays in its queues.
    pub fn unclaim(&self) {
        self.claimed.store(false, Ordering::Release);
    }

    /// Whether somebody has it.
    pub fn is_claimed(&self) -> bool {
        self.claimed.load(Ordering::Acquire)
    }
}

/// The waiters of one slot, a queue a key.
#[derive(Default)]
pub(crate) struct Waiters {
    queues: Vec<Queue>,
}

/// The waiters for one key, longest first.
struct Queue {
    key: Box<[u8]>,
    waiters: VecDeque<Arc<Waiter>>,
    /// How many of them can touch other slots than their key's: mostly none, and then no lock set
    /// needs widening.
    roaming: usize,
}

impl Waiters {
    /// Puts `waiter` at the end of `key`'s queue.
    fn add(&mut self, key: &[u8], waiter: Arc<Waiter>) {
        let index = self.queues.iter().position(|at| *at.key == *key).unwrap_or_else(|| {
            let (key, waiters) = (key.into(), VecDeque::new());
            self.queues.push(Queue { key, waiters, roaming: 0 });
            self.queues.len() - 1
        });
        let queue = &mut self.queues[index];
        queue.roaming += usize::from(waiter.roams());
        queue.waiters.push_back(waiter);
    }

    /// Takes `waiter` out of `key`'s queue.
    fn remove(&mut self, key: &[u8], waiter: &Arc<Waiter>) {
        let Some(index) = self.queues.iter().position(|at| *at.key == *key) else { return };
        let queue = &mut self.queues[index];
        // Whoever is served stands in front.
        if let Some(at) = queue.waiters.iter().position(|at| Arc::ptr_eq(at, waiter)) {
            queue.waiters.remove(at);
            queue.roaming -= usize::from(waiter.roams());
        }
        if queue.waiters.is_empty() {
            self.queues.swap_remove(index);
        }
    }

    /// The queue of `key`.
    fn of(&self, key: &[u8]) -> Option<&Queue> {
        self.queues.iter().find(|at| *at.key == *key)
    }

    /// Whether anybody waits for `key`.
    pub(crate) fn has(&self, key: &[u8]) -> bool {
        self.of(key).is_some()
    }

    /// Whether nobody waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }
}

/// Waiting for keys. Whoever calls these holds the keys' slots exclusively.
impl Keyspace {
    /// Puts `waiter` into the queues of its keys.
    pub fn wait(&self, held: &mut Held<'_>, waiter: &Arc<Waiter>) {
        for (place, key) in &waiter.keys {
            let guard = held.at_mut(*place).expect("a blocking command locks its keys");
            guard.side_mut().get_or_insert_default().waiters.add(key, Arc::clone(waiter));
        }
    }

    /// Takes `waiter` out of its queues in the slot at `place`.
    pub fn leave(&self, held: &mut Held<'_>, waiter: &Arc<Waiter>, place: Place) {
        let Some(guard) = held.at_mut(place) else { return };
        if let Some(side) = guard.side_mut() {
            let first = waiter.keys.partition_point(|(at, _)| *at < place);
            for (_, key) in waiter.keys[first..].iter().take_while(|(at, _)| *at == place) {
                side.waiters.remove(key, waiter);
            }
        }
        tidy(guard.side_mut());
    }

    /// The waiter for `key` that stands behind `before` others.
    pub fn waiter(
        &self,
        held: &Held<'_>,
        (place, key): (Place, &[u8]),
        before: usize,
    ) -> Option<Arc<Waiter>> {
        let side = held.at(place)?.side().as_ref()?;
        side.waiters.of(key)?.waiters.get(before).cloned()
    }

    /// Whether anybody waits for a key of a slot that is locked exclusive.
    #[inline]
    pub fn has_waiters(&self, held: &Held<'_>) -> bool {
        held.guards().any(|guard| {
            guard.mode() == Mode::Exclusive
                && guard.side().as_ref().is_some_and(|side| !side.waiters.is_empty())
        })
    }

    /// What a key in a locked slot holds.
    pub fn kind(&self, held: &Held<'_>, place: Place, key: &[u8]) -> Option<Kind> {
        let guard = held.at(place)?;
        guard.table().find(self.hash(key), key).map(|record| record.kind())
    }

    /// The places that are touched when the waiters of `written` are served, and the waiters of the
    /// keys that serving them may write, and so on; without those that `held` has exclusive. Slots
    /// that it does not have are looked at one by one, so the answer holds only if it is empty:
    /// lock what is missing and ask again.
    ///
    /// # Errors
    /// A slot that is not in `held` is busy.
    pub fn serving(&self, held: &Held<'_>, written: Vec<PlacedKey>) -> Result<Vec<Place>, Busy> {
        let (mut missing, mut seen, mut next) = (BTreeSet::new(), BTreeSet::new(), written);
        while let Some(key) = next.pop() {
            if seen.contains(&key) {
                continue;
            }
            for waiter in self.roaming(held, &key)? {
                let exclusive = |place| Wanted { place, mode: Mode::Exclusive };
                let places = waiter.places.iter().copied();
                missing.extend(places.filter(|place| !held.covers(&exclusive(*place))));
                next.extend(waiter.targets.iter().cloned());
            }
            seen.insert(key);
        }
        Ok(missing.into_iter().collect())
    }

    /// Who waits for a key and can touch other slots. A slot that is not in `held` is tried, never
    /// waited for.
    fn roaming(&self, held: &Held<'_>, (place, key): &PlacedKey) -> Result<Vec<Arc<Waiter>>, Busy> {
        let of = |guard: &Guard<'_, Side>| {
            let queue = guard.side().as_ref().and_then(|side| side.waiters.of(key));
            let queue = queue.filter(|queue| queue.roaming > 0);
            let roams = |at: &&Arc<Waiter>| at.roams() && !at.is_claimed();
            queue.map_or_else(Vec::new, |it| it.waiters.iter().filter(roams).cloned().collect())
        };
        if let Some(guard) = held.at(*place) {
            return Ok(of(guard));
        }
        let Some(slots) = self.slots(place.database, Mode::Shared) else { return Ok(Vec::new()) };
        let guard = slots.try_lock(SlotId(place.slot), Mode::Shared).ok_or(Busy(*place))?;
        Ok(of(&guard))
    }
}
