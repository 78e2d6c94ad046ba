//! Commands on hashes, without those on the expiry of single fields.

mod hdel;
mod hget;
mod hgetall;
mod hgetdel;
mod hincrby;
mod hincrbyfloat;
mod hlen;
mod hmget;
mod hrandfield;
mod hscan;
mod hset;
mod hsetnx;

use crate::Command;

/// The family, in the order of the reference.
pub(crate) const COMMANDS: &[Command] = &[
    Command::new(hdel::SPEC, hdel::apply),
    Command::new(hget::HEXISTS, hget::hexists),
    Command::new(hget::HGET, hget::hget),
    Command::new(hgetall::HGETALL, hgetall::hgetall),
    Command::new(hgetdel::SPEC, hgetdel::apply),
    Command::new(hincrby::SPEC, hincrby::apply),
    Command::new(hincrbyfloat::SPEC, hincrbyfloat::apply),
    Command::new(hgetall::HKEYS, hgetall::hkeys),
    Command::new(hlen::SPEC, hlen::apply),
    Command::new(hmget::SPEC, hmget::apply),
    Command::new(hset::HMSET, hset::hmset),
    Command::new(hrandfield::SPEC, hrandfield::apply),
    Command::new(hscan::SPEC, hscan::apply),
    Command::new(hset::HSET, hset::hset),
    Command::new(hsetnx::SPEC, hsetnx::apply),
    Command::new(hget::HSTRLEN, hget::hstrlen),
    Command::new(hgetall::HVALS, hgetall::hvals),
];
