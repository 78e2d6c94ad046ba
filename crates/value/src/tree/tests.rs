//! The tree held against a model, step by step, and its edges one by one.

use super::inner::FANOUT;
use super::leaf::LEAF_BYTES_MAX;
use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

type Model<W> = BTreeMap<(W, Vec<u8>), Vec<u8>>;

/// Checks what must stay true of a tree, and that it holds what the model holds.
fn check<K: Kind>(tree: &Tree<K>, model: &Model<K::Word>) {
    let mut walked = Vec::new();
    let (memory, _) = check_node(&tree.root, None, &mut walked);
    assert_eq!(memory, tree.memory());
    assert_eq!(tree.len(), model.len());
    assert!(
        walked
            .iter()
            .map(|(word, key, value)| (*word, key, value))
            .eq(model.iter().map(|((word, key), value)| (*word, key, value)))
    );
    let ascending: Vec<_> = tree.iter_from(0).map(|place| place.key()).collect();
    assert!(ascending.iter().eq(model.keys().map(|(_, key)| key).collect::<Vec<_>>().iter()));
    let mut descending: Vec<_> = tree.iter_back_from(tree.len()).map(|place| place.key()).collect();
    descending.reverse();
    assert_eq!(ascending, descending);
}

/// Returns the bytes of the node and all below, and the depth.
fn check_node<K: Kind>(
    node: &Node<K>,
    low: Option<(K::Word, &[u8])>,
    walked: &mut Vec<(K::Word, Vec<u8>, Vec<u8>)>,
) -> (usize, usize) {
    match node {
        Node::Leaf(leaf) => {
            check_leaf::<K>(leaf, low, walked);
            (leaf.memory(), 0)
        }
        Node::Inner(inner) => {
            let len = inner.len();
            assert!((1..=FANOUT).contains(&len));
            assert_eq!((child_word(inner, 0), inner.tie(0)), (K::Word::MIN, &[][..]));
            let mut memory = Inner::<K>::MEMORY;
            let mut depths = Vec::new();
            for index in 0..len {
                let (child, count) = child_of(inner, index);
                let separator = |index| (child_word(inner, index), inner.tie(index));
                let low = if index == 0 { low } else { Some(separator(index)) };
                let before = walked.len();
                let (bytes, depth) = check_node(&child, low, walked);
                assert_eq!(walked.len() - before, count, "counts are exact");
                assert!(count > 0, "no child is empty");
                let next = (index + 1 < len).then(|| separator(index + 1));
                if let (Some(next), Some((word, key, _))) = (next, walked.last()) {
                    assert!((*word, &key[..]) < next, "entries are below the next separator");
                }
                memory += bytes;
                depths.push(depth);
            }
            assert!(depths.iter().all(|depth| *depth == depths[0]), "leaves are equally deep");
            (memory, depths[0] + 1)
        }
    }
}

fn child_of<K: Kind>(inner: &Inner<K>, index: usize) -> (Node<K>, usize) {
    match &inner.children {
        Children::Leaves(slots) => (Node::Leaf(slots[index].node.clone()), slots[index].count),
        Children::Inners(slots) => (Node::Inner(slots[index].node.clone()), slots[index].count),
    }
}

fn child_word<K: Kind>(inner: &Inner<K>, index: usize) -> K::Word {
    match &inner.children {
        Children::Leaves(slots) => slots[index].word,
        Children::Inners(slots) => slots[index].word,
    }
}

fn check_leaf<K: Kind>(
    leaf: &Leaf,
    low: Option<(K::Word, &[u8])>,
    walked: &mut Vec<(K::Word, Vec<u8>, Vec<u8>)>,
) {
    let count = leaf.count();
    assert!(leaf.memory() <= LEAF_BYTES_MAX + leaf::ARC_BYTES || count == 1);
    assert!(leaf.live::<K>() <= leaf.memory() - leaf::ARC_BYTES);
    for index in 0..count {
        let (key, value) = leaf.pair::<K>(index);
        let entry = (leaf.word::<K>(index), key.to_vec(), value.to_vec());
        if index == 0 {
            assert!(low.is_none_or(|low| low <= (entry.0, &entry.1)));
        } else {
            let last = walked.last().unwrap();
            assert!((last.0, &last.1) < (entry.0, &entry.1), "entries are sorted");
        }
        walked.push(entry);
    }
}

#[derive(Debug, Clone)]
enum Step {
    Insert(u64, Vec<u8>, Vec<u8>),
    Remove(prop::sample::Index),
    RemoveRange(prop::sample::Index, usize),
    Image,
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        20 => proptest::collection::vec(b'a'..b'e', 0..12),
        4 => (0usize..300).prop_map(|length| vec![b'x'; length]),
        1 => (900usize..3000).prop_map(|length| vec![b'y'; length]),
        1 => (65_000usize..70_000).prop_map(|length| vec![b'z'; length]),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let word = prop_oneof![3 => 0u64..4, 1 => any::<u64>(), 1 => Just(u64::MAX)];
    prop_oneof![
        60 => (word, bytes(), bytes()).prop_map(|(word, k, value)| Step::Insert(word, k, value)),
        12 => any::<prop::sample::Index>().prop_map(Step::Remove),
        1 => (any::<prop::sample::Index>(), 0usize..200)
            .prop_map(|(at, n)| Step::RemoveRange(at, n)),
        1 => Just(Step::Image),
    ]
}

/// Runs the steps against a tree and a model; `entry_of` makes a kind's word, key and value.
fn run<K: Kind>(
    steps: Vec<Step>,
    entry_of: impl Fn(u64, Vec<u8>, Vec<u8>) -> (K::Word, Vec<u8>, Vec<u8>),
) {
    let mut tree = Tree::<K>::new();
    let mut model: Model<K::Word> = BTreeMap::new();
    let mut images = Vec::new();
    for step in steps {
        match step {
            Step::Insert(word, key, value) => {
                let (word, key, value) = entry_of(word, key, value);
                let expected = model.insert((word, key.clone()), value.clone()).is_none();
                assert_eq!(tree.insert(&Entry::new(word, &key).value(&value)), expected);
                let place = tree.find(word, &key).unwrap();
                assert_eq!(
                    (place.word(), place.key(), place.value()),
                    (word, &key[..], &value[..])
                );
            }
            Step::Remove(at) if !model.is_empty() => {
                let index = at.index(model.len());
                remove_at(&mut tree, &mut model, index);
            }
            Step::RemoveRange(at, count) if !model.is_empty() => {
                let index = at.index(model.len());
                for _ in 0..count.min(model.len() - index) {
                    remove_at(&mut tree, &mut model, index);
                }
            }
            Step::Image => images.push((tree.clone(), model.clone())),
            Step::Remove(_) | Step::RemoveRange(..) => {}
        }
    }
    check(&tree, &model);
    check_indexes(&tree, &model);
    for (tree, model) in &images {
        check(tree, model);
    }
    while !model.is_empty() {
        let index = tree.len() / 2;
        remove_at(&mut tree, &mut model, index);
        if model.len() % 64 == 0 {
            check(&tree, &model);
        }
    }
    for (tree, model) in &images {
        check(tree, model);
    }
}

fn remove_at<K: Kind>(tree: &mut Tree<K>, model: &mut Model<K::Word>, index: usize) {
    let place = tree.nth(index).unwrap();
    let entry = (place.word(), place.key().to_vec());
    assert!(tree.remove(entry.0, &entry.1));
    assert!(!tree.remove(entry.0, &entry.1));
    assert!(model.remove(&entry).is_some());
}

fn check_indexes<K: Kind>(tree: &Tree<K>, model: &Model<K::Word>) {
    for (index, (word, key)) in model.keys().enumerate() {
        assert_eq!(tree.rank(*word, key), Ok(index));
        let place = tree.nth(index).unwrap();
        assert_eq!((place.word(), place.key()), (*word, &key[..]));
        let first = tree.first_with(*word).unwrap();
        let expected = model.range((*word, Vec::new())..).next().unwrap().0;
        assert_eq!(first.key(), expected.1);
        let mut absent = key.clone();
        absent.push(b'!');
        let expected = model.range(..(*word, absent.clone())).count();
        if !model.contains_key(&(*word, absent.clone())) {
            assert_eq!(tree.rank(*word, &absent), Err(expected));
        }
    }
    assert!(tree.nth(model.len()).is_none());
}

/// Words in a narrow range and at the top: guessed places are far off.
fn narrow(word: u64) -> u32 {
    u32::try_from(word).unwrap_or(u32::MAX)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn fields_behave_as_a_map(steps in proptest::collection::vec(step(), 0..600)) {
        run::<Fields>(steps, |word, key, value| (narrow(word), key, value));
    }

    #[test]
    fn members_behave_as_a_map(steps in proptest::collection::vec(step(), 0..600)) {
        run::<Members>(steps, |word, key, _| (narrow(word), key, Vec::new()));
    }

    #[test]
    fn scored_members_behave_as_a_map(steps in proptest::collection::vec(step(), 0..900)) {
        run::<Scored>(steps, |word, key, _| (word, key, Vec::new()));
    }

    #[test]
    fn scores_behave_as_a_map(steps in proptest::collection::vec(step(), 0..900)) {
        run::<Scores>(steps, |word, key, _| {
            let mut score = [0; Scores::KEY_INLINE];
            let length = key.len().min(Scores::KEY_INLINE);
            score[..length].copy_from_slice(&key[..length]);
            (narrow(word), score.to_vec(), Vec::new())
        });
    }
}

fn filled(count: u32, image: bool) -> (Tree<Fields>, Vec<Tree<Fields>>) {
    let mut tree = Tree::<Fields>::new();
    let mut images = Vec::new();
    for index in 0..count {
        let key = format!("field:{index}");
        // Multiplying by an odd number spreads the words without a collision.
        let word = index.wrapping_mul(0x9e37_79b1);
        assert!(tree.insert(&Entry::new(word, key.as_bytes()).value(b"value")));
        if image && index.is_power_of_two() {
            images.push(tree.clone());
        }
    }
    (tree, images)
}

#[test]
fn random_order_fills_nodes_and_overhead_is_small() {
    let (tree, _) = filled(50_000, false);
    let raw: usize = tree.iter_from(0).map(|at| at.key().len() + at.value().len()).sum();
    let overhead = (tree.memory() - raw) as f64 / tree.len() as f64;
    assert!(overhead < 16.0, "{overhead} bytes an entry");
}

#[test]
fn ascending_order_leaves_full_leaves_behind() {
    let mut tree = Tree::<Scored>::new();
    for word in 0..50_000u64 {
        tree.insert(&Entry::new(word, &word.to_be_bytes()));
    }
    let used = tree.len() * (Scored::SLOT + 9);
    assert!(tree.memory() * 100 < used * 108, "{} bytes for {used}", tree.memory());
}

#[test]
fn images_keep_what_they_saw() {
    let (mut tree, images) = filled(5000, true);
    for index in 0..5000u32 {
        let word = index.wrapping_mul(0x9e37_79b1);
        assert!(tree.remove(word, format!("field:{index}").as_bytes()));
    }
    assert_eq!((tree.len(), tree.memory()), (0, Tree::<Fields>::new().memory()));
    for (power, image) in images.iter().enumerate() {
        assert_eq!(image.len(), (1 << power) + 1);
        assert_eq!(image.iter_from(0).filter(|at| at.value() == b"value").count(), image.len());
    }
}

#[test]
fn a_large_value_that_shrinks_gives_memory_back() {
    let mut tree = Tree::<Fields>::new();
    for (length, limit) in [(1 << 20, 2 << 20), (10, 200), (3000, 4000), (0, 200)] {
        tree.insert(&Entry::new(7, b"key").value(&vec![b'v'; length]));
        assert_eq!(tree.find(7, b"key").unwrap().value().len(), length);
        assert!(tree.memory() < limit, "{} bytes", tree.memory());
    }
}
