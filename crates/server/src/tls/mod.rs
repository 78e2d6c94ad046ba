//! Encrypted connections: from the directives of TLS to a tunnel around each connection.
//!
//! Stands between `worker`, whose sockets carry ciphertext, and the engine, which knows nothing of
//! it. The protocol itself is rustls's, which does no I/O. A [`Keeper`] holds what new connections
//! are encrypted with; a worker's [`Tunnels`] hold its encrypted connections. What must stay true:
//! what is in use works, because it was tried before it replaced what was there; connections that
//! are not encrypted have no part in any of this.
//!
//! | file | idea |
//! |---|---|
//! | `keeper` | what is in use, and how it is renewed |
//! | `material` | files to a configuration of rustls |
//! | `suites` | words for protocols and cipher suites |
//! | `certificate` | what stands in a certificate |
//! | `sessions` | sessions that clients may take up again |
//! | `tunnel` | one connection: ciphertext in, plaintext out, and back |
//! | `tunnels` | a worker's connections, and whose handshake goes on |

mod certificate;
mod keeper;
mod material;
mod sessions;
mod suites;
mod tunnel;
mod tunnels;

pub(crate) use keeper::Keeper;
pub(crate) use tunnel::Tunnel;
pub(crate) use tunnels::Tunnels;
