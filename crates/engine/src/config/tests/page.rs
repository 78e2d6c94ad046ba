//! docs/configuration.md.

use super::*;

/// Set to write the page instead of comparing it.
const WRITE_VARIABLE: &str = "CAUDAL_WRITE_DOCS";

#[test]
fn the_page_is_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
    if std::env::var_os(WRITE_VARIABLE).is_some() {
        std::fs::write(path, documentation()).unwrap();
    }
    let page = std::fs::read_to_string(path).unwrap();
    assert!(
        page == documentation(),
        "docs/configuration.md is not what the table says. Write it again:\n\
         {WRITE_VARIABLE}=1 cargo test -p caudal-engine the_page_is_the_table"
    );
}

#[test]
fn no_cell_breaks_its_table() {
    for line in documentation().lines().filter(|line| line.starts_with("| `")) {
        assert_eq!(line.matches('|').count(), 7, "{line}");
    }
}
