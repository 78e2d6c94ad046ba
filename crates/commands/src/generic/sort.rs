//! SORT and SORT_RO.
//!
//! The keys that BY and GET lead to depend on the elements, so their slots are locked on the way:
//! all of them before the first change and the first byte of the reply, since a busy slot makes the
//! command begin again. The weights and values of one run are of one instant.

mod pattern;

use crate::context::{reply_item, reply_string};
use crate::{Args, Context, DONE, Error, Flow, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::{Busy, Event, Key, Keys, SetExpiry};
use caudal_rdb::{Source, payload};
use caudal_table::{Kind, NewValue, ValueRef};
use caudal_value::{Item, ItemBytes, List, Object};
use pattern::{Found, Pattern};
use std::cmp::Ordering;
use std::ops::Range;

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary)
        .group(Group::Generic)
        .arity(-2)
        .categories(&["set", "sortedset", "list", "dangerous"])
        .complexity(
            "O(N+M*log(M)) where N is the number of elements in the list or set to sort, and M \
             the number of returned elements. When the elements are not sorted, complexity is \
             O(N).",
        )
        .reaching()
        .key(1, KeyFlags::RO.and(KeyFlags::ACCESS))
        .key_in_content(KeyFlags::RO.and(KeyFlags::ACCESS))
        .key_note("BY and GET: the elements complete their patterns to the names of keys")
}

pub(crate) const SORT: Spec =
    spec("SORT", "Sorts a list, a set or a sorted set, and returns or stores the result.")
        .syntax(
            "key [BY by-pattern'pattern':pattern1] [LIMIT limit(offset:int count:int)] \
             [GET... get-pattern'pattern':pattern1] [order<ASC|DESC>] [sorting=ALPHA] \
             [STORE destination:key2]",
        )
        .write()
        .deny_oom()
        .key_after_store(2, KeyFlags::OW.and(KeyFlags::UPDATE))
        .key_note("STORE, which may stand anywhere among the options");
pub(crate) const SORT_RO: Spec =
    spec("SORT_RO", "Sorts a list, a set or a sorted set, and returns the result.")
        .syntax(
            "key [BY by-pattern'pattern':pattern1] [LIMIT limit(offset:int count:int)] \
             [GET... get-pattern'pattern':pattern1] [order<ASC|DESC>] [sorting=ALPHA]",
        )
        .since("7.0.0")
        .readonly();

pub(crate) fn sort(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    run(context, args, true)
}

pub(crate) fn sort_ro(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    run(context, args, false)
}

/// What a SORT is asked for.
struct Sort<'a> {
    /// Compares bytes instead of numbers.
    alpha: bool,
    descending: bool,
    /// Results to leave out, and to give; negative: none, all.
    limit: (i64, i64),
    /// What to compare instead of the elements.
    by: Option<Pattern<'a>>,
    /// BY said not to sort.
    is_unsorted: bool,
    /// Whether a set is sorted though BY said not to: it is stored, or a script reads it, and both
    /// must be the same wherever this is done.
    orders_sets: bool,
    /// What to give instead of the elements.
    gets: Vec<Pattern<'a>>,
    target: Option<&'a [u8]>,
}

impl<'a> Sort<'a> {
    fn parse(args: Args<'a>, may_store: bool, may_read_all: bool) -> Result<Sort<'a>, Error> {
        let mut sort = Sort {
            alpha: false,
            descending: false,
            limit: (0, -1),
            by: None,
            is_unsorted: false,
            orders_sets: false,
            gets: Vec::new(),
            target: None,
        };
        let mut cursor = args.cursor(2);
        while cursor.left() > 0 {
            let left = cursor.left();
            if cursor.take("ASC") {
                sort.descending = false;
            } else if cursor.take("DESC") {
                sort.descending = true;
            } else if cursor.take("ALPHA") {
                sort.alpha = true;
            } else if left > 2 && cursor.take("LIMIT") {
                let (first, second) = (cursor.index(), cursor.index() + 1);
                sort.limit = (args.integer(first)?, args.integer(second)?);
                cursor = args.cursor(second + 1);
            } else if left > 1 && may_store && cursor.take("STORE") {
                sort.target = cursor.next();
            } else if left > 1 && cursor.take("BY") {
                let word = cursor.next().unwrap_or_default();
                sort.is_unsorted |= !pattern::has_gap(word);
                sort.by = Some(Pattern::parse(word));
                if pattern::has_gap(word) && !may_read_all {
                    return Err(denied("BY"));
                }
            } else if left > 1 && cursor.take("GET") {
                sort.gets.push(Pattern::parse(cursor.next().unwrap_or_default()));
                if !may_read_all {
                    return Err(denied("GET"));
                }
            } else {
                return Err(Error::SYNTAX);
            }
        }
        Ok(sort)
    }

    /// The results, of `len`, that LIMIT leaves.
    fn range(&self, len: usize) -> Range<usize> {
        let (offset, count) = self.limit;
        let start = usize::try_from(offset).unwrap_or(0).min(len);
        let count = usize::try_from(count).unwrap_or(len).min(len - start);
        start..start + count
    }
}

fn denied(option: &str) -> Error {
    Error::new(format!("ERR {option} option of SORT denied due to insufficient ACL permissions."))
}

/// Why a SORT has no result.
enum Stop {
    Busy(Busy),
    Error(Error),
}

impl From<Busy> for Stop {
    fn from(busy: Busy) -> Stop {
        Stop::Busy(busy)
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Error(error)
    }
}

fn run(context: &mut Context<'_, '_>, args: Args<'_>, may_store: bool) -> Outcome {
    let mut sort = Sort::parse(args, may_store, context.may_read_all)?;
    sort.orders_sets = sort.target.is_some() || context.in_script;
    let source = context.key(args, 1);
    let image = match context.keys.find(&source).map(|record| (record.kind(), record.value())) {
        None => Object::List(List::new()),
        Some((Kind::List | Kind::Set | Kind::SortedSet, ValueRef::Object(object))) => {
            object.clone()
        }
        Some(_) => return Err(Error::WRONG_TYPE),
    };
    match results(&mut context.keys, sort, &image).and_then(|results| results.give(context)) {
        Ok(()) => DONE,
        Err(Stop::Busy(busy)) => Ok(Flow::Busy(busy)),
        Err(Stop::Error(error)) => Err(error),
    }
}

/// The elements that are asked for, in order, and what is to become of them.
struct Results<'i, 'a> {
    elements: Vec<Item<'i>>,
    gets: Vec<Pattern<'a>>,
    target: Option<&'a [u8]>,
    /// Whether they depend on fields of hashes.
    reads_fields: bool,
}

fn results<'i, 'a>(
    keys: &mut Keys<'_, '_>,
    mut sort: Sort<'a>,
    image: &'i Object,
) -> Result<Results<'i, 'a>, Stop> {
    if sort.is_unsorted {
        sort.by = None;
    }
    if sort.is_unsorted && sort.orders_sets && matches!(image, Object::Set(_)) {
        (sort.is_unsorted, sort.alpha) = (false, true);
    }
    let elements = match sort.is_unsorted {
        true => unsorted(&sort, image),
        false => sorted(keys, &sort, image)?,
    };
    let reads_fields = sort.by.iter().chain(&sort.gets).any(Pattern::reads_fields);
    Ok(Results { elements, gets: sort.gets, target: sort.target, reads_fields })
}

/// Elements in the order that they have.
fn unsorted<'i>(sort: &Sort<'_>, image: &'i Object) -> Vec<Item<'i>> {
    let stretch = |len: usize| {
        let range = sort.range(len);
        // Going down, the rank of the first one; with none to take, it is not used.
        (range.start, (len - range.start).saturating_sub(1), range.len())
    };
    match image {
        Object::List(list) => {
            let (up, down, count) = stretch(list.len());
            match sort.descending && count > 0 {
                true => list.iter_back_from(down).take(count).collect(),
                false => list.iter_from(up).take(count).collect(),
            }
        }
        Object::SortedSet(set) => {
            let (up, down, count) = stretch(set.len());
            match sort.descending && count > 0 {
                true => set.iter_back_from(down).take(count).map(|(member, _)| member).collect(),
                false => set.iter_from(up).take(count).map(|(member, _)| member).collect(),
            }
        }
        Object::Set(set) => {
            let (up, _, count) = stretch(set.len());
            set.iter_from(up).take(count).collect()
        }
        _ => unreachable!("the type was checked"),
    }
}

/// What an element is compared by.
enum Weight {
    Number(f64),
    /// None, the least: BY leads to no string.
    Text(Option<ItemBytes>),
}

/// Elements in the order of their weights.
fn sorted<'i>(
    keys: &mut Keys<'_, '_>,
    sort: &Sort<'_>,
    image: &'i Object,
) -> Result<Vec<Item<'i>>, Stop> {
    let mut elements: Vec<Item<'i>> = match image {
        Object::List(list) => list.iter().collect(),
        Object::SortedSet(set) => set.iter().map(|(member, _)| member).collect(),
        Object::Set(set) => set.iter().collect(),
        _ => unreachable!("the type was checked"),
    };
    if sort.alpha && sort.by.is_some() && matches!(image, Object::Set(_)) {
        // Equal texts leave elements as they come, and a set's come in no order.
        elements.sort_by_cached_key(Item::to_bytes);
    }
    let mut name = Vec::new();
    let mut weighted = Vec::with_capacity(elements.len());
    for element in elements {
        let found = match &sort.by {
            None => Found::Item(element),
            Some(by) => by.find(keys, element, &mut name)?,
        };
        weighted.push((weigh(&found, sort.alpha)?, element));
    }
    weighted.sort_by(|first, second| {
        let order = compare(first, second);
        if sort.descending { order.reverse() } else { order }
    });
    let range = sort.range(weighted.len());
    Ok(weighted.drain(range).map(|(_, element)| element).collect())
}

fn weigh(found: &Found<'_>, alpha: bool) -> Result<Weight, Error> {
    const NOT_A_NUMBER: Error =
        Error::text("ERR One or more scores can't be converted into double");
    if alpha {
        return Ok(Weight::Text(found.with(ItemBytes::from_slice)));
    }
    #[allow(clippy::cast_precision_loss, reason = "numbers are compared as doubles")]
    let number = match found.integer() {
        Some(integer) => Some(integer as f64),
        None => found.with(caudal_text::float::parse_f64).unwrap_or(Some(0.0)),
    };
    number.map(Weight::Number).ok_or(NOT_A_NUMBER)
}

/// Equal numbers are ordered by the elements; equal texts are not.
fn compare(first: &(Weight, Item<'_>), second: &(Weight, Item<'_>)) -> Ordering {
    match (&first.0, &second.0) {
        (Weight::Number(one), Weight::Number(two)) => {
            let order = one.partial_cmp(two).expect("what is read is a number");
            order.then_with(|| first.1.with(|one| second.1.with(|two| one.cmp(two))))
        }
        (Weight::Text(one), Weight::Text(two)) => one.cmp(two),
        _ => unreachable!("all weights are of one kind"),
    }
}

impl Results<'_, '_> {
    /// Replies, or stores and replies.
    fn give(&self, context: &mut Context<'_, '_>) -> Result<(), Stop> {
        let count = self.elements.len() * self.gets.len().max(1);
        match self.target {
            Some(target) => self.store(context, target, count),
            None => self.reply(context, count),
        }
    }

    fn reply(&self, context: &mut Context<'_, '_>, count: usize) -> Result<(), Stop> {
        let mut name = Vec::new();
        for element in &self.elements {
            for get in &self.gets {
                get.reach(&mut context.keys, *element, &mut name)?;
            }
        }
        let Context { keys, reply, .. } = context;
        reply.array(count);
        for element in &self.elements {
            if self.gets.is_empty() {
                reply_item(reply, *element);
            }
            for get in &self.gets {
                match get.look_up(keys, *element, &mut name) {
                    Found::Item(item) => reply_item(reply, item),
                    Found::String(value) => reply_string(reply, Some(value)),
                    Found::Nothing => reply.null(),
                }
            }
        }
        Ok(())
    }

    fn store(
        &self,
        context: &mut Context<'_, '_>,
        target: &[u8],
        count: usize,
    ) -> Result<(), Stop> {
        let (limits, mut list, mut name) = (context.keys.limits, List::new(), Vec::new());
        for element in &self.elements {
            if self.gets.is_empty() {
                element.with(|bytes| list.push_back(bytes, limits));
            }
            for get in &self.gets {
                let found = get.find(&mut context.keys, *element, &mut name)?;
                if found.with(|bytes| list.push_back(bytes, limits)).is_none() {
                    list.push_back(b"", limits);
                }
            }
        }
        let key: Key<'_> = context.keys.key(target);
        if count > 0 {
            let list = Object::List(list);
            // Fields that are past their moment are still there for who would sort again.
            let is_told_whole = self.reads_fields && context.keys.effects.wanted();
            let payload = is_told_whole.then(|| payload::dump(Source::Object(&list)));
            context.keys.set(&key, NewValue::Object(list), SetExpiry::Clear);
            context.keys.changed(&key, Event::list("sortstore"));
            if let Some(payload) = payload {
                context.keys.effect(&[b"RESTORE", target, b"0", &payload, b"REPLACE"]);
            }
            // Each element counts as a change.
            context.keys.changes += count as u64 - 1;
        } else if context.keys.remove(&key) {
            context.keys.changed(&key, Event::DEL);
        }
        context.reply.integer(i64::try_from(count).expect("counts stay below 2^63"));
        Ok(())
    }
}
