//! How Redis spells things: integers, doubles, glob patterns, quoted words.
#![forbid(unsafe_code)]
