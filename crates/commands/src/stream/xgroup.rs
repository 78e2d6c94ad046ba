//! XGROUP: consumer groups are made, moved and taken away here. HELP is the session's.

use super::id;
use crate::{Args, Context, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::{Event, Key};
use caudal_value::{Stream, StreamId};

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary).of("XGROUP").group(Group::Stream).since("5.0.0").write()
}

pub(crate) const CREATE: Spec = spec("CREATE", "Makes a consumer group.")
    .syntax(
        "key group id-selector<id|new-id=$> [MKSTREAM] [ENTRIESREAD entriesread'entries-read':int]",
    )
    .arity(-5)
    .deny_oom()
    .key(2, KeyFlags::RW.and(KeyFlags::INSERT));
pub(crate) const CREATECONSUMER: Spec = spec("CREATECONSUMER", "Makes a consumer of a group.")
    .syntax("key group consumer")
    .since("6.2.0")
    .arity(5)
    .deny_oom()
    .key(2, KeyFlags::RW.and(KeyFlags::INSERT));
pub(crate) const DELCONSUMER: Spec =
    spec("DELCONSUMER", "Takes a consumer away, with all that is pending with it.")
        .syntax("key group consumer")
        .arity(5)
        .key(2, KeyFlags::RW.and(KeyFlags::DELETE));
pub(crate) const DESTROY: Spec = spec("DESTROY", "Takes a consumer group away.")
    .syntax("key group")
    .arity(4)
    .complexity("O(N) with N the number of entries that are pending in the group.")
    .key(2, KeyFlags::RW.and(KeyFlags::DELETE));
pub(crate) const SETID: Spec =
    spec("SETID", "Sets the entry behind which a consumer group goes on.")
        .syntax("key group id-selector<id|new-id=$> [ENTRIESREAD entriesread'entries-read':int]")
        .arity(-5)
        .key(2, KeyFlags::RW.and(KeyFlags::UPDATE));

const NO_KEY: Error = Error::text(
    "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use \
     the MKSTREAM option to create an empty stream automatically.",
);

/// MKSTREAM and ENTRIESREAD.
struct Options {
    makes_stream: bool,
    entries_read: Option<u64>,
}

impl Options {
    fn parse(args: Args<'_>, of_create: bool) -> Result<Options, Error> {
        let mut options = Options { makes_stream: false, entries_read: None };
        let mut cursor = args.cursor(5);
        while cursor.left() > 0 {
            if of_create && cursor.take("MKSTREAM") {
                options.makes_stream = true;
            } else if cursor.left() > 1 && cursor.take("ENTRIESREAD") {
                let read = args.integer(cursor.index())?;
                if read < -1 {
                    return Err(Error::text("ERR value for ENTRIESREAD must be positive or -1"));
                }
                options.entries_read = u64::try_from(read).ok();
                cursor.next();
            } else {
                let text = "ERR unknown subcommand or wrong number of arguments for '";
                return Err(Error::quoting(text, args.at(1), "'. Try XGROUP HELP."));
            }
        }
        Ok(options)
    }
}

/// The group's last entry, as the word at argument 4 names it.
fn last_id(
    word: &[u8],
    stream: Option<&Stream>,
    parse: fn(&[u8], u64) -> Result<StreamId, Error>,
) -> Result<StreamId, Error> {
    match word {
        b"$" => Ok(stream.map_or(StreamId::MIN, Stream::last_id)),
        word => parse(word, 0),
    }
}

pub(crate) fn create(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let options = Options::parse(args, true)?;
    let key = context.key(args, 2);
    let stream = context.keys.stream_mut(&key)?;
    let is_new = stream.is_none();
    if is_new && !options.makes_stream {
        return Err(NO_KEY);
    }
    let last = last_id(args.at(4), stream.as_deref(), id::exact)?;
    if stream.is_some_and(|stream| stream.group(args.at(3)).is_some()) {
        return Err(Error::text("BUSYGROUP Consumer Group name already exists"));
    }
    let stream = context.keys.stream_or_new(&key)?;
    stream.create_group(args.at(3), last, options.entries_read);
    let event = Event::stream("xgroup-create");
    if is_new {
        context.keys.changed(&key, event);
    } else {
        context.keys.changed_aside(&key, event);
    }
    context.reply_ok()
}

pub(crate) fn set_id(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let options = Options::parse(args, false)?;
    let key = context.key(args, 2);
    let stream = existing(context, &key, args)?;
    let last = last_id(args.at(4), Some(stream), id::any)?;
    let group = stream.group_mut(args.at(3)).expect("it was looked at");
    group.last_id = last;
    group.entries_read = options.entries_read;
    context.keys.changed_aside(&key, Event::stream("xgroup-setid"));
    context.reply_ok()
}

pub(crate) fn destroy(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 2);
    let stream = context.keys.stream_mut(&key)?.ok_or(NO_KEY)?;
    if !stream.destroy_group(args.at(3)) {
        return context.reply_integer(0);
    }
    context.keys.changed_aside(&key, Event::stream("xgroup-destroy"));
    // Whoever waits for the group has to be told.
    context.keys.stream_moved(&key);
    context.reply_integer(1)
}

pub(crate) fn create_consumer(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let (key, now) = (context.key(args, 2), context.keys.now);
    let group = existing(context, &key, args)?.group_mut(args.at(3)).expect("it was looked at");
    if group.create_consumer(args.at(4), now).is_none() {
        return context.reply_integer(0);
    }
    context.keys.changed_aside(&key, Event::stream("xgroup-createconsumer"));
    context.reply_integer(1)
}

pub(crate) fn delete_consumer(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 2);
    let group = existing(context, &key, args)?.group_mut(args.at(3)).expect("it was looked at");
    let Some(pending) = group.delete_consumer(args.at(4)) else {
        return context.reply_integer(0);
    };
    context.keys.changed_aside(&key, Event::stream("xgroup-delconsumer"));
    context.reply_count(pending)
}

/// The stream at the key, which has the group that argument 3 names.
fn existing<'k>(
    context: &'k mut Context<'_, '_>,
    key: &Key<'_>,
    args: Args<'_>,
) -> Result<&'k mut Stream, Error> {
    let stream = context.keys.stream_mut(key)?.ok_or(NO_KEY)?;
    if stream.group(args.at(3)).is_none() {
        return Err(no_such_group(key.bytes, args.at(3)));
    }
    Ok(stream)
}

/// The error of a group that is not there, where the key is.
pub(super) fn no_such_group(key: &[u8], group: &[u8]) -> Error {
    let parts: [&[u8]; 5] =
        [b"NOGROUP No such consumer group '", group, b"' for key name '", key, b"'"];
    Error(parts.concat().into())
}
