//! The table against a model: an ordered map from (position, key) to value and expiry.

use super::*;
use crate::hash::{POSITIONS, SlotId};
use crate::record::{INLINE_BYTES_MAX, Kind, ValueMut, ValueRef};
use caudal_value::{List, Object};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashMap, HashSet};

const SLOT: SlotId = SlotId(3);

/// A position that spreads the keys of a test, from their number.
fn spread(number: u32) -> KeyHash {
    KeyHash::new(SLOT, number.wrapping_mul(0x9e37_79b1) >> 8)
}

fn key_of(number: u32) -> Vec<u8> {
    format!("key:{number:011}").into_bytes()
}

fn text_of(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Integer(integer) => format!("integer {integer}"),
        ValueRef::Bytes(bytes) => format!("bytes {bytes:?}"),
        ValueRef::Blob(blob) => format!("blob {} {:?}", blob.len(), blob.first()),
        ValueRef::Object(object) => format!("object {:?}", crate::record::kind_of(object)),
    }
}

/// Checks what must stay true of the whole table, besides its content.
fn check(table: &Table) {
    let mut len = 0;
    let mut bytes = 0;
    for (first, page, page_len) in table.pages() {
        let entries: Vec<Entry> = page.entries().collect();
        assert_eq!(entries.len(), page_len as usize);
        for entry in &entries {
            assert!((first..first + page.positions()).contains(&entry.position()));
            bytes += record_of(*entry).extent() as u64;
        }
        let by_pairs: usize =
            (0..page.pairs()).map(|pair| page.entries_of_pair(pair).count()).sum();
        assert_eq!(by_pairs, entries.len(), "each entry is found from its own pair");
        len += entries.len();
    }
    assert_eq!((table.len(), table.record_bytes()), (len, bytes));
    assert_eq!(table.iter().count(), len);
}

#[test]
fn records_take_the_bytes_that_were_promised() {
    let mut table = Table::default();
    let bytes_of = |table: &Table, key: &[u8]| table.find(spread(1), key).unwrap().memory();
    table.set(spread(1), &[b'k'; 15], NewValue::Bytes(&[1; 16]), None);
    assert_eq!(bytes_of(&table, &[b'k'; 15]), 48);
    table.set(spread(1), &[b'l'; 16], NewValue::Bytes(&[1; 100]), None);
    assert_eq!(bytes_of(&table, &[b'l'; 16]), 128);
}

#[test]
fn every_form_of_value_is_kept_and_given_back() {
    let mut table = Table::default();
    let hash = spread(9);
    assert!(table.set(hash, b"k", NewValue::Integer(-7), None).is_none());
    assert_eq!(text_of(table.find(hash, b"k").unwrap().value()), "integer -7");
    let long = vec![9; INLINE_BYTES_MAX + 1];
    assert!(table.set(hash, b"k", NewValue::Bytes(&long), Some(5)).is_none());
    let record = table.find(hash, b"k").unwrap();
    assert_eq!(text_of(record.value()), "blob 16385 Some(9)");
    assert_eq!((record.expiry(), record.kind()), (Some(5), Kind::String));
    let list = NewValue::Object(Object::List(List::default()));
    let blob = table.set(hash, b"k", list, None).unwrap();
    assert_eq!(text_of(blob.value()), "blob 16385 Some(9)");
    assert!(table.set_expiry(hash, b"k", Some(8)));
    assert!(table.set_expiry(hash, b"k", Some(9)));
    assert!(!table.set_expiry(hash, b"other", Some(9)));
    let mut record = table.find_mut(hash, b"k").unwrap();
    assert_eq!((record.kind(), record.expiry()), (Kind::List, Some(9)));
    assert!(matches!(record.value_mut(), ValueMut::Object(Object::List(_))));
    let removed = table.remove(hash, b"k").unwrap();
    assert_eq!((removed.kind(), removed.expiry()), (Kind::List, Some(9)));
    assert!(table.set_owned(spread(10), b"renamed", removed.into_value(), None).is_none());
    assert_eq!(text_of(table.find(spread(10), b"renamed").unwrap().value()), "object List");
    check(&table);
}

#[test]
fn strings_are_changed_in_place_while_they_fit() {
    let mut table = Table::default();
    let hash = spread(2);
    table.set(hash, b"key", NewValue::Bytes(b"0123456789"), None);
    table.find(hash, b"key").unwrap().set_clock(77);
    let mut record = table.find_mut(hash, b"key").unwrap();
    assert!(record.try_resize(17) && !record.try_resize(18), "12 + 3 + 17 bytes fill the block");
    assert_eq!(text_of(record.value()), text_of(ValueRef::Bytes(b"0123456789\0\0\0\0\0\0\0")));
    assert!(record.try_resize(2) && record.try_resize(4));
    assert_eq!(text_of(record.value()), text_of(ValueRef::Bytes(b"01\0\0")));
    assert!(record.try_overwrite(&NewValue::Integer(1)));
    record.set_integer(2);
    assert_eq!(text_of(record.value()), "integer 2");
    assert!(!record.try_overwrite(&NewValue::Bytes(&[0; 64])));
    assert!(table.set(hash, b"key", NewValue::Bytes(&[0; 64]), None).is_none());
    assert_eq!(table.find(hash, b"key").unwrap().clock(), 77, "the clock stays");
    assert!(table.set(hash, b"key", NewValue::Bytes(b""), None).is_none());
    assert_eq!(table.find(hash, b"key").unwrap().memory(), 16, "a block far too large is left");
    check(&table);
}

#[test]
fn a_long_key_stands_out_of_line() {
    let mut table = Table::default();
    let (one, two) = (vec![b'a'; INLINE_BYTES_MAX], vec![b'a'; 100_000]);
    table.set(spread(1), &one, NewValue::Integer(1), None);
    table.set(spread(1), &two, NewValue::Bytes(&[7; INLINE_BYTES_MAX]), None);
    assert!(table.set_expiry(spread(1), &two, Some(1)));
    assert_eq!(table.find(spread(1), &one).unwrap().key(), one);
    let record = table.find(spread(1), &two).unwrap();
    assert_eq!(record.key(), two);
    assert!(record.memory() > 100_000 + INLINE_BYTES_MAX);
    check(&table);
    assert!(table.remove(spread(1), &two).is_some() && table.find(spread(1), &two).is_none());
}

#[test]
fn a_slot_grows_splits_shrinks_and_merges() {
    let mut table = Table::default();
    let numbers = 40_000;
    for number in 0..numbers {
        table.insert(spread(number), &key_of(number), NewValue::Integer(i64::from(number)), None);
    }
    check(&table);
    assert!(table.pages().count() >= 20);
    assert!(table.pages().all(|(_, _, len)| len <= page::KEYS_MAX));
    for number in 0..numbers {
        let record = table.find(spread(number), &key_of(number)).unwrap();
        assert_eq!(text_of(record.value()), format!("integer {number}"));
    }
    for number in 0..numbers {
        assert!(table.remove(spread(number), &key_of(number)).is_some());
        if number % 4096 == 0 || number > numbers - 20 {
            check(&table);
        }
    }
    assert_eq!((table.len(), table.memory(), table.pages().count()), (0, 0, 1));
}

#[test]
fn keys_of_one_position_and_of_a_few_stay_right() {
    // More than a page may have, so that a split is tried; few, for each is found after all before
    // it.
    for (positions, numbers) in [(1, 2_100), (3, 2_500)] {
        let mut table = Table::default();
        let hash = |number: u32| KeyHash::new(SLOT, (number % positions) * 0x1001);
        for number in 0..numbers {
            table.insert(hash(number), &key_of(number), NewValue::Integer(1), None);
        }
        check(&table);
        assert!((0..numbers).all(|number| table.find(hash(number), &key_of(number)).is_some()));
        assert!(table.memory() < numbers as usize * 40, "{} bytes", table.memory());
        for number in (0..numbers).rev() {
            assert!(table.remove(hash(number), &key_of(number)).is_some());
        }
        assert_eq!(table.memory(), 0);
    }
}

#[test]
fn random_records_are_spread_fairly() {
    let mut table = Table::default();
    assert!(table.nth_random(1).is_none());
    for number in 0..200 {
        table.insert(spread(number), &key_of(number), NewValue::Integer(1), None);
    }
    let mut met = HashMap::<Vec<u8>, u32>::new();
    for draw in 0..40_000u64 {
        let random = draw.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        *met.entry(table.nth_random(random).unwrap().key().to_vec()).or_default() += 1;
    }
    // 200 expected of each, standard deviation 14.
    assert!(met.len() == 200 && met.values().all(|times| (100..300).contains(times)));
}

#[derive(Debug, Clone)]
enum Step {
    Set { number: u32, len: usize, expiry: Option<u64> },
    SetMany { from: u32, count: u32 },
    RemoveMany { from: u32, count: u32 },
    Remove { number: u32 },
    Expire { number: u32, expiry: Option<u64> },
    Scan { budget: usize },
}

fn step() -> impl Strategy<Value = Step> {
    let number = 0..6_000u32;
    let expiry = proptest::option::of(1..u64::MAX);
    let len = prop_oneof![8 => 0..300usize, 1 => 16_380..16_390usize];
    prop_oneof![
        4 => (number.clone(), len, expiry.clone())
            .prop_map(|(number, len, expiry)| Step::Set { number, len, expiry }),
        3 => (number.clone(), 0..1_500u32).prop_map(|(from, count)| Step::SetMany { from, count }),
        2 => (number.clone(), 0..2_000u32)
            .prop_map(|(from, count)| Step::RemoveMany { from, count }),
        2 => number.clone().prop_map(|number| Step::Remove { number }),
        2 => (number, expiry).prop_map(|(number, expiry)| Step::Expire { number, expiry }),
        4 => (0..900usize).prop_map(|budget| Step::Scan { budget }),
    ]
}

/// The model: what each key holds, and a walk that goes on beside the changes.
#[derive(Default)]
struct Model {
    table: Table,
    keys: BTreeMap<u32, (String, Option<u64>)>,
    cursor: u32,
    /// Keys that were there since the walk began, and those that it met.
    stayed: HashSet<u32>,
    met: HashSet<u32>,
    /// Shifts positions together, so that keys share them.
    squeeze: u32,
}

impl Model {
    fn hash(&self, number: u32) -> KeyHash {
        KeyHash::new(SLOT, spread(number).position() >> self.squeeze << (self.squeeze / 2))
    }

    fn set(&mut self, number: u32, len: usize, expiry: Option<u64>) {
        let bytes = vec![number.to_le_bytes()[0]; len];
        let value = match len {
            1 => NewValue::Integer(i64::from(number)),
            2 => NewValue::Object(Object::List(List::default())),
            _ => NewValue::Bytes(&bytes),
        };
        let old = self.keys.insert(number, (String::new(), expiry));
        let was_large =
            old.is_some_and(|(text, _)| !text.starts_with(['b', 'i']) || text.starts_with("bl"));
        let hash = self.hash(number);
        let removed = self.table.set(hash, &key_of(number), value, expiry);
        assert_eq!(removed.is_some(), was_large);
        let record = self.table.find(hash, &key_of(number)).unwrap();
        let text = text_of(record.value());
        match len {
            1 => assert_eq!(text, format!("integer {number}")),
            2 => assert_eq!(text, "object List"),
            _ if len <= INLINE_BYTES_MAX => assert_eq!(text, text_of(ValueRef::Bytes(&bytes))),
            _ => assert!(text.starts_with("blob")),
        }
        self.keys.get_mut(&number).unwrap().0 = text;
    }

    fn remove(&mut self, number: u32) {
        let removed = self.table.remove(self.hash(number), &key_of(number));
        let wanted = self.keys.remove(&number);
        assert_eq!(removed.map(|removed| (text_of(removed.value()), removed.expiry())), wanted);
        self.stayed.remove(&number);
    }

    fn scan(&mut self, budget: usize) {
        let met = &mut self.met;
        let next = self.table.scan(self.cursor, budget, &mut |record| {
            let number = std::str::from_utf8(&record.key()[4..]).unwrap().parse().unwrap();
            assert!(met.insert(number) || !self.stayed.contains(&number), "met twice");
        });
        if let Some(next) = next {
            assert!(next > self.cursor && next < POSITIONS);
            self.cursor = next;
            return;
        }
        assert!(self.stayed.is_subset(&self.met), "what stayed was met");
        self.stayed = self.keys.keys().copied().collect();
        (self.cursor, self.met) = (0, HashSet::new());
    }

    fn apply(&mut self, step: Step) {
        // Equal positions are found one after the other: fewer of them, or the test takes minutes.
        let few = if self.squeeze > 0 { 16 } else { 1 };
        match step {
            Step::Set { number, len, expiry } => self.set(number, len, expiry),
            Step::SetMany { from, count } => {
                (from..from + count / few).for_each(|n| self.set(n, 3, None))
            }
            Step::RemoveMany { from, count } => (from..from + count).for_each(|n| self.remove(n)),
            Step::Remove { number } => self.remove(number),
            Step::Expire { number, expiry } => {
                let found = self.table.set_expiry(self.hash(number), &key_of(number), expiry);
                assert_eq!(found, self.keys.contains_key(&number));
                self.keys.entry(number).and_modify(|key| key.1 = expiry);
            }
            Step::Scan { budget } => self.scan(budget),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn the_table_is_a_map_and_walks_miss_nothing(
        squeeze in prop_oneof![3 => Just(0u32), 1 => 10..24u32],
        steps in proptest::collection::vec(step(), 1..60),
    ) {
        let mut model = Model { squeeze, ..Model::default() };
        for step in steps {
            model.apply(step);
        }
        check(&model.table);
        for (&number, (text, expiry)) in &model.keys {
            let record = model.table.find(model.hash(number), &key_of(number)).unwrap();
            prop_assert_eq!((&text_of(record.value()), &record.expiry()), (text, expiry));
        }
        let taken = model.table.clear();
        prop_assert_eq!((taken.len(), model.table.len()), (model.keys.len(), 0));
    }
}
