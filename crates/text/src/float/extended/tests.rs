//! Sums seen on Valkey 9.1 (x86-64, 80-bit long double), and what must hold for all.

use super::*;
use proptest::prelude::*;

fn text(number: Extended) -> String {
    let mut out = Vec::new();
    number.format(&mut out);
    String::from_utf8(out).unwrap()
}

fn number(text: &str) -> Extended {
    Extended::parse(text.as_bytes()).unwrap_or_else(|| panic!("{text:?} is no number"))
}

fn sum(left: &str, right: &str) -> String {
    text(number(left).add(number(right)))
}

#[test]
fn sums_are_those_of_long_double() {
    assert_eq!(sum("10.50", "0.1"), "10.6");
    assert_eq!(sum("5.0e3", "2.0e2"), "5200");
    assert_eq!(sum("0.1", "0.2"), "0.3");
    assert_eq!(sum("1", "-1"), "0");
    assert_eq!(sum("-0", "-0"), "0");
    assert_eq!(sum("1e-30", "-1e-29"), "0");
    assert_eq!(sum("3", "0.00000000000000001"), "3.00000000000000001");
    assert_eq!(sum("9223372036854775807", "1"), "9223372036854775808");
    assert_eq!(sum("18446744073709551615", "1"), "18446744073709551616");
    assert_eq!(sum("18446744073709551616", "1"), "18446744073709551616");
    assert_eq!(sum("18446744073709551616", "3"), "18446744073709551620");
}

#[test]
fn every_spelling_of_strtold_is_read() {
    for (spelled, printed) in [
        (".5", "0.5"),
        ("5.", "5"),
        ("+5", "5"),
        ("1e5", "100000"),
        ("0x10", "16"),
        ("0x1p3", "8"),
        ("0x.8", "0.5"),
        ("0X1.8P-1", "0.75"),
        ("00012", "12"),
        ("-0.0", "0"),
        ("0e99999999999", "0"),
        ("1e-4950", "0"),
        ("3e-4951", "0"),
        ("0x1p-16445", "0"),
    ] {
        assert_eq!(text(number(spelled)), printed, "{spelled:?}");
    }
    assert_eq!(text(number("1e400")).len(), 401);
    assert_eq!(text(number("1.18973149535723176502e4932")).len(), 4933);
    assert_eq!(text(number(&format!("{}1", "0".repeat(5_118)))), "1");
}

#[test]
fn what_is_no_number_is_refused() {
    for spelled in [
        "",
        "-",
        ".",
        "+-1",
        "1e",
        "1e+",
        "1p3",
        "0x",
        "0x1p",
        "0x1e+1",
        "nan",
        "nan(12)",
        " 1",
        "1 ",
        "1\0",
        "1.2e4932",
        "1e5000",
        "1e-4951",
        "1e-5000",
        "1e-99999999999",
        "1e99999999999",
        "0x1p-16446",
        "0x1p16384",
        "1..2",
        "1.2.3",
        "infinit",
    ] {
        assert_eq!(Extended::parse(spelled.as_bytes()), None, "{spelled:?}");
    }
    assert_eq!(Extended::parse(format!("{}1", "0".repeat(5_119)).as_bytes()), None);
}

#[test]
fn infinities_are_not_finite() {
    let (up, down) = (number("inf"), number("-Infinity"));
    assert!(!up.is_finite() && !up.add(number("1")).is_finite() && !up.add(down).is_finite());
    let largest = number("1.18973149535723176502e4932");
    assert!(largest.is_finite() && !largest.add(largest).is_finite());
    assert_eq!([text(up), text(down), text(up.add(down))], ["inf", "-inf", "nan"]);
}

proptest! {
    #[test]
    fn the_short_way_and_the_long_way_agree(
        digits in "[0-9]{1,12}(\\.[0-9]{0,7})?",
        e in -9i64..9,
    ) {
        let parts = Parts { exponent: e, ..Parts::parse(digits.as_bytes(), 10).unwrap() };
        let exponent = e - i64::try_from(parts.decimals).unwrap();
        let power = BigUint::from(10u32).pow(u32::try_from(exponent.unsigned_abs()).unwrap());
        let one = BigUint::from(1u32);
        let (above, below) = if exponent < 0 { (one, power) } else { (power, one) };
        if !parts.is_zero() {
            let above = parts.integer(10).unwrap() * above;
            prop_assert_eq!(parts.short_decimal(exponent), divide(above, below, 0));
        }
    }

    #[test]
    fn small_integers_add_exactly(left in -(1i64 << 62)..1 << 62, right in -(1i64 << 62)..1 << 62) {
        prop_assert_eq!(sum(&left.to_string(), &right.to_string()), (left + right).to_string());
    }

    #[test]
    fn order_and_sign_make_no_difference(
        left in "-?[0-9]{1,20}(\\.[0-9]{1,20})?(e-?[0-9]{1,3})?",
        right in "-?[0-9]{1,20}(\\.[0-9]{1,20})?(e-?[0-9]{1,3})?",
    ) {
        let opposite = |text: &str| match text.strip_prefix('-') {
            Some(rest) => rest.to_owned(),
            None => format!("-{text}"),
        };
        let total = sum(&left, &right);
        prop_assert_eq!(&sum(&right, &left), &total);
        let negated = sum(&opposite(&left), &opposite(&right));
        prop_assert_eq!(negated, if total == "0" { total } else { opposite(&total) });
    }
}
