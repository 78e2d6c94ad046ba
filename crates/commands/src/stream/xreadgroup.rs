//! XREADGROUP: what a group has not yet read, or what a consumer has and did not acknowledge.

use super::claiming::{GroupName, as_one};
use super::reading::{Reading, Served};
use super::xread::wait;
use super::{READ, id, reply_entry, reply_id};
use crate::{Args, Context, DONE, Error, Group, Outcome, Spec};
use caudal_keyspace::Keys;
use caudal_value::{ConsumerId, StreamId};
use caudal_wire::Reply;

pub(crate) const SPEC: Spec =
    Spec::new("XREADGROUP", "Reads streams as a consumer of a group, or waits for entries.")
        .group(Group::Stream)
        .since("5.0.0")
        .arity(-7)
        .write()
        .blocking()
        .complexity("O(M) for each stream with M the number of entries returned.")
        .keys_behind("STREAMS", 4, READ);

/// One of the streams to read.
struct Part<'a> {
    name: GroupName<'a>,
    /// Behind which of the consumer's own entries to read; none: what nobody has read.
    behind: Option<StreamId>,
}

/// Who reads, and how.
struct Reader<'a> {
    consumer: &'a [u8],
    limit: usize,
    no_ack: bool,
}

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let reading = Reading::parse(args)?;
    let (group, consumer) = reading.group.expect("parsing insists on it");
    let part = |at| part(context, args, group, at, reading.id_at(at));
    let parts: Vec<Part<'_>> = reading.keys.clone().map(part).collect::<Result<_, _>>()?;
    let reader = Reader { consumer, limit: reading.limit(), no_ack: reading.no_ack };
    let served = as_one(context, |context| {
        let mut served = Served::default();
        let Context { keys, reply, .. } = context;
        parts.iter().for_each(|part| reader.read(keys, reply, &mut served, part));
        served.close(reply)
    });
    if served { DONE } else { wait(context, args, &reading, |_| ()) }
}

fn part<'a>(
    context: &Context<'_, '_>,
    args: Args<'a>,
    group: &'a [u8],
    key: usize,
    id: usize,
) -> Result<Part<'a>, Error> {
    let name = GroupName { key: context.key(args, key), group };
    let stream = context.keys.stream(&name.key)?;
    if stream.is_none_or(|stream| stream.group(group).is_none()) {
        return Err(name.missing(" in XREADGROUP with GROUP option"));
    }
    let behind = match args.at(id) {
        b">" => None,
        sign @ (b"$" | b"+") => {
            let sign = char::from(sign[0]);
            return Err(Error::new(format!(
                "ERR The {sign} ID is meaningless in the context of XREADGROUP: you want to read \
                 the history of this consumer by specifying a proper ID, or use the > ID to get \
                 new messages. The {sign} ID would just return an empty result set."
            )));
        }
        // The last id there is means the same as `>`.
        word => Some(id::exact(word, 0)?).filter(|id| *id != StreamId::MAX),
    };
    Ok(Part { name, behind })
}

impl Reader<'_> {
    fn read(
        &self,
        keys: &mut Keys<'_, '_>,
        reply: &mut Reply<'_>,
        served: &mut Served,
        part: &Part<'_>,
    ) {
        let (consumer, is_new) = part.name.consumer(keys, self.consumer);
        if is_new && (self.no_ack || part.behind.is_some() || !has_news(keys, &part.name)) {
            // Otherwise the first delivery makes the consumer.
            part.name.explain_consumer(keys, self.consumer);
        }
        match part.behind {
            Some(behind) => {
                served.open(reply, part.name.key.bytes);
                self.read_again(keys, reply, (&part.name, consumer), behind);
            }
            None if has_news(keys, &part.name) => {
                served.open(reply, part.name.key.bytes);
                self.read_on(keys, reply, (&part.name, consumer));
            }
            None => {}
        }
    }

    /// What nobody in the group has read.
    fn read_on(
        &self,
        keys: &mut Keys<'_, '_>,
        reply: &mut Reply<'_>,
        (name, consumer): (&GroupName<'_>, ConsumerId),
    ) {
        let now = keys.now;
        let stream = name.known(keys);
        let group = stream.group(name.group).expect("it was looked at");
        let (mut last, mut read) = (group.last_id, group.entries_read);
        let first = stream.first_id();
        let mark = reply.deferred_array();
        let mut ids = Vec::new();
        let from = last.next().expect("there are entries behind it");
        for entry in stream.range(from, StreamId::MAX).take(self.limit) {
            reply_entry(reply, &entry);
            read = match read {
                Some(read) if last >= first && !stream.has_tombstones(entry.id) => Some(read + 1),
                _ => stream.entries_up_to(entry.id),
            };
            last = entry.id;
            ids.push(entry.id);
        }
        reply.close_array(mark, ids.len());
        let group = name.of(keys);
        group.entries_read = read;
        if !self.no_ack {
            group.consumer_mut(consumer).active_ms = Some(now);
            for id in &ids {
                let group = name.of(keys);
                group.last_id = *id;
                group.deliver(*id, consumer, now, 1);
                name.explain_delivery(keys, *id);
            }
        }
        name.of(keys).last_id = last;
        name.explain_progress(keys);
        keys.changes += ids.len() as u64;
    }

    /// What the consumer has read and not acknowledged. Not an effect: that something was read
    /// once more is not worth telling.
    fn read_again(
        &self,
        keys: &mut Keys<'_, '_>,
        reply: &mut Reply<'_>,
        (name, consumer): (&GroupName<'_>, ConsumerId),
        behind: StreamId,
    ) {
        let now = keys.now;
        let stream = name.known(keys);
        let group = stream.group(name.group).expect("it was looked at");
        let mark = reply.deferred_array();
        let (mut count, mut again) = (0, Vec::new());
        let from = behind.next().expect("the last id means something else");
        for (id, pending) in group.pending_with(consumer, from).take(self.limit) {
            count += 1;
            match stream.get(id) {
                Some(entry) => {
                    reply_entry(reply, &entry);
                    again.push((id, pending.deliveries.saturating_add(1)));
                }
                None => {
                    reply.array(2);
                    reply_id(reply, id);
                    reply.null_array();
                }
            }
        }
        reply.close_array(mark, count);
        let group = name.of(keys);
        for (id, deliveries) in again {
            group.deliver(id, consumer, now, deliveries);
        }
    }
}

/// Whether the stream holds an entry that nobody in the group has read.
fn has_news(keys: &mut Keys<'_, '_>, name: &GroupName<'_>) -> bool {
    let stream = name.known(keys);
    let group = stream.group(name.group).expect("it was looked at");
    let last = group.last_id;
    stream.last_id() > last
        && last.next().is_some_and(|from| stream.range(from, StreamId::MAX).next().is_some())
}
