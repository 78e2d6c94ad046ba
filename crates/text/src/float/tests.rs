//! Texts and numbers seen on Valkey 9.1, and the round trip.

use super::*;
use proptest::prelude::*;

fn formatted(number: f64) -> String {
    let mut out = Vec::new();
    format_f64(number, &mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn doubles_are_read_as_valkey_reads_them() {
    for (text, number) in [
        (".5", 0.5),
        ("5.", 5.0),
        ("-.5", -0.5),
        ("+5", 5.0),
        ("1E+5", 1e5),
        ("5e-324", 5e-324),
        ("2.4703282292062328e-324", 5e-324),
        ("0e99999999999", 0.0),
        ("00012", 12.0),
        ("1.7976931348623158e308", f64::MAX),
        ("inf", f64::INFINITY),
        ("+inf", f64::INFINITY),
        ("-iNfInItY", f64::NEG_INFINITY),
        ("20190509102112650", 20_190_509_102_112_648.0),
    ] {
        assert_eq!(parse_f64(text.as_bytes()), Some(number), "{text:?}");
    }
}

#[test]
fn what_is_no_double_is_refused() {
    for text in [
        "",
        ".",
        "+",
        "-",
        "--1",
        "+-1",
        "1e",
        "1e+",
        "1e5.5",
        "1e400",
        "-1e400",
        "1e-400",
        "2e-324",
        "1e99999999999",
        "1e-99999999999",
        "nan",
        "-nan",
        "NaN",
        "nan(1)",
        "infin",
        "0x10",
        "1_0",
        " 1",
        "1 ",
        "1\0",
        "1,5",
        "1.7976931348623159e308",
        "2.4703282292062327e-324",
        "\u{ff11}",
    ] {
        assert_eq!(parse_f64(text.as_bytes()), None, "{text:?}");
    }
    assert_eq!(parse_f64(b"\xff"), None);
}

#[test]
fn doubles_are_printed_as_valkey_prints_them() {
    for (number, text) in [
        (20_190_509_102_112_648.0, "20190509102112648"),
        (3.0, "3"),
        (1e8, "100000000"),
        (1e15, "1000000000000000"),
        (5e15, "5000000000000000"),
        (4_611_686_018_427_387_904.0, "4611686018427387904"),
        (-4_611_686_018_427_388_928.0, "-4611686018427389000"),
        (9_223_372_036_854_775_808.0, "9223372036854776000"),
        (1e20, "1e+20"),
        (0.1, "0.1"),
        (1e-7, "1e-7"),
        (0.000_012, "0.000012"),
        (0.000_001_2, "1.2e-6"),
        (123_456_789_012_345_680.0, "123456789012345680"),
        (0.1 + 0.2, "0.30000000000000004"),
        (f64::INFINITY, "inf"),
        (f64::NEG_INFINITY, "-inf"),
        (f64::NAN, "nan"),
        (-0.0, "-0"),
        (0.0, "0"),
        (5e-324, "5e-324"),
        (f64::MAX, "1.7976931348623157e+308"),
        (-1234.5, "-1234.5"),
    ] {
        assert_eq!(formatted(number), text);
    }
}

proptest! {
    #[test]
    fn what_is_printed_is_read(bits: u64) {
        let number = f64::from_bits(bits);
        let text = formatted(number);
        if number.is_nan() {
            prop_assert_eq!(text, "nan");
        } else {
            prop_assert_eq!(parse_f64(text.as_bytes()).map(f64::to_bits), Some(bits));
        }
    }

    #[test]
    fn any_bytes_are_accepted_or_refused(text in proptest::collection::vec(any::<u8>(), 0..40)) {
        let _ = parse_f64(&text);
        let _ = Extended::parse(&text);
    }
}
