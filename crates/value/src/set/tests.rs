//! The set held against a model, step by step, and its edges one by one.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

type Model = BTreeSet<Vec<u8>>;

const SMALL: Limits = Limits { set_integers_max: 12, set_packed_entries_max: 8, ..Limits::DEFAULT };

fn check(set: &Set, model: &Model) {
    assert_eq!(set.len(), model.len());
    let members: Model = set.iter().map(|member| member.to_bytes().to_vec()).collect();
    assert_eq!(&members, model);
    assert_eq!(set.iter().len(), model.len());
    for (index, member) in set.iter().enumerate() {
        assert_eq!(set.nth(index), Some(member));
    }
    assert_eq!(set.nth(model.len()), None);
    let half = model.len() / 2;
    assert!(set.iter_from(half).eq(set.iter().skip(half)));
    assert!(model.iter().all(|member| set.contains(member)));
    if set.encoding() == "intset" {
        assert!(set.iter().map(|member| member.integer()).is_sorted());
    }
}

#[derive(Debug, Clone)]
enum Step {
    Insert(Vec<u8>),
    Remove(Vec<u8>),
    Pop(prop::sample::Index),
    Image,
}

fn member() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        20 => (-20i64..20).prop_map(|member| member.to_string().into_bytes()),
        4 => any::<i64>().prop_map(|member| member.to_string().into_bytes()),
        4 => any::<i32>().prop_map(|member| member.to_string().into_bytes()),
        2 => (0u32..20).prop_map(|member| format!("member:{member}").into_bytes()),
        1 => (60usize..70).prop_map(|length| vec![b'm'; length]),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => member().prop_map(Step::Insert),
        3 => member().prop_map(Step::Remove),
        2 => any::<prop::sample::Index>().prop_map(Step::Pop),
        1 => Just(Step::Image),
    ]
}

proptest! {
    #[test]
    fn behaves_as_a_set(steps in proptest::collection::vec(step(), 0..80)) {
        let mut set = Set::new();
        let mut model = Model::new();
        let mut images = Vec::new();
        for step in steps {
            match step {
                Step::Insert(member) => {
                    prop_assert_eq!(set.insert(&member, &SMALL), model.insert(member));
                }
                Step::Remove(member) => {
                    prop_assert_eq!(set.remove(&member), model.remove(&member));
                }
                Step::Pop(_) if model.is_empty() => {
                    prop_assert_eq!(set.pop_nth(0), None);
                    // A command deletes the key of an empty set.
                    set = Set::new();
                }
                Step::Pop(index) => {
                    let member = set.pop_nth(index.index(model.len())).unwrap();
                    prop_assert!(model.remove(&member[..]));
                }
                Step::Image => images.push((set.clone(), model.clone())),
            }
            check(&set, &model);
        }
        for (set, model) in images {
            check(&set, &model);
        }
    }

    #[test]
    fn a_scan_gives_what_stays(
        stays in proptest::collection::btree_set(0u32..2000, 1..400),
        changes in proptest::collection::vec((any::<bool>(), 2000u32..3000), 0..400),
        count in 1usize..30,
    ) {
        let name = |member: &u32| format!("member:{member}").into_bytes();
        let mut set = Set::new();
        for member in &stays {
            set.insert(&name(member), &SMALL);
        }
        let mut changes = changes.into_iter();
        let mut given = Model::new();
        let mut cursor = 0;
        loop {
            cursor = set.scan(cursor, count, |member| {
                given.insert(member.to_bytes().to_vec());
            });
            if cursor == 0 {
                break;
            }
            for (insert, member) in changes.by_ref().take(20) {
                if insert {
                    set.insert(&name(&member), &SMALL);
                } else {
                    set.remove(&name(&member));
                }
            }
        }
        prop_assert!(stays.iter().all(|member| given.contains(&name(member))));
    }
}

fn of_integers(count: usize, limits: &Limits) -> Set {
    let mut set = Set::new();
    for member in 0..count {
        set.insert(member.to_string().as_bytes(), limits);
    }
    set
}

#[test]
fn becomes_large_where_valkey_does() {
    let limits = Limits::DEFAULT;
    assert_eq!(of_integers(512, &limits).encoding(), "intset");
    assert_eq!(of_integers(513, &limits).encoding(), "hashtable");
    let ten = Limits { set_integers_max: 10, ..limits };
    assert_eq!(of_integers(11, &ten).encoding(), "hashtable", "not a packed one in between");

    for (integers, encoding) in [(127, "listpack"), (128, "hashtable")] {
        let mut set = of_integers(integers, &limits);
        set.insert(b"x", &limits);
        assert_eq!((set.len(), set.encoding()), (integers + 1, encoding));

        let mut set = Set::new();
        set.insert(b"x", &limits);
        (0..integers).for_each(|i| assert!(set.insert(i.to_string().as_bytes(), &limits)));
        assert_eq!(set.encoding(), encoding);
    }
    for (length, encoding) in [(64, "listpack"), (65, "hashtable")] {
        for others in [&[][..], &[&b"x"[..]], &[b"1", b"2"]] {
            let mut set = Set::new();
            others.iter().for_each(|other| assert!(set.insert(other, &limits)));
            assert!(set.insert(&vec![b'm'; length], &limits));
            assert_eq!(set.encoding(), encoding);
        }
    }
}

#[test]
fn begins_where_valkey_does() {
    let limits = Limits::DEFAULT;
    let begun = |first: &[u8], count: usize, limits: &Limits| {
        let mut set = Set::new();
        set.anticipate(first, count, limits);
        set.insert(first, limits);
        set.encoding()
    };
    assert_eq!(begun(b"1", 512, &limits), "intset");
    assert_eq!(begun(b"1", 513, &limits), "hashtable");
    assert_eq!(begun(b"x", 128, &limits), "listpack");
    assert_eq!(begun(b"x", 129, &limits), "hashtable");
    assert_eq!(begun(b"1", 1, &Limits { set_integers_max: 0, ..limits }), "listpack");
    assert_eq!(begun(b"x", 1, &Limits { set_packed_entries_max: 0, ..limits }), "hashtable");
    let one = Limits { set_packed_value_bytes_max: 1, ..limits };
    let mut set = of_integers(12, &limits);
    set.insert(b"x", &one);
    assert_eq!(set.encoding(), "hashtable", "a member that is there is too long");
}

#[test]
fn integers_take_the_width_they_need() {
    let mut set = of_integers(100, &Limits::DEFAULT);
    assert!(set.memory() <= 256);
    set.insert(b"100000", &Limits::DEFAULT);
    assert!(set.memory() <= 512);
    set.insert(b"-9223372036854775808", &Limits::DEFAULT);
    assert!(set.memory() <= 1024);
    assert_eq!(set.nth(0), Some(Item::Integer(i64::MIN)));
    assert_eq!(set.nth(101), Some(Item::Integer(100_000)));
}
