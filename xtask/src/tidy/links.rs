//! Links between pages lead somewhere.

use super::{Report, Source};
use std::path::Path;

/// Checks the relative links of every page.
pub(super) fn check(root: &Path, sources: &[Source], report: &mut Report) {
    for page in sources.iter().filter(|source| source.path.ends_with(".md")) {
        let directory = Path::new(&page.path).parent().unwrap_or(Path::new(""));
        for (index, line) in page.text.lines().enumerate() {
            for target in targets(line) {
                if !root.join(directory).join(target).exists() {
                    let place = format!("{}:{}", page.path, index + 1);
                    report.complain(place, format!("the link to {target} leads nowhere"));
                }
            }
        }
    }
}

/// What the links of a line lead to inside the repository, without their anchors.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target.split('#').next().unwrap_or(target))
        .filter(|target| !target.is_empty() && !target.contains("://"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_within_the_repository_are_found() {
        let line = "[a](docs/a.md#part), [b](https://b.example/) and [c](#c) (d) [e](e.md).";
        assert!(targets(line).eq(["docs/a.md", "e.md"]));
    }

    #[test]
    fn dead_links_are_named() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let page = Source::new("src/page.md", "[this](tidy/links.rs)\n[that](nowhere.md)\n");
        let mut report = Report::default();
        check(root, &[page], &mut report);
        assert_eq!(report.complaints, ["src/page.md:2: the link to nowhere.md leads nowhere"]);
    }
}
