//! See `caudal_fuzz::parser`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| caudal_fuzz::parser(bytes));
