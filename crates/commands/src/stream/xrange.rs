//! XRANGE and XREVRANGE.

use super::{READ, id, reply_entry};
use crate::{Args, Context, DONE, Error, Group, Outcome, Spec};
use caudal_value::{Entry, StreamId};

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary)
        .group(Group::Stream)
        .since("5.0.0")
        .arity(-4)
        .readonly()
        .complexity("O(N) with N the number of entries returned.")
        .key(1, READ)
}

pub(crate) const XRANGE: Spec = spec("XRANGE", "Returns the entries of a stream between two ids.")
    .syntax("key start end [COUNT count:int]");
pub(crate) const XREVRANGE: Spec =
    spec("XREVRANGE", "Returns the entries of a stream between two ids, last ones first.")
        .syntax("key end start [COUNT count:int]");

struct Range {
    from: StreamId,
    to: StreamId,
    count: Option<usize>,
}

impl Range {
    /// Reads bounds, which stand at `start` and `end`, and COUNT.
    fn parse(args: Args<'_>, start: usize, end: usize) -> Result<Range, Error> {
        let (from, to) = (id::start(args.at(start))?, id::end(args.at(end))?);
        let mut options = args.cursor(4);
        let mut count = None;
        while options.left() > 0 {
            if options.left() == 1 || !options.take("COUNT") {
                return Err(Error::SYNTAX);
            }
            let number = args.integer(options.index())?.max(0);
            count = Some(usize::try_from(number).unwrap_or(usize::MAX));
            options.next();
        }
        Ok(Range { from, to, count })
    }
}

pub(crate) fn xrange(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    reply(context, args, &Range::parse(args, 2, 3)?, false)
}

pub(crate) fn xrevrange(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    reply(context, args, &Range::parse(args, 3, 2)?, true)
}

fn reply(context: &mut Context<'_, '_>, args: Args<'_>, range: &Range, back: bool) -> Outcome {
    let key = context.key(args, 1);
    let Context { keys, reply, .. } = context;
    let Some(stream) = keys.stream(&key)? else {
        reply.array(0);
        return DONE;
    };
    if range.count == Some(0) {
        reply.null_array();
        return DONE;
    }
    let count = range.count.unwrap_or(usize::MAX);
    let mark = reply.deferred_array();
    let mut written = 0;
    let mut write = |entry: Entry<'_>| {
        reply_entry(reply, &entry);
        written += 1;
    };
    if back {
        stream.range_back(range.from, range.to).take(count).for_each(&mut write);
    } else {
        stream.range(range.from, range.to).take(count).for_each(&mut write);
    }
    reply.close_array(mark, written);
    DONE
}
