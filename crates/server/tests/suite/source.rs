//! Finding the suite.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A tree of Redis's source.
pub(crate) struct Source {
    pub(crate) directory: PathBuf,
}

impl Source {
    /// The tree, if it is of this version; else why there is none.
    pub(crate) fn find(version: &str) -> Result<Source, String> {
        let named = std::env::var_os("REDIS_SOURCE").map(PathBuf::from);
        let directory = named.or_else(fetched).ok_or(
            "no source of Redis (REDIS_SOURCE=a tree of it, or .ci/run fetches Debian's package)",
        )?;
        let is_of_version = |text: &str| text.contains(&format!("REDIS_VERSION \"{version}\""));
        let header = std::fs::read_to_string(directory.join("src/version.h")).unwrap_or_default();
        if !is_of_version(&header) {
            let directory = directory.display();
            return Err(format!("{directory} is not Redis {version}, of which failures are known"));
        }
        let mut tcl = Command::new("tclsh");
        let tcl = tcl.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        if !tcl.is_ok_and(|status| status.success()) {
            return Err("no tclsh (apt-get install tcl)".to_owned());
        }
        // The suite expects it, and a source package has no empty directories.
        std::fs::create_dir_all(directory.join("tests/tmp")).unwrap();
        Ok(Source { directory })
    }
}

/// The tree that CI has put into the target directory.
fn fetched() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2)?;
    let trees = std::fs::read_dir(root.join("target/redis-suite")).ok()?;
    let mut trees: Vec<PathBuf> = trees.filter_map(|tree| Some(tree.ok()?.path())).collect();
    trees.sort();
    trees.into_iter().rev().find(|tree| tree.join("tests/test_helper.tcl").exists())
}
