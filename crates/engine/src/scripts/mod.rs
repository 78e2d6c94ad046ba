//! Scripts and functions: what all workers share of them, and how one runs.
//!
//! Between the session's commands (EVAL, FCALL, SCRIPT, FUNCTION) and the machine of the `script`
//! crate. What must stay true: a script is one step for everybody else, as EXEC is.

mod cache;
mod claim;
mod host;
mod libraries;
mod machine;
mod run;
mod running;
mod shebang;

pub(crate) use cache::{DIGITS, Scripts, hex, parse_digest};
pub(crate) use libraries::{Libraries, Library, Set};
pub(crate) use machine::{Known, Machine, load};
pub(crate) use run::{Code, Keys, Request, declared_flags, run};
pub(crate) use running::Running;
