//! LPOS.

use crate::{Args, Context, DONE, Error, Group, KeyFlags, Outcome, Spec};
use caudal_value::{Item, List};

pub(crate) const SPEC: Spec =
    Spec::new("LPOS", "Returns the indexes of the elements of a list that equal a value.")
        .syntax("key element [RANK rank:int] [COUNT num-matches:int] [MAXLEN len:int]")
        .group(Group::List)
        .since("6.0.6")
        .arity(-3)
        .readonly()
        .complexity("O(N) with N the number of elements compared.")
        .key(1, KeyFlags::RO.and(KeyFlags::ACCESS));

struct Search {
    /// Matches to pass over.
    skip: u64,
    is_backwards: bool,
    /// How many indexes are wanted, as an array; none: one, bare.
    count: Option<u64>,
    /// Elements to compare at most.
    compared_max: u64,
}

impl Search {
    fn parse(args: Args<'_>) -> Result<Search, Error> {
        let (mut rank, mut count, mut compared_max) = (1, None, 0);
        let mut options = args.cursor(3);
        while options.left() > 0 {
            let (name, value) = (options.index(), options.index() + 1);
            if options.left() == 1 {
                return Err(Error::SYNTAX);
            } else if args.is(name, "RANK") {
                rank = parse_rank(args, value)?;
            } else if args.is(name, "COUNT") {
                count = Some(args.positive(value).map_err(|_| negative("COUNT"))?);
            } else if args.is(name, "MAXLEN") {
                compared_max = args.positive(value).map_err(|_| negative("MAXLEN"))?;
            } else {
                return Err(Error::SYNTAX);
            }
            options.next();
            options.next();
        }
        let no_limit = |number: u64| if number == 0 { u64::MAX } else { number };
        Ok(Search {
            skip: rank.unsigned_abs() - 1,
            is_backwards: rank < 0,
            count: count.map(no_limit),
            compared_max: no_limit(compared_max),
        })
    }

    /// Calls `found` with the index of each match.
    fn run(&self, list: &List, wanted: &[u8], mut found: impl FnMut(usize)) {
        let (wanted, last) = (Item::of(wanted), list.len() - 1);
        let items = if self.is_backwards { list.iter_back_from(last) } else { list.iter() };
        let compared_max = usize::try_from(self.compared_max).unwrap_or(usize::MAX);
        let matches = items.take(compared_max).enumerate().filter(|(_, item)| *item == wanted);
        let skip = usize::try_from(self.skip).unwrap_or(usize::MAX);
        let count = usize::try_from(self.count.unwrap_or(1)).unwrap_or(usize::MAX);
        for (distance, _) in matches.skip(skip).take(count) {
            found(if self.is_backwards { last - distance } else { distance });
        }
    }
}

fn parse_rank(args: Args<'_>, index: usize) -> Result<i64, Error> {
    match args.signed_count(index)? {
        0 => Err(Error::text(
            "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... \
             or use negative to start from the end of the list",
        )),
        rank => Ok(rank),
    }
}

fn negative(option: &str) -> Error {
    Error::new(format!("ERR {option} can't be negative"))
}

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let search = Search::parse(args)?;
    let key = context.key(args, 1);
    let list = context.keys.list(&key)?;
    let reply = &mut context.reply;
    let index_of = |index: usize| i64::try_from(index).expect("lengths stay below 2^63");
    if search.count.is_none() {
        let mut first = None;
        list.inspect(|list| search.run(list, args.at(2), |index| first = Some(index)));
        match first {
            None => reply.null(),
            Some(index) => reply.integer(index_of(index)),
        }
        return DONE;
    }
    let (mark, mut count) = (reply.deferred_array(), 0);
    if let Some(list) = list {
        search.run(list, args.at(2), |index| {
            reply.integer(index_of(index));
            count += 1;
        });
    }
    reply.close_array(mark, count);
    DONE
}
