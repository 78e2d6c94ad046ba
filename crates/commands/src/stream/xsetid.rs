//! XSETID: for copies of a stream.

use super::id;
use crate::{Args, Context, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;
use caudal_value::StreamId;

pub(crate) const SPEC: Spec =
    Spec::new("XSETID", "Sets the last id of a stream, and what it counts.")
        .syntax(
            "key last-id [ENTRIESADDED entries-added:int@7.0.0] \
             [MAXDELETEDID max-deleted-id@7.0.0]",
        )
        .group(Group::Stream)
        .since("5.0.0")
        .arity(-3)
        .write()
        .deny_oom()
        .fast()
        .key(1, KeyFlags::RW.and(KeyFlags::UPDATE));

struct SetId {
    last: StreamId,
    added: Option<u64>,
    max_deleted: Option<StreamId>,
}

impl SetId {
    fn parse(args: Args<'_>) -> Result<SetId, Error> {
        let mut set = SetId { last: id::exact(args.at(2), 0)?, added: None, max_deleted: None };
        let mut options = args.cursor(3);
        while options.left() > 0 {
            if options.left() > 1 && options.take("ENTRIESADDED") {
                let added = args.integer(options.index())?;
                let negative = |_| Error::text("ERR entries_added must be positive");
                set.added = Some(u64::try_from(added).map_err(negative)?);
            } else if options.left() > 1 && options.take("MAXDELETEDID") {
                set.max_deleted = Some(id::exact(args.at(options.index()), 0)?);
                if set.max_deleted > Some(set.last) {
                    return Err(Error::text(
                        "ERR The ID specified in XSETID is smaller than the provided \
                         max_deleted_entry_id",
                    ));
                }
            } else {
                return Err(Error::SYNTAX);
            }
            options.next();
        }
        Ok(set)
    }
}

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let set = SetId::parse(args)?;
    let key = context.key(args, 1);
    let stream = context.keys.stream_mut(&key)?.ok_or(Error::NO_SUCH_KEY)?;
    if set.last < stream.max_deleted_id() {
        return Err(Error::text(
            "ERR The ID specified in XSETID is smaller than current max_deleted_entry_id",
        ));
    }
    if stream.last().is_some_and(|last| set.last < last.id) {
        return Err(Error::text(
            "ERR The ID specified in XSETID is smaller than the target stream top item",
        ));
    }
    if set.added.is_some_and(|added| added < stream.len() as u64) {
        return Err(Error::text(
            "ERR The entries_added specified in XSETID is smaller than the target stream length",
        ));
    }
    stream.set_last_id(set.last);
    if let Some(added) = set.added {
        stream.set_entries_added(added);
    }
    if let Some(max_deleted) = set.max_deleted.filter(|id| *id != StreamId::MIN) {
        stream.set_max_deleted_id(max_deleted);
    }
    context.keys.changed_aside(&key, Event::stream("xsetid"));
    context.reply_ok()
}
