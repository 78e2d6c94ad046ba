//! MAXLEN and MINID, as XADD and XTRIM take them.

use super::id::{self, NewId};
use crate::{Args, Error};
use caudal_text::integer::Decimal;
use caudal_value::{Limits, References, Stream, StreamId, Trim, Trimmed, Trimming};

/// Entries that approximate trimming takes at once if LIMIT says nothing, in blocks.
const LIMIT_BLOCKS: usize = 100;
/// The same where blocks have no limit, and at most.
const LIMIT_WITHOUT_BLOCKS: usize = 10_000;
const LIMIT_MAX: usize = 1_000_000;

/// What stands between the key and an entry's id.
pub(super) struct Options {
    /// NOMKSTREAM.
    pub(super) needs_stream: bool,
    /// MAXLEN or MINID.
    pub(super) cut: Option<Cut>,
    /// Index of the word that follows the options.
    pub(super) end: usize,
}

/// How to cut a stream.
pub(super) struct Cut {
    pub(super) trimming: Trimming,
    /// The words that are written otherwise in the effect: from the sign, or the threshold where
    /// there is none, up to the threshold.
    threshold: usize,
    /// LIMIT's word, if there is one.
    limit: Option<usize>,
}

impl Options {
    /// Reads options up to an entry's id (`of_xadd`), or up to the end.
    pub(super) fn parse(args: Args<'_>, of_xadd: bool, limits: &Limits) -> Result<Options, Error> {
        let mut parsed = Parsed::default();
        let mut at = 2;
        while at < args.len() {
            match parsed.option(args, at, of_xadd)? {
                Some(next) => at = next,
                None => break,
            }
        }
        let cut = parsed.cut(of_xadd, limits)?;
        Ok(Options { needs_stream: parsed.needs_stream, cut, end: at })
    }
}

#[derive(Default)]
struct Parsed {
    needs_stream: bool,
    to: Option<Trim>,
    threshold: usize,
    whole_blocks: bool,
    /// Its word and its value.
    limit: Option<(usize, usize)>,
    references: Option<References>,
}

impl Parsed {
    /// Reads the option at `at`; gives the index behind it, or nothing where XADD's id stands.
    fn option(&mut self, args: Args<'_>, at: usize, of_xadd: bool) -> Result<Option<usize>, Error> {
        let more = args.len() - at - 1;
        if of_xadd && args.at(at) == b"*" {
            return Ok(None);
        }
        if more > 0 && (args.is(at, "MAXLEN") || args.is(at, "MINID")) {
            return self.strategy(args, at).map(Some);
        }
        if more > 0 && args.is(at, "LIMIT") {
            let limit = args.integer(at + 1)?;
            let limit = usize::try_from(limit)
                .map_err(|_| Error::text("ERR The LIMIT argument must be >= 0."))?;
            self.limit = Some((at, limit));
            return Ok(Some(at + 2));
        }
        if of_xadd && args.is(at, "NOMKSTREAM") {
            self.needs_stream = true;
            return Ok(Some(at + 1));
        }
        if self.references.is_none()
            && let Some(references) = references(args, at)
        {
            self.references = Some(references);
            return Ok(Some(at + 1));
        }
        if !of_xadd {
            return Err(Error::SYNTAX);
        }
        NewId::parse(args.at(at)).map(|_| None)
    }

    fn strategy(&mut self, args: Args<'_>, at: usize) -> Result<usize, Error> {
        if self.to.is_some() {
            return Err(Error::text(
                "ERR syntax error, MAXLEN and MINID options at the same time are not compatible",
            ));
        }
        let signed = at + 2 < args.len();
        self.whole_blocks = signed && args.at(at + 1) == b"~";
        let has_sign = self.whole_blocks || (signed && args.at(at + 1) == b"=");
        self.threshold = at + 1 + usize::from(has_sign);
        self.to = Some(if args.is(at, "MAXLEN") {
            let most = args.integer(self.threshold)?;
            let negative = |_| Error::text("ERR The MAXLEN argument must be >= 0.");
            Trim::MaxLen(u64::try_from(most).map_err(negative)?)
        } else {
            Trim::MinId(id::exact(args.at(self.threshold), 0)?)
        });
        Ok(self.threshold + 1)
    }

    fn cut(&self, of_xadd: bool, limits: &Limits) -> Result<Option<Cut>, Error> {
        let text = match (self.to, self.limit) {
            (None, Some((_, 1..))) => {
                "ERR syntax error, LIMIT cannot be used without specifying a trimming strategy"
            }
            (None, _) if !of_xadd => {
                "ERR syntax error, XTRIM must be called with a trimming strategy"
            }
            (_, Some(_)) if !self.whole_blocks => {
                "ERR syntax error, LIMIT cannot be used without the special ~ option"
            }
            _ => "",
        };
        if !text.is_empty() {
            return Err(Error::text(text));
        }
        let Some(to) = self.to else { return Ok(None) };
        let entries_max = match self.limit {
            Some((_, limit)) => limit,
            None if !self.whole_blocks => 0,
            None => match limits.stream_block_entries_max.saturating_mul(LIMIT_BLOCKS) {
                0 => LIMIT_WITHOUT_BLOCKS,
                limit => limit.min(LIMIT_MAX),
            },
        };
        let references = self.references.unwrap_or(References::Keep);
        let whole_blocks = self.whole_blocks;
        let trimming = Trimming { to, whole_blocks, entries_max, references };
        let limit = self.limit.map(|(at, _)| at);
        Ok(Some(Cut { trimming, threshold: self.threshold, limit }))
    }
}

/// KEEPREF, DELREF or ACKED.
pub(super) fn references(args: Args<'_>, at: usize) -> Option<References> {
    match at {
        _ if args.is(at, "KEEPREF") => Some(References::Keep),
        _ if args.is(at, "DELREF") => Some(References::Drop),
        _ if args.is(at, "ACKED") => Some(References::Acknowledged),
        _ => None,
    }
}

impl Cut {
    /// Whether the words do not tell exactly what goes.
    pub(super) fn is_approximate(&self) -> bool {
        self.trimming.whole_blocks
    }

    /// The command's words with a threshold that cuts exactly what was cut of `stream`, and with
    /// `id` in the place of the word at that index.
    pub(super) fn exact_words(
        &self,
        args: Args<'_>,
        stream: &Stream,
        trimmed: &Trimmed,
        id: Option<(usize, &[u8])>,
    ) -> Vec<Vec<u8>> {
        let threshold = match self.trimming.to {
            Trim::MaxLen(_) => Decimal::unsigned(stream.len() as u64).as_bytes().to_vec(),
            Trim::MinId(_) => self.least_id(stream, trimmed).text().to_vec(),
        };
        let mut words = Vec::with_capacity(args.len());
        for (at, word) in args.from(0).enumerate() {
            match (at, id) {
                _ if at + 1 == self.threshold => words.push(b"=".to_vec()),
                _ if at == self.threshold => words.push(threshold.clone()),
                // Only with an approximate threshold may there be a limit.
                _ if self.limit.is_some_and(|limit| at == limit || at == limit + 1) => {}
                (at, Some((place, id))) if at == place => words.push(id.to_vec()),
                _ => words.push(word.to_vec()),
            }
        }
        words
    }

    fn least_id(&self, stream: &Stream, trimmed: &Trimmed) -> StreamId {
        if self.trimming.references == References::Keep {
            return stream.first().map_or(StreamId::MAX, |entry| entry.id);
        }
        // Entries that are still referenced may stand before what went.
        trimmed.last.and_then(StreamId::next).unwrap_or(StreamId::MIN)
    }
}
