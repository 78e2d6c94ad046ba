//! The commands on data: one file a command or tight family, with its facts on top.
//!
//! A command sees its words and a [`Context`]: keys that are already locked, a reply writer, the
//! turn's time. It never sees a socket, a clock or a lock.
#![forbid(unsafe_code)]

mod args;
mod context;
mod error;
mod numbers;
mod registry;
mod sample;
mod scan;
mod spec;
pub mod syntax;

mod bitmap;
mod generic;
mod geo;
mod hash;
mod hyperloglog;
mod list;
mod set;
mod sorted_set;
mod stream;
mod string;

pub use args::{Args, Cursor, OwnedArgs};
pub use context::{Context, DONE, Flow, Outcome, Random, Settings, Wait};
pub use error::Error;
pub use registry::{Command, Reads, all};
pub use spec::{Find, Flags, Group, KeyFlags, KeySpec, Spec};
