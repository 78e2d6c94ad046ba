//! LZF, the compression of strings in RDB. Only read: whoever reads it reads plain strings too.
//!
//! ```text
//! 000lllll                      l + 1 bytes follow as they are
//! lllooooo + 1 byte             l + 2 bytes (l < 7) from o + 1 bytes back, o 13 bits, high first
//! 111ooooo + 1 byte + 1 byte    the same, the first byte + 9 of them
//! ```

/// What the longest reference of three bytes gives.
const BYTES_MAX_OF_THREE: usize = 255 + 9;

/// `packed` unpacked, if it gives exactly `length` bytes. Allocates no more than `packed` can give.
pub(crate) fn decompress(packed: &[u8], length: usize) -> Option<Vec<u8>> {
    if length > packed.len().saturating_mul(BYTES_MAX_OF_THREE) {
        return None;
    }
    let mut out = Vec::with_capacity(length.min(packed.len().saturating_mul(4)));
    let mut rest = packed;
    while let [control, after @ ..] = rest {
        let control = usize::from(*control);
        if control < LITERAL_MAX {
            let (literal, after) = after.split_at_checked(control + 1)?;
            if literal.len() > length - out.len() {
                return None;
            }
            out.extend_from_slice(literal);
            rest = after;
            continue;
        }
        let (count, after) = match control >> 5 {
            LONG => {
                let (more, after) = after.split_first()?;
                (usize::from(*more) + LONG + 2, after)
            }
            short => (short + 2, after),
        };
        let (low, after) = after.split_first()?;
        let back = ((control & 0x1f) << 8 | usize::from(*low)) + 1;
        let from = out.len().checked_sub(back)?;
        if count > length - out.len() {
            return None;
        }
        copy_within(&mut out, from, count);
        rest = after;
    }
    (out.len() == length).then_some(out)
}

/// First control byte that is no literal's.
const LITERAL_MAX: usize = 0x20;
/// The length that says that a byte with more follows.
const LONG: usize = 7;

/// Appends `count` bytes from `from` on; what is appended may be part of them.
fn copy_within(out: &mut Vec<u8>, from: usize, count: usize) {
    let (mut from, mut left) = (from, count);
    while left > 0 {
        let piece = left.min(out.len() - from);
        out.extend_from_within(from..from + piece);
        from += piece;
        left -= piece;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_redis_packed_is_unpacked() {
        // A hundred letters a: one literal "aa", then 98 more of them from one byte back.
        assert_eq!(decompress(&hex("016161e0570001 6161"), 100), Some(vec![b'a'; 100]));
        assert_eq!(decompress(&hex("016161e0570001 6161"), 99), None);
        assert_eq!(decompress(&hex("016161e0570001 6161"), 101), None);
    }

    #[test]
    fn references_before_the_beginning_are_refused() {
        assert_eq!(decompress(&hex("0061 2001"), 4), None);
        assert_eq!(decompress(&hex("0061 2000"), 4), Some(b"aaaa".to_vec()));
        assert_eq!(decompress(&hex("2000"), 3), None);
        assert_eq!(decompress(&[], 0), Some(Vec::new()));
    }

    fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
        let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16);
        digits.chunks(2).map(|digits| pair(digits).unwrap()).collect()
    }

    proptest! {
        #[test]
        fn any_bytes_end_in_a_string_or_nothing(bytes: Vec<u8>, length in 0usize..2000) {
            if let Some(out) = decompress(&bytes, length) {
                prop_assert_eq!(out.len(), length);
            }
        }
    }
}
