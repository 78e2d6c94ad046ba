//! The arrows between crates: what ARCHITECTURE.md allows against what each `Cargo.toml` asks for.
//!
//! The block of ARCHITECTURE.md that begins with ` ```arrows ` is the only place where the arrows
//! are written: `engine -> commands, wire` (or `-> nothing`). A crate without a line there is a
//! fault, as is a line without its crate. Dependencies for tests only are free.

use super::{Report, Source};
use std::collections::{BTreeMap, BTreeSet};

const PAGE: &str = "ARCHITECTURE.md";
const OPENING: &str = "```arrows";
const CRATE_PREFIX: &str = "caudal-";

/// From a crate's directory to the crates that it may use.
type Arrows<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// Compares the page with the manifests.
pub(super) fn check(sources: &[Source], report: &mut Report) {
    let Some(page) = sources.iter().find(|source| source.path == PAGE) else {
        return report.complain(PAGE, "is not there");
    };
    let allowed = parse(&page.text);
    let mut seen = BTreeSet::new();
    for manifest in sources {
        let Some(name) = crate_of(&manifest.path) else { continue };
        seen.insert(name);
        let Some(targets) = allowed.get(name) else {
            report.complain(PAGE, format!("has no line of arrows for {name}"));
            continue;
        };
        for used in uses(&manifest.text) {
            if !targets.contains(used) {
                report.complain(&manifest.path, format!("{name} must not know {used}"));
            }
        }
    }
    for name in allowed.keys().filter(|name| !seen.contains(**name)) {
        report.complain(PAGE, format!("has arrows for {name}, which is not a crate"));
    }
}

/// `crates/engine/Cargo.toml` is engine's.
fn crate_of(path: &str) -> Option<&str> {
    let name = path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml")?;
    (!name.contains('/')).then_some(name)
}

fn parse(page: &str) -> Arrows<'_> {
    let block = page.lines().skip_while(|line| line.trim() != OPENING).skip(1);
    let lines = block.take_while(|line| line.trim() != "```");
    lines
        .filter_map(|line| line.split_once("->"))
        .map(|(from, to)| {
            let targets = to.split(',').map(str::trim).filter(|name| *name != "nothing");
            (from.trim(), targets.collect())
        })
        .collect()
}

/// The workspace's crates among the dependencies that are built into a crate.
fn uses(manifest: &str) -> BTreeSet<&str> {
    let mut inside = false;
    let mut used = BTreeSet::new();
    for line in manifest.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            inside = section.contains("dependencies") && !section.contains("dev-dependencies");
        } else if inside {
            let key = line.split(['.', '=', ' ']).next().unwrap_or(line);
            used.extend(key.strip_prefix(CRATE_PREFIX));
        }
    }
    used
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "\
[package]
name = \"caudal-engine\"

[dependencies]
caudal-wire.workspace = true
caudal-table = { workspace = true }
smallvec.workspace = true

[target.'cfg(unix)'.dependencies]
caudal-text = \"1\"

[dev-dependencies]
caudal-server.workspace = true

[lints]
workspace = true
";

    fn complaints(arrows: &str) -> Vec<String> {
        let page = format!("# Map\n\n```arrows\n{arrows}\n```\n\nserver -> moon\n");
        let sources = [Source::new(PAGE, &page), Source::new("crates/engine/Cargo.toml", MANIFEST)];
        let mut report = Report::default();
        check(&sources, &mut report);
        report.complaints
    }

    #[test]
    fn manifests_are_read() {
        assert_eq!(uses(MANIFEST), BTreeSet::from(["wire", "table", "text"]));
        assert_eq!(crate_of("crates/engine/Cargo.toml"), Some("engine"));
        assert_eq!(crate_of("crates/engine/fuzz/Cargo.toml"), None);
        assert_eq!(crate_of("xtask/Cargo.toml"), None);
    }

    #[test]
    fn arrows_hold() {
        assert!(complaints("engine  -> wire, table, text, value").is_empty());
        let missing = complaints("engine -> wire, table");
        assert_eq!(missing, ["crates/engine/Cargo.toml: engine must not know text"]);
        assert_eq!(complaints("engine -> nothing").len(), 3);
    }

    #[test]
    fn every_crate_has_its_line() {
        assert_eq!(complaints("").len(), 1);
        let both = complaints("engine -> wire, table, text\nmoon -> nothing");
        assert_eq!(both, ["ARCHITECTURE.md: has arrows for moon, which is not a crate"]);
    }
}
