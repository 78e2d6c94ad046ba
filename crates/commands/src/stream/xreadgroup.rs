//! XREADGROUP: what a group has not yet read, or what a consumer has and did not acknowledge.

use super::claiming::{GroupName, as_one};
use super::reading::{Reading, Served};
use super::xread::wait;
use super::{READ, id, reply_entry, reply_id, reply_parts};
use crate::{Args, Context, DONE, Error, Group, Outcome, Spec};
use caudal_keyspace::Keys;
use caudal_value::{ConsumerId, Entry, Pending, StreamId};
use caudal_wire::Reply;

pub(crate) const SPEC: Spec = Spec::new(
    "XREADGROUP",
    "Reads streams as a consumer of a group, or waits for entries.",
)
.syntax(
    "GROUP group-block(group consumer) [COUNT count:int] [BLOCK milliseconds:int] [NOACK] \
     [CLAIM min-idle-time:int@8.4.0] STREAMS streams(key... id...)",
)
.group(Group::Stream)
.since("5.0.0")
.arity(-7)
.write()
.blocking()
.complexity(
    "O(M) for each stream with M the number of entries returned, with CLAIM O(N) with N the \
             number of entries that are pending.",
)
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
    claim_ms: Option<u64>,
}

/// Bounds of the time between two looks for what has become old enough to be claimed.
const AGAIN_MS_MIN: u64 = 10;
const AGAIN_MS_MAX: u64 = 1000;

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let reading = Reading::parse(args)?;
    let (group, consumer) = reading.group.expect("parsing insists on it");
    let part = |at| part(context, args, group, at, reading.id_at(at));
    let parts: Vec<Part<'_>> = reading.keys.clone().map(part).collect::<Result<_, _>>()?;
    let (limit, no_ack, claim_ms) = (reading.limit(), reading.no_ack, reading.claim_ms);
    let reader = Reader { consumer, limit, no_ack, claim_ms };
    let served = as_one(context, |context| {
        let mut served = Served::default();
        let Context { keys, reply, .. } = context;
        parts.iter().for_each(|part| reader.read(keys, reply, &mut served, part));
        served.close(reply)
    });
    if served {
        return DONE;
    }
    // What is delivered meanwhile can be claimed after that time.
    let again_ms = claim_ms.map(|ms| ms.clamp(AGAIN_MS_MIN, AGAIN_MS_MAX));
    wait(context, args, &reading, again_ms, |_| ())
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
        let claims = match (part.behind, self.claim_ms) {
            (None, Some(idle_ms)) => self.look(keys, &part.name, idle_ms),
            _ => Vec::new(),
        };
        let has_news = part.behind.is_none() && has_news(keys, &part.name);
        if is_new && claims.is_empty() && (self.no_ack || !has_news) {
            // Otherwise the first delivery makes the consumer.
            part.name.explain_consumer(keys, self.consumer);
        }
        let to = (&part.name, consumer);
        match part.behind {
            Some(behind) => {
                served.open(reply, part.name.key.bytes);
                self.read_again(keys, reply, to, behind);
            }
            None if has_news || !claims.is_empty() => {
                served.open(reply, part.name.key.bytes);
                let mark = reply.deferred_array();
                let count = claims.len();
                self.claim(keys, reply, to, claims);
                let count = count + self.read_on(keys, reply, to, self.limit - count);
                reply.close_array(mark, count);
            }
            None => {}
        }
    }

    /// What has been pending for at least `idle_ms` and is there, longest first. What is not there
    /// any more is no longer pending.
    fn look(
        &self,
        keys: &mut Keys<'_, '_>,
        name: &GroupName<'_>,
        idle_ms: u64,
    ) -> Vec<(StreamId, Pending)> {
        let now = keys.now;
        let stream = name.known(keys);
        let group = stream.group(name.group).expect("it was looked at");
        let is_idle = |it: &(StreamId, &Pending)| {
            it.1.consumer.is_none() || now.saturating_sub(it.1.delivered_ms()) >= idle_ms
        };
        let pending = group.pending_from(StreamId::MIN).filter(is_idle);
        let mut found: Vec<(StreamId, Pending)> = pending.map(|(id, it)| (id, *it)).collect();
        found.sort_by_key(|(_, pending)| pending.urgency());
        let (mut claims, mut gone) = (Vec::new(), Vec::new());
        for (id, pending) in found {
            match stream.contains(id) {
                true if claims.len() == self.limit => break,
                true => claims.push((id, pending)),
                false => gone.push(id),
            }
        }
        gone.into_iter().for_each(|id| name.forget(keys, id));
        claims
    }

    fn claim(
        &self,
        keys: &mut Keys<'_, '_>,
        reply: &mut Reply<'_>,
        (name, consumer): (&GroupName<'_>, ConsumerId),
        claims: Vec<(StreamId, Pending)>,
    ) {
        let now = keys.now;
        for (id, pending) in claims {
            let entry = name.known(keys).get(id).expect("it was looked at");
            let idle_ms = now.saturating_sub(pending.delivered_ms());
            reply_told(reply, &entry, Some((idle_ms, pending.deliveries)));
            let group = name.of(keys);
            group.deliver(id, consumer, now, pending.deliveries.saturating_add(1));
            group.consumer_mut(consumer).active_ms = Some(now);
            name.explain_delivery(keys, id);
            keys.changes += 1;
        }
    }

    /// At most `limit` entries that nobody in the group has read; how many there were.
    fn read_on(
        &self,
        keys: &mut Keys<'_, '_>,
        reply: &mut Reply<'_>,
        (name, consumer): (&GroupName<'_>, ConsumerId),
        limit: usize,
    ) -> usize {
        let now = keys.now;
        let stream = name.known(keys);
        let group = stream.group(name.group).expect("it was looked at");
        let (mut last, mut read) = (group.last_id, group.entries_read);
        let first = stream.first_id();
        let told = self.claim_ms.map(|_| (0, 0));
        let mut ids = Vec::new();
        let from = last.next().unwrap_or(StreamId::MAX);
        for entry in stream.range(from, StreamId::MAX).take(limit) {
            reply_told(reply, &entry, told);
            read = match read {
                Some(read) if last >= first && !stream.has_tombstones(entry.id) => Some(read + 1),
                _ => stream.entries_up_to(entry.id),
            };
            last = entry.id;
            ids.push(entry.id);
        }
        if ids.is_empty() {
            return 0;
        }
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
        ids.len()
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

/// Writes an entry, with CLAIM also for how many milliseconds and how often it had been delivered.
fn reply_told(reply: &mut Reply<'_>, entry: &Entry<'_>, told: Option<(u64, u64)>) {
    let Some((idle_ms, deliveries)) = told else { return reply_entry(reply, entry) };
    reply.array(4);
    reply_parts(reply, entry);
    for number in [idle_ms, deliveries] {
        reply.integer(i64::try_from(number).unwrap_or(i64::MAX));
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
