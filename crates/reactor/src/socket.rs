//! Listening and connected sockets: addresses, options, names of peers.
//!
//! The first and the last thing that touches a connection. What must stay true: every socket is
//! non-blocking and closed on exec; a unix socket's file is removed by the listener that made it.

use std::fmt;
use std::io::{self, IoSlice};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::Mode;
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendFlags, SocketAddrAny, SocketAddrUnix,
    SocketFlags, SocketType, sockopt,
};

/// Who is at the other end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Peer {
    /// A TCP connection.
    Tcp {
        /// The other end.
        remote: SocketAddr,
        /// Our end.
        local: SocketAddr,
    },
    /// A connection over the unix socket with this path.
    Unix(PathBuf),
}

/// How a dead TCP peer is found: the idle time before the first probe. A third of it passes
/// between two probes, and three unanswered ones end the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keepalive(pub Duration);

/// A connected, non-blocking socket.
#[derive(Debug)]
pub struct Socket {
    fd: OwnedFd,
    /// Of TCP; otherwise of a unix socket.
    is_tcp: bool,
}

impl Socket {
    /// Takes a connected stream socket, and makes it non-blocking.
    ///
    /// # Errors
    /// What the system says about the descriptor.
    pub fn new(fd: impl Into<OwnedFd>) -> io::Result<Self> {
        let fd = fd.into();
        rustix::io::ioctl_fionbio(&fd, true)?;
        let is_tcp = sockopt::socket_domain(&fd)? != AddressFamily::UNIX;
        Ok(Self { fd, is_tcp })
    }

    /// Sends at once what is written: a reply must not wait for the next one.
    ///
    /// # Errors
    /// What the system says; a socket that is not TCP refuses.
    pub fn set_no_delay(&self) -> io::Result<()> {
        Ok(sockopt::set_tcp_nodelay(&self.fd, true)?)
    }

    /// Probes a silent peer.
    ///
    /// # Errors
    /// What the system says; a socket that is not TCP refuses.
    pub fn set_keepalive(&self, keepalive: Keepalive) -> io::Result<()> {
        let idle = keepalive.0.max(Duration::from_secs(1));
        sockopt::set_socket_keepalive(&self.fd, true)?;
        sockopt::set_tcp_keepidle(&self.fd, idle)?;
        sockopt::set_tcp_keepintvl(&self.fd, (idle / 3).max(Duration::from_secs(1)))?;
        Ok(sockopt::set_tcp_keepcnt(&self.fd, 3)?)
    }

    /// Sends a last word if the peer's window takes it, and closes.
    pub fn dismiss(self, last_word: &[u8]) {
        // A peer that does not take a line at once does not get it: nobody waits for a stranger.
        let _ = rustix::net::send(&self.fd, last_word, SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
    }

    /// Whether it is a TCP connection rather than one over a unix socket.
    pub(crate) fn is_tcp(&self) -> bool {
        self.is_tcp
    }

    /// Appends what there is to `into`, as far as its spare capacity goes.
    #[inline]
    pub(crate) fn receive(&self, into: &mut Vec<u8>) -> rustix::io::Result<usize> {
        loop {
            let spare = rustix::buffer::spare_capacity(into);
            match rustix::net::recv(&self.fd, spare, RecvFlags::empty()) {
                Ok((_, n)) => return Ok(n),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Sends what the kernel takes.
    #[inline]
    pub(crate) fn send(&self, slices: &[IoSlice<'_>]) -> rustix::io::Result<usize> {
        loop {
            let sent = if let [slice] = slices {
                rustix::net::send(&self.fd, slice, SendFlags::NOSIGNAL)
            } else {
                let mut control = SendAncillaryBuffer::default();
                let slices = &slices[..slices.len().min(SLICES_MAX)];
                rustix::net::sendmsg(&self.fd, slices, &mut control, SendFlags::NOSIGNAL)
            };
            match sent {
                Err(rustix::io::Errno::INTR) => {}
                sent => return sent,
            }
        }
    }

    /// Why the connection broke.
    pub(crate) fn error(&self) -> io::Error {
        match sockopt::socket_error(&self.fd) {
            Ok(Err(error)) | Err(error) => error.into(),
            Ok(Ok(())) => io::ErrorKind::ConnectionReset.into(),
        }
    }
}

/// The kernel refuses more slices in one message (UIO_MAXIOV).
const SLICES_MAX: usize = 1024;

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// A listening socket. Closing it removes a unix socket's file.
#[derive(Debug)]
pub struct Listener {
    fd: OwnedFd,
    at: At,
}

#[derive(Debug)]
enum At {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

impl Listener {
    /// Listens on a TCP address. An IPv6 address takes no IPv4 connections, so that `*` and `::*`
    /// can stand side by side. Port 0 lets the system choose: see [`Self::port`].
    ///
    /// # Errors
    /// What the system says, above all that the address is in use or not available.
    pub fn tcp(address: SocketAddr, backlog: i32) -> io::Result<Self> {
        let family = match address {
            SocketAddr::V4(_) => AddressFamily::INET,
            SocketAddr::V6(_) => AddressFamily::INET6,
        };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let fd = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
        sockopt::set_socket_reuseaddr(&fd, true)?;
        if address.is_ipv6() {
            sockopt::set_ipv6_v6only(&fd, true)?;
        }
        rustix::net::bind(&fd, &address)?;
        rustix::net::listen(&fd, backlog)?;
        let listener = TcpListener::from(fd);
        let address = listener.local_addr()?;
        Ok(Self { fd: listener.into(), at: At::Tcp(address) })
    }

    /// Listens on a unix socket; `mode` holds its permission bits. A file left behind by a process
    /// that is gone is replaced.
    ///
    /// # Errors
    /// What the system says; that the path is in use if a server answers there, or if something
    /// that is not a socket stands there.
    pub fn unix(path: &Path, mode: Option<u32>, backlog: i32) -> io::Result<Self> {
        let address = SocketAddrUnix::new(path)?;
        remove_stale(path, &address)?;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let fd = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        rustix::net::bind(&fd, &address)?;
        let listener = Self { fd, at: At::Unix(path.to_owned()) };
        if let Some(mode) = mode {
            rustix::fs::chmod(path, Mode::from_raw_mode(mode))?;
        }
        rustix::net::listen(&listener.fd, backlog)?;
        Ok(listener)
    }

    /// The port that a TCP listener has.
    pub fn port(&self) -> Option<u16> {
        match &self.at {
            At::Tcp(address) => Some(address.port()),
            At::Unix(_) => None,
        }
    }

    /// Takes one connection; none if nobody waits.
    pub(crate) fn accept(&self) -> rustix::io::Result<Option<(Socket, Peer)>> {
        use rustix::io::Errno;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        loop {
            match rustix::net::acceptfrom_with(&self.fd, flags) {
                Ok((fd, remote)) => {
                    // A peer that is gone already has no name; it is nobody to talk to.
                    match self.peer(&fd, remote) {
                        Some(peer) => {
                            let is_tcp = matches!(self.at, At::Tcp(_));
                            return Ok(Some((Socket { fd, is_tcp }, peer)));
                        }
                        None => continue,
                    }
                }
                Err(Errno::AGAIN) => return Ok(None),
                // Of the connection, not of the listener: the next one may be well.
                Err(Errno::INTR | Errno::CONNABORTED | Errno::PROTO | Errno::PERM) => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn peer(&self, fd: &OwnedFd, remote: Option<SocketAddrAny>) -> Option<Peer> {
        match &self.at {
            At::Unix(path) => Some(Peer::Unix(path.clone())),
            At::Tcp(_) => {
                let remote = SocketAddr::try_from(remote?).ok()?;
                let local = SocketAddr::try_from(rustix::net::getsockname(fd).ok()?).ok()?;
                Some(Peer::Tcp { remote, local })
            }
        }
    }
}

impl fmt::Display for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.at {
            At::Tcp(address) => write!(f, "{address}"),
            At::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let At::Unix(path) = &self.at {
            // Somebody else may have removed it: nothing is lost.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Removes a socket file that nobody listens on, and nothing else.
fn remove_stale(path: &Path, address: &SocketAddrUnix) -> io::Result<()> {
    use std::os::unix::fs::FileTypeExt;
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(metadata) if !metadata.file_type().is_socket() => {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        Ok(_) => {}
    }
    debug_assert_eq!(address.path().map(|p| p.to_bytes().len()), Some(path.as_os_str().len()));
    debug_assert!(!path.as_os_str().as_bytes().is_empty());
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let probe = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    match rustix::net::connect(&probe, address) {
        Err(rustix::io::Errno::CONNREFUSED) => std::fs::remove_file(path),
        Ok(()) | Err(rustix::io::Errno::AGAIN) => Err(io::ErrorKind::AddrInUse.into()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
impl Listener {
    /// A listener that polls as ready and cannot accept.
    pub(crate) fn broken(fd: OwnedFd) -> Self {
        Self { fd, at: At::Tcp(([127, 0, 0, 1], 0).into()) }
    }
}
