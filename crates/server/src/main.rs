//! The Caudal server.
#![forbid(unsafe_code)]

fn main() {}
