//! The directives of TLS as typed values.
//!
//! Part of [`super::Settings`]. Which words name a protocol or a cipher suite is known to whoever
//! speaks TLS, and is asked when the settings are put to use: see [`crate::Encryption`].

use std::path::PathBuf;

/// How connections to the TLS port are encrypted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tls {
    /// 0: no TLS port.
    pub port: u16,
    /// The server's certificate chain.
    pub certificate_file: Option<PathBuf>,
    /// The key of the certificate.
    pub key_file: Option<PathBuf>,
    /// Authorities whose clients are let in.
    pub authority_file: Option<PathBuf>,
    /// A directory of files as `authority_file`.
    pub authority_directory: Option<PathBuf>,
    /// Whether clients need a certificate.
    pub clients: ClientCertificates,
    /// What in a client's certificate names its user; `None`: nothing does.
    pub user_name: Option<UserName>,
    /// Names of versions, with spaces between them; empty: all there are.
    pub protocols: String,
    /// Names of TLS 1.2's cipher suites; empty: all there are.
    pub ciphers: String,
    /// Names of TLS 1.3's cipher suites; empty: all there are.
    pub cipher_suites: String,
    /// Whether the server's order of cipher suites counts.
    pub prefers_own_order: bool,
    /// `None`: no session is remembered.
    pub sessions: Option<Sessions>,
    /// `None`: the files are read again only when CONFIG SET says so.
    pub reload_seconds: Option<u32>,
    /// Steps of handshakes in one turn of a worker, at least 1.
    pub handshakes_per_turn: u32,
    /// Seconds that a handshake may take, at least 1.
    pub handshake_seconds_max: u32,
}

/// Whether clients need a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientCertificates {
    /// None is asked for.
    No,
    /// One is asked for, and checked if it is there.
    Optional,
    /// No handshake without one.
    Required,
}

/// What in a client's certificate names its user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserName {
    /// The common name of its subject.
    CommonName,
    /// An alternative name of its subject that is a URI: the first that is an enabled user's.
    Uri,
}

/// Which sessions are remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sessions {
    /// The newest so many, at least 1.
    pub count_max: usize,
    /// Not longer than this.
    pub seconds_max: u32,
}

/// Sessions where the directive sets no limit: some hundreds of MiB at the utmost.
pub(super) const SESSIONS_MAX: usize = 1 << 20;

/// Whether a directive says what [`crate::Encryption::renew`] is to use.
pub(crate) fn is_material(directive: &str) -> bool {
    const OTHERS: [&str; 4] =
        ["tls-port", "tls-auth-clients-user", "tls-auto-reload-interval", "tls-handshake-timeout"];
    directive.starts_with("tls-") && !OTHERS.contains(&directive)
}
