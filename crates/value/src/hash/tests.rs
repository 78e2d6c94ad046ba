//! The hash held against a model, step by step, and its edges one by one.

use super::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

const SMALL: Limits = Limits { hash_packed_entries_max: 8, ..Limits::DEFAULT };

fn check(hash: &Hash, model: &Model) {
    assert_eq!(hash.len(), model.len());
    let pairs: Model = hash.iter().map(owned).collect();
    assert_eq!(&pairs, model);
    assert_eq!(hash.iter().len(), model.len());
    for (index, pair) in hash.iter().enumerate() {
        assert_eq!(hash.nth(index), Some(pair));
    }
    assert_eq!(hash.nth(model.len()), None);
    let half = model.len() / 2;
    assert!(hash.iter_from(half).eq(hash.iter().skip(half)));
    for (field, value) in model {
        assert!(hash.get(field).unwrap().equals(value));
        assert!(hash.contains(field));
    }
}

fn owned((field, value): (Item<'_>, Item<'_>)) -> (Vec<u8>, Vec<u8>) {
    (field.to_bytes().to_vec(), value.to_bytes().to_vec())
}

#[derive(Debug, Clone)]
enum Step {
    Insert(Vec<u8>, Vec<u8>),
    Remove(Vec<u8>),
    Take(Vec<u8>),
    Image,
}

fn field() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        (0u32..40).prop_map(|field| field.to_string().into_bytes()),
        (0u32..40).prop_map(|field| format!("field:{field}").into_bytes()),
    ]
}

fn value() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        8 => any::<i16>().prop_map(|value| value.to_string().into_bytes()),
        8 => proptest::collection::vec(any::<u8>(), 0..30),
        1 => (60usize..200).prop_map(|length| vec![b'v'; length]),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (field(), value()).prop_map(|(field, value)| Step::Insert(field, value)),
        2 => field().prop_map(Step::Remove),
        1 => field().prop_map(Step::Take),
        1 => Just(Step::Image),
    ]
}

proptest! {
    #[test]
    fn behaves_as_a_map(steps in proptest::collection::vec(step(), 0..80)) {
        let mut hash = Hash::new();
        let mut model = Model::new();
        let mut images = Vec::new();
        for step in steps {
            match step {
                Step::Insert(field, value) => {
                    let added = hash.insert(&field, &value, &SMALL);
                    prop_assert_eq!(added, model.insert(field, value).is_none());
                }
                Step::Remove(field) => {
                    prop_assert_eq!(hash.remove(&field), model.remove(&field).is_some());
                }
                Step::Take(field) => {
                    let taken = hash.take(&field).map(|value| value.to_vec());
                    prop_assert_eq!(taken, model.remove(&field));
                }
                Step::Image => images.push((hash.clone(), model.clone())),
            }
            check(&hash, &model);
        }
        for (hash, model) in images {
            check(&hash, &model);
        }
    }

    #[test]
    fn a_scan_gives_what_stays(
        stays in proptest::collection::btree_set(0u32..2000, 1..400),
        changes in proptest::collection::vec((any::<bool>(), 2000u32..3000), 0..400),
        count in 1usize..30,
    ) {
        let name = |field: &u32| field.to_string().into_bytes();
        let mut hash = Hash::new();
        for field in &stays {
            hash.insert(&name(field), b"", &SMALL);
        }
        let mut changes = changes.into_iter();
        let mut given = BTreeSet::new();
        let mut cursor = 0;
        loop {
            cursor = hash.scan(cursor, count, |field, _| {
                given.insert(u32::try_from(field.integer().unwrap()).unwrap());
            });
            if cursor == 0 {
                break;
            }
            for (insert, field) in changes.by_ref().take(20) {
                if insert {
                    hash.insert(&name(&field), b"", &SMALL);
                } else {
                    hash.remove(&name(&field));
                }
            }
        }
        prop_assert!(given.is_superset(&stays));
    }
}

#[test]
fn becomes_large_where_valkey_does() {
    let limits = Limits::DEFAULT;
    let with_fields = |count: usize| {
        let mut hash = Hash::new();
        for field in 0..count {
            hash.insert(format!("f{field}").as_bytes(), b"v", &limits);
        }
        hash
    };
    assert_eq!(with_fields(512).encoding(), "listpack");
    assert_eq!(with_fields(513).encoding(), "hashtable");

    let mut hash = with_fields(512);
    hash.insert(b"f1", b"w", &limits);
    assert_eq!(hash.encoding(), "listpack", "replacing adds nothing");

    for (length, encoding) in [(64, "listpack"), (65, "hashtable")] {
        let long = vec![b'x'; length];
        for (field, value) in [(&b"f"[..], &long[..]), (&long, b"v")] {
            let mut hash = Hash::new();
            hash.insert(field, value, &limits);
            assert_eq!(hash.encoding(), encoding);
            assert!(hash.get(field).unwrap().equals(value));
        }
    }

    let none = Limits { hash_packed_entries_max: 0, ..limits };
    let mut hash = with_fields(1);
    hash.insert(b"f0", b"w", &none);
    assert_eq!(hash.encoding(), "hashtable", "the limit holds for replacing too");

    let mut hash = Hash::new();
    hash.anticipate(513, &limits);
    hash.insert(b"f", b"v", &limits);
    assert_eq!(hash.encoding(), "hashtable", "a command with 513 pairs");

    let mut hash = with_fields(513);
    for field in 1..513 {
        hash.remove(format!("f{field}").as_bytes());
    }
    assert_eq!((hash.len(), hash.encoding()), (1, "hashtable"), "it does not become small again");
}

#[test]
fn a_small_hash_keeps_the_order_of_arrival() {
    let mut hash = Hash::new();
    for field in [&b"c"[..], b"a", b"7"] {
        hash.insert(field, b"1", &Limits::DEFAULT);
    }
    hash.insert(b"c", b"2", &Limits::DEFAULT);
    let fields: Vec<_> = hash.iter().map(|(field, _)| field).collect();
    assert_eq!(fields, [Item::Bytes(b"c"), Item::Bytes(b"a"), Item::Integer(7)]);
}

#[test]
fn a_scan_of_counts_gives_each_field_once() {
    let mut hash = Hash::new();
    for field in 0..10_000 {
        hash.insert(field.to_string().as_bytes(), b"v", &Limits::DEFAULT);
    }
    let (mut cursor, mut given, mut calls) = (0, 0, 0);
    loop {
        cursor = hash.scan(cursor, 100, |_, _| given += 1);
        calls += 1;
        if cursor == 0 {
            break;
        }
    }
    assert_eq!(given, 10_000);
    assert!((99..=101).contains(&calls));
    assert_eq!(hash.scan(u64::MAX, 10, |_, _| panic!("nothing is there")), 0);
}
