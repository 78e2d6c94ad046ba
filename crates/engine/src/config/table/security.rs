//! Who may do what.
//!
//! Rows of the table of directives; see [`super`].

use super::MAX_I64;
use super::checks::any;
use crate::config::directive::Directive;
use crate::config::directive::Kind::{Choice, Integer, Text};

const ALLOWED: [&str; 3] = ["no", "yes", "local"];

pub(super) static ROWS: [Directive; 7] = [
    Directive::works(
        "requirepass",
        Text(any),
        "",
        "the default user's password; empty asks for none",
    ),
    Directive::works(
        "enable-debug-command",
        Choice(&ALLOWED),
        "no",
        "who may use DEBUG; `local` means clients of this machine",
    )
    .at_start(),
    Directive::works(
        "enable-protected-configs",
        Choice(&ALLOWED),
        "no",
        "who may change protected directives by CONFIG SET",
    )
    .at_start(),
    Directive::never("enable-module-command", Choice(&ALLOWED), "no", "modules").at_start(),
    Directive::works("acllog-max-len", Integer(0, MAX_I64), "128", "entries of ACL LOG"),
    Directive::works(
        "acl-pubsub-default",
        Choice(&["allchannels", "resetchannels"]),
        "resetchannels",
        "whether a new ACL user may use all channels or none",
    ),
    Directive::works(
        "aclfile",
        Text(any),
        "",
        "a file of ACL users, in place of `user` lines; ACL LOAD reads it, ACL SAVE writes it",
    )
    .at_start(),
];
