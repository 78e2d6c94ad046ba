//! See `caudal_fuzz::words`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| caudal_fuzz::words(bytes));
