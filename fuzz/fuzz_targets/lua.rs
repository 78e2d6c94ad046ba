//! See `caudal_fuzz::lua`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| caudal_fuzz::lua(bytes));
