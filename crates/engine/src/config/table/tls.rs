//! Encrypted connections.
//!
//! Rows of the table of directives; see [`super`].

use super::checks::any;
use super::{MAX_I32, TLS};
use crate::config::directive::Directive;
use crate::config::directive::Kind::{Choice, Flag, Integer, Text};

pub(super) static ROWS: [Directive; 23] = [
    Directive::not_yet("tls-port", Integer(0, 65_535), "0", TLS),
    Directive::not_yet("tls-replication", Flag, "no", TLS),
    Directive::not_yet("tls-cluster", Flag, "no", TLS),
    Directive::waits("tls-auth-clients", Choice(&["no", "yes", "optional"]), "yes", TLS),
    Directive::waits("tls-auth-clients-user", Choice(&["CN", "URI", "off"]), "off", TLS),
    Directive::waits("tls-auto-reload-interval", Integer(0, MAX_I32), "0", TLS),
    Directive::waits("tls-ca-cert-dir", Text(any), "", TLS),
    Directive::waits("tls-ca-cert-file", Text(any), "", TLS),
    Directive::waits("tls-cert-file", Text(any), "", TLS),
    Directive::waits("tls-key-file", Text(any), "", TLS),
    Directive::waits("tls-key-file-pass", Text(any), "", TLS),
    Directive::waits("tls-client-cert-file", Text(any), "", TLS),
    Directive::waits("tls-client-key-file", Text(any), "", TLS),
    Directive::waits("tls-client-key-file-pass", Text(any), "", TLS),
    Directive::waits("tls-dh-params-file", Text(any), "", TLS),
    Directive::waits("tls-ciphers", Text(any), "", TLS),
    Directive::waits("tls-ciphersuites", Text(any), "", TLS),
    Directive::waits("tls-protocols", Text(any), "", TLS),
    Directive::waits("tls-prefer-server-ciphers", Flag, "no", TLS),
    Directive::waits("tls-session-caching", Flag, "yes", TLS),
    Directive::waits("tls-session-cache-size", Integer(0, MAX_I32), "20480", TLS),
    Directive::waits("tls-session-cache-timeout", Integer(0, MAX_I32), "300", TLS),
    Directive::waits("max-new-tls-connections-per-cycle", Integer(1, 1000), "1", TLS),
];
