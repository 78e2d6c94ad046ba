//! See `caudal_fuzz::glob`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| caudal_fuzz::glob(bytes));
