//! The packed run held against a model, step by step, and its edges one by one.

use super::*;
use proptest::prelude::*;

fn spelled(packed: &Packed) -> Vec<Vec<u8>> {
    packed.iter().map(|item| item.to_bytes().to_vec()).collect()
}

fn check(packed: &Packed, model: &[Vec<u8>]) {
    assert_eq!(packed.len(), model.len());
    assert_eq!(packed.is_empty(), model.is_empty());
    assert_eq!(spelled(packed), model);
    let mut backwards: Vec<_> = packed.iter().rev().map(|item| item.to_bytes().to_vec()).collect();
    backwards.reverse();
    assert_eq!(backwards, model);
    assert_eq!(packed.reversed().reversed(), *packed);
    assert!(spelled(&packed.reversed()).iter().eq(model.iter().rev()));
    assert!(packed.memory() >= packed.byte_len());
    for (index, element) in model.iter().enumerate() {
        let at = packed.nth(index).unwrap();
        assert!(packed.item(at).equals(element));
        let first = model.iter().position(|other| other == element);
        assert_eq!(packed.find(packed.first().unwrap(), 1, element), packed.nth(first.unwrap()));
        assert_eq!(packed.next(at), packed.nth(index + 1));
        assert_eq!(packed.previous(at), index.checked_sub(1).and_then(|index| packed.nth(index)));
    }
    assert_eq!(packed.nth(model.len()), None);
}

fn element() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => any::<i64>().prop_map(|integer| integer.to_string().into_bytes()),
        4 => (-300i64..300).prop_map(|integer| integer.to_string().into_bytes()),
        6 => proptest::collection::vec(any::<u8>(), 0..20),
        2 => (0usize..400).prop_map(|length| vec![b'x'; length]),
        1 => (8100usize..8300).prop_map(|length| vec![b'y'; length]),
        1 => (16_300usize..16_500).prop_map(|length| vec![b'z'; length]),
    ]
}

#[derive(Debug, Clone)]
enum Step {
    Insert(prop::sample::Index, Vec<u8>),
    Replace(prop::sample::Index, Vec<u8>),
    Remove(prop::sample::Index, usize),
    Split(prop::sample::Index),
    SwapHalves(prop::sample::Index),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (any::<prop::sample::Index>(), element()).prop_map(|(at, e)| Step::Insert(at, e)),
        3 => (any::<prop::sample::Index>(), element()).prop_map(|(at, e)| Step::Replace(at, e)),
        3 => (any::<prop::sample::Index>(), 0usize..3).prop_map(|(at, n)| Step::Remove(at, n)),
        1 => any::<prop::sample::Index>().prop_map(Step::Split),
        1 => any::<prop::sample::Index>().prop_map(Step::SwapHalves),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn behaves_as_a_vector(steps in proptest::collection::vec(step(), 0..40)) {
        let mut packed = Packed::new();
        let mut model: Vec<Vec<u8>> = Vec::new();
        for step in steps {
            let place = |packed: &Packed, index| packed.nth(index).unwrap_or(packed.end());
            match step {
                Step::Insert(at, element) => {
                    let index = at.index(model.len() + 1);
                    packed.insert(place(&packed, index), &element);
                    model.insert(index, element);
                }
                Step::Replace(at, element) if !model.is_empty() => {
                    let index = at.index(model.len());
                    packed.replace(place(&packed, index), &element);
                    model[index] = element;
                }
                Step::Remove(at, count) if !model.is_empty() => {
                    let index = at.index(model.len());
                    packed.remove(place(&packed, index), count);
                    model.drain(index..(index + count).min(model.len()));
                }
                Step::Split(at) => {
                    let index = at.index(model.len() + 1);
                    let tail = packed.split_off(place(&packed, index));
                    check(&tail, &model.split_off(index));
                }
                Step::SwapHalves(at) => {
                    let index = at.index(model.len() + 1);
                    let mut tail = packed.split_off(place(&packed, index));
                    tail.append(&packed);
                    packed = tail;
                    model.rotate_left(index);
                }
                Step::Replace(..) | Step::Remove(..) => {}
            }
            check(&packed, &model);
        }
    }
}

#[test]
fn a_search_by_pairs_sees_fields_only() {
    let packed: Packed = [&b"a"[..], b"b", b"b", b"a"].into_iter().collect();
    let first = packed.first().unwrap();
    assert_eq!(packed.find(first, 2, b"b"), packed.nth(2));
    assert_eq!(packed.find(first, 2, b"a"), packed.nth(0));
    assert_eq!(packed.find(first, 2, b"c"), None);
}

#[test]
fn walks_from_a_place_both_ways() {
    let packed: Packed = [&b"a"[..], b"7", b"c"].into_iter().collect();
    let middle = packed.nth(1).unwrap();
    assert!(packed.iter_from(middle).map(|item| item.to_bytes()[0]).eq(*b"7c"));
    assert!(packed.iter_until(middle).map(|item| item.to_bytes()[0]).eq(*b"a"));
    assert!(packed.iter_until(packed.end()).rev().map(|item| item.to_bytes()[0]).eq(*b"c7a"));
    assert_eq!(Packed::new().iter_until(Packed::new().end()).count(), 0);
    assert_eq!(Packed::new().iter_from(Packed::new().end()).count(), 0);
}

#[test]
fn capacity_follows_size_classes() {
    for (length, class) in [(1, 16), (16, 16), (17, 32), (128, 128), (129, 160), (160, 160)] {
        assert_eq!(good_capacity(length), class);
    }
    for (length, class) in [(256, 256), (257, 320), (1025, 1280), (2048, 2048), (2049, 2560)] {
        assert_eq!(good_capacity(length), class);
    }
    let mut packed = Packed::new();
    let mut growths = 0;
    for index in 0..10_000 {
        let before = packed.memory();
        packed.push_back(format!("element:{index}").as_bytes());
        growths += usize::from(packed.memory() != before);
        assert!(packed.memory() <= packed.byte_len() * 5 / 4 + 16);
    }
    assert!(growths < 60, "{growths} growths");
}

#[test]
fn small_elements_are_small() {
    assert_eq!(Packed::cost(b"7"), 2);
    assert_eq!(Packed::cost(b"-100"), 3);
    assert_eq!(Packed::cost(b"1000"), 4);
    assert_eq!(Packed::cost(b"hello"), 7);
    assert_eq!(Packed::cost(b""), 2);
}
