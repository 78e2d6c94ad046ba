//! What a text must look like where not any text will do.
//!
//! Used by the rows of the table; each says what is wrong in words that the client reads.

use std::net::{Ipv4Addr, Ipv6Addr};

type Checked = Result<(), &'static str>;

pub(super) fn any(_: &str) -> Checked {
    Ok(())
}

pub(super) fn snapshot_file(text: &str) -> Checked {
    holds(!text.is_empty(), "dbfilename can't be empty")?;
    holds(is_one_name(text), "dbfilename can't be a path, just a filename")
}

pub(super) fn append_file(text: &str) -> Checked {
    holds(!text.is_empty(), "appendfilename can't be empty")?;
    holds(is_one_name(text), "appendfilename can't be a path, just a filename")
}

pub(super) fn append_directory(text: &str) -> Checked {
    holds(!text.is_empty(), "appenddirname can't be empty")?;
    holds(is_one_name(text), "appenddirname can't be a path, just a dirname")
}

pub(super) fn cluster_file(text: &str) -> Checked {
    holds(!text.is_empty(), "cluster-config-file can't be empty")
}

pub(super) fn ipv4(text: &str) -> Checked {
    holds(text.is_empty() || text.parse::<Ipv4Addr>().is_ok(), "Invalid IPv4 address")
}

pub(super) fn ipv6(text: &str) -> Checked {
    holds(text.is_empty() || text.parse::<Ipv6Addr>().is_ok(), "Invalid IPv6 address")
}

pub(super) fn hostname(text: &str) -> Checked {
    let fits = text.len() < 256;
    holds(fits, "Hostnames must be less than 256 characters")?;
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
    let refused = "Hostnames may only contain alphanumeric characters, hyphens or dots";
    holds(text.bytes().all(legal), refused)
}

pub(super) fn node_name(text: &str) -> Checked {
    holds(is_announceable(text), "Announced human node name contained invalid character")
}

pub(super) fn announced_address(text: &str) -> Checked {
    holds(is_announceable(text), "cluster-announce-ip contains invalid character")
}

pub(super) fn title_template(text: &str) -> Checked {
    const REFUSED: &str = "template format is invalid or contains unknown variables";
    const VARIABLES: [&str; 7] =
        ["title", "listen-addr", "server-mode", "port", "tls-port", "unixsocket", "config-file"];
    holds(!text.trim().is_empty(), REFUSED)?;
    let mut rest = text;
    while let Some((_, behind)) = rest.split_once('{') {
        let (variable, after) = behind.split_once('}').ok_or(REFUSED)?;
        holds(VARIABLES.contains(&variable), REFUSED)?;
        rest = after;
    }
    Ok(())
}

/// Three numbers with dots between them, as clients parse the version of a server.
pub(super) fn version(text: &str) -> Checked {
    let parts: Vec<&str> = text.split('.').collect();
    let number = |part: &&str| part.parse::<u16>().is_ok() && !part.starts_with('+');
    holds(parts.len() == 3 && parts.iter().all(number), "argument must be a version such as 7.2.4")
}

fn holds(condition: bool, refused: &'static str) -> Checked {
    if condition { Ok(()) } else { Err(refused) }
}

/// Whether the text can stand in nodes.conf and in the lines that nodes tell each other.
fn is_announceable(text: &str) -> bool {
    const FORBIDDEN: &str = " !\"#$%&'()*+,;<=>?@[\\]^{|}~";
    !text.contains(|letter: char| letter.is_ascii_control() || FORBIDDEN.contains(letter))
}

fn is_one_name(text: &str) -> bool {
    !text.contains('/') && text != "." && text != ".."
}
