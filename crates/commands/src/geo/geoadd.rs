//! GEOADD: a ZADD whose scores are places.

use super::point;
use crate::{Args, Context, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;
use caudal_value::Change;
use smallvec::SmallVec;

pub(crate) const SPEC: Spec = Spec::new("GEOADD", "Adds members with their places, or moves them.")
    .syntax(
        "key [condition<NX|XX>@6.2.0] [change=CH@6.2.0] \
         data(longitude:double latitude:double member)...",
    )
    .group(Group::Geo)
    .since("3.2.0")
    .arity(-5)
    .write()
    .deny_oom()
    .complexity("O(log(N)) for each member, with N the number of members in the sorted set.")
    .key(1, KeyFlags::RW.and(KeyFlags::UPDATE));

struct GeoAdd {
    /// NX: only new members are added.
    adds_only: bool,
    /// XX: only old members are moved.
    moves_only: bool,
    /// CH: the reply counts those that moved too.
    counts_moved: bool,
    /// Argument of the first longitude; latitude and member follow each.
    first: usize,
    scores: SmallVec<[f64; 4]>,
}

impl GeoAdd {
    fn parse(args: Args<'_>) -> Result<GeoAdd, Error> {
        let mut cursor = args.cursor(2);
        let [mut adds_only, mut moves_only, mut counts_moved] = [false; 3];
        loop {
            let option = if cursor.take("NX") {
                &mut adds_only
            } else if cursor.take("XX") {
                &mut moves_only
            } else if cursor.take("CH") {
                &mut counts_moved
            } else {
                break;
            };
            *option = true;
        }
        if !cursor.left().is_multiple_of(3) || adds_only && moves_only {
            return Err(Error::SYNTAX);
        }
        let first = cursor.index();
        let scores = (first..args.len()).step_by(3).map(|at| Ok(point(args, at)?.score()));
        let scores = scores.collect::<Result<_, Error>>()?;
        Ok(GeoAdd { adds_only, moves_only, counts_moved, first, scores })
    }
}

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let add = GeoAdd::parse(args)?;
    let key = context.key(args, 1);
    let (added, moved) = context.keys.change_sorted_set(&key, |set, limits| {
        set.anticipate(add.scores.len(), limits);
        let (mut added, mut moved) = (0, 0);
        for (index, &score) in add.scores.iter().enumerate() {
            let member = args.at(add.first + 3 * index + 2);
            let unwanted = if add.adds_only { set.contains(member) } else { !set.contains(member) };
            if (add.adds_only || add.moves_only) && unwanted {
                set.pass_over(member, limits);
                continue;
            }
            match set.insert(member, score, limits) {
                Change::Added => added += 1,
                Change::Updated => moved += 1,
                Change::Unchanged => {}
            }
        }
        (added, moved)
    })?;
    if added + moved > 0 {
        context.keys.changed(&key, Event::sorted_set("zadd"));
    }
    context.reply_count(if add.counts_moved { added + moved } else { added })
}
