//! Commands on sorted sets.

mod bounds;
mod bzpop;
pub(crate) mod combine;
mod pop;
mod scored;
mod zadd;
mod zcard;
mod zcount;
mod zdiff;
mod zinter;
mod zpop;
mod zrandmember;
mod zrange;
mod zrangestore;
mod zrank;
mod zrem;
mod zremrange;
mod zscan;
mod zscore;
mod zunion;

use crate::Command;

/// The family, in the order of the reference.
pub(crate) const COMMANDS: &[Command] = &[
    Command::new(bzpop::BZMPOP, bzpop::bzmpop),
    Command::new(bzpop::BZPOPMAX, bzpop::bzpopmax),
    Command::new(bzpop::BZPOPMIN, bzpop::bzpopmin),
    Command::new(zadd::ZADD, zadd::zadd),
    Command::new(zcard::SPEC, zcard::apply),
    Command::new(zcount::ZCOUNT, zcount::zcount),
    Command::new(zdiff::ZDIFF, zdiff::zdiff),
    Command::new(zdiff::ZDIFFSTORE, zdiff::zdiffstore),
    Command::new(zadd::ZINCRBY, zadd::zincrby),
    Command::new(zinter::ZINTER, zinter::zinter),
    Command::new(zinter::ZINTERCARD, zinter::zintercard),
    Command::new(zinter::ZINTERSTORE, zinter::zinterstore),
    Command::new(zcount::ZLEXCOUNT, zcount::zlexcount),
    Command::new(zpop::ZMPOP, zpop::zmpop),
    Command::new(zscore::ZMSCORE, zscore::zmscore),
    Command::new(zpop::ZPOPMAX, zpop::zpopmax),
    Command::new(zpop::ZPOPMIN, zpop::zpopmin),
    Command::new(zrandmember::SPEC, zrandmember::apply),
    Command::new(zrange::ZRANGE, zrange::zrange),
    Command::new(zrange::ZRANGEBYLEX, zrange::zrangebylex),
    Command::new(zrange::ZRANGEBYSCORE, zrange::zrangebyscore),
    Command::new(zrangestore::SPEC, zrangestore::apply),
    Command::new(zrank::ZRANK, zrank::zrank),
    Command::new(zrem::SPEC, zrem::apply),
    Command::new(zremrange::ZREMRANGEBYLEX, zremrange::by_lex),
    Command::new(zremrange::ZREMRANGEBYRANK, zremrange::by_rank),
    Command::new(zremrange::ZREMRANGEBYSCORE, zremrange::by_score),
    Command::new(zrange::ZREVRANGE, zrange::zrevrange),
    Command::new(zrange::ZREVRANGEBYLEX, zrange::zrevrangebylex),
    Command::new(zrange::ZREVRANGEBYSCORE, zrange::zrevrangebyscore),
    Command::new(zrank::ZREVRANK, zrank::zrevrank),
    Command::new(zscan::SPEC, zscan::apply),
    Command::new(zscore::ZSCORE, zscore::zscore),
    Command::new(zunion::ZUNION, zunion::zunion),
    Command::new(zunion::ZUNIONSTORE, zunion::zunionstore),
];
