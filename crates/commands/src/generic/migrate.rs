//! MIGRATE: its words are checked, and a key that is not there need not go anywhere; more is not
//! there yet.

use crate::{Args, Context, Error, Flags, Group, KeyFlags, Outcome, Spec};

pub(crate) const SPEC: Spec = Spec::new("MIGRATE", "Moves keys to another server.")
    .group(Group::Generic)
    .since("2.6.0")
    .arity(-6)
    .write()
    .flag(Flags::MOVABLEKEYS)
    .categories(&["dangerous"])
    .complexity("That of DUMP and DEL here and RESTORE there.")
    .tips(&["nondeterministic_output"])
    .key(3, KeyFlags::RW.and(KeyFlags::ACCESS).and(KeyFlags::DELETE));

/// Whether the keys stand behind `KEYS`.
struct ManyKeys(bool);

fn parse(args: Args<'_>) -> Result<ManyKeys, Error> {
    let mut cursor = args.cursor(6);
    let mut has_many = false;
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
            has_many = true;
            break;
        } else {
            return Err(Error::SYNTAX);
        }
    }
    args.integer(5)?;
    args.integer(4)?;
    Ok(ManyKeys(has_many))
}

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let ManyKeys(has_many) = parse(args)?;
    let key = context.key(args, 3);
    if !has_many && context.keys.find(&key).is_none() {
        context.reply.status("NOKEY");
        return crate::DONE;
    }
    Err(Error::text(
        "ERR MIGRATE is not there yet: DUMP here and RESTORE there move a key between servers",
    ))
}
