//! What a server process needs from the system once: its limit of open files, and a word to the
//! supervisor that started it.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use rustix::process::{Resource, Rlimit, Signal, getpid, getrlimit, kill_process, setrlimit};

/// Sends SIGTERM to this process, so that it ends the way an operator would end it.
pub fn terminate_self() {
    // A process may always signal itself.
    let _ = kill_process(getpid(), Signal::TERM);
}

/// How many files this process may have open.
pub fn files_max() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Raises the limit of open files to `wanted`, or as near to it as the system allows. Gives the
/// limit that holds afterwards; it is never lowered.
pub fn raise_files_max(wanted: u64) -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let current = limit.current.unwrap_or(u64::MAX);
    if current >= wanted {
        return current;
    }
    // A privileged process may go beyond its hard limit; the others up to it.
    let beyond = limit.maximum.map(|maximum| maximum.max(wanted));
    let within = wanted.min(limit.maximum.unwrap_or(u64::MAX));
    let raised = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: beyond })
        .or_else(|_| {
            let rlimit = Rlimit { current: Some(within), maximum: limit.maximum };
            setrlimit(Resource::Nofile, rlimit)
        });
    match raised {
        Ok(()) => files_max(),
        Err(_) => current,
    }
}

/// Tells the supervisor (systemd and its kin) behind `socket`, the value of `NOTIFY_SOCKET`, that
/// `state` holds: lines such as `READY=1`. The protocol is that of sd_notify(3).
///
/// # Errors
/// What the system says about the socket.
pub fn notify_supervisor(socket: &str, state: &str) -> io::Result<()> {
    let address = match socket.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(socket)?,
    };
    let sender = UnixDatagram::unbound()?;
    sender.send_to_addr(state.as_bytes(), &address)?;
    Ok(())
}
