//! See `caudal_fuzz::config`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| caudal_fuzz::config(bytes));
