//! Locks, guards, hints.

use super::*;
use crate::hash::KeyHasher;
use crate::record::NewValue;
use std::sync::atomic::{AtomicBool, AtomicUsize};

#[derive(Default)]
struct Bell(AtomicUsize);

impl Unpark for Bell {
    fn unpark(&self, database: u8, slot: SlotId) {
        assert_eq!((database, slot), (4, SlotId(9)));
        self.0.fetch_add(1, Relaxed);
    }
}

type Side = Option<Box<u32>>;

fn array() -> (Box<SlotArray<Side>>, Arc<Bell>) {
    let bell = Arc::new(Bell::default());
    (SlotArray::new(4, Arc::clone(&bell) as Arc<dyn Unpark>), bell)
}

#[test]
fn guards_exclude_each_other_and_tell_who_is_parked() {
    let (array, bell) = array();
    let slot = SlotId(9);
    assert!(!array.mark_parked(slot), "the slot is free");
    let one = array.try_lock(slot, Mode::Shared).unwrap();
    let two = array.try_lock(slot, Mode::Shared).unwrap();
    assert!(array.lock_spinning(slot, Mode::Exclusive, 3).is_none());
    let three = array.try_lock(slot, Mode::Shared).expect("the writer's intent went with it");
    assert!(array.mark_parked(slot));
    drop(one);
    assert_eq!(bell.0.load(Relaxed), 1, "a reader's unlock wakes, though others hold the slot");
    drop((two, three));
    assert_eq!(bell.0.load(Relaxed), 1, "once");
    let mut writer = array.try_lock(slot, Mode::Exclusive).unwrap();
    assert!(array.try_lock(slot, Mode::Shared).is_none() && array.mark_parked(slot));
    assert!(array.try_lock(SlotId(10), Mode::Exclusive).is_some(), "other slots are free");
    *writer.side_mut() = Some(Box::new(5));
    writer.set_sequence(77);
    drop(writer);
    assert_eq!(bell.0.load(Relaxed), 2);
    let reader = array.lock_spinning(slot, Mode::Shared, 0).unwrap();
    assert_eq!((reader.side().as_deref(), reader.sequence()), (Some(&5), 77));
    assert_eq!((reader.slot(), reader.database(), reader.mode()), (slot, 4, Mode::Shared));
    assert!(size_of::<Guard<'_, u64>>() <= 24);
}

#[test]
#[should_panic(expected = "held shared")]
fn a_shared_guard_does_not_change_the_table() {
    let (array, _) = array();
    let mut reader = array.try_lock(SlotId(1), Mode::Shared).unwrap();
    let _ = reader.table_mut();
}

#[test]
fn swapped_tables_keep_their_keys_and_hints() {
    let (array, _) = array();
    let hash = KeyHasher::new(1).hash(b"key");
    let mut one = array.try_lock(hash.slot(), Mode::Exclusive).unwrap();
    one.table_mut().insert(hash, b"key", NewValue::Integer(1), None);
    let other = SlotId(hash.slot().0 ^ 1);
    let mut two = array.try_lock(other, Mode::Exclusive).unwrap();
    std::mem::swap(one.table_mut(), two.table_mut());
    drop((one, two));
    let pin = crate::pin();
    let bucket = array.prefetch_bucket(hash.with_slot(other), &pin);
    bucket.into_iter().for_each(Bucket::prefetch_record);
    let two = array.try_lock(other, Mode::Shared).unwrap();
    assert!(two.table().find(hash, b"key").is_some());
}

/// Prefetching looks at pages while they grow, split, shrink and are freed. Run under a sanitizer
/// or the interpreter this finds a page that is freed too early; as it is, a crash or a failed
/// assertion.
#[test]
fn prefetching_goes_on_while_pages_come_and_go() {
    let (array, _) = array();
    let hash = |number: u32| KeyHash::new(SlotId(9), number.wrapping_mul(0x9e37_79b1) >> 8);
    let is_done = AtomicBool::new(false);
    let rounds = if cfg!(miri) { 1 } else { 4 };
    let keys = if cfg!(miri) { 300 } else { 6_000u32 };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_done.load(Relaxed) {
                    let pin = crate::pin();
                    let bucket = |number: u32| array.prefetch_bucket(hash(number * 97), &pin);
                    let buckets: Vec<_> = (0..32).filter_map(bucket).collect();
                    buckets.into_iter().for_each(Bucket::prefetch_record);
                    drop(pin);
                    if let Some(guard) = array.lock_spinning(SlotId(9), Mode::Shared, 10) {
                        let table = guard.table();
                        (0..32).for_each(|number| {
                            let key = (number * 97u32).to_le_bytes();
                            if let Some(record) = table.find(hash(number * 97), &key) {
                                record.set_clock(number);
                                assert_eq!(record.key(), key);
                            }
                        });
                    }
                }
            });
        }
        for round in 0..2 * rounds {
            for number in 0..keys {
                let mut guard = loop {
                    if let Some(guard) = array.lock_spinning(SlotId(9), Mode::Exclusive, 100) {
                        break guard;
                    }
                    std::thread::yield_now();
                };
                let (key, table) = (number.to_le_bytes(), guard.table_mut());
                if round % 2 == 0 {
                    table.insert(hash(number), &key, NewValue::Integer(1), None);
                } else {
                    assert!(table.remove(hash(number), &key).is_some());
                }
            }
        }
        is_done.store(true, Relaxed);
    });
    crate::pin().flush();
    assert!(array.try_lock(SlotId(9), Mode::Exclusive).unwrap().table().is_empty());
}

#[test]
fn walks_pass_over_slots_without_keys() {
    let (array, _) = array();
    let hasher = KeyHasher::new(3);
    let (key, slot) = (b"key", hasher.hash(b"key").slot());
    assert_eq!(array.next_used(SlotId(0)), None);
    let mut guard = array.try_lock(slot, Mode::Exclusive).unwrap();
    assert_eq!(array.next_used(SlotId(0)), Some(slot), "it may get keys");
    guard.table_mut().insert(hasher.hash(key), key, NewValue::Integer(1), None);
    drop(guard);
    drop(array.try_lock(slot, Mode::Shared));
    assert_eq!(array.next_used(slot), Some(slot));
    let mut guard = array.try_lock(slot, Mode::Exclusive).unwrap();
    guard.table_mut().remove(hasher.hash(key), key);
    drop(guard);
    assert_eq!(array.next_used(SlotId(0)), None);
}
