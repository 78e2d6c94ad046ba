//! The values behind keys: list, hash, set, sorted set.
#![forbid(unsafe_code)]
