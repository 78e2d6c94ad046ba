//! DIGEST: a string's XXH3 hash, so that two sides can compare strings without sending them.

use super::text::Text;
use crate::{Args, Context, DONE, Error, Group, KeyFlags, Outcome, Spec};
use xxhash_rust::xxh3::xxh3_64;

pub(crate) const SPEC: Spec = Spec::new("DIGEST", "Returns the hash of the string at a key.")
    .syntax("key")
    .group(Group::String)
    .since("8.4.0")
    .arity(2)
    .readonly()
    .fast()
    .complexity("O(N) with N the length of the string.")
    .key(1, KeyFlags::RO.and(KeyFlags::ACCESS));

/// The hash of a string, 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Digest(u64);

impl Digest {
    /// Of a string.
    pub(super) fn of(text: &[u8]) -> Digest {
        Digest(xxh3_64(text))
    }

    /// Reads one as DIGEST writes it, in either case.
    pub(super) fn parse(word: &[u8]) -> Result<Digest, Error> {
        const DIGITS: usize = 16;
        const BAD: Error = Error::text("ERR must be exactly 16 hexadecimal characters");
        if word.len() != DIGITS || !word.iter().all(u8::is_ascii_hexdigit) {
            return Err(BAD);
        }
        let digits = str::from_utf8(word).ok().and_then(|it| u64::from_str_radix(it, 16).ok());
        digits.map(Digest).ok_or(BAD)
    }
}

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let key = context.key(args, 1);
    match context.keys.string(&key)?.map(Text::of) {
        None => context.reply.null(),
        Some(text) => {
            let Digest(hash) = Digest::of(&text);
            context.reply.bulk(format!("{hash:016x}").as_bytes());
        }
    }
    DONE
}

#[cfg(test)]
mod tests {
    use super::Digest;

    #[test]
    fn hashes_are_those_of_redis() {
        let hash = Digest::of(b"Hello world");
        assert_eq!(Digest::parse(b"b6acb9d84a38ff74").unwrap(), hash);
        assert_eq!(Digest::parse(b"B6ACB9D84A38FF74").unwrap(), hash);
        for word in
            ["", "b6acb9d84a38ff7", "b6acb9d84a38ff744", "b6acb9d84a38ff7g", "+6acb9d84a38ff74"]
        {
            assert!(Digest::parse(word.as_bytes()).is_err(), "{word}");
        }
    }
}
