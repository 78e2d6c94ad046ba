//! What Valkey 9.1 answered, against what the table answers.

use super::*;

/// `directive TAB value TAB answer`, recorded from a running server: `OK` and the value that CONFIG
/// GET then shows, or the reason in the error reply.
const ANSWERS: &str = include_str!("valkey-9.1-set.tsv");

#[test]
fn every_value_is_taken_and_refused_as_valkey_does() {
    let defaults = Config::default();
    let mut different = Vec::new();
    for line in ANSWERS.lines() {
        let [name, value, expected] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("three fields: {line}");
        };
        let row = table::all()[table::find(name).expect(name)];
        let mut config = defaults.clone();
        let answer = match config.set(&[(name, value)], Peer::Remote) {
            Ok(_) => format!("OK {}", config.get(&[name])[0].1),
            Err(SetError::Refused { reason, .. }) => reason,
            Err(error) => error.to_string(),
        };
        // What Valkey takes and Caudal does not have yet is refused by design.
        let refused = matches!(row.standing, Standing::NotYet(_) | Standing::Never(_));
        if answer != expected && !(refused && answer.contains("is not")) {
            different.push(format!("{name} {value:?}\n  {expected}\n  {answer}"));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}
