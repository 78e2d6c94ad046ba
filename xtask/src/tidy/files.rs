//! Rules on single files: columns, lengths, heads, leftovers; and who may use `unsafe`.

use super::{Report, Source};

/// Fits two files side by side on a laptop; rustfmt breaks code there, but not comments.
const COLUMNS_MAX: usize = 100;

/// What can be read in one sitting; above the second number a file is more than one idea.
const LINES_WISHED_MAX: usize = 600;
const LINES_MAX: usize = 1000;

/// The crates that fence `unsafe`.
const UNSAFE_CRATES: [&str; 2] = ["crates/reactor/", "crates/table/"];

/// Checks one file by itself.
pub(super) fn check(source: &Source, report: &mut Report) {
    for (index, line) in source.text.lines().enumerate() {
        let place = || format!("{}:{}", source.path, index + 1);
        if line.ends_with([' ', '\t']) {
            report.complain(place(), "white space at the end");
        }
        if source.is_rust() && line.chars().count() > COLUMNS_MAX {
            report.complain(place(), format!("longer than {COLUMNS_MAX} columns"));
        }
        if source.is_rust() && leftovers().iter().any(|word| line.contains(word.as_str())) {
            report.complain(place(), "unfinished: do it, or describe it in an issue");
        }
    }
    if !source.text.is_empty() && !source.text.ends_with('\n') {
        report.complain(&source.path, "no newline at the end");
    }
    if source.is_rust() {
        check_length(source, report);
        check_head(source, report);
    }
}

/// Checks that every crate but two forbids `unsafe`.
pub(super) fn check_fences(sources: &[Source], report: &mut Report) {
    for source in sources {
        let is_root = source.path.ends_with("src/lib.rs") || source.path.ends_with("src/main.rs");
        let is_fenced = UNSAFE_CRATES.iter().any(|fence| source.path.starts_with(fence));
        if is_root && !is_fenced && !source.text.contains("#![forbid(unsafe_code)]") {
            report.complain(&source.path, "must forbid unsafe_code");
        }
    }
}

fn check_length(source: &Source, report: &mut Report) {
    let lines = source.text.lines().count();
    if lines > LINES_MAX {
        report.complain(&source.path, format!("{lines} lines; at most {LINES_MAX}"));
    } else if lines > LINES_WISHED_MAX {
        report.warn(&source.path, format!("{lines} lines; better at most {LINES_WISHED_MAX}"));
    }
}

fn check_head(source: &Source, report: &mut Report) {
    let in_source = source.path.contains("/src/") && !source.is_test();
    if in_source && !source.text.starts_with("//!") {
        report.complain(&source.path, "must begin with //! lines that say what it is");
    }
}

/// Spelled so that this file does not find itself.
fn leftovers() -> [String; 3] {
    [["TO", "DO"], ["FIX", "ME"], ["XX", "X:"]].map(|halves| halves.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(path: &str, text: &str) -> Vec<String> {
        let mut report = Report::default();
        check(&Source::new(path, text), &mut report);
        report.complaints
    }

    #[test]
    fn a_clean_file_passes() {
        assert!(complaints("crates/a/src/b.rs", "//! What.\n\nfn f() {}\n").is_empty());
        assert!(complaints("crates/a/src/b/tests.rs", "use super::*;\n").is_empty());
        assert!(
            complaints("README.md", &format!("{}\n", "long ".repeat(40).trim_end())).is_empty()
        );
    }

    #[test]
    fn each_rule_finds_its_fault() {
        let long = format!("//! {}\n", "é".repeat(97));
        let unfinished = format!("//! A.\n// {}\n", leftovers()[0]);
        for text in [&long, &unfinished, "fn f() {}\n", "//! A. \n", "//! A."] {
            assert_eq!(complaints("crates/a/src/b.rs", text).len(), 1, "{text}");
        }
        let fits = format!("//! {}\n", "é".repeat(96));
        assert!(complaints("crates/a/src/b.rs", &fits).is_empty());
        assert_eq!(complaints("a.md", "word \n").len(), 1);
    }

    #[test]
    fn long_files_warn_and_longer_ones_fail() {
        let lines = |count: usize| "//!\n".repeat(count);
        let mut report = Report::default();
        check(&Source::new("crates/a/src/b.rs", &lines(LINES_WISHED_MAX + 1)), &mut report);
        assert_eq!((report.complaints.len(), report.warnings.len()), (0, 1));
        assert_eq!(complaints("crates/a/src/b.rs", &lines(LINES_MAX + 1)).len(), 1);
    }

    #[test]
    fn roots_forbid_unsafe_code() {
        let sources = [
            Source::new("crates/a/src/lib.rs", "//! A.\n#![forbid(unsafe_code)]\n"),
            Source::new("crates/b/src/lib.rs", "//! B.\n"),
            Source::new("crates/table/src/lib.rs", "//! The table.\n"),
        ];
        let mut report = Report::default();
        check_fences(&sources, &mut report);
        assert_eq!(report.complaints, ["crates/b/src/lib.rs: must forbid unsafe_code"]);
    }
}
