//! The filters of CLIENT LIST and CLIENT KILL: which connections are meant.

use super::line::flags;
use crate::acl::Users;
use crate::clients::ClientInfo;
use crate::engine::Engine;
use caudal_commands::{Args, Cursor, Error};
use caudal_text::integer;
use std::net::SocketAddr;
use std::sync::atomic::Ordering::Relaxed;

/// Letters that CLIENT LIST can show in `flags`.
const FLAGS: &[u8] = b"NbxdcAuUrtTRBSMOPeiE";
/// Letters that it can show in `capa`.
const CAPAS: &[u8] = b"r";

/// What kind of connection. There are no others than these two so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Normal,
    Subscriber,
    Other,
}

/// One condition, by what it looks at.
#[derive(Debug)]
enum Test<'a> {
    Ids(Vec<u64>),
    Type(Type),
    User(&'a [u8]),
    Address(&'a [u8]),
    LocalAddress(&'a [u8]),
    Ip(&'a [u8]),
    Flags(&'a [u8]),
    Capa(&'a [u8]),
    Name(&'a [u8]),
    LibraryName(&'a [u8]),
    LibraryVersion(&'a [u8]),
    Database(u8),
    AgeSeconds(u64),
    IdleSeconds(u64),
}

/// A conjunction of conditions.
#[derive(Debug, Default)]
pub(super) struct Filter<'a> {
    /// Each with whether it must hold, or (`NOT-`) must not.
    tests: Vec<(Test<'a>, bool)>,
    /// SKIPME, if it was said.
    pub(super) skips_self: Option<bool>,
}

impl<'a> Filter<'a> {
    /// Reads filters from argument 2 on.
    pub(super) fn parse(args: Args<'a>, engine: &Engine) -> Result<Filter<'a>, Error> {
        let users = engine.access.users();
        let databases = engine.keyspace.databases();
        let mut filter = Filter::default();
        let mut words = args.cursor(2);
        while let Some(name) = words.next() {
            if words.left() == 0 {
                return Err(Error::SYNTAX);
            }
            let name = name.to_ascii_uppercase();
            if name == b"SKIPME" {
                filter.skips_self = Some(match words.next() {
                    Some(word) if word.eq_ignore_ascii_case(b"YES") => true,
                    Some(word) if word.eq_ignore_ascii_case(b"NO") => false,
                    _ => return Err(Error::SYNTAX),
                });
                continue;
            }
            let (wanted, name) = match name.strip_prefix(b"NOT-") {
                Some(name) => (false, name),
                None => (true, name.as_slice()),
            };
            filter
                .tests
                .push((Test::parse((name, wanted), &mut words, databases, &users)?, wanted));
        }
        Ok(filter)
    }

    /// Whether a connection is meant.
    pub(super) fn matches(&self, info: &ClientInfo, now_ms: u64) -> bool {
        self.tests.iter().all(|(test, wanted)| test.holds(info, now_ms) == *wanted)
    }
}

impl<'a> Test<'a> {
    fn parse(
        (name, wanted): (&[u8], bool),
        words: &mut Cursor<'a>,
        databases: usize,
        users: &Users,
    ) -> Result<Test<'a>, Error> {
        if name == b"ID" {
            return ids(words);
        }
        let value = words.next().ok_or(Error::SYNTAX)?;
        Ok(match name {
            b"TYPE" => Test::Type(kind(value)?),
            b"USER" if users.find(value).is_some() => Test::User(value),
            b"USER" => return Err(unknown("No such user", value)),
            b"ADDR" => Test::Address(value),
            b"LADDR" => Test::LocalAddress(value),
            b"IP" => Test::Ip(value),
            b"FLAGS" => Test::Flags(letters(value, FLAGS, ("flags", "FLAGS"), wanted)?),
            b"CAPA" => Test::Capa(letters(value, CAPAS, ("capa", "CAPA"), wanted)?),
            b"NAME" => Test::Name(value),
            b"LIB-NAME" => Test::LibraryName(value),
            b"LIB-VER" => Test::LibraryVersion(value),
            b"DB" => Test::Database(database(value, databases)?),
            b"MAXAGE" if wanted => Test::AgeSeconds(seconds(value, "maxage")?),
            b"IDLE" if wanted => Test::IdleSeconds(seconds(value, "idle")?),
            _ => return Err(Error::SYNTAX),
        })
    }

    fn holds(&self, info: &ClientInfo, now_ms: u64) -> bool {
        let age = |since: u64| now_ms.saturating_sub(since) / 1000;
        let all =
            |letters: &[u8], shown: &str| letters.iter().all(|at| shown.as_bytes().contains(at));
        match self {
            Test::Ids(ids) => ids.contains(&info.id),
            Test::Type(kind) => match kind {
                Type::Normal => !info.is_subscriber(),
                Type::Subscriber => info.is_subscriber(),
                Type::Other => false,
            },
            Test::User(user) => info.text().user == *user,
            Test::Address(address) => info.peer.address.as_bytes() == *address,
            Test::LocalAddress(address) => info.peer.local_address.as_bytes() == *address,
            Test::Ip(ip) => ip_of(&info.peer.address).as_bytes() == *ip,
            Test::Flags(letters) => all(letters, &flags(info)),
            Test::Capa(letters) => letters.is_empty() || info.follows_redirections.load(Relaxed),
            // An empty word is in no connection's name: those without one are not meant.
            Test::Name(name) => !name.is_empty() && info.text().name == *name,
            Test::LibraryName(name) => !name.is_empty() && info.text().library_name == *name,
            Test::LibraryVersion(at) => !at.is_empty() && info.text().library_version == *at,
            Test::Database(database) => info.database.load(Relaxed) == *database,
            Test::AgeSeconds(least) => age(info.opened_ms) >= *least,
            Test::IdleSeconds(least) => age(info.heard_ms.load(Relaxed)) >= *least,
        }
    }
}

/// The ids up to the first word that is no number; at least one.
fn ids<'a>(words: &mut Cursor<'a>) -> Result<Test<'a>, Error> {
    let mut ids = Vec::new();
    while let Some(id) = words.peek().and_then(integer::parse_i64) {
        words.next();
        match u64::try_from(id) {
            Ok(id) if id > 0 => ids.push(id),
            _ => return Err(Error::text("ERR client-id should be greater than 0")),
        }
    }
    if ids.is_empty() { Err(Error::SYNTAX) } else { Ok(Test::Ids(ids)) }
}

fn kind(name: &[u8]) -> Result<Type, Error> {
    match name.to_ascii_lowercase().as_slice() {
        b"normal" => Ok(Type::Normal),
        b"pubsub" => Ok(Type::Subscriber),
        b"master" | b"primary" | b"slave" | b"replica" => Ok(Type::Other),
        _ => Err(unknown("Unknown client type", name)),
    }
}

fn letters<'a>(
    value: &'a [u8],
    known: &[u8],
    (what, filter): (&str, &str),
    wanted: bool,
) -> Result<&'a [u8], Error> {
    if value.iter().all(|letter| known.contains(letter)) {
        return Ok(value);
    }
    let before = match wanted {
        true => format!("ERR Unknown {what} found in the provided filter: "),
        false => format!("ERR Unknown {what} found in the NOT-{filter} filter: "),
    };
    Err(Error::quoting(&before, value, ""))
}

fn database(value: &[u8], databases: usize) -> Result<u8, Error> {
    let number =
        integer::parse_i64(value).ok_or(Error::text("ERR DB is not an integer or out of range"))?;
    u8::try_from(number).ok().filter(|at| usize::from(*at) < databases).ok_or_else(|| {
        Error::new(format!("ERR DB number should be between 0 and {}", databases - 1))
    })
}

fn seconds(value: &[u8], name: &str) -> Result<u64, Error> {
    let number = integer::parse_i64(value)
        .ok_or_else(|| Error::new(format!("ERR {name} is not an integer or out of range")))?;
    u64::try_from(number)
        .ok()
        .filter(|seconds| *seconds > 0)
        .ok_or_else(|| Error::new(format!("ERR {name} should be greater than 0")))
}

fn unknown(what: &str, value: &[u8]) -> Error {
    Error::quoting(&format!("ERR {what} '"), value, "'")
}

/// The address without its port.
fn ip_of(address: &str) -> String {
    match address.parse::<SocketAddr>() {
        Ok(address) => address.ip().to_string(),
        Err(_) => address.rsplit_once(':').map_or(address, |(ip, _)| ip).to_owned(),
    }
}
