//! What the compiler does not check: lengths, heads of files, arrows between crates, commands,
//! links.
//!
//! Each rule reads sources as text and adds complaints; nothing is changed. CONTRIBUTING.md lists
//! the rules. What must stay true: a complaint names the file, and the line where it has one.

mod arrows;
mod commands;
mod files;
mod links;

use crate::say;
use std::fmt::Display;
use std::fs;
use std::path::Path;

/// Directories that hold nothing of ours.
const SKIPPED_DIRECTORIES: [&str; 3] = ["target", ".git", "__pycache__"];

/// Checks every rule.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let sources = Source::read_all(root).map_err(|error| format!("{}: {error}", root.display()))?;
    let mut report = Report::default();
    for source in &sources {
        files::check(source, &mut report);
    }
    files::check_fences(&sources, &mut report);
    arrows::check(&sources, &mut report);
    commands::check(&sources, &mut report);
    links::check(root, &sources, &mut report);
    report.finish()
}

/// A text file of the workspace.
pub(crate) struct Source {
    /// Relative to the workspace, with slashes.
    path: String,
    text: String,
}

impl Source {
    fn read_all(root: &Path) -> std::io::Result<Vec<Source>> {
        let mut sources = Vec::new();
        let mut directories = vec![root.to_owned()];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(&directory)? {
                let (path, kind) =
                    entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
                if kind.is_dir() && !is_skipped(&path) {
                    directories.push(path);
                } else if kind.is_file() && is_text(&path) {
                    let text = fs::read_to_string(&path)?;
                    let path = path.strip_prefix(root).unwrap_or(&path);
                    sources.push(Source { path: path.to_string_lossy().into_owned(), text });
                }
            }
        }
        sources.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(sources)
    }

    fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// True for files that hold tests only.
    fn is_test(&self) -> bool {
        self.path.contains("/tests/") || self.path.ends_with("/tests.rs")
    }

    #[cfg(test)]
    fn new(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }
}

fn is_skipped(path: &Path) -> bool {
    path.file_name().is_some_and(|name| SKIPPED_DIRECTORIES.iter().any(|other| name == *other))
}

fn is_text(path: &Path) -> bool {
    let text = ["rs", "md", "toml", "py", "sh"];
    path.extension().is_some_and(|extension| text.iter().any(|other| extension == *other))
}

/// What was found.
#[derive(Default)]
pub(crate) struct Report {
    complaints: Vec<String>,
    warnings: Vec<String>,
}

impl Report {
    /// Something that must be mended.
    fn complain(&mut self, place: impl Display, message: impl Display) {
        self.complaints.push(format!("{place}: {message}"));
    }

    /// Something to look at.
    fn warn(&mut self, place: impl Display, message: impl Display) {
        self.warnings.push(format!("{place}: {message}"));
    }

    fn finish(self) -> Result<(), String> {
        for warning in &self.warnings {
            say(&format!("warning: {warning}"));
        }
        if self.complaints.is_empty() {
            return Ok(());
        }
        Err(format!("{}\ntidy: {} to mend", self.complaints.join("\n"), self.complaints.len()))
    }
}
