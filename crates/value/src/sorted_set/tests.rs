//! The sorted set held against a model, step by step, and its edges one by one.

use super::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Scores in these tests are integers or infinite, so they sort as integers.
type Model = BTreeMap<Vec<u8>, f64>;

const SMALL: Limits = Limits { sorted_set_packed_entries_max: 8, ..Limits::DEFAULT };

fn sorted(model: &Model) -> Vec<(Vec<u8>, f64)> {
    let mut pairs: Vec<_> = model.iter().map(|(member, score)| (member.clone(), *score)).collect();
    pairs.sort_by(|a, b| a.1.total_cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
    pairs
}

fn owned((member, score): (Item<'_>, f64)) -> (Vec<u8>, f64) {
    (member.to_bytes().to_vec(), score)
}

fn check(set: &SortedSet, model: &Model) {
    let mut pairs = sorted(model);
    assert_eq!(set.len(), pairs.len());
    assert!(set.iter().map(owned).eq(pairs.iter().cloned()));
    for (rank, (member, score)) in pairs.iter().enumerate() {
        assert_eq!(set.rank(member), Some(rank));
        assert_eq!(set.score(member), Some(*score));
        assert_eq!(set.nth(rank).map(owned).unwrap(), (member.clone(), *score));
        let below = pairs.iter().filter(|(_, other)| other < score).count();
        assert_eq!(set.rank_of_score(*score, false), below);
        let equal = pairs.iter().filter(|(_, other)| other == score).count();
        assert_eq!(set.rank_of_score(*score, true), below + equal);
    }
    let half = pairs.len() / 2;
    assert!(set.iter_from(half).map(owned).eq(pairs[half..].iter().cloned()));
    assert_eq!(set.iter_back_from(half).len(), (half + 1).min(pairs.len()));
    pairs.truncate(half + 1);
    assert!(set.iter_back_from(half).map(owned).eq(pairs.iter().rev().cloned()));
    assert_eq!(set.iter_back_from(usize::MAX).len(), set.len());
}

#[derive(Debug, Clone)]
enum Step {
    Insert(Vec<u8>, f64),
    Remove(Vec<u8>),
    RemoveRanks(prop::sample::Index, usize),
    PopFirst,
    PopLast,
    Image,
}

fn member() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        10 => (0u32..60).prop_map(|member| member.to_string().into_bytes()),
        10 => (0u32..60).prop_map(|member| format!("member:{member}").into_bytes()),
        1 => (60usize..70).prop_map(|length| vec![b'm'; length]),
    ]
}

fn score() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => (-3i32..3).prop_map(f64::from),
        2 => Just(-0.0),
        2 => any::<f64>().prop_filter("a score is a number", |score| !score.is_nan()),
        1 => Just(f64::INFINITY),
        1 => Just(f64::NEG_INFINITY),
        1 => any::<i64>().prop_map(|score| score as f64),
        1 => any::<i16>().prop_map(|score| f64::from(score) / 8.0),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (member(), score()).prop_map(|(member, score)| Step::Insert(member, score)),
        3 => member().prop_map(Step::Remove),
        1 => (any::<prop::sample::Index>(), 0usize..4).prop_map(|(at, n)| Step::RemoveRanks(at, n)),
        1 => Just(Step::PopFirst),
        1 => Just(Step::PopLast),
        1 => Just(Step::Image),
    ]
}

#[test]
fn members_of_several_scores_are_ranged_from_the_end_that_is_asked() {
    let mut set = SortedSet::new();
    for (member, score) in [("m", 1.0), ("b", 2.0), ("x", 3.0), ("a", 4.0)] {
        set.insert(member.as_bytes(), score, &SMALL);
    }
    let inclusive = |member: &'static str| LexBound::Inclusive(member.as_bytes());
    let [a, b, m] = ["a", "b", "m"].map(inclusive);
    // As seen on Valkey: the last member must reach the lower bound.
    assert!(set.range_by_lex(b, m, false).is_empty());
    assert_eq!(set.range_by_lex(a, m, false), 0..2);
    assert_eq!(set.range_by_lex(a, m, true), 0..4);
    assert_eq!(set.range_by_lex(a, LexBound::Exclusive(b"n"), false), 0..2);
    assert_eq!(set.range_by_lex(LexBound::Lowest, LexBound::Highest, true), 0..4);
}

proptest! {
    #[test]
    fn behaves_as_a_sorted_map(steps in proptest::collection::vec(step(), 0..100)) {
        let mut set = SortedSet::new();
        let mut model = Model::new();
        let mut images = Vec::new();
        for step in steps {
            match step {
                Step::Insert(member, score) => {
                    let expected = match model.insert(member.clone(), score + 0.0) {
                        None => Change::Added,
                        Some(old) if old == score => Change::Unchanged,
                        Some(_) => Change::Updated,
                    };
                    prop_assert_eq!(set.insert(&member, score, &SMALL), expected);
                }
                Step::Remove(member) => {
                    prop_assert_eq!(set.remove(&member), model.remove(&member));
                }
                Step::RemoveRanks(at, count) => {
                    let start = at.index(model.len() + 1);
                    let doomed = sorted(&model).into_iter().skip(start).take(count);
                    let removed = doomed.map(|(member, _)| model.remove(&member)).count();
                    prop_assert_eq!(set.remove_ranks(start..start + count), removed);
                }
                Step::PopFirst | Step::PopLast => {
                    let pairs = sorted(&model);
                    let (popped, expected) = match step {
                        Step::PopFirst => (set.pop_first(), pairs.first()),
                        _ => (set.pop_last(), pairs.last()),
                    };
                    let popped = popped.map(|(member, score)| (member.to_vec(), score));
                    prop_assert_eq!(popped.as_ref(), expected);
                    popped.map(|(member, _)| model.remove(&member));
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
    fn ranges_by_score_are_what_lies_between(
        scores in proptest::collection::vec(-20i32..20, 0..60),
        (min, max) in (-22i32..22, -22i32..22),
        (min_exclusive, max_exclusive) in any::<(bool, bool)>(),
    ) {
        let mut set = SortedSet::new();
        for (index, score) in scores.iter().enumerate() {
            set.insert(format!("m{index}").as_bytes(), f64::from(*score), &SMALL);
        }
        let (min, max) = (f64::from(min), f64::from(max));
        let inside = |score: f64| {
            (score > min || !min_exclusive && score == min)
                && (score < max || !max_exclusive && score == max)
        };
        let range = set.range_by_score(
            ScoreBound { value: min, exclusive: min_exclusive },
            ScoreBound { value: max, exclusive: max_exclusive },
        );
        let expected = scores.iter().filter(|score| inside(f64::from(**score))).count();
        prop_assert_eq!(range.len(), expected);
        for (_, score) in set.iter_from(range.start).take(range.len()) {
            prop_assert!(inside(score));
        }
    }

    #[test]
    fn ranges_by_member_are_what_lies_between(
        members in proptest::collection::btree_set(
            proptest::collection::vec(b'a'..b'd', 0..4),
            0..60,
        ),
        min in proptest::collection::vec(b'a'..b'd', 0..4),
        max in proptest::collection::vec(b'a'..b'd', 0..4),
        (min_exclusive, max_exclusive, downwards) in any::<(bool, bool, bool)>(),
    ) {
        let mut set = SortedSet::new();
        for member in &members {
            set.insert(member, 0.0, &SMALL);
        }
        let bound = |member, exclusive| match exclusive {
            true => LexBound::Exclusive(member),
            false => LexBound::Inclusive(member),
        };
        let inside = |member: &[u8]| {
            (member > &min[..] || !min_exclusive && member == min)
                && (member < &max[..] || !max_exclusive && member == max)
        };
        let (low, high) = (bound(&min, min_exclusive), bound(&max, max_exclusive));
        let range = set.range_by_lex(low, high, downwards);
        let expected = members.iter().filter(|member| inside(member)).count();
        prop_assert_eq!(range.len(), expected);
        for (member, _) in set.iter_from(range.start).take(range.len()) {
            prop_assert!(member.with(inside));
        }
        let all = set.range_by_lex(LexBound::Lowest, LexBound::Highest, downwards);
        prop_assert_eq!(all, 0..members.len());
        prop_assert!(set.range_by_lex(LexBound::Highest, LexBound::Lowest, downwards).is_empty());
    }

    #[test]
    fn a_scan_gives_what_stays(
        members in proptest::collection::btree_set(0u32..2000, 1..400),
        changes in proptest::collection::vec((0u32..2500, -5i32..5), 0..400),
        count in 1usize..30,
    ) {
        let name = |member: &u32| format!("member:{member}").into_bytes();
        let mut set = SortedSet::new();
        for member in &members {
            set.insert(&name(member), f64::from(member % 7), &SMALL);
        }
        let mut changes = changes.into_iter();
        let mut given = BTreeSet::new();
        let mut cursor = 0;
        loop {
            cursor = set.scan(cursor, count, |member, score| {
                assert_eq!(member.with(|member| set.score(member)), Some(score));
                given.insert(member.to_bytes().to_vec());
            });
            if cursor == 0 {
                break;
            }
            for (member, score) in changes.by_ref().take(20) {
                // Members that stay change their score; others come and go.
                if score < 0 && !members.contains(&member) {
                    set.remove(&name(&member));
                } else {
                    set.insert(&name(&member), f64::from(score), &SMALL);
                }
            }
        }
        prop_assert!(members.iter().all(|member| given.contains(&name(member))));
    }
}

#[test]
fn becomes_large_where_valkey_does() {
    let limits = Limits::DEFAULT;
    let with_members = |count: u32| {
        let mut set = SortedSet::new();
        for member in 0..count {
            set.insert(format!("m{member}").as_bytes(), f64::from(member), &limits);
        }
        set
    };
    assert_eq!(with_members(128).encoding(), "listpack");
    assert_eq!(with_members(129).encoding(), "skiplist");

    let mut set = with_members(128);
    assert_eq!(set.insert(b"m1", 500.0, &limits), Change::Updated);
    assert_eq!(set.encoding(), "listpack", "updating adds nothing");
    for (length, encoding) in [(64, "listpack"), (65, "skiplist")] {
        let mut set = SortedSet::new();
        set.insert(&vec![b'm'; length], 1.0, &limits);
        assert_eq!(set.encoding(), encoding);
    }
    let none = Limits { sorted_set_packed_entries_max: 0, ..limits };
    let mut set = with_members(1);
    set.insert(b"m0", 7.0, &none);
    assert_eq!(set.encoding(), "listpack");
    set.anticipate(1, &none);
    assert_eq!(set.encoding(), "skiplist", "a command that adds one");
    let mut set = with_members(129);
    set.remove_ranks(8..129);
    assert_eq!((set.len(), set.encoding()), (8, "skiplist"), "it does not become small again");
}

#[test]
fn a_scan_of_many_with_one_score_ends_soon() {
    let mut set = SortedSet::new();
    for member in 0..20_000 {
        set.insert(format!("member:{member}").as_bytes(), 0.0, &Limits::DEFAULT);
    }
    let (mut cursor, mut given, mut calls) = (0, 0, 0);
    loop {
        cursor = set.scan(cursor, 10, |_, _| given += 1);
        calls += 1;
        if cursor == 0 {
            break;
        }
    }
    assert_eq!(given, 20_000);
    assert!(calls <= 65, "{calls} calls");
}

#[test]
fn members_with_one_hash_and_one_score_stay_apart() {
    // Among 300,000 names some ten pairs share a hash of 32 bits.
    let mut names: Vec<_> = (0u32..300_000).map(u32::to_le_bytes).collect();
    names.sort_by_key(|name| crate::seed::hash(name));
    let same = |pair: &&[[u8; 4]]| crate::seed::hash(&pair[0]) == crate::seed::hash(&pair[1]);
    let pairs: Vec<[u8; 4]> = names.windows(2).filter(same).flatten().copied().collect();
    assert!(pairs.len() >= 2);

    let mut set = SortedSet::new();
    set.anticipate(1000, &Limits::DEFAULT);
    for name in &pairs {
        assert_eq!(set.insert(name, 0.0, &Limits::DEFAULT), Change::Added);
    }
    for name in pairs.iter().step_by(2) {
        assert_eq!(set.insert(name, 1.0, &Limits::DEFAULT), Change::Updated);
    }
    for (index, name) in pairs.iter().enumerate() {
        assert_eq!(set.score(name), Some(f64::from(u8::from(index % 2 == 0))));
    }
    for name in &pairs {
        assert_eq!(set.insert(name, 2.0, &Limits::DEFAULT), Change::Updated);
    }
    assert!(pairs.iter().all(|name| set.remove(name) == Some(2.0)));
    assert!(set.is_empty());
}

#[test]
#[should_panic(expected = "a score is a number")]
fn nan_is_no_score() {
    SortedSet::new().insert(b"m", f64::NAN, &Limits::DEFAULT);
}
