//! The checksum behind RDB files and DUMP payloads: CRC-64 as Redis computes it.
//!
//! Jones's polynomial 0xad93d23594c935a9, reflected, initial value 0, nothing added at the end.
//! Eight bytes a step with eight tables, as in the CRC-16 of slots.

/// The checksum of `bytes`.
pub fn crc64(bytes: &[u8]) -> u64 {
    update(0, bytes)
}

/// The checksum of what had the checksum `crc`, followed by `bytes`.
pub fn update(crc: u64, bytes: &[u8]) -> u64 {
    let mut chunks = bytes.chunks_exact(8);
    let mut crc = crc;
    for chunk in &mut chunks {
        let word = u64::from_le_bytes(*chunk.first_chunk().expect("chunks have eight bytes"));
        let mixed = (crc ^ word).to_le_bytes();
        crc = 0;
        for (byte, table) in mixed.into_iter().zip(TABLES.iter().rev()) {
            crc ^= table[usize::from(byte)];
        }
    }
    chunks.remainder().iter().fold(crc, |crc, &byte| step(crc, byte))
}

fn step(crc: u64, byte: u8) -> u64 {
    let [low, ..] = crc.to_le_bytes();
    crc >> 8 ^ TABLES[0][usize::from(low ^ byte)]
}

/// The polynomial, its lowest power in the highest bit.
const POLYNOMIAL: u64 = 0xad93_d235_94c9_35a9_u64.reverse_bits();

/// `TABLES[n][byte]`: what `byte` adds to the checksum when n more bytes follow it.
static TABLES: [[u64; 256]; 8] = tables();

const fn tables() -> [[u64; 256]; 8] {
    let mut tables = [[0u64; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u64;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 0 { crc >> 1 } else { crc >> 1 ^ POLYNOMIAL };
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
            tables[follow][byte] = crc >> 8 ^ tables[0][(crc & 0xff) as usize];
            byte += 1;
        }
        follow += 1;
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_check_value_of_redis() {
        assert_eq!(crc64(b"123456789"), 0xe9c6_d914_c4b8_d9ca);
    }

    proptest! {
        #[test]
        fn eight_at_once_are_eight_steps(bytes: Vec<u8>, crc: u64) {
            let slow = bytes.iter().fold(crc, |crc, &byte| step(crc, byte));
            prop_assert_eq!(update(crc, &bytes), slow);
        }
    }
}
