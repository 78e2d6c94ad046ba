//! What each target checks, beyond not to panic. The crates' own property tests check the same with
//! bytes made up on a stable compiler.
#![forbid(unsafe_code)]

mod engine;

pub use engine::{acl, commands, lua, streams};

use caudal_engine::config::{Config, Peer};
use caudal_rdb::{Decoded, Decoding, Reader, Source, Version, decode, encode};
use caudal_text::glob::{self, Case};
use caudal_text::words;
use caudal_value::Limits as ValueLimits;
use caudal_wire::{Limits, Parser, ProtocolError, Span, Step, frame};
use std::path::Path;

type Commands = (Vec<Vec<Vec<u8>>>, Option<ProtocolError>);

/// However the bytes are split, the same commands and the same error come out. The first byte
/// chooses the sizes of the pieces.
pub fn parser(bytes: &[u8]) {
    let Some((&seed, bytes)) = bytes.split_first() else { return };
    let limits = Limits {
        bulk_bytes_max: 1 << 20,
        multibulk_max: 1 << 20,
        inline_bytes_max: 256,
        authenticated: seed & 1 == 1,
    };
    let whole = parsed(bytes, bytes.len().max(1), &limits);
    assert_eq!(whole, parsed(bytes, 1, &limits));
    assert_eq!(whole, parsed(bytes, usize::from(seed / 2) + 1, &limits));
}

/// A frame's length is exact: with a byte less it is not whole.
pub fn frame(bytes: &[u8]) {
    if let Ok(Some((_, len))) = frame::parse(bytes) {
        assert_eq!(frame::parse(&bytes[..len - 1]), Ok(None));
    }
}

/// The first byte is the pattern's length. A pattern behind a `*` matches what it matches itself,
/// but for the empty text, which only `*` and the empty pattern match.
pub fn glob(bytes: &[u8]) {
    let Some((&len, bytes)) = bytes.split_first() else { return };
    let (pattern, text) = bytes.split_at(bytes.len().min(usize::from(len)));
    for case in [Case::Sensitive, Case::Insensitive] {
        if !text.is_empty() && glob::matches(pattern, text, case) {
            assert!(glob::matches(&[b"*", pattern].concat(), text, case));
        }
    }
}

/// Words that were split and quoted again are the same words.
pub fn words(bytes: &[u8]) {
    let Some(split) = words::split(bytes) else { return };
    let mut line = Vec::new();
    for word in &split {
        words::quote(word, &mut line);
        line.push(b' ');
    }
    assert_eq!(words::split(&line), Some(split));
}

/// The first byte is the value's type, the second says whose. What was read is written and read
/// again.
pub fn rdb(bytes: &[u8]) {
    let [kind, whose, bytes @ ..] = bytes else { return };
    let version = if whose & 1 == 0 { Version::REDIS_MAX } else { Version::VALKEY_9 };
    let limits = ValueLimits::default();
    let read = |kind: u8, bytes: &[u8], version| {
        let decoding = Decoding { limits: &limits, string_bytes_max: 1 << 20, version };
        decode(kind, &mut Reader::new(bytes, decoding.string_bytes_max), &decoding)
    };
    let Ok(value) = read(*kind, bytes, version) else { return };
    let source = match &value {
        Decoded::Integer(integer) => Source::Integer(*integer),
        Decoded::Bytes(bytes) => Source::Bytes(bytes),
        Decoded::Object(object) => Source::Object(object),
    };
    let mut out = Vec::new();
    let version = encode(source, &mut out);
    assert!(read(out[0], &out[1..], version).is_ok());
}

/// A configuration file of any text, on top of one that includes it and itself.
pub fn config(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let read_file = |path: &Path| match path.to_str() {
        Some("any.conf") => Ok(text.clone().into_owned()),
        _ => Err(std::io::ErrorKind::NotFound.into()),
    };
    let Ok((mut config, _)) = Config::load(&["any.conf".to_owned()], &read_file) else { return };
    // What CONFIG GET answers, CONFIG SET takes or refuses, and does not fall over.
    for (name, value) in config.get(&["*"]) {
        let _ = config.set(&[(name.as_str(), value.as_str())], Peer::Local);
    }
}

/// All commands of a connection that receives its bytes in pieces of one size.
fn parsed(bytes: &[u8], piece_bytes: usize, limits: &Limits) -> Commands {
    let mut parser = Parser::new();
    let mut spans: Vec<Span> = Vec::new();
    let mut commands = Vec::new();
    let (mut start, mut end) = (0, 0);
    while end < bytes.len() {
        end = bytes.len().min(end + piece_bytes);
        loop {
            let input = &bytes[start..end];
            spans.clear();
            match parser.next(input, limits, &mut spans) {
                Err(error) => return (commands, Some(error)),
                Ok(Step::Incomplete { wanted }) => {
                    assert!(wanted > input.len());
                    break;
                }
                Ok(Step::Empty { consumed }) => start += consumed,
                Ok(Step::Inline { consumed, words }) => {
                    commands.push(words);
                    start += consumed;
                }
                Ok(Step::Command { consumed }) => {
                    commands.push(spans.iter().map(|span| span.of(input).to_vec()).collect());
                    start += consumed;
                }
            }
        }
    }
    (commands, None)
}
