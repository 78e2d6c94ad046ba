//! Encrypted connections over real sockets, with a client of rustls's and certificates made here.
//!
//! What must stay true: nothing of what a server does for plain connections is different for
//! encrypted ones; whoever must not come in does not, and keeps nobody else from being served.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "../common/mod.rs"]
mod common;

mod authority;
mod guests;
mod renewal;
mod serving;
mod strangers;
