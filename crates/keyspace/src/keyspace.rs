//! The databases, and what works on whole databases.

use crate::counters::DATABASES_MAX;
use crate::expiry::Ends;
use crate::fields::lapse;
use crate::held::{Busy, Held, Wanted, place_of};
use crate::keys::Key;
use crate::parking::{Parked, Parking};
use crate::side::{Side, SlotSide};
use crate::watches::{Watch, WatchedKey};
use crate::{Counters, Effects, Event, Millis, News, Place, Ready, Totals, Tracker};
use caudal_table::{
    Bucket, Guard, KeyHash, KeyHasher, Kind, Mode, Pin, SLOTS, SlotArray, SlotId, Table,
};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};

/// Dead fields of one hash that are taken away under one taking of its slot's lock: below 100 us.
const FIELDS_MAX: usize = 100;

/// All databases. Shared by the workers.
pub struct Keyspace {
    databases: Box<[OnceLock<Box<SlotArray<Side>>>]>,
    hasher: KeyHasher,
    parking: Arc<Parking>,
}

/// A database as it is looked at without locks, ahead of the commands. One that was never written
/// has nothing to ask for.
#[derive(Clone, Copy)]
pub struct Ahead<'k>(Option<&'k SlotArray<Side>>);

impl Ahead<'_> {
    /// Asks for the cache line of the key's slot.
    #[inline]
    pub fn prefetch_slot(self, hash: KeyHash) {
        if let Some(slots) = self.0 {
            slots.prefetch_slot(hash.slot());
        }
    }

    /// Asks for the cache line of the key's bucket, once the slot's has arrived.
    #[inline]
    pub fn prefetch_bucket(self, hash: KeyHash, pin: &Pin) -> Option<Bucket<'_>> {
        self.0?.prefetch_bucket(hash, pin)
    }
}

impl Keyspace {
    /// `databases` empty databases. `resume` is called, by whichever worker unlocks a slot, for
    /// each connection that was parked on it.
    pub fn new(
        databases: usize,
        seed: u64,
        resume: impl Fn(Parked) + Send + Sync + 'static,
    ) -> Keyspace {
        assert!(
            (1..=DATABASES_MAX).contains(&databases),
            "databases is checked by the configuration"
        );
        Keyspace {
            databases: (0..databases).map(|_| OnceLock::new()).collect(),
            hasher: KeyHasher::new(seed),
            parking: Arc::new(Parking::new(Box::new(resume))),
        }
    }

    /// How many databases there are.
    pub fn databases(&self) -> usize {
        self.databases.len()
    }

    /// The hash of a key, which names its slot.
    #[inline]
    pub fn hash(&self, key: &[u8]) -> KeyHash {
        self.hasher.hash(key)
    }

    /// The slots of a database; none if it was never written and is only read now.
    #[inline]
    pub(crate) fn slots(&self, database: u8, mode: Mode) -> Option<&SlotArray<Side>> {
        let cell = &self.databases[usize::from(database)];
        match (cell.get(), mode) {
            (Some(slots), _) => Some(slots),
            (None, Mode::Shared) => None,
            (None, Mode::Exclusive) => {
                let unpark = Arc::clone(&self.parking);
                Some(cell.get_or_init(|| SlotArray::new(database, unpark)))
            }
        }
    }

    /// A database for the passes that run ahead of a batch's commands.
    #[inline]
    pub fn ahead(&self, database: u8) -> Ahead<'_> {
        Ahead(self.slots(database, Mode::Shared))
    }

    /// Sets `parked` aside until the busy slot is unlocked. False: it was unlocked meanwhile, try
    /// again.
    pub fn park(&self, Busy(place): Busy, parked: Parked) -> bool {
        let Some(slots) = self.slots(place.database, Mode::Shared) else { return false };
        self.parking.park(place, parked, || slots.mark_parked(SlotId(place.slot)))
    }

    /// Bytes of slots, buckets and directories of all databases; slots that are busy do not count.
    pub fn table_bytes(&self) -> usize {
        let databases = (0..self.databases.len()).filter_map(|at| u8::try_from(at).ok());
        databases.map(|database| self.table_bytes_of(database)).sum()
    }

    /// The same of one database.
    pub fn table_bytes_of(&self, database: u8) -> usize {
        if !self.has_database(database) {
            return 0;
        }
        let mut bytes = SlotArray::<Side>::BYTES;
        for slot in (0..SLOTS).map(slot_number) {
            let place = Place { database, slot };
            let held = Held::one(self, Wanted { place, mode: Mode::Shared });
            let table = |held: Held<'_>| held.at(place).map(|guard| guard.table().memory());
            bytes += held.ok().and_then(table).unwrap_or(0);
        }
        bytes
    }

    /// Exchanges the contents of two databases. The caller holds the gate: nobody holds a slot.
    pub fn swap(
        &self,
        (first, second): (u8, u8),
        counters: &Counters,
        totals: [Totals; 2],
        news: &News,
    ) {
        if first == second {
            return;
        }
        for slot in (0..SLOTS).map(slot_number) {
            let exclusive =
                |database| Wanted { place: Place { database, slot }, mode: Mode::Exclusive };
            let (Ok(mut one), Ok(mut two)) =
                (Held::one(self, exclusive(first)), Held::one(self, exclusive(second)))
            else {
                unreachable!("the gate is closed: no slot is locked")
            };
            let place = |database| Place { database, slot };
            let (Some(one), Some(two)) = (one.at_mut(place(first)), two.at_mut(place(second)))
            else {
                unreachable!("an exclusive lock allocates the database")
            };
            if one.table().len() + two.table().len() == 0 {
                continue;
            }
            touch_present(one, two, &self.hasher, news);
            touch_present(two, one, &self.hasher, news);
            std::mem::swap(one.table_mut(), two.table_mut());
            swap_expiry(one.side_mut(), two.side_mut());
        }
        let [one, two] = totals.map(|totals| {
            [totals.keys, totals.volatile, totals.timed]
                .map(|count| i64::try_from(count).expect("fewer keys than 2^63"))
        });
        counters.add(first, two[0] - one[0], two[1] - one[1], two[2] - one[2]);
        counters.add(second, one[0] - two[0], one[1] - two[1], one[2] - two[2]);
    }

    /// Removes what is past its expiry in one of two databases while the same key is watched in the
    /// other: to whoever watches it is absent, and so it must be after the databases were swapped.
    /// The caller holds the gate.
    pub fn expire_before_swap(
        &self,
        (first, second): (u8, u8),
        now: Millis,
        counters: &Counters,
        (effects, lost): (&mut Effects, &mut Vec<Ready>),
    ) {
        for (watching, holding) in [(first, second), (second, first)] {
            for slot in (0..SLOTS).map(slot_number) {
                let wanted = |database, mode| Wanted { place: Place { database, slot }, mode };
                let Ok(here) = Held::one(self, wanted(watching, Mode::Shared)) else { continue };
                let side = here.at(Place { database: watching, slot }).map(|guard| guard.side());
                let Some(Some(side)) = side else { continue };
                let place = Place { database: holding, slot };
                let watched = side.watches.keys();
                for key in watched.map(|key| WatchedKey { place, key: key.into() }) {
                    if let Ok(mut there) = Held::one(self, wanted(holding, Mode::Exclusive)) {
                        self.reclaim(&mut there, &key, now, counters, (effects, lost));
                    }
                }
            }
        }
    }

    /// Empties a database. The caller holds the gate. What was in it is returned, to be freed in
    /// slices.
    pub fn flush(&self, database: u8, counters: &Counters, news: &News) -> Vec<Table> {
        let mut detached = Vec::new();
        if self.databases[usize::from(database)].get().is_none() {
            return detached;
        }
        for slot in (0..SLOTS).map(slot_number) {
            let place = Place { database, slot };
            let Ok(mut held) = Held::one(self, Wanted { place, mode: Mode::Exclusive }) else {
                unreachable!("the gate is closed: no slot is locked")
            };
            let Some(guard) = held.at_mut(place) else { continue };
            if let Some(side) = guard.side_mut() {
                // All who track are told that everything is gone.
                side.trackers.clear(&news.interest);
                tidy(guard.side_mut());
            }
            if guard.table().is_empty() {
                continue;
            }
            if let Some(side) = guard.side() {
                let table = guard.table();
                side.watches.touch_where(|key| table.find(self.hash(key), key).is_some());
            }
            let (table, side) = guard.parts_mut();
            let table = table.clear();
            let expiry = side.as_mut().map(|side| std::mem::take(&mut side.expiry));
            let (volatile, timed) =
                expiry.map_or((0, 0), |expiry| (expiry.volatile(), expiry.timed()));
            counters.add(database, -signed(table.len()), -signed(volatile), -signed(timed));
            detached.push(table);
            tidy(side);
        }
        detached
    }

    /// Marks `key` (locked exclusive in `held`) for `watch`; the caller has reclaimed it if it was
    /// expired.
    pub fn watch(&self, held: &mut Held<'_>, watch: &Arc<Watch>, key: &WatchedKey) {
        let guard = held.at_mut(key.place).expect("the watched key's slot is locked");
        guard.side_mut().get_or_insert_default().watches.add(&key.key, Arc::clone(watch));
    }

    /// Takes `watch`'s marks in the slots of `held` away.
    pub fn unwatch(&self, held: &mut Held<'_>, watch: &Arc<Watch>, place: Place) {
        if let Some(guard) = held.at_mut(place) {
            if let Some(side) = guard.side_mut() {
                side.watches.remove(watch);
            }
            tidy(guard.side_mut());
        }
    }

    /// Marks a key that `tracker` has read (locked exclusive in `held`). If more than `keys_max`
    /// keys are marked, others of the slot lose their marks, and whoever made these is told.
    pub fn track(
        &self,
        held: &mut Held<'_>,
        (place, key): (Place, &[u8]),
        tracker: &Arc<Tracker>,
        keys_max: usize,
        news: &News,
    ) {
        let Some(guard) = held.at_mut(place) else { return };
        let trackers = &mut guard.side_mut().get_or_insert_default().trackers;
        trackers.add(key, tracker, &news.interest);
        let excess = news.interest.keys.load(Relaxed).saturating_sub(keys_max);
        if excess > 0 {
            trackers.evict(excess, Some(key), news);
        }
    }

    /// Takes marks of a slot away: of those who do not track any more, and of keys beyond
    /// `keys_max`. A busy slot is left as it is.
    pub fn sweep_trackers(&self, place: Place, keys_max: usize, news: &News) {
        let wanted = Wanted { place, mode: Mode::Exclusive };
        let Ok(mut held) = Held::one(self, wanted) else { return };
        let Some(guard) = held.at_mut(place) else { return };
        let Some(side) = guard.side_mut() else { return };
        side.trackers.sweep(&news.interest);
        let excess = news.interest.keys.load(Relaxed).saturating_sub(keys_max);
        side.trackers.evict(excess, None, news);
        tidy(guard.side_mut());
    }

    /// Removes a key (locked exclusive in `held`) if it is past its expiry, and those of its fields
    /// that are past their moment: at most `FIELDS_MAX`, the cycle does the rest.
    pub fn reclaim(
        &self,
        held: &mut Held<'_>,
        key: &WatchedKey,
        now: Millis,
        counters: &Counters,
        (effects, lost): (&mut Effects, &mut Vec<Ready>),
    ) {
        let is_dead = self.expired_since(held, key, now);
        let Some(guard) = held.at_mut(key.place) else { return };
        if is_dead {
            expire_key(guard, (self.hash(&key.key), &key.key), counters, effects, lost);
        } else if guard.side().as_ref().is_some_and(|side| side.expiry.timed() > 0) {
            let key = Key { bytes: &key.key, hash: self.hash(&key.key) };
            lapse(guard, &key, (now, FIELDS_MAX), self, (counters, effects));
        }
    }

    /// Whether a watched key (locked in `held`) is past its expiry by now.
    pub fn expired_since(&self, held: &Held<'_>, key: &WatchedKey, now: Millis) -> bool {
        let record =
            held.at(key.place).and_then(|guard| guard.table().find(self.hash(&key.key), &key.key));
        record.and_then(|at| at.expiry()).is_some_and(|expiry| expiry < now)
    }
}

/// Removes a key of a slot because its time is over. Goes to `lost` if it was a stream that
/// somebody reads.
pub(crate) fn expire_key(
    guard: &mut Guard<'_, Side>,
    (hash, key): (KeyHash, &[u8]),
    counters: &Counters,
    effects: &mut Effects,
    lost: &mut Vec<Ready>,
) {
    let place = place_of(guard);
    let database = place.database;
    let Some(removed) = guard.table_mut().remove(hash, key) else { return };
    let kind = removed.kind();
    let timed = i64::from(Ends::of(removed.record()).fields.is_some());
    let is_awaited = |side: &SlotSide| side.waiters.has(key);
    if kind == Kind::Stream && guard.side().as_ref().is_some_and(|side| is_awaited(side)) {
        lost.push(Ready { place, key: key.into(), kind });
    }
    if let Some(side) = guard.side_mut() {
        side.expiry.count(-1, -timed);
        side.watches.touch(key);
        side.trackers.touch(key, 0, &effects.news);
    }
    effects.news.note_change(key, 0);
    counters.add(database, -1, -1, -timed);
    Counters::count(&counters.expired, 1);
    effects.push(database, [b"DEL".as_slice(), key].into_iter());
    effects.news.tell(database, key, Event::EXPIRED);
}

/// Tells whoever watches a key of `here`, or has read it, that is in either table.
fn touch_present(
    here: &mut Guard<'_, Side>,
    there: &Guard<'_, Side>,
    hasher: &KeyHasher,
    news: &News,
) {
    let (table, side) = here.parts_mut();
    if let Some(side) = side {
        let is_present = |key: &[u8]| {
            let hash = hasher.hash(key);
            table.find(hash, key).is_some() || there.table().find(hash, key).is_some()
        };
        side.watches.touch_where(is_present);
        side.trackers.touch_where(is_present, news);
    }
}

fn swap_expiry(one: &mut Side, two: &mut Side) {
    if one.is_none() && two.is_none() {
        return;
    }
    let (first, second): (&mut SlotSide, &mut SlotSide) =
        (one.get_or_insert_default(), two.get_or_insert_default());
    std::mem::swap(&mut first.expiry, &mut second.expiry);
    tidy(one);
    tidy(two);
}

/// Frees a side that holds nothing any more.
pub(crate) fn tidy(side: &mut Side) {
    let empty = |at: &SlotSide| {
        at.expiry.is_empty()
            && at.waiters.is_empty()
            && at.watches.is_empty()
            && at.trackers.is_empty()
    };
    if side.as_ref().is_some_and(|at| empty(at)) {
        *side = None;
    }
}

fn slot_number(slot: usize) -> u16 {
    u16::try_from(slot).expect("there are 16,384 slots")
}

/// A count as a change of a count.
pub(crate) fn signed(count: usize) -> i64 {
    i64::try_from(count).expect("fewer keys than 2^63")
}
