//! The slot of a key in Redis Cluster: CRC16 of the key, or of its hash tag, modulo 16,384.
//!
//! CRC-16/XMODEM: polynomial 0x1021, initial value 0, no reflection. Eight bytes a step with eight
//! tables: a byte's own step costs a load that depends on the one before, eight at once do not.

/// Slots of a keyspace.
pub const SLOTS: u16 = 16_384;

/// The slot of a key. With `{...}` in the key and something between the first `{` and the first `}`
/// after it, only that counts, so that keys can be made to share a slot.
#[inline]
pub fn slot(key: &[u8]) -> u16 {
    crc16(hash_tag(key)) % SLOTS
}

/// The part of a key that decides its slot.
#[inline]
pub fn hash_tag(key: &[u8]) -> &[u8] {
    let Some(open) = key.iter().position(|&byte| byte == b'{') else { return key };
    let inner = &key[open + 1..];
    match inner.iter().position(|&byte| byte == b'}') {
        None | Some(0) => key,
        Some(len) => &inner[..len],
    }
}

/// The checksum itself.
#[inline]
pub fn crc16(bytes: &[u8]) -> u16 {
    let mut chunks = bytes.chunks_exact(8);
    let mut crc = 0u16;
    for chunk in &mut chunks {
        let [high, low] = crc.to_be_bytes();
        crc = TABLES[7][usize::from(chunk[0] ^ high)]
            ^ TABLES[6][usize::from(chunk[1] ^ low)]
            ^ TABLES[5][usize::from(chunk[2])]
            ^ TABLES[4][usize::from(chunk[3])]
            ^ TABLES[3][usize::from(chunk[4])]
            ^ TABLES[2][usize::from(chunk[5])]
            ^ TABLES[1][usize::from(chunk[6])]
            ^ TABLES[0][usize::from(chunk[7])];
    }
    chunks.remainder().iter().fold(crc, |crc, &byte| step(crc, byte))
}

/// `TABLES[n][byte]`: what `byte` adds to the checksum when n more bytes follow it.
static TABLES: [[u16; 256]; 8] = tables();

const fn tables() -> [[u16; 256]; 8] {
    let mut tables = [[0u16; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        #[allow(clippy::cast_possible_truncation, reason = "byte < 256")]
        let mut crc = (byte as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 == 0 { crc << 1 } else { crc << 1 ^ 0x1021 };
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut follow = 1;
    while follow < 8 {
        let mut byte = 0;
        while byte < 256 {
            let crc = tables[follow - 1][byte];
            tables[follow][byte] = crc << 8 ^ tables[0][(crc >> 8) as usize];
            byte += 1;
        }
        follow += 1;
    }
    tables
}

#[inline]
fn step(crc: u16, byte: u8) -> u16 {
    let [high, low] = crc.to_be_bytes();
    u16::from(low) << 8 ^ TABLES[0][usize::from(high ^ byte)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_check_value_of_the_catalogue() {
        assert_eq!(crc16(b"123456789"), 0x31c3);
    }

    #[test]
    fn slots_are_those_of_redis_cluster() {
        for (key, expected) in [
            ("", 0),
            ("foo", 12182),
            ("bar", 5061),
            ("hello", 866),
            ("{user1000}.following", 3443),
            ("{user1000}.followers", 3443),
        ] {
            assert_eq!(slot(key.as_bytes()), expected, "{key}");
        }
    }

    #[test]
    fn only_a_tag_with_something_in_it_counts() {
        for (key, tag) in [
            ("a{b}c", "b"),
            ("a{}b", "a{}b"),
            ("a{{b}}c", "{b"),
            ("a{b}{c}", "b"),
            ("a{b", "a{b"),
            ("a}b{c}", "c"),
            ("{}{a}", "{}{a}"),
        ] {
            assert_eq!(hash_tag(key.as_bytes()), tag.as_bytes(), "{key}");
        }
    }

    proptest! {
        #[test]
        fn eight_at_once_are_eight_steps(bytes: Vec<u8>) {
            prop_assert_eq!(crc16(&bytes), bytes.iter().fold(0, |crc, &byte| step(crc, byte)));
        }
    }
}
