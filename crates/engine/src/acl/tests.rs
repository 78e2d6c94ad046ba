//! Rules of any kind: none panics, and what is printed makes the same user again.

use super::{Ground, RuleError, User, join};
use crate::catalog::Catalog;
use proptest::prelude::*;

fn ground() -> Ground {
    Ground { catalog: Catalog::get(), all_channels: false }
}

fn user(rules: &[&str]) -> Result<User, RuleError> {
    let mut user = User::new(b"u", ground());
    rules.iter().try_for_each(|rule| user.apply(ground(), rule.as_bytes()))?;
    Ok(user)
}

fn printed(rules: &[&str]) -> String {
    let text = user(rules).map(|user| user.describe());
    text.map_or_else(
        |error| error.to_string(),
        |text| String::from_utf8(text).expect("text").replacen("user u off ", "", 1),
    )
}

#[test]
fn a_rule_makes_earlier_rules_on_the_same_void() {
    for (rules, text) in [
        (&["+GET", "+set", "-get"][..], "resetchannels -@all +set -get"),
        (&["+config|get", "-config"], "resetchannels -@all -config"),
        (&["+config", "+config|get"], "resetchannels -@all +config +config|get"),
        (&["+@read", "-get", "+@READ"], "resetchannels -@all -get +@read"),
        (&["+select|0", "+select|1"], "resetchannels -@all +select|0 +select|1"),
        (&["+select|0", "-select"], "resetchannels -@all -select"),
        (&["+get", "allcommands", "-get"], "resetchannels +@all -get"),
        (&["%R~a", "%w~a"], "~a resetchannels -@all"),
        (&["~a", "%R~b", "~*"], "~* resetchannels -@all"),
        (&["%R~*", "&a", "&a"], "%R~* resetchannels &a -@all"),
        (&["&a", "&*"], "&* -@all"),
        (&["db=3", "DB=1,0"], "resetchannels db=0,1 -@all"),
        (&["db=1", "resetdbs"], "resetchannels resetdbs -@all"),
        (
            &["(+get ~a)", "( +set db=1 )"],
            "resetchannels -@all (~a resetchannels -@all +get) (resetchannels db=1 -@all +set)",
        ),
        (&["(+get)", "clearselectors"], "resetchannels -@all"),
        (&[">x", "nopass", "+@all"], "nopass resetchannels +@all"),
        (&["nopass", ">x", "<x"], "resetchannels -@all"),
        (&["+@all", "allkeys", "(+get)", "reset"], "resetchannels -@all"),
    ] {
        assert_eq!(printed(rules), text, "{rules:?}");
    }
}

#[test]
fn what_is_no_rule_is_refused_with_its_reason() {
    use RuleError::*;
    for (rule, error) in [
        ("nosuch", Syntax),
        ("+nosuch", UnknownCommand),
        ("+@nosuch", UnknownCommand),
        ("+@", UnknownCommand),
        ("-select|0", UnknownCommand),
        ("+select|0|1", UnknownCommand),
        ("+config|nosuch", UnknownCommand),
        ("+config|get|x", FirstWordOfSubcommand),
        ("+get|", Syntax),
        ("%", Syntax),
        ("%RR~x", Syntax),
        ("%X~x", Syntax),
        ("~a b", Syntax),
        ("#abc", BadHash),
        ("!abc", BadHash),
        ("<x", NoSuchPassword),
        ("db=", Syntax),
        ("db=1,", Syntax),
        ("db=x", Syntax),
        ("db=-1", DatabaseRange),
        ("db=99999999999", DatabaseRange),
        ("(on)", Syntax),
        ("((+get))", Syntax),
        ("", Syntax),
    ] {
        assert_eq!(user(&[rule]).err(), Some(error), "{rule}");
    }
    assert_eq!(user(&["~*", "~a"]).err(), Some(AllKeysAlready));
    let both = user(&["%R~*", "%W~*", "%R~a"]).expect("neither right is on all keys alone");
    assert!(both.describe().windows(16).any(|text| text == b"%R~* %W~* %R~a r"), "{both:?}");
    assert_eq!(user(&["&*", "&a"]).err(), Some(AllChannelsAlready));
}

#[test]
fn words_between_parentheses_are_one_rule() {
    let joined = |words: &[&'static str]| join(words.iter().map(|word| word.as_bytes()));
    assert_eq!(
        joined(&["on", "(", "+get", "~a)", "off"]),
        Ok(vec![b"on".to_vec(), b"( +get ~a)".to_vec(), b"off".to_vec()])
    );
    assert_eq!(joined(&["(~a", "b"]), Err(b"(~a".as_slice()));
}

fn rule() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "on",
        "off",
        "nopass",
        "resetpass",
        "allkeys",
        "resetkeys",
        "allchannels",
        "resetchannels",
        "alldbs",
        "resetdbs",
        "+@all",
        "-@all",
        "clearselectors",
        "+@read",
        "-@read",
        "+@write",
        "-@admin",
        "+@fast",
        "+get",
        "-get",
        "+set",
        "+config",
        "-config",
        "+config|get",
        "-config|set",
        "+select|0",
        "+select|1",
        "+SELECT|X",
        "-select",
        "+get|a",
        "db=0",
        "db=1,3",
        "db=2",
        ">x",
        ">y",
        "<x",
        "reset",
    ])
    .prop_map(str::to_owned);
    let pattern = ("[~&]|%R~|%W~|%RW~", "[a-c*?\\[\\]^\\\\-]{0,3}").prop_map(|(a, b)| a + &b);
    prop_oneof![6 => known, 3 => pattern, 1 => "\\PC{0,8}"]
}

fn rules() -> impl Strategy<Value = Vec<String>> {
    let selector =
        prop::collection::vec(rule(), 0..4).prop_map(|rules| format!("({})", rules.join(" ")));
    prop::collection::vec(prop_oneof![5 => rule(), 1 => selector], 0..12)
}

proptest! {
    #[test]
    fn a_printed_user_is_the_same_user(rules in rules()) {
        let mut user = User::new(b"u", ground());
        for rule in &rules {
            let before = user.clone();
            // Words with parentheses inside are printed as they are, and end a selector early.
            let plain = rule.trim_start_matches('(').trim_end_matches(')');
            if plain.contains(['(', ')']) || user.apply(ground(), rule.as_bytes()).is_err() {
                user = before;
            }
        }
        let text = user.describe();
        let words = text.split(|byte| *byte == b' ').skip(2).filter(|word| !word.is_empty());
        let mut again = User::new(b"u", ground());
        for rule in join(words).expect("what is printed is balanced") {
            again.apply(ground(), &rule).expect("what is printed are rules");
        }
        prop_assert_eq!(again.describe(), text);
        prop_assert_eq!(again, user);
    }

    #[test]
    fn no_rule_panics(
        rules in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..12), 0..8),
    ) {
        let mut user = User::new(b"u", ground());
        for rule in rules {
            let _ = user.apply(ground(), &rule);
        }
    }
}
