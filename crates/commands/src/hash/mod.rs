//! Commands on hashes.

mod fields;
mod hdel;
mod hexpire;
mod hget;
mod hgetall;
mod hgetdel;
mod hgetex;
mod hincrby;
mod hincrbyfloat;
mod hlen;
mod hmget;
mod hpersist;
mod hrandfield;
mod hscan;
mod hset;
mod hsetex;
mod hsetnx;
mod httl;

use crate::Command;

/// The family, in the order of the reference.
pub(crate) const COMMANDS: &[Command] = &[
    Command::new(hdel::SPEC, hdel::apply),
    Command::new(hget::HEXISTS, hget::hexists),
    Command::new(hexpire::HEXPIRE, hexpire::hexpire),
    Command::new(hexpire::HEXPIREAT, hexpire::hexpire_at),
    Command::new(httl::HEXPIRETIME, httl::hexpire_time),
    Command::new(hget::HGET, hget::hget),
    Command::new(hgetall::HGETALL, hgetall::hgetall),
    Command::new(hgetdel::SPEC, hgetdel::apply),
    Command::new(hgetex::SPEC, hgetex::apply),
    Command::new(hincrby::SPEC, hincrby::apply),
    Command::new(hincrbyfloat::SPEC, hincrbyfloat::apply),
    Command::new(hgetall::HKEYS, hgetall::hkeys),
    Command::new(hlen::SPEC, hlen::apply),
    Command::new(hmget::SPEC, hmget::apply),
    Command::new(hset::HMSET, hset::hmset),
    Command::new(hpersist::SPEC, hpersist::apply),
    Command::new(hexpire::HPEXPIRE, hexpire::hpexpire),
    Command::new(hexpire::HPEXPIREAT, hexpire::hpexpire_at),
    Command::new(httl::HPEXPIRETIME, httl::hpexpire_time),
    Command::new(httl::HPTTL, httl::hpttl),
    Command::new(hrandfield::SPEC, hrandfield::apply),
    Command::new(hscan::SPEC, hscan::apply),
    Command::new(hset::HSET, hset::hset),
    Command::new(hsetex::SPEC, hsetex::apply),
    Command::new(hsetnx::SPEC, hsetnx::apply),
    Command::new(hget::HSTRLEN, hget::hstrlen),
    Command::new(httl::HTTL, httl::httl),
    Command::new(hgetall::HVALS, hgetall::hvals),
];
