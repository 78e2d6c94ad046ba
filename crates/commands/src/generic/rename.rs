//! RENAME and RENAMENX.

use crate::{Args, Context, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary)
        .group(Group::Generic)
        .arity(3)
        .write()
        .key(1, KeyFlags::RW.and(KeyFlags::ACCESS).and(KeyFlags::DELETE))
}

pub(crate) const RENAME: Spec = spec("RENAME", "Gives a key another name, whatever stood there.")
    .syntax("key newkey:key")
    .key(2, KeyFlags::OW.and(KeyFlags::UPDATE));
pub(crate) const RENAMENX: Spec = spec("RENAMENX", "Gives a key another name that no key has.")
    .syntax("key newkey:key")
    .fast()
    .key(2, KeyFlags::OW.and(KeyFlags::INSERT));

pub(crate) fn rename(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    if args.at(1) != args.at(2) {
        give_name(context, args)?;
    } else if !context.keys.exists(&context.key(args, 1)) {
        return Err(Error::NO_SUCH_KEY);
    }
    context.reply_ok()
}

pub(crate) fn rename_nx(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    if !context.keys.exists(&context.key(args, 1)) {
        return Err(Error::NO_SUCH_KEY);
    }
    // The key's own name is taken too.
    if context.keys.peek(&context.key(args, 2)).is_some() {
        return context.reply_integer(0);
    }
    give_name(context, args)?;
    context.reply_integer(1)
}

fn give_name(context: &mut Context<'_, '_>, args: Args<'_>) -> Result<(), Error> {
    let (source, target) = (context.key(args, 1), context.key(args, 2));
    let (value, expiry) = context.keys.take(&source).ok_or(Error::NO_SUCH_KEY)?;
    context.keys.put_in(context.keys.database, &target, value, expiry);
    context.keys.changed(&source, Event::generic("rename_from"));
    context.keys.changed(&target, Event::generic("rename_to"));
    Ok(())
}
