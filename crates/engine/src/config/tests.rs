//! The configuration as a whole: the table, files and arguments, CONFIG GET, SET and REWRITE.

use std::io;
use std::path::Path;

use super::*;

mod load;
mod page;
mod set;
mod table_rows;
mod valkey;

/// A configuration from arguments alone.
fn from_arguments(arguments: &[&str]) -> Result<(Config, Vec<Notice>), ConfigError> {
    from_files(arguments, &[])
}

/// A configuration from arguments and these files.
fn from_files(
    arguments: &[&str],
    files: &[(&str, &str)],
) -> Result<(Config, Vec<Notice>), ConfigError> {
    let arguments: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
    Config::load(&arguments, &|path: &Path| {
        let found = files.iter().find(|(name, _)| Path::new(name) == path);
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        found.map(|(_, text)| (*text).to_owned()).ok_or_else(missing)
    })
}

/// A configuration from one file, `a.conf`.
fn from_text(text: &str) -> Result<(Config, Vec<Notice>), ConfigError> {
    from_files(&["a.conf"], &[("a.conf", text)])
}

fn get(config: &Config, name: &str) -> String {
    let found = config.get(&[name]);
    assert_eq!(found.len(), 1, "{name}");
    found[0].1.clone()
}
