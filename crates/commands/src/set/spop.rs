//! SPOP. Its effect names what was taken: SREM of the members, or UNLINK of the key when all were.

use crate::context::reply_item;
use crate::{Args, Context, DONE, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::{Event, Key};
use caudal_value::ItemBytes;

pub(crate) const SPEC: Spec = Spec::new("SPOP", "Takes random members out of a set.")
    .syntax("key [count:int@3.2.0]")
    .group(Group::Set)
    .arity(-2)
    .write()
    .fast()
    .tips(&["nondeterministic_output"])
    .complexity("O(N log M) with N the count and M the number of members.")
    .key(1, KeyFlags::RW.and(KeyFlags::ACCESS).and(KeyFlags::DELETE));

/// Members in one SREM of the effect, as in Valkey: it bounds what a replica has to parse at a
/// time.
const EFFECT_MEMBERS_MAX: usize = 1024;

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    match args.len() {
        2 => pop_one(context, args),
        3 => pop_counted(context, args),
        _ => Err(Error::SYNTAX),
    }
}

fn pop_one(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    let Some(set) = context.keys.set_mut(&key)? else { return context.reply_null() };
    let index = context.random.below(set.len());
    let member = set.pop_nth(index).expect("the index is below the length");
    context.reply.bulk(&member);
    context.keys.effect(&[b"SREM", key.bytes, &member]);
    context.keys.changed(&key, Event::set("spop"));
    context.keys.drop_empty_set(&key);
    DONE
}

fn pop_counted(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let count = usize::try_from(args.positive(2)?).map_err(|_| Error::NOT_POSITIVE)?;
    let (key, wanted) = (context.key(args, 1), context.keys.effects.wanted());
    let reply = &mut context.reply;
    let Some(set) = context.keys.set_mut(&key)?.filter(|_| count > 0) else {
        reply.set(0);
        return DONE;
    };
    let takes_all = count >= set.len();
    let mut members: Vec<ItemBytes> = Vec::new();
    reply.set(count.min(set.len()));
    if takes_all {
        set.iter().for_each(|item| reply_item(reply, item));
    } else {
        for _ in 0..count {
            let index = context.random.below(set.len());
            let member = set.pop_nth(index).expect("the index is below the length");
            reply.bulk(&member);
            if wanted {
                members.push(member);
            }
        }
    }
    context.keys.changed(&key, Event::set("spop"));
    if takes_all {
        context.keys.remove(&key);
        context.keys.changed(&key, Event::DEL);
        context.keys.effect(&[b"UNLINK", key.bytes]);
    } else if wanted {
        explain(context, &key, &members);
    }
    DONE
}

fn explain(context: &mut Context<'_, '_>, key: &Key<'_>, members: &[ItemBytes]) {
    for members in members.chunks(EFFECT_MEMBERS_MAX) {
        let mut words: Vec<&[u8]> = vec![b"SREM", key.bytes];
        words.extend(members.iter().map(|member| member.as_slice()));
        context.keys.effect(&words);
    }
}
