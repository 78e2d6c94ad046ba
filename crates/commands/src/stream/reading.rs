//! The words of XREAD and XREADGROUP: options, then STREAMS, keys, and an id for each key.

use crate::{Args, Error};
use caudal_text::integer::parse_i64;
use caudal_wire::{Mark, Protocol, Reply};
use std::ops::Range;

/// What XREAD or XREADGROUP is told.
#[derive(Default)]
pub(super) struct Reading<'a> {
    /// At most so many entries of each stream; 0: all.
    pub(super) count: usize,
    /// Milliseconds to wait, 0 for ever; none: not at all.
    pub(super) block: Option<u64>,
    /// The group, and the consumer who reads for it.
    pub(super) group: Option<(&'a [u8], &'a [u8])>,
    /// NOACK: nothing becomes pending.
    pub(super) no_ack: bool,
    /// CLAIM: entries that have been pending for so many milliseconds come first.
    pub(super) claim_ms: Option<u64>,
    /// The arguments that are keys; as many ids follow.
    pub(super) keys: Range<usize>,
}

impl<'a> Reading<'a> {
    /// Reads all but the ids.
    pub(super) fn parse(args: Args<'a>) -> Result<Reading<'a>, Error> {
        let of_group = args.is(0, "XREADGROUP");
        let mut reading = Reading::default();
        let mut options = args.cursor(1);
        while options.left() > 0 {
            let more = options.left() - 1;
            if more >= 1 && options.take("BLOCK") {
                reading.block = Some(timeout(args, options.index())?);
                options.next();
            } else if more >= 1 && options.take("COUNT") {
                let count = args.integer(options.index())?.max(0);
                reading.count = usize::try_from(count).unwrap_or(usize::MAX);
                options.next();
            } else if more >= 1 && options.take("STREAMS") {
                reading.keys = halved(options.index(), args.len(), of_group)?;
                break;
            } else if more >= 2 && options.take("GROUP") {
                refuse_unless(of_group, "GROUP")?;
                reading.group = options.next().zip(options.next());
            } else if more >= 1 && options.take("CLAIM") {
                refuse_unless(of_group, "CLAIM")?;
                reading.claim_ms = Some(claim_ms(args, options.index())?);
                options.next();
            } else if options.take("NOACK") {
                refuse_unless(of_group, "NOACK")?;
                reading.no_ack = true;
            } else {
                return Err(Error::SYNTAX);
            }
        }
        if reading.keys.is_empty() {
            return Err(Error::SYNTAX);
        }
        if of_group && reading.group.is_none() {
            return Err(Error::text("ERR Missing GROUP option for XREADGROUP"));
        }
        Ok(reading)
    }

    /// The argument that is the id for the key at `key`.
    pub(super) fn id_at(&self, key: usize) -> usize {
        key + self.keys.len()
    }

    /// How many entries of a stream to take.
    pub(super) fn limit(&self) -> usize {
        if self.count == 0 { usize::MAX } else { self.count }
    }
}

/// The streams of a reply, of which there may be none: a map in RESP3, pairs in RESP2.
#[derive(Default)]
pub(super) struct Served {
    mark: Option<Mark>,
    count: usize,
}

impl Served {
    /// Begins the next stream; its entries follow.
    pub(super) fn open(&mut self, reply: &mut Reply<'_>, key: &[u8]) {
        self.mark.get_or_insert_with(|| reply.deferred_array());
        self.count += 1;
        if reply.protocol() == Protocol::Resp2 {
            reply.array(2);
        }
        reply.bulk(key);
    }

    /// Ends the reply. False: it has not begun.
    pub(super) fn close(self, reply: &mut Reply<'_>) -> bool {
        let Some(mark) = self.mark else { return false };
        match reply.protocol() {
            Protocol::Resp2 => reply.close_array(mark, self.count),
            Protocol::Resp3 => reply.close_map(mark, self.count),
        }
        true
    }
}

/// The arguments that are keys: none where the options are refused.
pub(super) fn keys(args: Args<'_>) -> Range<usize> {
    Reading::parse(args).map_or(0..0, |reading| reading.keys)
}

/// Whether the command may queue at its keys.
pub(super) fn may_wait(args: Args<'_>) -> bool {
    Reading::parse(args).is_ok_and(|reading| reading.block.is_some())
}

/// The first half of the words from `first` on.
fn halved(first: usize, len: usize, of_group: bool) -> Result<Range<usize>, Error> {
    let count = len - first;
    if !count.is_multiple_of(2) {
        let (name, sign) = if of_group { ("xreadgroup", '>') } else { ("xread", '$') };
        return Err(Error::new(format!(
            "ERR Unbalanced '{name}' list of streams: for each stream key an ID or '{sign}' must \
             be specified."
        )));
    }
    Ok(first..first + count / 2)
}

fn refuse_unless(of_group: bool, option: &str) -> Result<(), Error> {
    if of_group {
        return Ok(());
    }
    Err(Error::new(format!(
        "ERR The {option} option is only supported by XREADGROUP. You called XREAD instead."
    )))
}

fn claim_ms(args: Args<'_>, at: usize) -> Result<u64, Error> {
    let ms = parse_i64(args.at(at)).ok_or(Error::text("ERR min-idle-time is not an integer"))?;
    let negative = |_| Error::text("ERR min-idle-time must be a positive integer");
    u64::try_from(ms).map_err(negative)
}

fn timeout(args: Args<'_>, at: usize) -> Result<u64, Error> {
    let ms = parse_i64(args.at(at))
        .ok_or(Error::text("ERR timeout is not an integer or out of range"))?;
    u64::try_from(ms).map_err(|_| Error::NEGATIVE_TIMEOUT)
}
