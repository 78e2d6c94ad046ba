//! See `caudal_fuzz::rdb`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| caudal_fuzz::rdb(bytes));
