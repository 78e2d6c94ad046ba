//! SSCAN.

use crate::context::reply_item;
use crate::{Args, Context, DONE, Error, Group, KeyFlags, Outcome, Spec};
use caudal_text::glob::{self, Case};
use caudal_text::integer::{self, Decimal};
use caudal_wire::{Output, Reply};

pub(crate) const SPEC: Spec =
    Spec::new("SSCAN", "Walks over the members of a set, piece by piece.")
        .group(Group::Set)
        .since("2.8.0")
        .arity(-3)
        .readonly()
        .tips(&["nondeterministic_output"])
        .complexity("O(1) for a call, O(N) for a whole walk with N the number of members.")
        .key(1, KeyFlags::RO.and(KeyFlags::ACCESS));

/// Members visited by a call that does not say how many.
const COUNT_DEFAULT: usize = 10;

struct Options<'a> {
    count: usize,
    pattern: Option<&'a [u8]>,
}

impl<'a> Options<'a> {
    fn parse(args: Args<'a>) -> Result<Options<'a>, Error> {
        let mut options = Options { count: COUNT_DEFAULT, pattern: None };
        let mut words = args.cursor(3);
        while words.left() > 0 {
            if words.left() > 1 && words.take("COUNT") {
                let count = usize::try_from(args.integer(words.index())?);
                options.count = count.ok().filter(|it| *it > 0).ok_or(Error::SYNTAX)?;
                words.next();
            } else if words.left() > 1 && words.take("MATCH") {
                options.pattern = words.next();
            } else if words.take("NOVALUES") {
                return Err(Error::text("ERR NOVALUES option can only be used in HSCAN"));
            } else {
                return Err(Error::SYNTAX);
            }
        }
        Ok(options)
    }
}

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let cursor = integer::parse_cursor(args.at(2)).ok_or(Error::text("ERR invalid cursor"))?;
    let key = context.key(args, 1);
    let set = context.keys.set_of(&key)?;
    let reply = &mut context.reply;
    // Without a set the options may be anything.
    let Some(set) = set else {
        reply.array(2);
        reply.bulk(b"0");
        reply.array(0);
        return DONE;
    };
    let Options { count, pattern } = Options::parse(args)?;
    let (mut found, mut len) = (Output::default(), 0);
    let mut members = Reply::new(&mut found, reply.protocol());
    let next = set.scan(cursor, count, |item| {
        let matches = |member: &_| glob::matches(pattern.unwrap_or(b"*"), member, Case::Sensitive);
        if item.with(matches) {
            reply_item(&mut members, item);
            len += 1;
        }
    });
    reply.array(2);
    reply.bulk(Decimal::unsigned(next).as_bytes());
    reply.array(len);
    reply.output().append(found);
    DONE
}
