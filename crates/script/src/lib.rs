//! Scripts and functions in Lua: the machine, its sandbox, its libraries.
//!
//! A worker has one [`Vm`], made when its first script runs. A script reaches the store through
//! [`Host`] and through nothing else. What must stay true: no script reads a file, a clock or
//! another script's variables; one that is told to stop does, whatever it catches.
#![forbid(unsafe_code)]

mod api;
mod from_lua;
mod functions;
mod host;
mod libraries;
mod raise;
mod random;
mod sandbox;
mod to_lua;
mod vm;

pub use functions::{Flags, Registered};
pub use host::{AclError, Host, LogLevel, Stop};
pub use vm::{Ended, MEMORY_BYTES_MAX, Returned, ReturnedError, Source, Vm};
