//! XADD.

use super::id::NewId;
use super::trimming::Options;
use crate::{Args, Context, DONE, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::{Event, Key, SetExpiry};
use caudal_table::NewValue;
use caudal_value::{AppendError, Object, Stream, StreamId, Trimmed};

pub(crate) const SPEC: Spec =
    Spec::new("XADD", "Adds an entry to a stream, which is made if there is none.")
        .syntax(
            "key [NOMKSTREAM@6.2.0] [references<KEEPREF|DELREF|ACKED>@8.2.0] \
             [trim(strategy<MAXLEN|MINID@6.2.0> [operator<equal==|approximately=~>] threshold \
             [LIMIT count:int@6.2.0])] id-selector<auto-id=*|id> data(field value)...",
        )
        .group(Group::Stream)
        .since("5.0.0")
        .arity(-5)
        .write()
        .deny_oom()
        .fast()
        .tips(&["nondeterministic_output"])
        .complexity("O(1), and O(N) with N the number of entries that trimming takes away.")
        .key(1, KeyFlags::RW.and(KeyFlags::UPDATE))
        .key_note("trimming may take entries away");

struct Add {
    options: Options,
    id: NewId,
    /// Where the id stands; fields and values follow.
    id_at: usize,
}

impl Add {
    fn parse(context: &Context<'_, '_>, args: Args<'_>) -> Result<Add, Error> {
        let options = Options::parse(args, true, context.keys.limits)?;
        let id_at = options.end;
        let words = args.len().saturating_sub(id_at + 1);
        if words < 2 || !words.is_multiple_of(2) {
            return Err(Error::arity("xadd"));
        }
        let id = NewId::parse(args.at(id_at))?;
        if id == NewId::Exact(StreamId::MIN) {
            return Err(Error::text("ERR The ID specified in XADD must be greater than 0-0"));
        }
        Ok(Add { id, options, id_at })
    }
}

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let add = Add::parse(context, args)?;
    let key = context.key(args, 1);
    let (now, limits) = (context.keys.now, context.keys.limits);
    let words = args.from(add.id_at + 1);
    let old = context.keys.stream_mut(&key)?;
    if old.is_none() && add.options.needs_stream {
        return context.reply_null();
    }
    let mut new = Stream::new();
    let is_new = old.is_none();
    let stream = old.unwrap_or(&mut new);
    let id = add.id.settle(stream.last_id(), now)?;
    stream
        .append(id, words, limits)
        .map_err(|AppendError::TooLarge| Error::text("ERR Elements are too large to be stored"))?;
    let cut = add.options.cut.as_ref();
    let trimmed = cut.map(|cut| stream.trim(&cut.trimming)).unwrap_or_default();
    if is_new {
        context.keys.set(&key, NewValue::Object(Object::Stream(new)), SetExpiry::Clear);
    } else {
        context.keys.stream_moved(&key);
    }
    context.keys.changed(&key, Event::stream("xadd"));
    if trimmed.count > 0 {
        context.keys.also(&key, Event::stream("xtrim"));
    }
    explain(context, args, &key, &add, id, &trimmed)?;
    super::reply_id(&mut context.reply, id);
    DONE
}

/// Gives the effect, where the words would not do the same again.
fn explain(
    context: &mut Context<'_, '_>,
    args: Args<'_>,
    key: &Key<'_>,
    add: &Add,
    id: StreamId,
    trimmed: &Trimmed,
) -> Result<(), Error> {
    let cut = add.options.cut.as_ref().filter(|cut| cut.is_approximate());
    let is_exact = matches!(add.id, NewId::Exact(_)) && cut.is_none();
    if is_exact || !context.keys.effects.wanted() {
        return Ok(());
    }
    let id = id.text();
    if let Some(cut) = cut {
        let stream = context.keys.stream_mut(key)?.expect("it was written");
        let words = cut.exact_words(args, stream, trimmed, Some((add.id_at, &id)));
        let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        context.keys.effect(&words);
        return Ok(());
    }
    let mut words: Vec<&[u8]> = args.from(0).collect();
    words[add.id_at] = &id;
    context.keys.effect(&words);
    Ok(())
}
