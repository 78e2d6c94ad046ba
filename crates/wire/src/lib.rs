//! Bytes to commands and replies to bytes: RESP2 and RESP3.
//!
//! On a request's path: [`Parser`] turns what was read into commands, [`Reply`] writes their
//! answers into the connection's [`Output`]. No I/O, no clock, no threads; what a peer sends never
//! panics, is never copied before it is whole, and no memory is reserved because of a number that a
//! peer named.
#![forbid(unsafe_code)]

pub mod frame;
mod output;
mod parser;
mod reply;

pub use frame::Frame;
pub use output::{BLOB_BYTES_MIN, Output};
pub use parser::{Head, Limits, Parser, ProtocolError, Span, Step};
pub use reply::{Mark, Protocol, Reply};
