//! Databases of slots: lock sets, waiters, watches, expiry, SCAN.
#![forbid(unsafe_code)]
