//! Searching a sorted set of places, and answering with what is found or storing it.
//!
//! The cells that cover the shape are ranges of scores; the members in them are held against the
//! shape one by one.

use super::reply_point;
use super::terms::{Form, Order, Stored, Terms};
use super::unit::reply_distance;
use crate::context::reply_item;
use crate::sorted_set::combine;
use crate::{Args, Context, DONE, Outcome};
use caudal_value::geo::{Point, Shape};
use caudal_value::{Item, Limits, ScoreBound, SortedSet};
use caudal_wire::Reply;

/// A member inside the shape.
struct Found<'c> {
    member: Item<'c>,
    score: f64,
    place: Point,
    /// From the centre.
    distance_m: f64,
}

/// Searches the sorted set at argument `source`.
pub(super) fn run(
    context: &mut Context<'_, '_>,
    args: Args<'_>,
    form: Form,
    source: usize,
) -> Outcome {
    let key = context.key(args, source);
    let set = context.keys.sorted_set(&key)?;
    let terms = Terms::parse(args, form, set)?;
    let found = match (set, &terms.shape) {
        (Some(set), Some(shape)) => select(find(set, shape, &terms), &terms),
        _ => Vec::new(),
    };
    match terms.store {
        None => answer(&mut context.reply, &found, &terms),
        Some((target, stored)) => {
            let result = collect(&found, &terms, stored, context.keys.limits);
            let event = if form == Form::SearchStore { "geosearchstore" } else { "georadiusstore" };
            let target = context.key(args, target);
            return combine::store(context, &target, result, event);
        }
    }
    DONE
}

/// The members inside the shape, as many as are wanted if any will do.
fn find<'c>(set: &'c SortedSet, shape: &Shape, terms: &Terms) -> Vec<Found<'c>> {
    let wanted = if terms.any { terms.count } else { usize::MAX };
    let centre = shape.centre();
    let mut found = Vec::new();
    for cell in shape.cells() {
        let scores = cell.scores();
        let bound = |value, exclusive| ScoreBound { value, exclusive };
        let ranks = set.range_by_score(bound(scores.from, false), bound(scores.to, true));
        for (member, score) in set.iter_from(ranks.start).take(ranks.len()) {
            if found.len() >= wanted {
                return found;
            }
            let place = Point::of_score(score);
            if let Some(distance_m) = shape.distance_inside_m(centre, place) {
                found.push(Found { member, score, place, distance_m });
            }
        }
    }
    found
}

/// Sorts what was found, and leaves as many as are wanted.
fn select<'c>(mut found: Vec<Found<'c>>, terms: &Terms) -> Vec<Found<'c>> {
    let wanted = if terms.count == 0 { found.len() } else { terms.count.min(found.len()) };
    if let Some(order) = terms.order {
        let compare = |one: &Found<'_>, other: &Found<'_>| match order {
            Order::NearestFirst => one.distance_m.total_cmp(&other.distance_m),
            Order::FarthestFirst => other.distance_m.total_cmp(&one.distance_m),
        };
        if wanted < found.len() && wanted > 0 {
            found.select_nth_unstable_by(wanted - 1, compare);
            found.truncate(wanted);
        }
        found.sort_by(compare);
    }
    found.truncate(wanted);
    found
}

fn answer(reply: &mut Reply<'_>, found: &[Found<'_>], terms: &Terms) {
    let with = terms.with;
    let more = usize::from(with.distance) + usize::from(with.hash) + usize::from(with.coordinates);
    reply.array(found.len());
    for at in found {
        if more > 0 {
            reply.array(1 + more);
        }
        reply_item(reply, at.member);
        if with.distance {
            reply_distance(reply, terms.unit.of_meters(at.distance_m));
        }
        if with.hash {
            #[allow(clippy::cast_possible_truncation, reason = "a score in a cell is below 2^54")]
            reply.integer(at.score as i64);
        }
        if with.coordinates {
            reply_point(reply, at.place);
        }
    }
}

fn collect(found: &[Found<'_>], terms: &Terms, stored: Stored, limits: &Limits) -> SortedSet {
    let mut result = SortedSet::new();
    result.anticipate(found.len(), limits);
    for at in found {
        let score = match stored {
            Stored::Place => at.score,
            Stored::Distance => terms.unit.of_meters(at.distance_m),
        };
        at.member.with(|member| result.insert(member, score, limits));
    }
    result
}
