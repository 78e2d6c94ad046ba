//! One file a command, with its facts on top.
#![forbid(unsafe_code)]
