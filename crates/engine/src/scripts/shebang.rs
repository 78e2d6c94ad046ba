//! A script's first line: `#!lua flags=no-writes,allow-oom`. Its words may stand in quotes.

use caudal_commands::Error;
use caudal_script::Flags;
use caudal_text::words;

/// What a script's first line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shebang {
    /// None: the script has no such line, and Redis 6's rules.
    pub(crate) flags: Option<Flags>,
    /// Offset of what is compiled: the end of that line, so that lines keep their numbers.
    pub(crate) code: usize,
}

/// Reads the first line of a script.
///
/// # Errors
/// It is one of that kind, and not well formed.
pub(crate) fn parse(body: &[u8]) -> Result<Shebang, Error> {
    if !body.starts_with(b"#!") {
        return Ok(Shebang { flags: None, code: 0 });
    }
    let end = body.iter().position(|byte| *byte == b'\n');
    let end = end.ok_or(Error::text("ERR Invalid script shebang"))?;
    let words = words::split(&body[..end]);
    let words = words.ok_or(Error::text("ERR Invalid engine in script shebang"))?;
    let (engine, options) = engine_and_options(&words);
    let mut flags = Flags::default();
    for word in options {
        let Some(names) = word.strip_prefix(b"flags=") else {
            return Err(Error::quoting("ERR Unknown lua shebang option: ", word, ""));
        };
        for name in names.split(|byte| *byte == b',') {
            if !names.is_empty() && !flags.set(name) {
                return Err(Error::quoting("ERR Unexpected flag in script shebang: ", name, ""));
            }
        }
    }
    if !engine.eq_ignore_ascii_case(b"lua") {
        return Err(Error::quoting("ERR Could not find scripting engine '", engine, "'"));
    }
    Ok(Shebang { flags: Some(flags), code: end })
}

/// What a library's first line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Metadata {
    pub(crate) name: Vec<u8>,
    /// Offset of what is compiled.
    pub(crate) code: usize,
}

/// Reads the first line of a library: `#!lua name=mylib`.
///
/// # Errors
/// There is none, or it is not well formed.
pub(crate) fn parse_library(body: &[u8]) -> Result<Metadata, Error> {
    if !body.starts_with(b"#!") {
        return Err(Error::text("ERR Missing library metadata"));
    }
    let end = body.iter().position(|byte| *byte == b'\n');
    let end = end.ok_or(Error::text("ERR Invalid library metadata"))?;
    let words = words::split(&body[..end]);
    let words = words.ok_or(Error::text("ERR Invalid library metadata"))?;
    let (engine, options) = engine_and_options(&words);
    let mut name = None;
    for word in options {
        let Some(given) = word.strip_prefix(b"name=") else {
            return Err(Error::quoting("ERR Invalid metadata value given: ", word, ""));
        };
        if name.replace(given).is_some() {
            let text = "ERR Invalid metadata value, name argument was given multiple times";
            return Err(Error::text(text));
        }
    }
    let name = name.ok_or(Error::text("ERR Library name was not given"))?;
    if !is_name(name) {
        return Err(Error::text(
            "ERR Library names can only contain letters, numbers, or underscores(_) and must be \
             at least one character long",
        ));
    }
    if !engine.eq_ignore_ascii_case(b"lua") {
        return Err(Error::quoting("ERR Engine '", engine, "' not found"));
    }
    Ok(Metadata { name: name.to_vec(), code: end })
}

/// Whether a library or a function may be called so.
pub(crate) fn is_name(name: &[u8]) -> bool {
    !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// What follows `#!`, and the other words of a first line.
fn engine_and_options(words: &[Vec<u8>]) -> (&[u8], &[Vec<u8>]) {
    let (engine, options) = words.split_first().expect("the line begins with #!");
    (&engine[2..], options)
}
