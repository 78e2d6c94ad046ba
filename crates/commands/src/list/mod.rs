//! Commands on lists.
//!
//! Those that take from one end or the other share their code; [`End`] says which. A blocking
//! command is the plain one with a wait behind it: the engine runs it again when one of its keys
//! has become a list.

mod blmpop;
mod blpop;
mod lindex;
mod linsert;
mod llen;
mod lmove;
mod lmpop;
mod lpos;
mod lrange;
mod lrem;
mod lset;
mod ltrim;
mod pop;
mod push;

use crate::context::reply_item;
use crate::{Args, Command, Context, Error};
use caudal_keyspace::{Event, Key};
use caudal_value::{Item, Limits, List};

/// The family, in the order of the reference.
pub(crate) const COMMANDS: &[Command] = &[
    Command::new(lmove::BLMOVE, lmove::blmove),
    Command::new(blmpop::SPEC, blmpop::apply),
    Command::new(blpop::BLPOP, blpop::blpop),
    Command::new(blpop::BRPOP, blpop::brpop),
    Command::new(lmove::BRPOPLPUSH, lmove::brpoplpush),
    Command::new(lindex::SPEC, lindex::apply),
    Command::new(linsert::SPEC, linsert::apply),
    Command::new(llen::SPEC, llen::apply),
    Command::new(lmove::LMOVE, lmove::lmove),
    Command::new(lmpop::SPEC, lmpop::apply),
    Command::new(pop::LPOP, pop::lpop),
    Command::new(lpos::SPEC, lpos::apply),
    Command::new(push::LPUSH, push::lpush),
    Command::new(push::LPUSHX, push::lpushx),
    Command::new(lrange::SPEC, lrange::apply),
    Command::new(lrem::SPEC, lrem::apply),
    Command::new(lset::SPEC, lset::apply),
    Command::new(ltrim::SPEC, ltrim::apply),
    Command::new(pop::RPOP, pop::rpop),
    Command::new(lmove::RPOPLPUSH, lmove::rpoplpush),
    Command::new(push::RPUSH, push::rpush),
    Command::new(push::RPUSHX, push::rpushx),
];

/// An end of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Left,
    Right,
}

impl End {
    /// The end that the word at `index` names.
    fn parse(args: Args<'_>, index: usize) -> Result<End, Error> {
        match index {
            _ if args.is(index, "LEFT") => Ok(End::Left),
            _ if args.is(index, "RIGHT") => Ok(End::Right),
            _ => Err(Error::SYNTAX),
        }
    }

    const fn word(self) -> &'static str {
        match self {
            End::Left => "LEFT",
            End::Right => "RIGHT",
        }
    }

    const fn pop_command(self) -> &'static str {
        match self {
            End::Left => "LPOP",
            End::Right => "RPOP",
        }
    }

    const fn pushed(self) -> Event {
        match self {
            End::Left => Event::list("lpush"),
            End::Right => Event::list("rpush"),
        }
    }

    const fn popped(self) -> Event {
        match self {
            End::Left => Event::list("lpop"),
            End::Right => Event::list("rpop"),
        }
    }

    fn push(self, list: &mut List, element: &[u8], limits: &Limits) {
        match self {
            End::Left => list.push_front(element, limits),
            End::Right => list.push_back(element, limits),
        }
    }

    fn item(self, list: &List) -> Option<Item<'_>> {
        match self {
            End::Left => list.front(),
            End::Right => list.back(),
        }
    }

    fn remove(self, list: &mut List, count: usize, limits: &Limits) {
        match self {
            End::Left => list.remove_front(count, limits),
            End::Right => list.remove_back(count, limits),
        }
    }
}

/// An index as users write it, negative ones from the end, within a list of `len` elements.
fn index_of(index: i64, len: usize) -> Option<usize> {
    let index = match usize::try_from(index) {
        Ok(index) => index,
        Err(_) => len.checked_sub(usize::try_from(index.unsigned_abs()).ok()?)?,
    };
    (index < len).then_some(index)
}

/// Replies with an array of up to `count` elements from one end of the list at `key`, outermost
/// first, and takes them out. Returns how many there were; none, and no reply, if the key is not
/// there.
fn pop_array(
    context: &mut Context<'_, '_>,
    key: &Key<'_>,
    end: End,
    count: usize,
) -> Result<Option<usize>, Error> {
    let limits = context.keys.limits;
    let Some(list) = context.keys.list_mut(key)? else { return Ok(None) };
    let (len, reply) = (list.len(), &mut context.reply);
    let count = count.min(len);
    reply.array(count);
    match end {
        End::Left => list.iter().take(count).for_each(|item| reply_item(reply, item)),
        End::Right => {
            list.iter_back_from(len - 1).take(count).for_each(|item| reply_item(reply, item));
        }
    }
    end.remove(list, count, limits);
    if count > 0 {
        popped(context, key, end, count == len);
    }
    Ok(Some(count))
}

/// What follows from taking elements out of the list at `key`.
fn popped(context: &mut Context<'_, '_>, key: &Key<'_>, end: End, is_empty: bool) {
    context.keys.changed(key, end.popped());
    if is_empty {
        context.keys.drop_empty_list(key);
    }
}

#[cfg(test)]
mod tests {
    use super::index_of;

    #[test]
    fn indexes_count_from_both_ends() {
        assert_eq!([0, 2, 3].map(|index| index_of(index, 3)), [Some(0), Some(2), None]);
        assert_eq!([-1, -3, -4].map(|index| index_of(index, 3)), [Some(2), Some(0), None]);
        assert_eq!([i64::MIN, i64::MAX].map(|index| index_of(index, 3)), [None, None]);
    }
}
