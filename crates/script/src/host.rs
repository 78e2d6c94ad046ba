//! What a script may ask of whoever runs it.

use caudal_commands::Args;
use caudal_wire::{Output, Protocol};
use scoped_tls_hkt::scoped_thread_local;

/// Why a script must end before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Somebody has had it killed.
    Killed,
    /// What it has done is taken back, and it runs again from its start.
    RunsAgain,
    /// It took longer than its caller allows: FUNCTION LOAD.
    TimedOut,
}

/// How loud a message of `redis.log` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// `redis.LOG_DEBUG`
    Debug,
    /// `redis.LOG_VERBOSE`
    Verbose,
    /// `redis.LOG_NOTICE`
    Notice,
    /// `redis.LOG_WARNING`
    Warning,
}

/// `redis.acl_check_cmd` was not given a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AclError;

/// The store, as a script sees it.
pub trait Host {
    /// Runs a command and appends its reply, spelled in `protocol`; an error is a reply too.
    ///
    /// # Errors
    /// The script must end: nothing was replied.
    fn call(&mut self, args: Args<'_>, protocol: Protocol, reply: &mut Output) -> Result<(), Stop>;

    /// Writes to the server's log.
    fn log(&mut self, level: LogLevel, text: &[u8]);

    /// Whether the script's user may run a command.
    ///
    /// # Errors
    /// There is no such command.
    fn may_call(&mut self, args: Args<'_>) -> Result<bool, AclError>;

    /// Called every some thousand instructions. `Some`: the script must end.
    fn poll(&mut self) -> Option<Stop>;
}

scoped_thread_local!(
    /// The host of the script that runs on this thread: Lua's callbacks live as long as the
    /// machine, a host only as long as one script.
    pub(crate) static mut HOST: for<'a> &'a mut (dyn Host + 'a)
);
