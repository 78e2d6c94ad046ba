//! XNACK: a consumer gives entries back that it does not acknowledge.

use super::claiming::GroupName;
use super::id;
use crate::{Args, Context, Error, Group, KeyFlags, Outcome, Spec};
use caudal_value::StreamId;

pub(crate) const SPEC: Spec =
    Spec::new("XNACK", "Gives pending entries back to their group, for anybody to claim.")
        .syntax(
            "key group mode<SILENT|FAIL|FATAL> IDS ids(numids:int id...) [RETRYCOUNT count:int] \
             [FORCE]",
        )
        .group(Group::Stream)
        .since("8.8.0")
        .arity(-7)
        .write()
        .fast()
        .complexity("O(1) for each id.")
        .key(1, KeyFlags::RW.and(KeyFlags::UPDATE));

/// What becomes of the count of deliveries.
#[derive(Clone, Copy)]
enum Mode {
    /// The last one does not count.
    Silent,
    /// It counts.
    Fail,
    /// The entry is beyond hope: as many as there can be.
    Fatal,
}

impl Mode {
    fn parse(args: Args<'_>, at: usize) -> Result<Mode, Error> {
        match at {
            _ if args.is(at, "SILENT") => Ok(Mode::Silent),
            _ if args.is(at, "FAIL") => Ok(Mode::Fail),
            _ if args.is(at, "FATAL") => Ok(Mode::Fatal),
            _ => Err(Error::text("ERR mode must be SILENT, FAIL, or FATAL")),
        }
    }

    fn deliveries(self, before: u64) -> u64 {
        match self {
            Mode::Silent => before.saturating_sub(1),
            Mode::Fail => before,
            Mode::Fatal => i64::MAX.cast_unsigned(),
        }
    }
}

struct GiveBack {
    mode: Mode,
    ids: Vec<StreamId>,
    deliveries: Option<u64>,
    forces: bool,
}

impl GiveBack {
    fn parse(args: Args<'_>) -> Result<GiveBack, Error> {
        let mode = Mode::parse(args, 3)?;
        let (mut ids, mut deliveries, mut forces) = (None, None, false);
        let mut cursor = args.cursor(4);
        while let Some(word) = cursor.peek() {
            let more = cursor.left() > 1;
            if cursor.take("FORCE") {
                forces = true;
            } else if more && cursor.take("RETRYCOUNT") {
                let count = args.integer(cursor.index())?;
                let negative = |_| Error::text("ERR Invalid RETRYCOUNT value, must be >= 0");
                deliveries = Some(u64::try_from(count).map_err(negative)?);
                cursor.next();
            } else if more && ids.is_none() && cursor.take("IDS") {
                let count = args.integer(cursor.index()).ok();
                let count = count.and_then(|count| usize::try_from(count).ok());
                let count = count
                    .filter(|count| *count > 0)
                    .ok_or(Error::text("ERR numids must be a positive integer"))?;
                cursor.next();
                if count > cursor.left() {
                    return Err(Error::text("ERR number of IDs doesn't match numids"));
                }
                let words = (0..count).filter_map(|_| cursor.next());
                ids = Some(words.map(|word| id::exact(word, 0)).collect::<Result<_, _>>()?);
            } else {
                return Err(Error::quoting("ERR Unrecognized XNACK option '", word, "'"));
            }
        }
        let ids = ids.ok_or(Error::text("ERR syntax error, expected IDS keyword"))?;
        Ok(GiveBack { mode, ids, deliveries, forces })
    }
}

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let name = GroupName { key: context.key(args, 1), group: args.at(2) };
    name.stream(&mut context.keys)?;
    let give = GiveBack::parse(args)?;
    let mut count = 0;
    for id in give.ids {
        let stream = name.known(&mut context.keys);
        let exists = give.forces && stream.contains(id);
        let group = name.of(&mut context.keys);
        let before = match group.pending(id) {
            Some(pending) => pending.deliveries,
            None if exists => 0,
            None => continue,
        };
        group.give_back(id, give.deliveries.unwrap_or(give.mode.deliveries(before)));
        count += 1;
    }
    if count > 0 {
        context.keys.changes += 1;
        // Who waits to claim may have them at once.
        context.keys.stream_moved(&name.key);
    }
    context.reply_count(count)
}
