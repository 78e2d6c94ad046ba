//! The list held against a model, step by step, and its edges one by one.

use super::*;
use proptest::prelude::*;
use proptest::sample::Index;
use std::collections::VecDeque;

type Model = VecDeque<Vec<u8>>;

fn limits(size: i64) -> Limits {
    Limits { list_packed_size: size, ..Limits::default() }
}

fn equal<'a>(
    mut items: impl Iterator<Item = Item<'a>>,
    mut model: impl Iterator<Item = &'a Vec<u8>>,
) -> bool {
    model.all(|element| items.next().is_some_and(|item| item == Item::of(element)))
        && items.next().is_none()
}

fn check(list: &List, model: &Model) {
    assert_eq!(list.len(), model.len());
    assert_eq!(list.is_empty(), model.is_empty());
    assert!(list.iter().len() == model.len());
    assert!(equal(list.iter(), model.iter()));
    let last = model.len().wrapping_sub(1);
    assert!(equal(list.iter_back_from(last), model.iter().rev()));
    for index in [0, 1, model.len() / 3, model.len() / 2, last, model.len()] {
        let item = list.get(index).map(|item| item.to_bytes().to_vec());
        assert_eq!(item.as_ref(), model.get(index));
        assert!(equal(list.iter_from(index).take(40), model.iter().skip(index).take(40)));
        if index < model.len() {
            let before = model.iter().rev().skip(last - index);
            assert!(equal(list.iter_back_from(index).take(40), before.take(40)));
        }
    }
    let spelling = |item: Item<'_>| item.to_bytes().to_vec();
    assert_eq!(list.front().map(spelling).as_ref(), model.front());
    assert_eq!(list.back().map(spelling).as_ref(), model.back());
    assert!(list.memory() >= model.len() * 2);
    if let Repr::Large(chain) = &list.repr {
        chain.check();
    }
}

fn element() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        8 => (0i64..8).prop_map(|integer| integer.to_string().into_bytes()),
        4 => any::<i64>().prop_map(|integer| integer.to_string().into_bytes()),
        4 => proptest::collection::vec(any::<u8>(), 0..20),
        3 => (0usize..2000).prop_map(|length| vec![b'x'; length]),
        1 => (8100usize..8300).prop_map(|length| vec![b'y'; length]),
        1 => (16_300usize..16_500).prop_map(|length| vec![b'z'; length]),
    ]
}

#[derive(Debug, Clone)]
enum Step {
    PushFront(Vec<Vec<u8>>),
    PushBack(Vec<Vec<u8>>),
    PopFront(usize),
    PopBack(usize),
    RemoveFront(Index),
    RemoveBack(Index),
    Set(Index, Vec<u8>),
    Insert(Index, bool, Vec<Vec<u8>>),
    RemoveMatching(Vec<u8>, i64),
    RemoveAt(Index, i64),
    Trim(Index, Index),
    Image,
    Limit(i64),
}

fn step() -> impl Strategy<Value = Step> {
    let elements = || proptest::collection::vec(element(), 1..30);
    let index = any::<Index>;
    prop_oneof![
        6 => elements().prop_map(Step::PushFront),
        6 => elements().prop_map(Step::PushBack),
        3 => (1usize..30).prop_map(Step::PopFront),
        3 => (1usize..30).prop_map(Step::PopBack),
        1 => index().prop_map(Step::RemoveFront),
        1 => index().prop_map(Step::RemoveBack),
        4 => (index(), element()).prop_map(|(at, element)| Step::Set(at, element)),
        4 => (index(), any::<bool>(), elements()).prop_map(|(at, b, e)| Step::Insert(at, b, e)),
        4 => (element(), -4i64..=4).prop_map(|(e, count)| Step::RemoveMatching(e, count)),
        2 => (index(), -1i64..=1).prop_map(|(at, count)| Step::RemoveAt(at, count)),
        1 => (index(), index()).prop_map(|(start, end)| Step::Trim(start, end)),
        2 => Just(Step::Image),
        1 => prop_oneof![-2i64..=8, Just(-5)].prop_map(Step::Limit),
    ]
}

fn remove_from_model(model: &mut Model, element: &[u8], count: i64) -> usize {
    let most = usize::try_from(count.unsigned_abs()).unwrap();
    let mut left = if most == 0 { usize::MAX } else { most };
    let before = model.len();
    let mut keep = |other: &Vec<u8>| {
        let removed = left > 0 && other == element;
        left -= usize::from(removed);
        !removed
    };
    if count < 0 {
        let kept: Vec<_> = model.drain(..).rev().filter(|element| keep(element)).collect();
        model.extend(kept.into_iter().rev());
    } else {
        model.retain(keep);
    }
    before - model.len()
}

fn apply(list: &mut List, model: &mut Model, limits: &Limits, step: Step) {
    let place = |index: Index, model: &Model| index.index(model.len().max(1));
    match step {
        Step::PushFront(elements) => elements.into_iter().for_each(|element| {
            list.push_front(&element, limits);
            model.push_front(element);
        }),
        Step::PushBack(elements) => elements.into_iter().for_each(|element| {
            list.push_back(&element, limits);
            model.push_back(element);
        }),
        Step::PopFront(count) => (0..count).for_each(|_| {
            assert_eq!(list.pop_front(limits).map(|item| item.to_vec()), model.pop_front());
        }),
        Step::PopBack(count) => (0..count).for_each(|_| {
            assert_eq!(list.pop_back(limits).map(|item| item.to_vec()), model.pop_back());
        }),
        Step::RemoveFront(index) => {
            let count = place(index, model);
            list.remove_front(count, limits);
            model.drain(..count.min(model.len()));
        }
        Step::RemoveBack(index) => {
            let count = place(index, model);
            list.remove_back(count, limits);
            model.truncate(model.len() - count.min(model.len()));
        }
        Step::Set(index, element) => {
            let index = place(index, model);
            assert_eq!(list.set(index, &element, limits), index < model.len());
            if let Some(old) = model.get_mut(index) {
                *old = element;
            }
        }
        Step::Insert(index, behind, elements) => {
            let index = place(index, model);
            for element in elements {
                let inserted = if behind {
                    list.insert_after(index, &element, limits)
                } else {
                    list.insert_before(index, &element, limits)
                };
                assert_eq!(inserted, index < model.len());
                if inserted {
                    model.insert(index + usize::from(behind), element);
                }
            }
        }
        Step::RemoveMatching(element, count) => {
            assert_eq!(list.position(&element), model.iter().position(|other| *other == element));
            let expected = remove_from_model(model, &element, count);
            assert_eq!(list.remove_matching(&element, count, limits), expected);
        }
        Step::RemoveAt(index, count) => {
            if let Some(element) = model.get(place(index, model)).cloned() {
                let expected = remove_from_model(model, &element, count);
                assert_eq!(list.remove_matching(&element, count, limits), expected);
            }
        }
        Step::Trim(start, end) => {
            let (start, end) = (place(start, model), place(end, model) + 1);
            list.trim(start..end, limits);
            *model = model.iter().take(end).skip(start).cloned().collect();
        }
        Step::Image | Step::Limit(_) => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn behaves_as_a_deque_and_images_stand_still(
        steps in proptest::collection::vec(step(), 0..50),
        size in prop_oneof![Just(-2i64), -1i64..=6],
    ) {
        let (mut list, mut model) = (List::new(), Model::new());
        let mut limits = limits(size);
        let mut images: Vec<(List, Model)> = Vec::new();
        for step in steps {
            match step {
                Step::Image => images.push((list.clone(), model.clone())),
                Step::Limit(size) => limits.list_packed_size = size,
                step => apply(&mut list, &mut model, &limits, step),
            }
            check(&list, &model);
        }
        for (image, model) in &images {
            check(image, model);
        }
    }
}

#[test]
fn many_chunks_make_a_deep_tree() {
    let limits = limits(1);
    let (mut list, mut model) = (List::new(), Model::new());
    for number in 0..6_000u32 {
        let element = number.to_string().into_bytes();
        let middle = model.len() / 2;
        match number % 3 {
            0 => list.push_back(&element, &limits),
            1 => list.push_front(&element, &limits),
            _ => assert!(list.insert_before(middle, &element, &limits)),
        }
        match number % 3 {
            0 => model.push_back(element),
            1 => model.push_front(element),
            _ => model.insert(middle, element),
        }
    }
    check(&list, &model);
    let image = list.clone();
    for number in 0..5_990u32 {
        let element = number.to_string().into_bytes();
        if number % 16 == 0 {
            let at = list.position(&element).unwrap();
            assert_eq!(list.remove_matching(&element, 1, &limits), 1);
            assert_eq!(list.position(&element), None);
            model.remove(at);
        }
    }
    check(&list, &model);
    assert_eq!(image.len(), 6_000);
}

#[test]
fn encodings_change_where_valkeys_do() {
    // (limit, element, first length that is a quicklist, length at which RPOP makes a listpack)
    let table: [(i64, &[u8], usize, usize); 9] = [
        (-1, &[b'x'; 16], 228, 113),
        (-2, &[b'x'; 16], 455, 227),
        (-2, b"42", 4093, 2044),
        (-2, b"70000", 1638, 817),
        (-2, &[b'y'; 300], 27, 13),
        (-5, &[b'x'; 16], 3641, 1820),
        (1, b"7", 2, 0),
        (3, b"7", 4, 1),
        (128, &[b'x'; 16], 129, 64),
    ];
    for (size, element, grown, shrunk) in table {
        let limits = limits(size);
        let mut list = List::new();
        while list.encoding() == "listpack" {
            list.push_back(element, &limits);
        }
        assert_eq!(list.len(), grown, "{size} grows");
        while list.encoding() == "quicklist" {
            list.remove_back(1, &limits);
        }
        assert_eq!(list.len(), shrunk, "{size} shrinks");
    }
}

#[test]
fn one_large_element_is_a_quicklist() {
    let limits = limits(-2);
    let encoding = |length: usize| {
        let mut list = List::new();
        list.push_back(&vec![b'z'; length], &limits);
        list.encoding()
    };
    assert_eq!((encoding(8185), encoding(8186)), ("listpack", "quicklist"));
    let mut list = List::new();
    list.push_back(b"a", &limits);
    list.push_back(b"b", &limits);
    assert!(list.set(0, &[b'z'; 9000], &limits));
    assert_eq!(list.encoding(), "quicklist");
    assert!(list.set(0, b"s", &limits));
    assert_eq!(list.encoding(), "listpack");
}

#[test]
fn a_write_beside_an_image_copies_little() {
    let limits = limits(-2);
    let mut list = List::new();
    for _ in 0..200_000 {
        list.push_back(&[b'x'; 16], &limits);
    }
    assert!(list.memory() < 200_000 * 21, "{} bytes", list.memory());
    let image = list.clone();
    let (Repr::Large(own), Repr::Large(other)) = (&list.repr, &image.repr) else { panic!() };
    assert!(Arc::ptr_eq(own, other));
    list.set(100_000, b"y", &limits);
    assert!(image.get(100_000) == Some(Item::of(&[b'x'; 16])));
    assert!(list.get(100_000) == Some(Item::of(b"y")));
}
