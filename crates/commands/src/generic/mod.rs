//! Commands on keys of any type.

mod copy;
mod del;
mod dump;
mod exists;
mod expire;
mod keys;
mod kind;
mod migrate;
mod move_key;
mod object;
mod persist;
mod randomkey;
mod rename;
mod restore;
mod scan;
mod sort;
mod ttl;

pub(crate) use expire::{Condition, Scale};
pub(crate) use ttl::to_seconds;

use crate::{Command, Reads};

/// The family, in the order of the reference.
pub(crate) const COMMANDS: &[Command] = &[
    Command::new(copy::SPEC, copy::apply).and_in(copy::other_database),
    Command::new(del::DEL, del::apply),
    Command::new(dump::SPEC, dump::apply),
    Command::new(exists::EXISTS, exists::exists),
    Command::new(expire::EXPIRE, expire::expire),
    Command::new(expire::EXPIREAT, expire::expire_at),
    Command::new(ttl::EXPIRETIME, ttl::expire_time),
    Command::new(keys::SPEC, keys::apply),
    Command::new(migrate::SPEC, migrate::apply)
        .reading(Reads { keys: migrate::keys, exclusive: |_| true }),
    Command::new(move_key::SPEC, move_key::apply).and_in(move_key::other_database),
    Command::new(object::ENCODING, object::encoding),
    Command::new(object::FREQ, object::freq),
    Command::new(object::HELP, object::help),
    Command::new(object::IDLETIME, object::idle_time),
    Command::new(object::REFCOUNT, object::ref_count),
    Command::new(persist::SPEC, persist::apply),
    Command::new(expire::PEXPIRE, expire::pexpire),
    Command::new(expire::PEXPIREAT, expire::pexpire_at),
    Command::new(ttl::PEXPIRETIME, ttl::pexpire_time),
    Command::new(ttl::PTTL, ttl::pttl),
    Command::new(randomkey::SPEC, randomkey::apply),
    Command::new(rename::RENAME, rename::rename),
    Command::new(rename::RENAMENX, rename::rename_nx),
    Command::new(restore::RESTORE, restore::apply),
    Command::new(restore::RESTORE_ASKING, restore::apply),
    Command::new(scan::SPEC, scan::apply),
    Command::new(sort::SORT, sort::sort),
    Command::new(sort::SORT_RO, sort::sort_ro),
    Command::new(exists::TOUCH, exists::touch),
    Command::new(ttl::TTL, ttl::ttl),
    Command::new(kind::SPEC, kind::apply),
    Command::new(del::UNLINK, del::apply),
];
