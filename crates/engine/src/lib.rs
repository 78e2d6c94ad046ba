//! Bytes in, bytes out: connections, dispatch, execution, configuration.
//!
//! The engine has no threads, sockets, files or clock of its own. A program makes one [`Engine`],
//! takes one [`Worker`] a thread from it, gives it bytes and the time, and sends what it finds in
//! the outputs. The way of a request: `worker` -> `batch` (parse, prefetch) -> `dispatch` (may it
//! run?) -> `execute` (locks, the command, what follows).
#![forbid(unsafe_code)]

mod acl;
mod aside;
mod atomic;
mod batch;
mod blocking;
mod books;
mod catalog;
mod clients;
mod command_log;
pub mod config;
mod connection;
mod cycle;
mod dispatch;
mod engine;
mod execute;
mod hot_keys;
mod latency;
pub mod local;
mod mail;
mod pause;
mod plain;
mod pubsub;
mod rates;
mod scripts;
mod session;
mod stats;
mod tracking;
mod transaction;
mod tuning;
mod whole;
mod worker;

pub use caudal_wire::Output;
pub use connection::{Close, Peer, Status};
pub use engine::{
    Certificate, Certificates, ConfigFile, Encryption, Engine, Environment, LogSink, Usage,
    Useless, WriteLine,
};
pub use worker::{Now, Open, Token, Worker};
