//! See `caudal_fuzz::acl`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| caudal_fuzz::acl(bytes));
