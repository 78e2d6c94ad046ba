//! Bytes to commands and replies to bytes: RESP2 and RESP3, no I/O.
#![forbid(unsafe_code)]
