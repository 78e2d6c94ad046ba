//! XCLAIM: pending entries go to another consumer.

use super::claiming::{Claim, GroupName, as_one};
use super::id;
use crate::{Args, Context, DONE, Error, Group, KeyFlags, Outcome, Spec};
use caudal_text::integer::parse_i64;
use caudal_value::StreamId;

pub(crate) const SPEC: Spec =
    Spec::new("XCLAIM", "Hands pending entries over to a consumer, as if just delivered.")
        .syntax(
            "key group consumer min-idle-time id... [IDLE ms:int] \
             [TIME unix-time-milliseconds:time] [RETRYCOUNT count:int] [FORCE] [JUSTID] \
             [LASTID lastid]",
        )
        .group(Group::Stream)
        .since("5.0.0")
        .arity(-6)
        .write()
        .fast()
        .tips(&["nondeterministic_output"])
        .complexity("O(log N) for each id with N the number of entries pending in the group.")
        .key(1, KeyFlags::RW.and(KeyFlags::UPDATE));

struct Options {
    ids: Vec<StreamId>,
    idle_ms_min: u64,
    /// IDLE or TIME: when the entries count as delivered.
    at_ms: u64,
    deliveries: Option<u64>,
    forces: bool,
    is_bare: bool,
    last_id: Option<StreamId>,
}

impl Options {
    fn parse(args: Args<'_>, now: u64) -> Result<Options, Error> {
        let idle_ms_min = idle_ms_min(args, "XCLAIM")?;
        let ids: Vec<StreamId> = args.from(5).map_while(|word| id::exact(word, 0).ok()).collect();
        let mut cursor = args.cursor(5 + ids.len());
        let mut options = Options {
            ids,
            idle_ms_min,
            at_ms: now,
            deliveries: None,
            forces: false,
            is_bare: false,
            last_id: None,
        };
        while let Some(word) = cursor.peek() {
            let number = |name: &str| {
                let text = || Error::new(format!("ERR Invalid {name} option argument for XCLAIM"));
                parse_i64(args.at(cursor.index() + 1)).ok_or_else(text)
            };
            let more = cursor.left() > 1;
            if args.is(cursor.index(), "FORCE") {
                options.forces = true;
            } else if args.is(cursor.index(), "JUSTID") {
                options.is_bare = true;
            } else if more && args.is(cursor.index(), "IDLE") {
                options.at_ms = sane(i128::from(now) - i128::from(number("IDLE")?), now);
                cursor.next();
            } else if more && args.is(cursor.index(), "TIME") {
                options.at_ms = sane(i128::from(number("TIME")?), now);
                cursor.next();
            } else if more && args.is(cursor.index(), "RETRYCOUNT") {
                options.deliveries = u64::try_from(number("RETRYCOUNT")?).ok();
                cursor.next();
            } else if more && args.is(cursor.index(), "LASTID") {
                options.last_id = Some(id::exact(args.at(cursor.index() + 1), 0)?);
                cursor.next();
            } else {
                return Err(Error::quoting("ERR Unrecognized XCLAIM option '", word, "'"));
            }
            cursor.next();
        }
        Ok(options)
    }
}

/// Nothing is delivered in the future, nor before time began.
fn sane(at_ms: i128, now: u64) -> u64 {
    u64::try_from(at_ms).unwrap_or(now).min(now)
}

/// The shortest time without delivery, at argument 4; none below zero.
pub(super) fn idle_ms_min(args: Args<'_>, name: &str) -> Result<u64, Error> {
    let text = || Error::new(format!("ERR Invalid min-idle-time argument for {name}"));
    Ok(u64::try_from(parse_i64(args.at(4)).ok_or_else(text)?).unwrap_or(0))
}

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let name = GroupName { key: context.key(args, 1), group: args.at(2) };
    name.stream(&mut context.keys)?;
    let options = Options::parse(args, context.keys.now)?;
    as_one(context, |context| claim(context, args, &name, &options));
    DONE
}

fn claim(context: &mut Context<'_, '_>, args: Args<'_>, name: &GroupName<'_>, options: &Options) {
    let mut moved = false;
    if let Some(last) = options.last_id {
        let group = name.of(&mut context.keys);
        moved = group.last_id < last;
        group.last_id = group.last_id.max(last);
        context.keys.changes += u64::from(moved);
    }
    let (consumer, is_new) = name.consumer(&mut context.keys, args.at(3));
    let mark = context.reply.deferred_array();
    let mut count = 0;
    for id in options.ids.iter().copied() {
        let stream = name.known(&mut context.keys);
        let exists = stream.contains(id);
        let group = stream.group(name.group).expect("it was looked at");
        let pending = group.pending(id).copied();
        if !exists {
            if pending.is_some() {
                name.forget(&mut context.keys, id);
            }
            continue;
        }
        let before = match pending {
            Some(pending) => {
                let idle_ms = context.keys.now.saturating_sub(pending.delivered_ms());
                if pending.consumer.is_some() && idle_ms < options.idle_ms_min {
                    continue;
                }
                pending.deliveries
            }
            // One that is forced in counts as delivered by that.
            None if options.forces => 1,
            None => continue,
        };
        let once_more = before.saturating_add(u64::from(!options.is_bare));
        let deliveries = options.deliveries.unwrap_or(once_more);
        let (at_ms, is_bare) = (options.at_ms, options.is_bare);
        Claim { id, consumer, at_ms, deliveries, is_bare }.apply(context, name);
        moved = false;
        count += 1;
    }
    context.reply.close_array(mark, count);
    if is_new && count == 0 {
        name.explain_consumer(&mut context.keys, args.at(3));
    }
    if moved {
        name.explain_progress(&mut context.keys);
    }
}
