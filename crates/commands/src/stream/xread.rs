//! XREAD: what several streams have got behind given ids, or will get.
//!
//! Waiting readers are no consumers: one new entry serves all of them.

use super::reading::{Reading, Served};
use super::{READ, id, reply_entry};
use crate::{Args, Context, DONE, Error, Flow, Group, Outcome, OwnedArgs, Spec, Wait};
use caudal_table::Kind;
use caudal_value::{Stream, StreamId};

pub(crate) const SPEC: Spec =
    Spec::new("XREAD", "Returns entries of several streams behind given ids, or waits for some.")
        .syntax("[COUNT count:int] [BLOCK milliseconds:int] STREAMS streams(key... id...)")
        .group(Group::Stream)
        .since("5.0.0")
        .arity(-4)
        .readonly()
        .blocking()
        .complexity("O(M) for each stream with M the number of entries returned.")
        .keys_behind("STREAMS", 1, READ);

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let reading = Reading::parse(args)?;
    let behind = reading.keys.clone().map(|at| behind(context, args, at, reading.id_at(at)));
    let behind: Vec<Behind> = behind.collect::<Result<_, _>>()?;
    let mut served = Served::default();
    let from = |behind: &Behind| behind.id.next();
    for (at, from) in reading.keys.clone().zip(behind.iter().map(from)) {
        let key = context.key(args, at);
        let Context { keys, reply, .. } = context;
        let (Some(stream), Some(from)) = (keys.stream(&key)?, from) else { continue };
        let mut entries = stream.range(from, StreamId::MAX).take(reading.limit()).peekable();
        if entries.peek().is_none() {
            continue;
        }
        served.open(reply, key.bytes);
        let mark = reply.deferred_array();
        let count = entries.map(|entry| reply_entry(reply, &entry)).count();
        reply.close_array(mark, count);
    }
    if served.close(&mut context.reply) {
        return DONE;
    }
    let rewrite = |words: &mut Vec<Vec<u8>>| {
        for (at, behind) in reading.keys.clone().zip(&behind).filter(|(_, it)| it.is_now) {
            words[reading.id_at(at)] = behind.id.text().to_vec();
        }
    };
    wait(context, args, &reading, None, rewrite)
}

/// The id behind which to read.
struct Behind {
    id: StreamId,
    /// `$`: it is that of the moment.
    is_now: bool,
}

fn behind(
    context: &Context<'_, '_>,
    args: Args<'_>,
    key: usize,
    id: usize,
) -> Result<Behind, Error> {
    let stream = context.keys.stream(&context.key(args, key))?;
    let (id, is_now) = match args.at(id) {
        b"$" => (stream.map_or(StreamId::MIN, Stream::last_id), true),
        b"+" => {
            // As in Valkey: the last id given, be its entry there or not.
            let last = stream.filter(|stream| !stream.is_empty()).map(Stream::last_id);
            (last.and_then(StreamId::previous).unwrap_or(StreamId::MIN), false)
        }
        b">" => {
            return Err(Error::text(
                "ERR The > ID can be specified only when calling XREADGROUP using the GROUP \
                 <group> <consumer> option.",
            ));
        }
        word => (id::exact(word, 0)?, false),
    };
    Ok(Behind { id, is_now })
}

/// Waits, with words that mean the same when the time has come, and tries `again_ms` later at the
/// latest; without BLOCK it replies that there is nothing.
pub(super) fn wait(
    context: &mut Context<'_, '_>,
    args: Args<'_>,
    reading: &Reading<'_>,
    again_ms: Option<u64>,
    rewrite: impl FnOnce(&mut Vec<Vec<u8>>),
) -> Outcome {
    let Some(block) = reading.block.filter(|_| context.may_wait) else {
        context.reply.null_array();
        return DONE;
    };
    let mut words: Vec<Vec<u8>> = args.from(0).map(<[u8]>::to_vec).collect();
    rewrite(&mut words);
    let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    Ok(Flow::Wait(Wait {
        timeout_ms: (block > 0).then_some(block),
        kind: Kind::Stream,
        minds_loss: reading.group.is_some(),
        again_ms,
        words: Some(Box::new(OwnedArgs::of(&words))),
    }))
}
