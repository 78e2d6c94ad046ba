//! HyperLogLogs against a model of plain registers, against bytes of Redis, and on damaged input.

use super::{Encoding, Fault, REGISTERS, Registers};
use proptest::prelude::*;

const SPARSE_MAX: usize = 3000;

fn with(elements: impl IntoIterator<Item = String>, sparse_bytes_max: usize) -> Vec<u8> {
    let mut text = super::empty();
    for element in elements {
        super::add(&mut text, element.as_bytes(), sparse_bytes_max).unwrap();
    }
    text
}

fn registers(text: &[u8]) -> Registers {
    let mut registers = Registers::default();
    registers.merge(text).unwrap();
    registers
}

#[test]
fn the_bytes_are_those_of_redis() {
    let header = b"HYLL\x01\0\0\0\0\0\0\0\0\0\0\0";
    assert_eq!(super::empty(), [header, &b"\x7f\xff"[..]].concat());
    let one = with(["a".to_owned()], SPARSE_MAX);
    assert_eq!(one, [header, &b"q\xa6\x84NW"[..]].concat());
    let two = with(["a".to_owned(), "b".to_owned()], SPARSE_MAX);
    assert_eq!(two, [header, &b"q\xa6\x84K\xfb\x80BZ"[..]].concat());
    assert_eq!(super::describe_runs(&two).unwrap().unwrap(), "Z:12711 v:2,1 Z:3068 v:1,1 Z:603");
}

#[test]
fn the_estimate_is_near() {
    let mut text = super::empty();
    for number in 1..=300_000_u64 {
        super::add(&mut text, &number.to_le_bytes(), SPARSE_MAX).unwrap();
        if number.is_power_of_two() {
            let error = super::count(&text).unwrap().abs_diff(number) as f64 / number as f64;
            // Seven standard deviations of 1.04 / 128.
            assert!(error < 0.057, "{number}: {error}");
        }
    }
    assert_eq!(super::encoding(&text), Ok(Encoding::Dense));
    assert_eq!(super::count(&super::empty()), Ok(0));
}

#[test]
fn a_count_is_kept_until_the_registers_change() {
    let mut text = super::empty();
    assert_eq!(super::kept_count(&text), Some(0));
    super::outdate_count(&mut text);
    assert_eq!(super::kept_count(&text), None);
    super::keep_count(&mut text, 77);
    assert_eq!(super::kept_count(&text), Some(77));
    assert_eq!(super::make_dense(&mut text), Ok(true));
    assert_eq!(super::make_dense(&mut text), Ok(false));
    assert_eq!(super::kept_count(&text), Some(77));
}

#[test]
fn what_is_no_hyperloglog_is_told_from_a_damaged_one() {
    let text = with((0..50).map(|number| number.to_string()), SPARSE_MAX);
    for foreign in [&b""[..], b"HYLL", b"HYLL\x01", b"foo", &text[..15]] {
        assert_eq!(super::count(foreign), Err(Fault::Foreign), "{foreign:?}");
    }
    let mut unknown = text.clone();
    unknown[4] = 2;
    assert_eq!(super::count(&unknown), Err(Fault::Foreign));
    unknown[4] = 0;
    assert_eq!(super::count(&unknown), Err(Fault::Foreign), "the length is not a dense one's");
    assert_eq!(super::count(&text[..text.len() - 1]), Err(Fault::Corrupt));
    let longer = [&text[..], b"hello"].concat();
    assert_eq!(super::count(&longer), Err(Fault::Corrupt));
    assert_eq!(Registers::default().merge(&longer), Err(Fault::Corrupt));
    assert_eq!(super::make_dense(&mut longer.clone()), Err(Fault::Corrupt));
}

#[test]
fn values_that_no_run_can_have_make_it_dense() {
    let mut text = super::empty();
    assert_eq!(super::raise(&mut text, 7, 33, SPARSE_MAX), Ok(true));
    assert_eq!(super::encoding(&text), Ok(Encoding::Dense));
    assert_eq!(registers(&text).values()[7], 33);
}

/// Some registers with values, in clusters so that runs meet.
fn raises() -> impl Strategy<Value = Vec<(usize, u8)>> {
    let index = prop_oneof![0..20_usize, 16_370..REGISTERS, 0..REGISTERS];
    prop::collection::vec((index, prop_oneof![1..4_u8, 1..=51_u8]), 0..200)
}

proptest! {
    #[test]
    fn registers_are_the_largest_values(raises in raises(), bytes_max in 0..600_usize) {
        let mut model = [0; REGISTERS];
        let mut text = super::empty();
        for (index, value) in raises {
            let is_new = model[index] < value;
            model[index] = model[index].max(value);
            prop_assert_eq!(super::raise(&mut text, index, value, bytes_max), Ok(is_new));
            let runs = super::encoding(&text) == Ok(Encoding::Sparse);
            prop_assert!(!runs || text.len() <= bytes_max.max(18));
        }
        let found = registers(&text);
        prop_assert_eq!(found.values(), &model[..]);
        prop_assert_eq!(super::count(&text), Ok(found.count()));
        let mut dense = text.clone();
        super::make_dense(&mut dense).unwrap();
        prop_assert_eq!(registers(&dense), found);
    }

    #[test]
    fn merging_takes_the_larger_of_each(one in raises(), other in raises()) {
        let make = |raises: &[(usize, u8)]| {
            let mut text = super::empty();
            for (index, value) in raises {
                super::raise(&mut text, *index, *value, SPARSE_MAX).unwrap();
            }
            text
        };
        let (mut one_text, other_text) = (make(&one), make(&other));
        let mut both = registers(&one_text);
        both.merge(&other_text).unwrap();
        both.raise_in(&mut one_text, SPARSE_MAX).unwrap();
        prop_assert_eq!(&registers(&one_text), &both);
        prop_assert_eq!(&registers(&make(&[one, other].concat())), &both);
    }

    #[test]
    fn no_bytes_make_it_panic(
        body in prop::collection::vec(any::<u8>(), 0..300),
        code in 0..3_u8,
        elements in prop::collection::vec("[a-z]{0,9}", 1..20),
    ) {
        let mut text = super::header(code);
        text.extend_from_slice(&body);
        let _ = super::count(&text);
        let _ = super::describe_runs(&text);
        let _ = super::make_dense(&mut text.clone());
        let _ = Registers::default().merge(&text);
        for element in elements {
            let _ = super::add(&mut text, element.as_bytes(), 310);
            let _ = super::add_dense(&mut text, element.as_bytes());
        }
        let _ = super::count(&text);
        let _ = super::encoding(&body);
    }
}
