//! The units that are run, and which of their tests fail.

use crate::report::Report;
use std::collections::BTreeMap;

/// Lines `unit <tab> tests that pass <tab> tests that are known to fail`, then lines
/// `unit <tab> test <tab> reason`. In front of a reason, `sometimes: ` says that it may pass.
const TABLE: &str = include_str!("known.tsv");

/// The table.
pub(crate) struct Known {
    /// The version of Redis whose tests these are.
    pub(crate) version: String,
    pub(crate) units: Vec<Unit>,
}

/// A unit of the suite.
#[derive(Debug)]
pub(crate) struct Unit {
    pub(crate) name: String,
    /// At least so many of its tests pass.
    passed_min: usize,
    /// Tests that fail, and whether they always do.
    failing: BTreeMap<String, bool>,
}

impl Known {
    pub(crate) fn read() -> Known {
        Known::parse(TABLE)
    }

    fn parse(table: &str) -> Known {
        let mut lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let version = lines.next().unwrap().strip_prefix("redis\t").unwrap().to_owned();
        let mut units: Vec<Unit> = Vec::new();
        for line in lines {
            let cells: Vec<&str> = line.split('\t').collect();
            match cells[..] {
                [name, passed_min] => units.push(Unit {
                    name: name.to_owned(),
                    passed_min: passed_min.parse().unwrap(),
                    failing: BTreeMap::new(),
                }),
                [name, test, reason] => {
                    let unit = units.iter_mut().find(|unit| unit.name == name);
                    let always = !reason.starts_with("sometimes: ");
                    unit.expect("its unit stands above").failing.insert(test.to_owned(), always);
                }
                _ => panic!("{line:?} has two or three cells"),
            }
        }
        Known { version, units }
    }
}

impl Unit {
    /// What is otherwise than the table says.
    pub(crate) fn compare(&self, report: &Report) -> Vec<String> {
        let name = &self.name;
        let mut troubles = Vec::new();
        for test in report.failed.iter().filter(|test| !self.failing.contains_key(*test)) {
            troubles.push(format!("{name}: failed: {test}"));
        }
        for (test, always) in &self.failing {
            if *always && !report.failed.contains(test) {
                troubles.push(format!("{name}: no longer fails, take it from the list: {test}"));
            }
        }
        if !report.is_whole {
            troubles.push(format!("{name}: came to no end"));
        }
        let passed = report.passed.len();
        if passed < self.passed_min {
            let least = self.passed_min;
            troubles.push(format!("{name}: only {passed} tests passed, and not {least}"));
        }
        troubles
    }
}

#[test]
fn what_differs_from_the_table_is_told() {
    let table = "redis\t7\nunit/a\t1\nunit/a\tx\tother words\nunit/a\ty\tsometimes: slow\n";
    let known = Known::parse(table);
    assert_eq!((&*known.version, known.units.len()), ("7", 1));
    let unit = &known.units[0];
    let told = |text: &str| unit.compare(&Report::of(text));
    let end = "Execution time of different units:\n";
    assert!(told(&format!("[ok]: a (1 ms)\n[err]: x in tests/a.tcl\n{end}")).is_empty());
    assert_eq!(told("[err]: z in tests/a.tcl\n").len(), 4);
}
