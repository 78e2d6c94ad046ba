//! See `caudal_fuzz::commands`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| caudal_fuzz::commands(bytes));
