//! Answers seen on Valkey 9.1, and a model that tries every split at every `*`.

use super::*;
use proptest::prelude::*;

fn sensitive(pattern: &str, text: &str) -> bool {
    matches(pattern.as_bytes(), text.as_bytes(), Case::Sensitive)
}

#[test]
fn patterns_that_match() {
    for (pattern, text) in [
        ("", ""),
        ("*", ""),
        ("*", "a"),
        ("a**", "a"),
        ("a*b*c", "axxbxxc"),
        ("??", "ab"),
        ("[a-c]", "b"),
        ("[c-a]", "b"),
        ("[^a]", "b"),
        ("[a", "a"),
        ("[^]", "a"),
        ("[^]", "^"),
        ("[^", "a"),
        ("[a-", "a"),
        ("[a-", "-"),
        ("[a-]", "a"),
        ("[a-]", "]"),
        ("[\\]]", "]"),
        ("[\\", "\\"),
        ("\\", "\\"),
        ("a\\", "a\\"),
        ("\\*", "*"),
        ("a\\a", "aa"),
        ("*a\\", "xa\\"),
        ("[a-c-e]", "-"),
        ("[!a]", "!"),
        ("*[a", "xa"),
        ("*[ab", "b"),
        ("[a\\-c]", "-"),
        ("[a-\\c]", "\\"),
        ("[\\a-c]", "a"),
        ("[\\a-c]", "-"),
        ("[Z-a]", "_"),
        ("[^a", "b"),
        ("[a-]]", "_"),
        ("[--]", "-"),
        ("[a--]", "a"),
        ("[x-]y]", "y"),
        ("h[^e]llo", "hallo"),
    ] {
        assert!(sensitive(pattern, text), "{pattern:?} {text:?}");
    }
}

#[test]
fn patterns_that_do_not_match() {
    for (pattern, text) in [
        ("", "a"),
        ("a", ""),
        ("**", ""),
        ("?", ""),
        ("[^", ""),
        ("[^a]", "a"),
        ("[a", "b"),
        ("[", "["),
        ("[", "a"),
        ("[]", "a"),
        ("[]a]", "a"),
        ("[]a]", "]"),
        ("[]a]", "a]"),
        ("[a-]", "-"),
        ("[a-]", "]b"),
        ("[\\", "a"),
        ("\\*", "a"),
        ("[a-c-e]", "d"),
        ("[!a]", "b"),
        ("a*?", "a"),
        ("?", "ab"),
        ("h[^^]llo", "h^llo"),
        ("[a\\-c]", "b"),
        ("[a-\\c]", "b"),
        ("[\\a-c]", "b"),
        ("[^a", "a"),
        ("[]", "[]"),
        ("[]", "]"),
        ("a[]", "a"),
        ("a[", "a["),
        ("a[", "a"),
        ("[a-", "b"),
        ("[a-]]", "b]"),
        ("[a-]]", "a]"),
        ("[\\]a]", "a]"),
        ("A", "a"),
    ] {
        assert!(!sensitive(pattern, text), "{pattern:?} {text:?}");
    }
}

#[test]
fn names_match_in_any_case() {
    assert!(matches(b"MAX*[M-N]emory", b"maxXmEMORY", Case::Insensitive));
    assert!(!matches(b"MAX*", b"min", Case::Insensitive));
}

#[test]
fn many_stars_stay_cheap() {
    let pattern = [b"a*".repeat(2_000), b"b".to_vec()].concat();
    assert!(!matches(&pattern, &b"a".repeat(5_000), Case::Sensitive));
}

#[test]
fn a_pattern_without_special_bytes_is_literal() {
    assert!(is_literal(b"user:1]"));
    for pattern in ["*", "a?", "[a]", "\\a"] {
        assert!(!is_literal(pattern.as_bytes()));
    }
}

/// Says the same with plain recursion, for texts that are not empty.
fn model(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern, text) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => (0..=text.len()).any(|taken| model(rest, &text[taken..])),
        ([], _) | (_, []) => false,
        (_, [byte, others @ ..]) => {
            let (matched, len) = element(pattern, *byte, Case::Sensitive);
            matched && model(&pattern[len..], others)
        }
    }
}

proptest! {
    #[test]
    fn going_back_to_the_last_star_is_enough(
        pattern in "[ab*?\\[\\]^-]{0,10}",
        text in "[ab^-]{1,10}",
    ) {
        prop_assert_eq!(sensitive(&pattern, &text), model(pattern.as_bytes(), text.as_bytes()));
    }

    #[test]
    fn any_bytes_are_a_pattern(
        pattern in proptest::collection::vec(any::<u8>(), 0..60),
        text in proptest::collection::vec(any::<u8>(), 0..60),
    ) {
        for case in [Case::Sensitive, Case::Insensitive] {
            let _ = matches(&pattern, &text, case);
        }
        if is_literal(&pattern) {
            prop_assert!(matches(&pattern, &pattern, Case::Sensitive));
        }
    }
}
