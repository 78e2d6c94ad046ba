//! See `caudal_fuzz::streams`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| caudal_fuzz::streams(bytes));
