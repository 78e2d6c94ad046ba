//! SCAN.

use super::kind;
use crate::{Args, Context, DONE, Error, Flow, Group, Outcome, Spec};
use caudal_keyspace::Cursor;
use caudal_table::RecordRef;
use caudal_text::glob::{self, Case};
use caudal_text::integer;
use caudal_text::integer::Decimal;
use caudal_wire::{Output, Reply};

pub(crate) const SPEC: Spec =
    Spec::new("SCAN", "Walks over the names of all keys, piece by piece.")
        .syntax("cursor:int [MATCH pattern:pattern] [COUNT count:int] [TYPE type@6.0.0]")
        .group(Group::Generic)
        .since("2.8.0")
        .arity(-2)
        .readonly()
        .complexity("O(1) for a call, O(N) for a whole walk with N the number of keys.")
        .tips(&["nondeterministic_output", "request_policy:special", "response_policy:special"]);

/// Keys visited by a call that does not say how many.
const COUNT_DEFAULT: usize = 10;

struct Scan<'a> {
    /// None: a number that no call gave, from which nothing is left to visit.
    from: Option<Cursor>,
    count: usize,
    pattern: Option<&'a [u8]>,
    /// The name of a type.
    kind: Option<&'static str>,
}

impl<'a> Scan<'a> {
    fn parse(args: Args<'a>) -> Result<Scan<'a>, Error> {
        let from = integer::parse_cursor(args.at(1)).ok_or(Error::text("ERR invalid cursor"))?;
        let from = Cursor::from_number(from);
        let mut scan = Scan { from, count: COUNT_DEFAULT, pattern: None, kind: None };
        let mut cursor = args.cursor(2);
        while cursor.left() > 0 {
            if cursor.left() > 1 && cursor.take("COUNT") {
                let count = args.integer(cursor.index())?;
                scan.count =
                    usize::try_from(count).ok().filter(|it| *it > 0).ok_or(Error::SYNTAX)?;
                cursor.next();
            } else if cursor.left() > 1 && cursor.take("MATCH") {
                scan.pattern = cursor.next();
            } else if cursor.left() > 1 && cursor.take("TYPE") {
                scan.kind = Some(kind_named(cursor.next().expect("two words were left"))?);
            } else if cursor.take("NOVALUES") {
                return Err(Error::text("ERR NOVALUES option can only be used in HSCAN"));
            } else {
                return Err(Error::SYNTAX);
            }
        }
        Ok(scan)
    }

    fn wants(&self, record: RecordRef<'_>) -> bool {
        self.pattern.is_none_or(|pattern| glob::matches(pattern, record.key(), Case::Sensitive))
            && self.kind.is_none_or(|name| name == kind::name(record.kind()))
    }
}

fn kind_named(word: &[u8]) -> Result<&'static str, Error> {
    let found = kind::NAMES.into_iter().find(|name| name.as_bytes().eq_ignore_ascii_case(word));
    found.ok_or_else(|| Error::quoting("ERR unknown type name '", word, "'"))
}

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let scan = Scan::parse(args)?;
    // Nothing may be replied before the last slot was visited: the call begins anew after a busy
    // one.
    let mut found = Output::default();
    let (mut names, mut count) = (Reply::new(&mut found, context.reply.protocol()), 0);
    let keys = &context.keys;
    let mut visit = |record: RecordRef<'_>| {
        if scan.wants(record) {
            names.bulk(record.key());
            count += 1;
        }
    };
    let place = (keys.database, keys.now);
    let next = scan.from.map(|from| keys.keyspace.scan(place, from, scan.count, &mut visit));
    let next = match next.transpose() {
        Ok(next) => next.flatten().map_or(0, Cursor::number),
        Err(busy) => return Ok(Flow::Busy(busy)),
    };
    context.reply.array(2);
    context.reply.bulk(&Decimal::unsigned(next));
    context.reply.array(count);
    context.reply.output().append(found);
    DONE
}
