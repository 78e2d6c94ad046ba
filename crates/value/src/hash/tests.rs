//! The hash held against a model, step by step, and its edges one by one.

use super::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Values and moments.
type Model = BTreeMap<Vec<u8>, (Vec<u8>, Option<u64>)>;

/// Moments of the tests are below this.
const MOMENTS: u64 = 20;

const SMALL: Limits = Limits { hash_packed_entries_max: 8, ..Limits::DEFAULT };

fn check(hash: &Hash, model: &Model) {
    assert_eq!(hash.len(), model.len());
    let triples: Model = hash
        .iter_timed()
        .map(|(field, value, moment)| {
            let (field, value) = owned((field, value));
            (field, (value, moment))
        })
        .collect();
    assert_eq!(&triples, model);
    assert_eq!(hash.first_moment(), model.values().filter_map(|(_, moment)| *moment).min());
    assert_eq!(hash.iter().len(), model.len());
    for (index, pair) in hash.iter().enumerate() {
        assert_eq!(hash.nth(index), Some(pair));
    }
    assert_eq!(hash.nth(model.len()), None);
    let half = model.len() / 2;
    assert!(hash.iter_from(half).eq(hash.iter().skip(half)));
    for (field, (value, moment)) in model {
        assert!(hash.get(field).unwrap().equals(value));
        assert!(hash.contains(field));
        assert_eq!(hash.get_timed(field).unwrap().1, *moment);
    }
    for now in [0, MOMENTS / 2, MOMENTS] {
        check_alive(hash.alive(now), model, now);
    }
}

/// What a reader sees at `now`, by every way of looking.
fn check_alive(alive: Alive<'_>, model: &Model, now: u64) {
    let is_alive = |moment: &Option<u64>| moment.is_none_or(|moment| moment >= now);
    let expected: BTreeMap<_, _> = model
        .iter()
        .filter(|(_, (_, moment))| is_alive(moment))
        .map(|(field, (value, _))| (field.clone(), value.clone()))
        .collect();
    assert_eq!(alive.iter().map(owned).collect::<BTreeMap<_, _>>(), expected);
    assert_eq!(alive.count(), expected.len());
    assert_eq!(alive.has_dead(), expected.len() < model.len());
    let (mut scanned, mut cursor) = (BTreeMap::new(), 0);
    loop {
        cursor = alive.scan(cursor, 5, |field, value| {
            scanned.extend([owned((field, value))]);
        });
        if cursor == 0 {
            break;
        }
    }
    assert_eq!(scanned, expected);
    for (field, (value, moment)) in model {
        let found = alive.get(field).map(|value| value.to_bytes().to_vec());
        assert_eq!(found, is_alive(moment).then(|| value.clone()));
        assert_eq!(alive.contains(field), found.is_some());
    }
}

fn owned((field, value): (Item<'_>, Item<'_>)) -> (Vec<u8>, Vec<u8>) {
    (field.to_bytes().to_vec(), value.to_bytes().to_vec())
}

#[derive(Debug, Clone)]
enum Step {
    Insert(Vec<u8>, Vec<u8>),
    InsertUntil(Vec<u8>, Vec<u8>, Option<u64>),
    SetMoment(Vec<u8>, Option<u64>),
    DropDead(u64, usize),
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

fn moment() -> impl Strategy<Value = Option<u64>> {
    proptest::option::weighted(0.7, 0..MOMENTS)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (field(), value()).prop_map(|(field, value)| Step::Insert(field, value)),
        4 => (field(), value(), moment())
            .prop_map(|(field, value, moment)| Step::InsertUntil(field, value, moment)),
        4 => (field(), moment()).prop_map(|(field, moment)| Step::SetMoment(field, moment)),
        1 => (0..MOMENTS, 0usize..6).prop_map(|(now, max)| Step::DropDead(now, max)),
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
                    prop_assert_eq!(added, model.insert(field, (value, None)).is_none());
                }
                Step::InsertUntil(field, value, moment) => {
                    let added = hash.insert_until(&field, &value, moment, &SMALL);
                    prop_assert_eq!(added, model.insert(field, (value, moment)).is_none());
                }
                Step::SetMoment(field, moment) => {
                    let found = model.get_mut(&field).map(|entry| entry.1 = moment);
                    prop_assert_eq!(hash.set_moment(&field, moment), found.is_some());
                }
                Step::DropDead(now, max) => {
                    let mut given = Vec::new();
                    let dropped = hash.drop_dead(now, max, |field| given.push(field.to_bytes()));
                    prop_assert_eq!(dropped, given.len());
                    let dead = |(_, moment): &(_, Option<u64>)| moment.is_some_and(|at| at < now);
                    let dead = model.values().filter(|entry| dead(entry)).count();
                    prop_assert_eq!(dropped, dead.min(max));
                    for field in given {
                        let (_, moment) = model.remove(&field[..]).unwrap();
                        prop_assert!(moment.is_some_and(|moment| moment < now));
                    }
                }
                Step::Remove(field) => {
                    prop_assert_eq!(hash.remove(&field), model.remove(&field).is_some());
                }
                Step::Take(field) => {
                    let taken = hash.take(&field).map(|value| value.to_vec());
                    prop_assert_eq!(taken, model.remove(&field).map(|(value, _)| value));
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

#[test]
fn a_moment_makes_a_hash_large_and_costs_nothing_once_it_is_gone() {
    let mut plain = Hash::new();
    plain.insert(b"a", b"1", &Limits::DEFAULT);
    let mut hash = plain.clone();
    assert!(!hash.set_moment(b"b", Some(5)), "there is no such field");
    assert_eq!(hash.encoding(), "listpack");
    assert!(hash.set_moment(b"a", Some(5)));
    assert_eq!((hash.encoding(), hash.first_moment()), ("hashtable", Some(5)));
    assert!(hash.set_moment(b"a", None));
    assert_eq!((hash.encoding(), hash.first_moment()), ("hashtable", None));
    plain.enlarge();
    assert_eq!(hash.memory(), plain.memory());
}

#[test]
fn fields_of_one_hash_and_one_moment_end_together() {
    // Among so many some share 32 bits of hash.
    let mut seen = std::collections::HashMap::new();
    let twins = (0..u32::MAX).find_map(|number| {
        let name = number.to_string();
        seen.insert(seed::hash(name.as_bytes()), name.clone()).map(|other| (other, name))
    });
    let (first, second) = twins.unwrap();
    let mut hash = Hash::new();
    for name in [&first, &second] {
        hash.insert_until(name.as_bytes(), b"v", Some(7), &Limits::DEFAULT);
    }
    let mut other = hash.clone();
    assert!(other.set_moment(first.as_bytes(), Some(9)));
    assert_eq!(other.first_moment(), Some(7), "the second still ends then");
    assert_eq!(other.drop_dead(8, 9, |field| assert!(field.equals(second.as_bytes()))), 1);
    assert_eq!(other.first_moment(), Some(9));
    assert!(hash.remove(first.as_bytes()));
    assert_eq!(hash.first_moment(), Some(7));
    assert!(hash.remove(second.as_bytes()));
    assert_eq!(hash.first_moment(), None);
    assert_eq!(other.drop_dead(10, 9, |_| ()), 1);
    assert!(other.is_empty());
}
