//! The project's chores: `cargo xtask ci`, `tidy`, `bench`.
#![forbid(unsafe_code)]

fn main() {}
