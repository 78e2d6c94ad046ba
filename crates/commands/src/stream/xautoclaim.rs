//! XAUTOCLAIM: XCLAIM of whatever has been pending for long, in steps.

use super::claiming::{Claim, GroupName, as_one};
use super::xclaim::idle_ms_min;
use super::{id, reply_id};
use crate::{Args, Context, DONE, Error, Group, KeyFlags, Outcome, Spec};
use caudal_text::integer::parse_i64;
use caudal_value::{Pending, StreamId};

/// Entries looked at, for each one that may be claimed.
const LOOKS: usize = 10;
/// COUNT, if nothing is said.
const COUNT: usize = 100;

pub(crate) const SPEC: Spec =
    Spec::new("XAUTOCLAIM", "Hands entries that have been pending for long over to a consumer.")
        .syntax("key group consumer min-idle-time start [COUNT count:int] [JUSTID]")
        .group(Group::Stream)
        .since("6.2.0")
        .arity(-6)
        .write()
        .fast()
        .tips(&["nondeterministic_output"])
        .complexity("O(1) if COUNT is small.")
        .key(1, KeyFlags::RW.and(KeyFlags::DELETE));

struct Options {
    idle_ms_min: u64,
    from: StreamId,
    count: usize,
    is_bare: bool,
}

impl Options {
    fn parse(args: Args<'_>) -> Result<Options, Error> {
        let idle_ms_min = idle_ms_min(args, "XAUTOCLAIM")?;
        let from = id::start(args.at(5))?;
        let mut options = Options { idle_ms_min, from, count: COUNT, is_bare: false };
        let mut cursor = args.cursor(6);
        while cursor.left() > 0 {
            if cursor.left() > 1 && cursor.take("COUNT") {
                /// What is looked at must be countable, and its ids fit into memory.
                const MOST: i64 = i64::MAX / 16;
                let count = parse_i64(args.at(cursor.index()))
                    .filter(|count| (1..=MOST).contains(count))
                    .ok_or(Error::text("ERR COUNT must be > 0"))?;
                options.count = usize::try_from(count).unwrap_or(usize::MAX / LOOKS);
                cursor.next();
            } else if cursor.take("JUSTID") {
                options.is_bare = true;
            } else {
                return Err(Error::SYNTAX);
            }
        }
        Ok(options)
    }
}

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let options = Options::parse(args)?;
    let name = GroupName { key: context.key(args, 1), group: args.at(2) };
    name.stream(&mut context.keys)?;
    as_one(context, |context| claim(context, args, &name, &options));
    DONE
}

fn claim(context: &mut Context<'_, '_>, args: Args<'_>, name: &GroupName<'_>, options: &Options) {
    let (consumer, is_new) = name.consumer(&mut context.keys, args.at(3));
    let found = look(context, name, options);
    let (at_ms, is_bare) = (context.keys.now, options.is_bare);
    context.reply.array(3);
    reply_id(&mut context.reply, found.next);
    context.reply.array(found.entries.len());
    for (id, pending) in &found.entries {
        let deliveries = pending.deliveries.saturating_add(u64::from(!is_bare));
        Claim { id: *id, consumer, at_ms, deliveries, is_bare }.apply(context, name);
    }
    context.reply.array(found.gone.len());
    for id in &found.gone {
        name.forget(&mut context.keys, *id);
        reply_id(&mut context.reply, *id);
    }
    if is_new && found.entries.is_empty() {
        name.explain_consumer(&mut context.keys, args.at(3));
    }
}

/// What one step meets.
struct Found {
    /// What is to be claimed.
    entries: Vec<(StreamId, Pending)>,
    /// What is pending, but not in the stream any more.
    gone: Vec<StreamId>,
    /// Where the next step begins, `0-0` at the end.
    next: StreamId,
}

fn look(context: &mut Context<'_, '_>, name: &GroupName<'_>, options: &Options) -> Found {
    let now = context.keys.now;
    let stream = name.known(&mut context.keys);
    let group = stream.group(name.group).expect("it was looked at");
    let mut found = Found { entries: Vec::new(), gone: Vec::new(), next: StreamId::MIN };
    let mut looks = options.count.saturating_mul(LOOKS);
    for (id, pending) in group.pending_from(options.from) {
        if looks == 0 || found.entries.len() + found.gone.len() == options.count {
            found.next = id;
            break;
        }
        looks -= 1;
        if !stream.contains(id) {
            found.gone.push(id);
        } else if now.saturating_sub(pending.delivered_ms()) >= options.idle_ms_min {
            found.entries.push((id, *pending));
        }
    }
    found
}
