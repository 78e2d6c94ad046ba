//! Encrypted connections.
//!
//! Rows of the table of directives; see [`super`].

use super::checks::any;
use super::{CLUSTER, MAX_I32, REPLICATION};
use crate::config::directive::Directive;
use crate::config::directive::Kind::{Choice, Flag, Integer, Text};

pub(super) static ROWS: [Directive; 24] = [
    Directive::works(
        "tls-port",
        Integer(0, 65_535),
        "0",
        "the port for TLS, beside `port` or alone; 0 listens on none",
    )
    .at_start(),
    Directive::not_yet("tls-replication", Flag, "no", REPLICATION),
    Directive::not_yet("tls-cluster", Flag, "no", CLUSTER),
    Directive::works(
        "tls-auth-clients",
        Choice(&["no", "yes", "optional"]),
        "yes",
        "whether clients must have a certificate of an authority; `optional` asks for one",
    ),
    Directive::works(
        "tls-auth-clients-user",
        Choice(&["CN", "URI", "off"]),
        "off",
        "the part of a client's certificate that names the ACL user that it signs on as",
    ),
    Directive::works(
        "tls-auto-reload-interval",
        Integer(0, MAX_I32),
        "0",
        "seconds between two looks at the files of keys and certificates; 0: CONFIG SET reloads",
    ),
    Directive::works(
        "tls-ca-cert-dir",
        Text(any),
        "",
        "a directory of certificates of authorities, each file in PEM, whatever its name",
    ),
    Directive::works(
        "tls-ca-cert-file",
        Text(any),
        "",
        "certificates of the authorities whose clients are let in, in PEM",
    ),
    Directive::works(
        "tls-cert-file",
        Text(any),
        "",
        "the server's certificate and those between it and its authority, in PEM",
    ),
    Directive::works("tls-key-file", Text(any), "", "the key of the certificate, in PEM"),
    Directive::not_yet(
        "tls-key-file-pass",
        Text(any),
        "",
        "reading encrypted keys; write the key without a passphrase, readable by the server alone",
    ),
    Directive::waits("tls-client-cert-file", Text(any), "", REPLICATION),
    Directive::waits("tls-client-key-file", Text(any), "", REPLICATION),
    Directive::waits("tls-client-key-file-pass", Text(any), "", REPLICATION),
    Directive::no_meaning(
        "tls-dh-params-file",
        Text(any),
        "",
        "keys are exchanged over elliptic curves only",
    ),
    Directive::works(
        "tls-ciphers",
        Text(any),
        "",
        "cipher suites of TLS 1.2 by OpenSSL's names, `:` between them; empty: all six",
    ),
    Directive::works(
        "tls-ciphersuites",
        Text(any),
        "",
        "cipher suites of TLS 1.3, `:` between them; empty: all three",
    ),
    Directive::works(
        "tls-protocols",
        Text(any),
        "",
        "`TLSv1.2`, `TLSv1.3` or both with a space between them; empty: both",
    ),
    Directive::works(
        "tls-prefer-server-ciphers",
        Flag,
        "no",
        "chooses the cipher suite by this server's order and not by the client's",
    ),
    Directive::works(
        "tls-session-caching",
        Flag,
        "yes",
        "remembers sessions, so that a client that comes again shakes hands more cheaply",
    ),
    Directive::works(
        "tls-session-cache-size",
        Integer(0, MAX_I32),
        "20480",
        "sessions that are remembered, the newest; 0 or more than 1048576: as many as that",
    ),
    Directive::works(
        "tls-session-cache-timeout",
        Integer(0, MAX_I32),
        "300",
        "seconds for which a session is remembered",
    ),
    Directive::works(
        "max-new-tls-connections-per-cycle",
        Integer(1, 1000),
        "1",
        "steps of handshakes that a worker takes in one turn, between the commands of others",
    ),
    Directive::works(
        "tls-handshake-timeout",
        Integer(1, 3600),
        "60",
        "seconds that a client has to shake hands before its connection is closed",
    ),
];
