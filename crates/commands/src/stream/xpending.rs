//! XPENDING: what was delivered and not acknowledged, in short or entry by entry.

use super::claiming::GroupName;
use super::{READ, id, reply_id};
use crate::{Args, Context, DONE, Error, Outcome, Spec};
use caudal_text::integer::Decimal;
use caudal_value::{Consumer, Group, Pending, StreamId};
use caudal_wire::Reply;

pub(crate) const SPEC: Spec =
    Spec::new("XPENDING", "Tells what was delivered to a group's consumers and not acknowledged.")
        .syntax(
            "key group [filters([IDLE min-idle-time:int@6.2.0] start end count:int [consumer])]",
        )
        .group(crate::Group::Stream)
        .since("5.0.0")
        .arity(-3)
        .readonly()
        .tips(&["nondeterministic_output"])
        .complexity(
            "O(N) with N the number of entries returned, O(M) with M the number looked at for \
             IDLE; the summary O(K) with K the number of consumers.",
        )
        .key(1, READ);

/// What the longer form asks for.
struct Query<'a> {
    idle_ms_min: u64,
    from: StreamId,
    to: StreamId,
    count: usize,
    consumer: Option<&'a [u8]>,
}

impl<'a> Query<'a> {
    fn parse(args: Args<'a>) -> Result<Query<'a>, Error> {
        if !(6..=9).contains(&args.len()) {
            return Err(Error::SYNTAX);
        }
        let (mut at, mut idle_ms_min) = (3, 0);
        if args.is(at, "IDLE") {
            idle_ms_min = u64::try_from(args.integer(at + 1)?).unwrap_or(0);
            at += 2;
            if args.len() < at + 3 {
                return Err(Error::SYNTAX);
            }
        }
        let count = args.integer(at + 2)?.max(0);
        Ok(Query {
            idle_ms_min,
            count: usize::try_from(count).unwrap_or(usize::MAX),
            from: id::start(args.at(at))?,
            to: id::end(args.at(at + 1))?,
            consumer: args.get(at + 3),
        })
    }
}

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let query = if args.len() == 3 { None } else { Some(Query::parse(args)?) };
    let name = GroupName { key: context.key(args, 1), group: args.at(2) };
    let Context { keys, reply, .. } = context;
    let stream = keys.stream(&name.key)?;
    let group = stream.and_then(|stream| stream.group(name.group));
    let group = group.ok_or_else(|| name.missing(""))?;
    match query {
        None => summary(reply, group),
        Some(query) => entries(reply, group, &query, keys.now),
    }
    DONE
}

fn summary(reply: &mut Reply<'_>, group: &Group) {
    reply.array(4);
    let len = group.len();
    reply.integer(i64::try_from(len).expect("counts stay below 2^63"));
    let Some((first, last)) = group.bounds() else {
        reply.null();
        reply.null();
        return reply.null_array();
    };
    reply_id(reply, first);
    reply_id(reply, last);
    let busy = || group.consumers().filter(|consumer| !consumer.is_empty());
    reply.array(busy().count());
    for consumer in busy() {
        reply.array(2);
        reply.bulk(consumer.name());
        reply.bulk(Decimal::unsigned(consumer.len() as u64).as_bytes());
    }
}

fn entries(reply: &mut Reply<'_>, group: &Group, query: &Query<'_>, now: u64) {
    let idle_ms = |pending: &Pending| now.saturating_sub(pending.delivered_ms());
    let mark = reply.deferred_array();
    let mut count = 0;
    let mut write = |(id, pending): (StreamId, &Pending)| {
        let consumer = pending.consumer.map(|at| group.consumer(at));
        reply.array(4);
        reply_id(reply, id);
        reply.bulk(consumer.map_or(b"", Consumer::name));
        // Who gave it back did so at no time.
        reply.integer(consumer.map_or(-1, |_| saturated(idle_ms(pending))));
        reply.integer(saturated(pending.deliveries));
        count += 1;
    };
    let wanted = |it: &(StreamId, &Pending)| idle_ms(it.1) >= query.idle_ms_min;
    let within = |it: &(StreamId, &Pending)| it.0 <= query.to;
    match query.consumer.map(|name| group.find_consumer(name)) {
        None => group
            .pending_from(query.from)
            .take_while(within)
            .filter(wanted)
            .take(query.count)
            .for_each(&mut write),
        Some(Some(consumer)) => group
            .pending_with(consumer, query.from)
            .take_while(within)
            .filter(wanted)
            .take(query.count)
            .for_each(&mut write),
        Some(None) => {}
    }
    reply.close_array(mark, count);
}

fn saturated(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
