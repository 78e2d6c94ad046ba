//! What the suite says of a unit.

use std::collections::BTreeSet;

/// A unit that has run.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Names of tests that passed: a unit may have several of one name.
    pub(crate) passed: Vec<String>,
    /// Names of tests that failed, or errors that ended a part of the unit.
    pub(crate) failed: BTreeSet<String>,
    /// Whether the suite came to its end.
    pub(crate) is_whole: bool,
    /// All that it said, without colours.
    pub(crate) text: String,
}

impl Report {
    /// Reads it from the suite's output.
    pub(crate) fn of(output: &str) -> Report {
        let text = without_colours(output);
        let mut report = Report { text: text.clone(), ..Report::default() };
        for line in text.lines() {
            if let Some(test) = line.strip_prefix("[ok]: ") {
                let name = test.rsplit_once(" (").map_or(test, |(name, _time)| name);
                report.passed.push(name.to_owned());
            } else if let Some(test) =
                line.strip_prefix("[err]: ").or_else(|| line.strip_prefix("[exception]: "))
            {
                let name = test.rsplit_once(" in tests/").map_or(test, |(name, _file)| name);
                report.failed.insert(name.to_owned());
            } else if line.starts_with("[TIMEOUT]") {
                report.failed.insert("nothing was heard of it any more".to_owned());
            }
            report.is_whole |= line.starts_with("Execution time of different units");
        }
        report
    }
}

/// Leaves out the sequences that colour a terminal: from an escape to an `m`.
fn without_colours(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| plain + part.split_once('m').map_or("", |(_, rest)| rest))
}

#[test]
fn a_report_has_the_names_of_tests() {
    let report = Report::of(
        "\u{1b}[0;32;49m[ok]\u{1b}[0m: GET (and SET) works (3 ms)\n\
         [err]: DEL in fact deletes in tests/unit/type/string.tcl\nExpected 1\n\
         [exception]: Executing test client: it is gone.\n\
         Execution time of different units:\n",
    );
    assert_eq!(report.passed, ["GET (and SET) works"]);
    let failed = ["DEL in fact deletes", "Executing test client: it is gone."];
    assert!(report.failed.iter().eq(failed));
    assert!(report.is_whole);
    assert!(!Report::of("[ok]: GET (0 ms)\n").is_whole);
}
