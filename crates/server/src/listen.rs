//! From `bind`, `port`, `tls-port` and `unixsocket` to listening sockets.
//!
//! Runs once, before the first worker starts. What must stay true: an address marked as optional
//! may be missing on this machine, but a port that somebody else has is an error for every address.

use std::fmt;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};

use caudal_engine::config::{BindAddress, Net};
use caudal_reactor::Listener;

/// An address that could not be listened on.
#[derive(Debug)]
pub(crate) struct Unavailable {
    what: String,
    error: io::Error,
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Failed listening on {}: {}", self.what, self.error)
    }
}

/// The sockets that are listened on.
pub(crate) struct Listeners {
    /// Those for TLS are the last.
    pub(crate) all: Vec<Listener>,
    /// How many are not for TLS. <= all.len()
    pub(crate) plain: usize,
}

/// All sockets that the configuration asks for.
pub(crate) fn listen(net: &Net, tls_port: u16) -> Result<Listeners, Unavailable> {
    let mut all = Vec::new();
    if net.port != 0 {
        listen_port(net, net.port, &mut all)?;
    }
    let backlog = i32::try_from(net.tcp_backlog).unwrap_or(i32::MAX);
    if let Some(path) = &net.unix_socket {
        let listener = Listener::unix(path, net.unix_socket_mode, backlog).map_err(|error| {
            Unavailable { what: format!("unix socket {}", path.display()), error }
        })?;
        all.push(listener);
    }
    let plain = all.len();
    if tls_port != 0 {
        listen_port(net, tls_port, &mut all)?;
    }
    Ok(Listeners { all, plain })
}

/// Listens on every address of `bind`.
fn listen_port(net: &Net, port: u16, listeners: &mut Vec<Listener>) -> Result<(), Unavailable> {
    let backlog = i32::try_from(net.tcp_backlog).unwrap_or(i32::MAX);
    let before = listeners.len();
    for bind in &net.bind {
        listen_tcp(bind, port, backlog, listeners)?;
    }
    if listeners.len() == before && !net.bind.is_empty() && net.unix_socket.is_none() {
        let what = format!("port {port} (tcp)");
        let error = io::Error::new(
            io::ErrorKind::AddrNotAvailable,
            "this machine has none of the addresses that `bind` names",
        );
        return Err(Unavailable { what, error });
    }
    Ok(())
}

fn listen_tcp(
    bind: &BindAddress,
    port: u16,
    backlog: i32,
    listeners: &mut Vec<Listener>,
) -> Result<(), Unavailable> {
    let failed =
        |error| Unavailable { what: format!("port {port} (tcp), address {}", bind.address), error };
    let addresses = match resolve(&bind.address, port) {
        Ok(addresses) => addresses,
        Err(_) if bind.optional => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    for address in addresses {
        match Listener::tcp(address, backlog) {
            Ok(listener) => listeners.push(listener),
            Err(error) if bind.optional && is_missing(&error) => {}
            Err(error) => return Err(failed(error)),
        }
    }
    Ok(())
}

/// Every address that a name stands for.
fn resolve(name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    match name {
        "*" => Ok(vec![([0; 4], port).into()]),
        "::*" => Ok(vec![([0_u16; 8], port).into()]),
        name => Ok((name, port).to_socket_addrs()?.collect()),
    }
}

/// Whether the machine lacks the address, or the whole family of addresses.
fn is_missing(error: &io::Error) -> bool {
    // EPROTONOSUPPORT, ESOCKTNOSUPPORT, EPFNOSUPPORT, EAFNOSUPPORT, EADDRNOTAVAIL, ENOPROTOOPT.
    matches!(error.raw_os_error(), Some(93 | 94 | 96 | 97 | 99 | 92))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without TLS.
    fn listen(net: &Net) -> Result<Vec<Listener>, Unavailable> {
        super::listen(net, 0).map(|listeners| listeners.all)
    }

    fn net(bind: &[(&str, bool)], port: u16) -> Net {
        let mut net = caudal_engine::config::Config::default().net.clone();
        let address = |&(address, optional): &(&str, bool)| BindAddress {
            address: address.to_owned(),
            optional,
        };
        net.bind = bind.iter().map(address).collect();
        net.port = port;
        net
    }

    /// A port that was free a moment ago.
    fn free_port() -> u16 {
        Listener::tcp(([127, 0, 0, 1], 0).into(), 1).unwrap().port().unwrap()
    }

    #[test]
    fn several_addresses_are_listened_on() {
        let port = free_port();
        let listeners = listen(&net(&[("127.0.0.1", false), ("127.0.0.2", false)], port)).unwrap();
        let names: Vec<String> = listeners.iter().map(ToString::to_string).collect();
        assert_eq!(names, [format!("127.0.0.1:{port}"), format!("127.0.0.2:{port}")]);
    }

    #[test]
    fn stars_stand_for_all_addresses() {
        let listeners = listen(&net(&[("*", false), ("::*", true)], free_port())).unwrap();
        assert!(listeners[0].to_string().starts_with("0.0.0.0:"));
    }

    #[test]
    fn only_optional_addresses_may_be_missing() {
        // Documentation addresses, which no machine has.
        let missing = "192.0.2.1";
        let port = free_port();
        let listeners = listen(&net(&[("127.0.0.1", false), (missing, true)], port)).unwrap();
        assert_eq!(listeners.len(), 1);
        drop(listeners);
        let error = listen(&net(&[(missing, false)], port)).unwrap_err().to_string();
        assert!(error.starts_with(&format!("Failed listening on port {port} (tcp)")), "{error}");
        assert!(listen(&net(&[(missing, true)], port)).is_err());
    }

    #[test]
    fn a_port_in_use_is_an_error_even_if_optional() {
        let taken = Listener::tcp(([127, 0, 0, 1], 0).into(), 1).unwrap();
        let port = taken.port().unwrap();
        let error = listen(&net(&[("127.0.0.1", true)], port)).unwrap_err().to_string();
        assert!(error.contains("in use"), "{error}");
        assert_eq!(error.lines().count(), 1);
    }

    #[test]
    fn the_listeners_for_tls_come_last() {
        let (port, tls_port) = (free_port(), free_port());
        let both = &net(&[("127.0.0.1", false), ("127.0.0.2", false)], port);
        let listeners = super::listen(both, tls_port).unwrap();
        assert_eq!(listeners.plain, 2);
        let ports: Vec<_> = listeners.all.iter().map(|at| at.port().unwrap()).collect();
        assert_eq!(ports, [port, port, tls_port, tls_port]);
        let alone = super::listen(&net(&[("127.0.0.1", false)], 0), free_port()).unwrap();
        assert_eq!((alone.plain, alone.all.len()), (0, 1));
    }

    #[test]
    fn no_port_and_a_unix_socket() {
        let path = std::env::temp_dir().join(format!("caudal-listen-{}", std::process::id()));
        let mut net = net(&[("*", false)], 0);
        net.unix_socket = Some(path.clone());
        net.unix_socket_mode = Some(0o600);
        let listeners = listen(&net).unwrap();
        assert_eq!(listeners.len(), 1);
        assert!(path.exists());
        drop(listeners);
        assert!(!path.exists());
    }
}
