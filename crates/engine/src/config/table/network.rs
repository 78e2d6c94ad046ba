//! Where the server listens, and its sockets.
//!
//! Rows of the table of directives; see [`super`].

use super::checks::any;
use super::{MAX_I32, REPLICATION};
use crate::config::directive::Directive;
use crate::config::directive::Kind::{Addresses, Flag, Integer, Octal, Text};

pub(super) static ROWS: [Directive; 16] = [
    Directive::works("port", Integer(0, 65_535), "6379", "the TCP port; 0 listens on no TCP port")
        .at_start(),
    Directive::works(
        "bind",
        Addresses(16),
        "* -::*",
        "addresses to listen on; one with `-` in front may be missing on this machine",
    )
    .at_start(),
    Directive::not_yet("bind-source-addr", Text(any), "", REPLICATION),
    Directive::works("unixsocket", Text(any), "", "path of a Unix socket to listen on as well")
        .at_start(),
    Directive::works(
        "unixsocketperm",
        Octal,
        "0",
        "permissions of the Unix socket; 0 leaves what the umask gives",
    )
    .at_start(),
    Directive::not_yet("unixsocketgroup", Text(any), "", "changing the group of the Unix socket")
        .at_start(),
    Directive::works(
        "protected-mode",
        Flag,
        "yes",
        "without a password, refuses clients that are not on this machine",
    ),
    Directive::works(
        "tcp-backlog",
        Integer(0, MAX_I32),
        "511",
        "connections that may wait to be accepted",
    )
    .at_start(),
    Directive::works(
        "tcp-keepalive",
        Integer(0, MAX_I32),
        "300",
        "seconds between TCP keepalive probes; 0 sends none",
    ),
    Directive::not_yet("mptcp", Flag, "no", "multipath TCP").at_start(),
    Directive::not_yet("socket-mark-id", Integer(0, 4_294_967_295), "0", "marking sockets")
        .at_start(),
    Directive::no_meaning(
        "max-new-connections-per-cycle",
        Integer(1, 1000),
        "10",
        "accepting has an event loop of its own and delays nobody",
    ),
    Directive::never("rdma-bind", Addresses(16), "", "RDMA"),
    Directive::never("rdma-port", Integer(0, 65_535), "0", "RDMA"),
    Directive::no_meaning("rdma-completion-vector", Integer(-1, 1024), "-1", "there is no RDMA")
        .at_start(),
    Directive::no_meaning(
        "rdma-rx-size",
        Integer(65_536, 16_777_216),
        "1048576",
        "there is no RDMA",
    )
    .at_start(),
];
