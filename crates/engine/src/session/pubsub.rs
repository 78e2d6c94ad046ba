//! PUBLISH, SUBSCRIBE and their families, for channels, patterns and channels of shards; PUBSUB.
//!
//! Each name of a SUBSCRIBE is confirmed by a message of its own, which CLIENT REPLY OFF does not
//! take away.

use crate::connection::Connection;
use crate::pubsub::Topic;
use crate::session::{DONE, Outcome, Session, SessionCommand, help};
use caudal_commands::{Args, Error, Flags, Group, KeyFlags, Spec};
use caudal_wire::Reply;

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary).group(Group::PubSub).since("2.0.0").loading_stale().flag(Flags::PUBSUB)
}

const PUBLISH: Spec = spec("PUBLISH", "Sends a message to a channel.")
    .flag(Flags::PUBLISHES)
    .flag(Flags::REPEATABLE)
    .flag(Flags::MAY_REPLICATE)
    .syntax("channel message")
    .arity(3)
    .fast()
    .complexity(
        "O(N+M) where N is the number of clients subscribed to the receiving channel and M is \
         the total number of subscribed patterns (by any client).",
    );
const SPUBLISH: Spec = spec("SPUBLISH", "Sends a message to a channel of a shard.")
    .flag(Flags::PUBLISHES)
    .flag(Flags::REPEATABLE)
    .syntax("shardchannel message")
    .since("7.0.0")
    .arity(3)
    .fast()
    .flag(Flags::MAY_REPLICATE)
    .complexity("O(N) where N is the number of clients subscribed to the receiving shard channel.")
    .key(1, KeyFlags::NOT_KEY);
const SUBSCRIBE: Spec = spec("SUBSCRIBE", "Listens to channels.")
    .flag(Flags::FOR_SUBSCRIBERS)
    .syntax("channel...")
    .arity(-2)
    .no_script()
    .complexity("O(N) where N is the number of channels to subscribe to.");
const UNSUBSCRIBE: Spec = spec("UNSUBSCRIBE", "Ends listening to channels, or to all of them.")
    .flag(Flags::FOR_SUBSCRIBERS)
    .syntax("[channel...]")
    .arity(-1)
    .no_script()
    .complexity("O(N) where N is the number of channels to unsubscribe.");
const PSUBSCRIBE: Spec = spec("PSUBSCRIBE", "Listens to all channels that match patterns.")
    .flag(Flags::FOR_SUBSCRIBERS)
    .syntax("pattern:pattern...")
    .arity(-2)
    .no_script()
    .complexity("O(N) where N is the number of patterns to subscribe to.");
const PUNSUBSCRIBE: Spec = spec("PUNSUBSCRIBE", "Ends listening to patterns, or to all of them.")
    .flag(Flags::FOR_SUBSCRIBERS)
    .syntax("[pattern:pattern...]")
    .arity(-1)
    .no_script()
    .complexity("O(N) where N is the number of patterns to unsubscribe.");
const SSUBSCRIBE: Spec = spec("SSUBSCRIBE", "Listens to channels of a shard.")
    .flag(Flags::FOR_SUBSCRIBERS)
    .syntax("shardchannel...")
    .since("7.0.0")
    .arity(-2)
    .no_script()
    .complexity("O(N) where N is the number of shard channels to subscribe to.")
    .key_range(1, -1, 1, KeyFlags::NOT_KEY);
const SUNSUBSCRIBE: Spec =
    spec("SUNSUBSCRIBE", "Ends listening to channels of a shard, or to all of them.")
        .flag(Flags::FOR_SUBSCRIBERS)
        .syntax("[shardchannel...]")
        .since("7.0.0")
        .arity(-1)
        .no_script()
        .complexity("O(N) where N is the number of shard channels to unsubscribe.")
        .key_range(1, -1, 1, KeyFlags::NOT_KEY);

const fn of_pubsub(name: &'static str, summary: &'static str) -> Spec {
    spec(name, summary).of("PUBSUB").since("2.8.0").arity(-2)
}

const CHANNELS: Spec = of_pubsub("CHANNELS", "Lists the channels that have subscribers.")
    .syntax("[pattern:pattern]")
    .complexity(
        "O(N) where N is the number of active channels, and assuming constant time pattern \
         matching (relatively short channels and patterns)",
    );
const NUMPAT: Spec = of_pubsub("NUMPAT", "Counts the patterns that have subscribers.").arity(2);
const NUMSUB: Spec = of_pubsub("NUMSUB", "Counts the subscribers of channels.")
    .syntax("[channel...]")
    .complexity("O(N) for the NUMSUB subcommand, where N is the number of requested channels");
const SHARDCHANNELS: Spec =
    of_pubsub("SHARDCHANNELS", "Lists the channels of shards that have subscribers.")
        .syntax("[pattern:pattern]")
        .since("7.0.0")
        .complexity(
            "O(N) where N is the number of active shard channels, and assuming constant time \
             pattern matching (relatively short shard channels).",
        );
const SHARDNUMSUB: Spec = of_pubsub("SHARDNUMSUB", "Counts the subscribers of channels of shards.")
    .syntax("[shardchannel...]")
    .since("7.0.0")
    .complexity(
        "O(N) for the SHARDNUMSUB subcommand, where N is the number of requested shard channels",
    );

/// The family.
pub(super) const COMMANDS: &[SessionCommand] = &[
    SessionCommand::new(CHANNELS, |session, args| list(session, args, Topic::Channel)),
    help::help("PUBSUB", Group::PubSub, "6.2.0"),
    SessionCommand::new(NUMPAT, count_patterns),
    SessionCommand::new(NUMSUB, |session, args| count(session, args, Topic::Channel)),
    SessionCommand::new(SHARDCHANNELS, |session, args| list(session, args, Topic::ShardChannel)),
    SessionCommand::new(SHARDNUMSUB, |session, args| count(session, args, Topic::ShardChannel)),
    SessionCommand::new(PSUBSCRIBE, |session, args| subscribe(session, args, &PATTERNS)),
    SessionCommand::new(PUBLISH, publish),
    SessionCommand::new(PUNSUBSCRIBE, |session, args| unsubscribe(session, args, &PATTERNS)),
    SessionCommand::new(SPUBLISH, publish_in_shard),
    SessionCommand::new(SSUBSCRIBE, |session, args| subscribe(session, args, &SHARD_CHANNELS)),
    SessionCommand::new(SUBSCRIBE, |session, args| subscribe(session, args, &NAMED)),
    SessionCommand::new(SUNSUBSCRIBE, |session, args| unsubscribe(session, args, &SHARD_CHANNELS)),
    SessionCommand::new(UNSUBSCRIBE, |session, args| unsubscribe(session, args, &NAMED)),
];

/// How a topic's confirmations are worded.
struct Wording {
    topic: Topic,
    begun: &'static [u8],
    ended: &'static [u8],
    /// The topics that the count in a confirmation is of.
    counted: &'static [Topic],
}

const NAMED: Wording = Wording {
    topic: Topic::Channel,
    begun: b"subscribe",
    ended: b"unsubscribe",
    counted: &[Topic::Channel, Topic::Pattern],
};
const PATTERNS: Wording = Wording {
    topic: Topic::Pattern,
    begun: b"psubscribe",
    ended: b"punsubscribe",
    counted: &[Topic::Channel, Topic::Pattern],
};
const SHARD_CHANNELS: Wording = Wording {
    topic: Topic::ShardChannel,
    begun: b"ssubscribe",
    ended: b"sunsubscribe",
    counted: &[Topic::ShardChannel],
};

impl Wording {
    fn confirm(&self, connection: &mut Connection, what: &[u8], name: Option<&[u8]>) {
        let count = connection.subscriptions(self.counted);
        let Connection { output, unmuted, protocol, .. } = connection;
        let mut reply = Reply::new(unmuted.as_deref_mut().unwrap_or(output), *protocol);
        reply.push(3);
        reply.bulk(what);
        match name {
            Some(name) => reply.bulk(name),
            None => reply.null(),
        }
        reply.integer(i64::try_from(count).unwrap_or(i64::MAX));
    }
}

fn subscribe(session: &mut Session<'_, '_>, args: Args<'_>, wording: &Wording) -> Outcome {
    let Session { engine, worker, connection, .. } = session;
    for name in args.from(1) {
        worker.subscribe(engine, connection, wording.topic, name);
        wording.confirm(connection, wording.begun, Some(name));
    }
    DONE
}

fn unsubscribe(session: &mut Session<'_, '_>, args: Args<'_>, wording: &Wording) -> Outcome {
    let Session { engine, worker, connection, .. } = session;
    for name in args.from(1) {
        worker.unsubscribe(engine, connection, wording.topic, name);
        wording.confirm(connection, wording.ended, Some(name));
    }
    if args.len() > 1 {
        return DONE;
    }
    let all = connection.subscriptions.as_ref();
    let all = all.map(|at| at.names(wording.topic).clone()).unwrap_or_default();
    for name in &all {
        worker.unsubscribe(engine, connection, wording.topic, name);
        wording.confirm(connection, wording.ended, Some(name));
    }
    if all.is_empty() {
        wording.confirm(connection, wording.ended, None);
    }
    DONE
}

fn publish(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let receivers = session.worker.publish(false, args.at(1), args.at(2));
    session.reply_count(receivers)
}

fn publish_in_shard(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let receivers = session.worker.publish(true, args.at(1), args.at(2));
    session.reply_count(receivers)
}

fn list(session: &mut Session<'_, '_>, args: Args<'_>, topic: Topic) -> Outcome {
    if args.len() > 3 {
        let before = "ERR unknown subcommand or wrong number of arguments for '";
        return Err(Error::quoting(before, args.at(1), "'. Try PUBSUB HELP."));
    }
    let names = session.engine.pubsub.active(topic, args.get(2));
    let mut reply = session.reply();
    reply.array(names.len());
    names.iter().for_each(|name| reply.bulk(name));
    DONE
}

fn count(session: &mut Session<'_, '_>, args: Args<'_>, topic: Topic) -> Outcome {
    let pubsub = &session.engine.pubsub;
    let mut reply = session.connection.reply();
    reply.array(2 * (args.len() - 2));
    for name in args.from(2) {
        reply.bulk(name);
        reply.integer(i64::try_from(pubsub.subscribers(topic, name)).unwrap_or(i64::MAX));
    }
    DONE
}

fn count_patterns(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    let patterns = session.engine.pubsub.len(Topic::Pattern);
    session.reply_count(patterns)
}
