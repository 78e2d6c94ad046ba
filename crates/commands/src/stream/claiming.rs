//! What the commands of consumer groups share: finding a group, its consumer, and telling by
//! effects what was delivered to whom.

use super::reply_entry;
use crate::{Context, Error};
use caudal_keyspace::{Event, Key, Keys};
use caudal_text::integer::Decimal;
use caudal_value::{ConsumerId, Group, Stream, StreamId};

/// A key and the name of one of its groups.
#[derive(Clone, Copy)]
pub(super) struct GroupName<'a> {
    pub(super) key: Key<'a>,
    pub(super) group: &'a [u8],
}

impl<'a> GroupName<'a> {
    /// The stream, which has that group.
    pub(super) fn stream<'k>(&self, keys: &'k mut Keys<'_, '_>) -> Result<&'k mut Stream, Error> {
        let stream = keys.stream_mut(&self.key)?;
        stream.filter(|stream| stream.group(self.group).is_some()).ok_or_else(|| self.missing(""))
    }

    /// The same of a stream that was looked at already.
    pub(super) fn known<'k>(&self, keys: &'k mut Keys<'_, '_>) -> &'k mut Stream {
        self.stream(keys).expect("it was looked at")
    }

    /// The group of a stream that was looked at already.
    pub(super) fn of<'k>(&self, keys: &'k mut Keys<'_, '_>) -> &'k mut Group {
        self.known(keys).group_mut(self.group).expect("it was looked at")
    }

    /// The error of a group that is not there; `whom` says to whom it matters.
    pub(super) fn missing(&self, whom: &str) -> Error {
        let parts: [&[u8]; 6] = [
            b"NOGROUP No such key '",
            self.key.bytes,
            b"' or consumer group '",
            self.group,
            b"'",
            whom.as_bytes(),
        ];
        Error(parts.concat().into())
    }

    /// The consumer of that name, made if there is none; true: it is new. It has been seen now.
    pub(super) fn consumer(&self, keys: &mut Keys<'_, '_>, name: &[u8]) -> (ConsumerId, bool) {
        let now = keys.now;
        let group = self.of(keys);
        if let Some(consumer) = group.find_consumer(name) {
            group.consumer_mut(consumer).seen_ms = now;
            return (consumer, false);
        }
        let consumer = group.create_consumer(name, now).expect("there is none");
        keys.changed_aside(&self.key, Event::stream("xgroup-createconsumer"));
        (consumer, true)
    }

    /// The effect of a consumer that was made.
    pub(super) fn explain_consumer(&self, keys: &mut Keys<'_, '_>, name: &[u8]) {
        keys.effect(&[b"XGROUP", b"CREATECONSUMER", self.key.bytes, self.group, name]);
    }

    /// The effect of a group that has read on.
    pub(super) fn explain_progress(&self, keys: &mut Keys<'_, '_>) {
        if !keys.effects.wanted() {
            keys.explained = true;
            return;
        }
        let group = self.of(keys);
        let (last, read) = (group.last_id.text(), entries_read(group));
        let (key, name) = (self.key.bytes, self.group);
        let read = Decimal::new(read);
        keys.effect(&[b"XGROUP", b"SETID", key, name, &last, b"ENTRIESREAD", read.as_bytes()]);
    }

    /// The effect of an entry that is pending as it stands now; of one that is not in the stream
    /// any more, that it is not pending either.
    pub(super) fn explain_delivery(&self, keys: &mut Keys<'_, '_>, id: StreamId) {
        if !keys.effects.wanted() {
            keys.explained = true;
            return;
        }
        let group = self.of(keys);
        let pending = *group.pending(id).expect("it was just delivered");
        let consumer = pending.consumer.map(|at| group.consumer(at).name().to_vec());
        let last = group.last_id.text();
        let (time, count) =
            (Decimal::unsigned(pending.delivered_ms()), Decimal::unsigned(pending.deliveries));
        keys.effect(&[
            b"XCLAIM",
            self.key.bytes,
            self.group,
            &consumer.unwrap_or_default(),
            b"0",
            &id.text(),
            b"TIME",
            time.as_bytes(),
            b"RETRYCOUNT",
            count.as_bytes(),
            b"FORCE",
            b"JUSTID",
            b"LASTID",
            &last,
        ]);
    }

    /// Takes an entry that is gone from the stream out of what is pending.
    pub(super) fn forget(&self, keys: &mut Keys<'_, '_>, id: StreamId) {
        self.explain_delivery(keys, id);
        self.of(keys).release(id);
        keys.changes += 1;
    }
}

/// ENTRIESREAD as effects and replies spell it: -1 where it is not known.
pub(super) fn entries_read(group: &Group) -> i64 {
    group.entries_read.map_or(-1, u64::cast_signed)
}

/// Runs `work`, and makes one effect of all that it gives.
pub(super) fn as_one<R>(
    context: &mut Context<'_, '_>,
    work: impl FnOnce(&mut Context<'_, '_>) -> R,
) -> R {
    let begun = context.keys.effects.begin();
    let result = work(context);
    // A transaction's effects are one already.
    if context.may_wait {
        context.keys.effects.commit_several(begun);
    }
    result
}

/// An entry that changes hands.
#[derive(Clone, Copy)]
pub(super) struct Claim {
    pub(super) id: StreamId,
    pub(super) consumer: ConsumerId,
    /// When it counts as delivered.
    pub(super) at_ms: u64,
    /// How often it was delivered, this time included.
    pub(super) deliveries: u64,
    /// JUSTID.
    pub(super) is_bare: bool,
}

impl Claim {
    /// Hands the entry over, and writes it.
    pub(super) fn apply(&self, context: &mut Context<'_, '_>, name: &GroupName<'_>) {
        let now = context.keys.now;
        let group = name.of(&mut context.keys);
        group.deliver(self.id, self.consumer, self.at_ms, self.deliveries);
        group.consumer_mut(self.consumer).active_ms = Some(now);
        name.explain_delivery(&mut context.keys, self.id);
        context.keys.changes += 1;
        let Context { keys, reply, .. } = context;
        if self.is_bare {
            super::reply_id(reply, self.id);
        } else {
            let entry = name.known(keys).get(self.id).expect("the caller looked");
            reply_entry(reply, &entry);
        }
    }
}
