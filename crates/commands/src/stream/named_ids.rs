//! `IDS numids id [id ...]` with KEEPREF, DELREF or ACKED: what XDELEX and XACKDEL are told.

use super::id;
use super::trimming::references;
use crate::{Args, Error};
use caudal_value::{References, StreamId};
use std::ops::Range;

/// Ids by number, and what becomes of their deliveries.
pub(super) struct NamedIds {
    pub(super) references: References,
    /// The arguments that are ids.
    ids: Range<usize>,
}

impl NamedIds {
    /// Reads from argument `first` on.
    pub(super) fn parse(args: Args<'_>, first: usize) -> Result<NamedIds, Error> {
        let (mut at, mut how, mut ids) = (first, None, None);
        while at < args.len() {
            if how.is_none()
                && let Some(references) = references(args, at)
            {
                how = Some(references);
                at += 1;
            } else if ids.is_none() && at + 1 < args.len() && args.is(at, "IDS") {
                let range = counted(args, at + 1)?;
                at = range.end;
                ids = Some(range);
            } else {
                return Err(Error::SYNTAX);
            }
        }
        let ids = ids.ok_or(Error::SYNTAX)?;
        Ok(NamedIds { references: how.unwrap_or(References::Keep), ids })
    }

    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// The ids.
    pub(super) fn read(&self, args: Args<'_>) -> Result<Vec<StreamId>, Error> {
        self.ids.clone().map(|at| id::exact(args.at(at), 0)).collect()
    }
}

/// The words behind their number, which stands at `at`.
fn counted(args: Args<'_>, at: usize) -> Result<Range<usize>, Error> {
    let count = args.integer(at).ok().and_then(|count| usize::try_from(count).ok());
    let count = count
        .filter(|count| *count > 0)
        .ok_or(Error::text("ERR Number of IDs must be a positive integer"))?;
    if count > args.len() - at - 1 {
        let text = "ERR The `numids` parameter must match the number of arguments";
        return Err(Error::text(text));
    }
    Ok(at + 1..at + 1 + count)
}

/// What became of an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// There is nothing of that id.
    Missing,
    /// It was deleted.
    Deleted,
    /// It stays, because a group has still to read or to acknowledge it.
    Referenced,
}

impl Fate {
    /// As replies tell it.
    pub(super) fn number(self) -> i64 {
        match self {
            Fate::Missing => -1,
            Fate::Deleted => 1,
            Fate::Referenced => 2,
        }
    }
}
