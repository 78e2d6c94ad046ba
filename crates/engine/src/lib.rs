//! Bytes in, bytes out: connections, dispatch, execution, configuration.
#![forbid(unsafe_code)]

pub mod config;
