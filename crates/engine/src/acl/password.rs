//! Passwords: only their SHA-256 is kept, and comparing takes the same time whatever differs.

use sha2::{Digest as _, Sha256};
use std::fmt;

/// Bytes of a digest.
const BYTES: usize = 32;

/// A password's SHA-256.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Digest([u8; BYTES]);

impl Digest {
    /// The digest of a password.
    pub(crate) fn of(password: &[u8]) -> Digest {
        Digest(Sha256::digest(password).into())
    }

    /// Reads 64 lower-case hexadecimal digits.
    pub(crate) fn parse(text: &[u8]) -> Option<Digest> {
        let nibble = |digit: u8| match digit {
            b'0'..=b'9' => Some(digit - b'0'),
            b'a'..=b'f' => Some(digit - b'a' + 10),
            _ => None,
        };
        if text.len() != 2 * BYTES {
            return None;
        }
        let mut bytes = [0; BYTES];
        for (byte, digits) in bytes.iter_mut().zip(text.chunks_exact(2)) {
            *byte = nibble(digits[0])? << 4 | nibble(digits[1])?;
        }
        Some(Digest(bytes))
    }

    /// Whether both are the same, in a time that says nothing of where they differ.
    pub(crate) fn is(&self, other: &Digest) -> bool {
        let difference = self.0.iter().zip(&other.0).fold(0, |all, (a, b)| all | (a ^ b));
        std::hint::black_box(difference) == 0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Digest(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::Digest;

    #[test]
    fn a_digest_reads_back_what_it_prints() {
        let digest = Digest::of(b"x");
        let text = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
        assert_eq!(digest.to_string(), text);
        assert!(Digest::parse(text.as_bytes()).is_some_and(|read| read.is(&digest)));
        assert!(!digest.is(&Digest::of(b"y")));
        for wrong in ["", &text[1..], &text.to_uppercase(), &text.replace('2', "g")] {
            assert_eq!(Digest::parse(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
