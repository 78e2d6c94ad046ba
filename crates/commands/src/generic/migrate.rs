//! MIGRATE: its words are checked, and a key that is not there need not go anywhere; more is not
//! there yet.

use crate::{Args, Context, Error, Group, KeyFlags, Outcome, Spec};
use std::ops::Range;

pub(crate) const SPEC: Spec = Spec::new("MIGRATE", "Moves keys to another server.")
    .syntax(
        "host port:int key-selector<key|empty-string=> destination-db:int timeout:int \
         [COPY@3.0.0] [REPLACE@3.0.0] \
         [authentication<AUTH auth'password'@4.0.7|AUTH2 auth2(username password)@6.0.0>] \
         [KEYS keys'key':key...@3.0.6]",
    )
    .group(Group::Generic)
    .since("2.6.0")
    .arity(-6)
    .write()
    .categories(&["dangerous"])
    .complexity("That of DUMP and DEL here and RESTORE there.")
    .tips(&["nondeterministic_output"])
    .key(3, MOVED)
    .keys_all_behind("KEYS", 2, MOVED);

const MOVED: KeyFlags = KeyFlags::RW.and(KeyFlags::ACCESS).and(KeyFlags::DELETE);

/// The arguments that are keys: one, or all that follows KEYS.
pub(crate) fn keys(args: Args<'_>) -> Range<usize> {
    parse_keys(args).unwrap_or(0..0)
}

fn parse_keys(args: Args<'_>) -> Result<Range<usize>, Error> {
    let mut cursor = args.cursor(6);
    while cursor.left() > 0 {
        if cursor.take("COPY") || cursor.take("REPLACE") {
            continue;
        }
        if cursor.left() > 1 && cursor.take("AUTH") {
            cursor.next();
        } else if cursor.left() > 2 && cursor.take("AUTH2") {
            cursor.next();
            cursor.next();
        } else if cursor.take("KEYS") {
            if !args.at(3).is_empty() {
                return Err(Error::text(
                    "ERR When using MIGRATE KEYS option, the key argument must be set to the \
                     empty string",
                ));
            }
            return Ok(cursor.index()..args.len());
        } else {
            return Err(Error::SYNTAX);
        }
    }
    Ok(3..4)
}

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let mut keys = parse_keys(args)?;
    args.integer(5)?;
    args.integer(4)?;
    if keys.all(|at| context.keys.find(&context.key(args, at)).is_none()) {
        context.reply.status("NOKEY");
        return crate::DONE;
    }
    Err(Error::text(
        "ERR MIGRATE is not there yet: DUMP here and RESTORE there move a key between servers",
    ))
}
